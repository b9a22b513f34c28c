"""What git itself said about the repository of a directory, while an agent worked there.

Only what a command of git or `gh` printed about the directory that it ran in: a url in a file that
somebody showed, or of another repository that was named, says nothing about this one.
"""

import re
import shlex
from collections.abc import Iterator, Sequence

from iai_mcp.domain.projects.identity import normal

_LONGEST = 4000  # characters looked at
_STEPS = re.compile(r"&&|\|\||[;\n]")
_REACHED = re.compile(r"(?:To|From) (\S+)\Z")
_ORIGIN = re.compile(r"origin\s+(\S+)(?: \((?:fetch|push)\))?\Z")
_PULL_REQUEST = re.compile(r"(https://[^/\s]+/[^/\s]+/[^/\s]+)/pull/\d+\Z")
_WORKTREE = re.compile(r"(/[^\n'\"]*?)/\.git/worktrees/([^/\s'\")]+)")
_WITH_A_VALUE = ("-b", "-B", "--reason", "--branch", "--depth", "-o", "--origin", "--orphan", "-c")
_NAMES_ANOTHER = ("-R", "--repo", "--recurse-submodules")


def repositories(command: str, output: str, cwd: str) -> Iterator[tuple[str, str]]:
    """(directory, the url or the place of its repository), for a command that did not fail."""
    here = cwd
    for step in _STEPS.split(command[:_LONGEST]):
        words = _words(step)
        if words[:1] == ["cd"] and len(words) == 2:
            here = _joined(here, words[1])
        elif not here.startswith("/") or "-C" in words:
            return
        elif words[:1] in (["git"], ["gh"]) and len(words) > 1:
            yield from _said(words, output[:_LONGEST], here)


def _said(words: Sequence[str], output: str, here: str) -> Iterator[tuple[str, str]]:
    lines = [line.strip() for line in output.splitlines()]
    given = _arguments(words[2:])
    match words[:2]:
        case ["git", "clone"] if given and of_url(given[0]):
            yield _joined(here, given[1] if len(given) > 1 else of_url(given[0])), given[0]
        case ["git", "worktree"] if given[:1] == ["add"] and len(given) > 1:
            yield _joined(here, given[1]), here
        case ["git", "push" | "pull" | "fetch"] if not any(map(_is_url, given)):
            yield from ((here, url) for url in _first(_REACHED, lines, "submodule"))
        case ["git", "remote"] if given[:1] in ([], ["get-url"]) and given[1:] in ([], ["origin"]):
            named = lines if not given else [f"origin {line}" for line in lines]
            yield from ((here, url) for url in _first(_ORIGIN, named))
        case ["gh", "pr"] if given[:1] == ["create"] and not set(_NAMES_ANOTHER) & set(words):
            yield from ((here, url) for url in _first(_PULL_REQUEST, lines))
    if words[0] == "git":
        for found in _WORKTREE.finditer(output):
            # A worktree's directory among git's own is called like the worktree.
            if found[2] == here.rpartition("/")[2]:
                yield here, found[1]
                return


def of_url(url: str) -> str:
    """What a clone of that is called unless somebody says otherwise; "" of what is no place."""
    return url.rstrip("/").removesuffix(".git").replace(":", "/").rpartition("/")[2]


def _first(pattern: re.Pattern[str], lines: Sequence[str], unless: str = "") -> list[str]:
    """What the first line of that form names; nothing where a line before speaks of others."""
    for line in lines:
        if unless and unless in line:
            break
        if (found := pattern.match(line)) is not None:
            return [found[1]]
    return []


def _words(step: str) -> list[str]:
    try:
        return shlex.split(step.partition("|")[0], comments=True)
    except ValueError:  # a quotation that the cut left open
        return []


def _arguments(words: Sequence[str]) -> list[str]:
    """Without options and what belongs to them."""
    kept: list[str] = []
    skip = False
    for word in words:
        if not skip and not word.startswith("-") and ">" not in word:
            kept.append(word)
        skip = not skip and word in _WITH_A_VALUE
    return kept


def _is_url(word: str) -> bool:
    return "://" in word or ("@" in word and ":" in word) or word.startswith(("/", "."))


def _joined(here: str, path: str) -> str:
    """Where a path leads from a directory; "" where that is not plain from its letters."""
    if not path or any(mark in path for mark in "$`~*"):
        return ""
    return (
        normal(path if path.startswith("/") else f"{here}/{path}") if here or path[0] == "/" else ""
    )
