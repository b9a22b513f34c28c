"""Names and values that somebody else made up: which are safe to use, and how to speak of the rest."""

import re

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.shown_text import shown_line

_LONGEST_FILE_NAME = 255  # bytes, on every file system in use
_LONGEST_QUOTE = 80
_LONGEST_BRANCH = 200
# What git allows in no name of a branch, and what a command line would take for an option.
_NO_BRANCH = re.compile(r"^[-/]|[\s~^:?*\[\\]|\.\.|@\{|//|/\.|^\.|\.lock(?:/|\Z)|[/.]\Z|^@\Z")


def is_seen(text: str) -> bool:
    """Whether every character of `text` shows on one line, as what it is."""
    return shown_line(text) == text


def quoted(value: str) -> str:
    """How a value that somebody else made up stands in a sentence: bounded, and only to be read."""
    return repr(value if len(value) <= _LONGEST_QUOTE else f"{value[:_LONGEST_QUOTE]}…")


def is_bare_file_name(name: str) -> bool:
    """Whether `name` is one file in the directory at hand, never a way out of it."""
    if not name.strip() or name in (".", "..") or "/" in name or "\\" in name:
        return False
    return is_seen(name) and len(name.encode()) <= _LONGEST_FILE_NAME


def bare_file_name(name: str) -> str:
    """`name` if it is a bare file name."""
    if not is_bare_file_name(name):
        raise InvalidInput(
            f"{quoted(name)} is not a bare file name: give one like CLAUDE.md, without a path"
        )
    return name


def branch_name(text: str) -> str:
    """`text` if it can be a branch."""
    if not text or len(text) > _LONGEST_BRANCH or _NO_BRANCH.search(text) or not is_seen(text):
        raise InvalidInput(f"{quoted(text)} can not be the name of a branch: give one like topic/x")
    return text
