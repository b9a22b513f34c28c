"""What the commands of the agents half share: options, texts from files."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from iai_mcp.cli.commands import Parser
from iai_mcp.domain.errors import InvalidInput, IoFailed, NotFound

if TYPE_CHECKING:
    from iai_mcp.domain.projects.project import ProjectPath
    from iai_mcp.workspace import Workspace


class FreeTextParser(Parser):
    """A sub-command whose free texts may begin with a dash: `--arg -v`, `--prompt "- milk"`."""

    FREE = ("--arg", "--prompt")

    # argparse declares this method by overloads that say nothing more for our one way of calling.
    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        return super().parse_known_args(_joined(args or (), self.FREE), namespace)


def _joined(words: Sequence[str], free: Sequence[str]) -> list[str]:
    """`--arg`, `-v` as `--arg=-v`; what follows `--` is left alone."""
    joined: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            return [*joined, word, *waiting]
        joined.append(f"{word}={waiting.pop(0)}" if word in free and waiting else word)
    return joined


def options(*, project: bool = True) -> FreeTextParser:
    """A parent parser with the options that every sub-command takes."""
    parent = FreeTextParser(add_help=False)
    parent.add_argument("--json", action="store_true", help="print one JSON object")
    if project:
        parent.add_argument(
            "--project",
            metavar="DIR",
            help="the project (default: the nearest directory upward with .ideai, else the git "
            "root, else the current directory)",
        )
    return parent


def project_of(workspace: "Workspace", arguments: argparse.Namespace) -> "ProjectPath":
    return workspace.project(arguments.project, os.getcwd())


def text_from(source: str | None) -> str | None:
    """The text of a file, or of standard input for `-`; bytes are kept, line ends too."""
    if source is None:
        return None
    try:
        if source == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(source, "rb") as file:
                data = file.read()
    except FileNotFoundError as absent:
        raise NotFound(f"there is no file {source}") from absent
    except OSError as refused:
        raise IoFailed(f"{source} can not be read ({refused.strerror})") from refused
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidInput(f"{source}, line {line}: this is not UTF-8; save it as UTF-8") from error
