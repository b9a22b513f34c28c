"""Print the completion script of your shell.

bash   eval "$(iai-mcp completion bash)"           in ~/.bashrc
zsh    eval "$(iai-mcp completion zsh)"            in ~/.zshrc
fish   iai-mcp completion fish | source            in ~/.config/fish/config.fish
"""

import argparse

from iai_mcp.cli import output
from iai_mcp.cli.commands import COMMANDS, FOR_PROGRAMS, parser_of

_BASH = """_iai_mcp() {{
  local words
  if [ "$COMP_CWORD" -eq 1 ]; then words="{commands}"; else
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _iai_mcp iai-mcp
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def run(arguments: argparse.Namespace) -> int:
    words = {name: words_of(parser_of(name)) for name in COMMANDS}
    output.say(_fish(words) if arguments.shell == "fish" else _bash(words, arguments.shell))
    return 0


def words_of(parser: argparse.ArgumentParser) -> list[str]:
    """The sub-commands and options that a parser takes."""
    found: list[str] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += list(action.choices)
            for sub in action.choices.values():
                found += [word for word in words_of(sub) if word not in found]
        else:
            found += [option for option in action.option_strings if option.startswith("--")]
    return found


def _bash(words: dict[str, list[str]], shell: str) -> str:
    names = " ".join([*words, *(name for name, _ in FOR_PROGRAMS)])
    cases = "\n".join(
        f'      {name}) words="{" ".join(found)}" ;;' for name, found in words.items()
    )
    script = _BASH.format(commands=names, cases=cases)
    return f"autoload -U +X bashcompinit && bashcompinit\n{script}" if shell == "zsh" else script


def _fish(words: dict[str, list[str]]) -> str:
    lines = ["complete -c iai-mcp -f"]
    for name, found in words.items():
        lines.append(
            f"complete -c iai-mcp -n __fish_use_subcommand -a {name} -d '{COMMANDS[name][1]}'"
        )
        inside = f"complete -c iai-mcp -n '__fish_seen_subcommand_from {name}'"
        for word in found:
            lines.append(
                f"{inside} -l {word[2:]}" if word.startswith("--") else f"{inside} -a {word}"
            )
    return "\n".join(lines)
