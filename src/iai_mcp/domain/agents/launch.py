"""What a launch is made of: how the context reaches the program, and what to start where."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.foreign_text import bare_file_name

_NO_ENV: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class FilePlan:
    """Write the document at `target`, a bare file name in the run directory."""

    target: str

    def __post_init__(self) -> None:
        bare_file_name(self.target)


@dataclass(frozen=True, slots=True)
class ArgsPlan:
    """Give the document as these arguments (a path to a private file, never the text itself)."""

    args: tuple[str, ...]
    target: str

    def __post_init__(self) -> None:
        bare_file_name(self.target)
        if not self.args:
            raise InvalidInput("a context that goes in by arguments needs at least one")


@dataclass(frozen=True, slots=True)
class EnvPlan:
    """Give the document as these variables (a path to a private file)."""

    env: Mapping[str, str]
    target: str

    def __post_init__(self) -> None:
        bare_file_name(self.target)
        if not self.env:
            raise InvalidInput("a context that goes in by environment needs at least one variable")


@dataclass(frozen=True, slots=True)
class StdinPlan:
    """Type the persona into the terminal once the program runs."""


ContextInjectionPlan = FilePlan | ArgsPlan | EnvPlan | StdinPlan


@dataclass(frozen=True, slots=True)
class RunFile:
    """A private file to write before the spawn, at `path` relative to the run directory."""

    path: str
    text: str

    def __post_init__(self) -> None:
        for part in self.path.split("/"):
            bare_file_name(part)


@dataclass(frozen=True, slots=True)
class SpawnSpec:
    """One program to start: `command` with `args`, at `cwd` (absolute).

    `env` is what we add to the environment of the person who launches, not the whole of it.
    `files` are what the program's own configuration needs in the run directory, `keeps` what the
    program was told to keep there itself.
    """

    command: str
    args: tuple[str, ...]
    cwd: str
    env: Mapping[str, str] = field(default_factory=lambda: _NO_ENV)
    context_plan: ContextInjectionPlan | None = None
    files: tuple[RunFile, ...] = ()
    keeps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.command.strip():
            raise InvalidInput("there is no command to start: it was blank")
        if not self.cwd.startswith("/"):
            raise InvalidInput(f"a program starts in an absolute directory, not in '{self.cwd}'")
        for text in (self.command, self.cwd, *self.args, *self.env, *self.env.values()):
            if "\0" in text:
                raise InvalidInput(
                    "a command, its arguments and its environment can not hold a NUL byte"
                )


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """What the next launch of an agent has to know of this one: `files` are in its run directory.

    `conversation` is the one that was taken up, by the host's id of it.
    """

    session_id: str
    files: tuple[str, ...]
    conversation: str | None = None
