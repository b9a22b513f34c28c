"""The document an agent reads first: where it is, what it can, who it is. In that order, always."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from iai_mcp.domain.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Skill:
    """A Markdown snippet that several agents can share."""

    name: str
    text: str

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InvalidInput("a skill has a name, and this one was blank")


@dataclass(frozen=True, slots=True)
class Composition:
    """All that goes into the document. `remembered` only for hosts without a session-start hook.

    `workplace` and `branch` of an agent that has a git worktree for itself.
    """

    agent_name: str
    project: str
    run_dir: str
    persona: str
    workplace: str | None = None
    branch: str | None = None
    skills: Sequence[Skill] = ()
    remembered: str | None = None


def compose(parts: Composition) -> str:
    """Header, what was remembered, skills by name, then the persona, byte for byte, to the end."""
    sections = [_header(parts)]
    if parts.remembered and parts.remembered.strip():
        sections.append(f"## What your shared memory holds\n\n{parts.remembered.strip()}\n")
    for skill in sorted(parts.skills, key=lambda each: each.name):
        sections.append(f"## Skill: {skill.name}\n\n{skill.text.strip()}\n")
    return "\n".join(sections) + "\n" + parts.persona


def _header(parts: Composition) -> str:
    place = parts.workplace or parts.project
    word = shlex.quote(place)  # as an agent would type it
    return f"""# You are {parts.agent_name}

The project you work on is at `{place}`. Your working directory is not the project: it is
`{parts.run_dir}`, which is yours alone, so that agents working side by side share no file
by accident.

- Read, search, change and run things in `{place}`: give absolute paths, or change there
  first (`cd {word}`, `git -C {word} …`).
{_worktree(parts)}- Leave the files in your working directory as they are, and put nothing of the project there.
- The project's own instructions (`{place}/AGENTS.md`, `CLAUDE.md`, `README.md` …) hold for
  you too, where they exist.
- You share one memory with every agent and earlier session of this project. Ask it with the tool
  `memory_recall` before you ask a person or guess.
"""


def _worktree(parts: Composition) -> str:
    if parts.branch is None:
        return ""
    return f"""- That is a git worktree of `{parts.project}` on branch `{parts.branch}`, yours alone: commit your
  work there, and change nothing in `{parts.project}` itself. A person merges your branch.
"""


# A terminal in line mode hands a program at most this many bytes of one line, and drops the rest.
LONGEST_TYPED_LINE = 4095
# Keys like Ctrl-C, Ctrl-D and Escape: everything but tabs and line ends.
_OBEYED = re.compile(rb"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]")


def typed_persona(persona: str) -> bytes:
    """The persona as bytes to type, refused where a terminal would cut a line or obey it."""
    data = persona.encode()
    for number, line in enumerate(data.split(b"\n"), start=1):
        if _OBEYED.search(line):
            raise InvalidInput(
                f"line {number} of the persona has control characters, which a terminal obeys "
                "instead of handing them on: take them out, or use a profile that takes a file"
            )
        if len(line) > LONGEST_TYPED_LINE:
            raise InvalidInput(
                f"line {number} of the persona has {len(line)} bytes, and a terminal takes "
                f"{LONGEST_TYPED_LINE}: break the line, or use a profile that takes a file"
            )
    return data
