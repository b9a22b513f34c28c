"""Tells our hooks and entries in a configuration file from those of others."""

import copy
import re
import shlex
from collections.abc import Mapping, Sequence

from iai_mcp.hosts.config_files.entries import Entry, Hooks
from iai_mcp.hosts.config_files.jsonc import Json

_OUR_COMMAND = re.compile(
    r"""iai(?:-mcp|_mcp\.cli|_mcp\.capture(?:\.__main__)?|_mcp[/\\](?:cli|capture)[/\\]__main__\.py)["']?\s+"""
    r"(?:hook|session-start)\b"
)

# The variables that we write into entries; any other one there is the person's own.
OUR_VARIABLES = ("IAI_MCP_STORE", "IAI_DAEMON_SOCKET_PATH")

# What of an entry a person may set otherwise than we do.
_CHOICES = ("alwaysLoad",)


def is_our_hook(value: Json) -> bool:
    """Whether this is a single hook that runs us, in any of the hosts' notations."""
    if not isinstance(value, dict):
        return False
    words = [_words(value.get(key)) for key in ("command", "bash", "args")]
    return _OUR_COMMAND.search(" ".join(word for word in words if word)) is not None


def is_our_entry(value: Json) -> bool:
    """Whether this entry starts our bridge; an entry of our name may be somebody else's."""
    if not isinstance(value, dict):
        return False
    words = " ".join(_words(value.get(key)) for key in ("command", "args"))
    return "iai_mcp.bridge" in words or "iai-mcp mcp" in words


def in_it(data: Json, entries: Sequence[Entry], hooks: Hooks | None) -> bool:
    """Whether anything of ours is in `data` already."""
    if any(is_our_entry(_at(data, entry.path)) for entry in entries):
        return True
    return hooks is not None and first_of_ours(_at(data, hooks.root)) is not None


def commands_of_ours(data: Json, entries: Sequence[Entry], hooks: Hooks | None) -> list[list[str]]:
    """What our hooks and entries in `data` start: each the words of a command line."""
    places = [_at(data, entry.path) for entry in entries]
    values = [value for value in places if is_our_entry(value)]
    if hooks is not None:
        values += _our_hooks(_at(data, hooks.root))
    return [words for words in map(_command_words, values) if words]


def _our_hooks(value: Json) -> list[Json]:
    if is_our_hook(value):
        return [value]
    return [hook for _, child in _children(value) for hook in _our_hooks(child)]


def _command_words(value: Json) -> list[str]:
    """Of a program and its arguments, a list of words, or one line for a shell."""
    if not isinstance(value, dict):
        return []
    command, args = value.get("command", value.get("bash")), value.get("args")
    if isinstance(args, list):
        return [str(command), *map(str, args)]
    if isinstance(command, list):
        return list(map(str, command))
    try:
        return shlex.split(str(command))
    except ValueError:
        return [str(command)]


def first_of_ours(value: Json) -> tuple[int | str, ...] | None:
    """Where in `value` the first of our hooks stands, or None."""
    if is_our_hook(value):
        return ()
    for step, child in _children(value):
        rest = first_of_ours(child)
        if rest is not None:
            return (step, *rest)
    return None


def _children(value: Json) -> Sequence[tuple[int | str, Json]]:
    if isinstance(value, list):
        return list(enumerate(value))
    return list(value.items()) if isinstance(value, dict) else ()


def merged(existing: Json, wanted: Mapping[str, Json]) -> dict[str, Json]:
    """Our entry as it should read: what a person added to it (a timeout, a variable) stays."""
    if not isinstance(existing, dict):
        return dict(wanted)
    result = dict(existing)
    chosen = {key: existing[key] for key in _CHOICES if isinstance(existing.get(key), bool)}
    result.update({**wanted, **chosen})
    for key in ("env", "environment"):
        theirs = existing.get(key)
        if isinstance(theirs, dict):
            kept = {name: value for name, value in theirs.items() if name not in OUR_VARIABLES}
            ours = wanted.get(key)
            variables = {**kept, **(ours if isinstance(ours, dict) else {})}
            if variables:
                result[key] = variables
            else:
                result.pop(key, None)
    return result


def without_ours(data: Json, entries: Sequence[Entry], hooks: Hooks | None) -> Json:
    """A copy of `data` without anything of ours, and without what is empty because of that.

    Two versions of a file that differ only in what is ours are equal after this: the proof
    that an edit has touched nothing else.
    """
    result = copy.deepcopy(data)
    for entry in entries:
        _drop(result, entry.path)
    if hooks is not None:
        events = _at(result, hooks.root)
        for event in list(events) if isinstance(events, dict) else []:
            _drop_hooks(result, (*hooks.root, event))
            _drop_if_empty(result, (*hooks.root, event))
        _drop_if_empty(result, hooks.root)
    return result


def _drop_hooks(data: Json, path: tuple[str, ...]) -> None:
    while True:
        place = first_of_ours(_at(data, path))
        if place is None or place == ():
            return
        _drop(data, (*path, *place), stop=len(path))


def _at(data: Json, path: Sequence[int | str]) -> Json:
    for step in path:
        if isinstance(data, dict) and isinstance(step, str):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data


def _drop(data: Json, path: Sequence[int | str], stop: int = 0) -> None:
    """Remove what is at `path`, and every container above it (down to depth `stop`) left empty."""
    holder = _at(data, path[:-1])
    step = path[-1]
    if isinstance(holder, dict) and isinstance(step, str):
        holder.pop(step, None)
    elif isinstance(holder, list) and isinstance(step, int):
        holder.pop(step)
    above = path[:-1]
    if len(above) > stop and _hollow(_at(data, above)):
        _drop(data, above, stop)


def _drop_if_empty(data: Json, path: Sequence[str]) -> None:
    if _at(data, path) in ({}, []):
        _drop(data, path)


def _hollow(value: Json) -> bool:
    """Empty, or a group of hooks that has lost its last hook (its matcher alone means nothing)."""
    if isinstance(value, dict) and not value.get("hooks"):
        return set(value) <= {"hooks", "matcher"}
    return value == []


def _words(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(str(word) for word in value)
    return ""
