"""Names and values that somebody else made up: which are safe to use, and how to speak of the rest."""

import re

from iai_mcp.domain.errors import InvalidInput

_LONGEST_FILE_NAME = 255  # bytes, on every file system in use
# What a terminal obeys instead of showing, what turns the direction of a line, what is no text.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LONGEST_QUOTE = 80


def is_seen(text: str) -> bool:
    """Whether every character of `text` shows on one line, as what it is."""
    return _UNSEEN.search(text) is None


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
