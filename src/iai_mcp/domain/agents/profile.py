"""A profile: which agent program to start, and how it takes its context."""

import re
from dataclasses import dataclass

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.foreign_text import bare_file_name

RUN_DIR_TEMPLATE = "{agentRunDir}"
PROJECT_TEMPLATE = "{projectRoot}"

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class ConventionFile:
    """The program reads a file of this name in its working directory."""

    target: str

    def __post_init__(self) -> None:
        bare_file_name(self.target)

    def __str__(self) -> str:
        return f"convention_file:{self.target}"


@dataclass(frozen=True, slots=True)
class Flag:
    """The program takes a flag whose value is the path of the context."""

    flag: str

    def __post_init__(self) -> None:
        if not self.flag.startswith("-") or self.flag.strip("-") == "" or " " in self.flag:
            raise InvalidInput(f"'{self.flag}' is not a flag: give one like --read")

    def __str__(self) -> str:
        return f"flag:{self.flag}"


@dataclass(frozen=True, slots=True)
class EnvVariable:
    """The program takes the path of the context from a variable."""

    var: str

    def __post_init__(self) -> None:
        if not _VARIABLE.match(self.var):
            raise InvalidInput(
                f"'{self.var}' is not a variable's name: give one like AGENT_CONTEXT"
            )

    def __str__(self) -> str:
        return f"env:{self.var}"


@dataclass(frozen=True, slots=True)
class Stdin:
    """The persona is typed into the program's terminal."""

    def __str__(self) -> str:
        return "stdin"


ContextInjection = ConventionFile | Flag | EnvVariable | Stdin


def parse_injection(spec: str) -> ContextInjection:
    """`convention_file:CLAUDE.md`, `flag:--read`, `env:VAR` or `stdin`."""
    kind, _, value = spec.partition(":")
    if kind == "convention_file":
        return ConventionFile(value)
    if kind == "flag":
        return Flag(value)
    if kind == "env":
        return EnvVariable(value)
    if spec == "stdin":
        return Stdin()
    raise InvalidInput(
        f"'{spec}' is no way to give a context: "
        "use convention_file:NAME, flag:--FLAG, env:VAR or stdin"
    )


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """How to start one agent program. `host` names the program whose memory wiring applies."""

    id: str
    name: str
    command: str
    injection: ContextInjection
    args: tuple[str, ...] = ()
    detect: str | None = None
    cwd_template: str = RUN_DIR_TEMPLATE
    host: str | None = None
    install: str | None = None

    def __post_init__(self) -> None:
        if not _ID.match(self.id):
            raise InvalidInput(
                f"'{self.id}' can not be a profile's id: use a-z, 0-9, '.', '_' and '-'"
            )
        if not self.name.strip():
            raise InvalidInput("give the profile a name: it was blank")
        if not self.command.strip():
            raise InvalidInput("a profile needs a command to start: it was blank")
        if self.detect is not None and not self.detect.strip():
            raise InvalidInput("the detect command was blank: give one like 'claude --version'")
        unknown = set(_PLACEHOLDER.findall(self.cwd_template)) - {
            RUN_DIR_TEMPLATE,
            PROJECT_TEMPLATE,
        }
        if unknown or not self.cwd_template.startswith(("/", RUN_DIR_TEMPLATE, PROJECT_TEMPLATE)):
            raise InvalidInput(
                f"'{self.cwd_template}' can not be a working directory: "
                f"use {RUN_DIR_TEMPLATE}, {PROJECT_TEMPLATE} or an absolute path"
            )

    def cwd(self, run_dir: str, project_root: str) -> str:
        """The directory to start in."""
        filled = self.cwd_template.replace(RUN_DIR_TEMPLATE, run_dir)
        return filled.replace(PROJECT_TEMPLATE, project_root)


@dataclass(frozen=True, slots=True)
class Detection:
    """What looking for a profile's program found."""

    profile_id: str
    installed: bool
    path: str | None = None
    version: str | None = None
    problem: str | None = None
