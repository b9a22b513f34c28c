"""Puts values into JSON text and takes them out again; every other byte stays where it was.

What is put in is written the way the file is written: its indentation, its line ends, on one
line where the file is on one line, with a comma at the end where the file has one. Taking out
is the exact inverse of putting in.
"""

import json
import re
from collections.abc import Sequence
from typing import TypeAlias

from iai_mcp.hosts.config_files.jsonc import Child, Json, Node, parse

# A string walks into an object, a number into an array.
Path: TypeAlias = Sequence["str | int"]

_INDENT = re.compile(r'\n([ \t]+)["{\[]')


class NotAContainer(ValueError):
    """The file has something else where an object or an array is needed; `path` says where."""

    def __init__(self, path: Path, wanted: str) -> None:
        super().__init__(wanted)
        self.path = tuple(path)
        self.wanted = wanted


def look(root: Node, path: Path) -> Node | None:
    """The node at `path`, or None where there is none."""
    node: Node | None = root
    for step in path:
        if node is None:
            return None
        if isinstance(step, str):
            node = node.get(step) if node.kind == "object" else None
        else:
            inside = node.kind == "array" and step < len(node.children)
            node = node.children[step].node if inside else None
    return node


def put(text: str, path: Sequence[str], value: Json) -> str:
    """Set the member at `path`, making the objects on the way. Equal already: nothing changes."""
    root = parse(text)
    node = look(root, path)
    if node is not None:
        if node.data == value:
            return text
        fresh = _written(text, value, _depth_of(text, node.start))
        return text[: node.start] + fresh + text[node.end :]
    holder, rest = _deepest(root, path)
    return _insert(text, holder, rest[0], _nested(rest[1:], value))


def append(text: str, path: Sequence[str], value: Json) -> str:
    """Add an item at the end of the array at `path`, making the array if there is none."""
    root = parse(text)
    node = look(root, path)
    if node is None:
        return put(text, path, [value])
    if node.kind != "array":
        raise NotAContainer(path, "array")
    return _insert(text, node, None, value)


def take_out(text: str, path: Path) -> str:
    """Remove the member or item at `path`; the container stays, even if it is empty now."""
    root = parse(text)
    holder = look(root, path[:-1])
    index = _index(holder, path[-1]) if holder is not None else None
    if holder is None or index is None:
        return text
    children = holder.children
    child = children[index]
    if len(children) == 1 and _blank(text, holder, child):
        return text[: holder.start + 1] + text[holder.end - 1 :]
    after = children[index - 1].node.end if index else holder.start + 1
    start = _start_with_space(text, child, after)
    behind = _after_comma(text, child, holder)
    if behind is not None:
        return text[:start] + text[behind:]
    if index == 0:
        return text[:start] + text[child.node.end :]
    # The last one, with no comma of its own: the comma before it goes with it.
    comma = _comma_between(text, after, child.start)
    return text[:comma] + text[comma + 1 : start] + text[child.node.end :]


def _deepest(root: Node, path: Sequence[str]) -> tuple[Node, Sequence[str]]:
    """The innermost object on the way that exists, and the steps that do not."""
    node = root
    for done, step in enumerate(path):
        if node.kind != "object":
            raise NotAContainer(path[:done], "object")
        inner = node.get(step)
        if inner is None:
            return node, path[done:]
        node = inner
    raise AssertionError("the caller has looked: the path does not exist")  # pragma: no cover


def _nested(path: Sequence[str], value: Json) -> Json:
    for step in reversed(path):
        value = {step: value}
    return value


def _insert(text: str, holder: Node, key: str | None, value: Json) -> str:
    """Write a new last child into `holder`."""
    label = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    body = text[holder.start : holder.end]
    one_line_file = "\n" not in text.strip() and text.strip() != body
    flat = "\n" not in body and (bool(holder.children) or one_line_file)
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    depth = _depth_of(text, holder.start)
    if flat:
        tight = ": " not in text and ", " not in text
        label = label.rstrip() if tight else label
        piece = label + _flat(value, tight=tight)
        lead = "" if tight or not holder.children else " "
        newline = depth = ""
    else:
        piece = label + _written(text, value, depth + unit)
        lead = newline + depth + unit
    if not holder.children:
        ink = _end_of_ink(text, holder.end - 1)
        return text[:ink] + lead + piece + newline + depth + text[holder.end - 1 :]
    last = holder.children[-1].node.end
    ink = _end_of_ink(text, holder.end - 1)
    if holder.trailing_comma:
        return text[:ink] + lead + piece + "," + text[ink:]
    return text[:last] + "," + text[last:ink] + lead + piece + text[ink:]


def _written(text: str, value: Json, indent: str) -> str:
    """`value` as indented text whose first line already stands at `indent`."""
    unit = _unit(text)
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    newline = "\r\n" if "\r\n" in text else "\n"
    return (newline + indent).join(lines)


def _flat(value: Json, *, tight: bool) -> str:
    separators = (",", ":") if tight else (", ", ": ")
    return json.dumps(value, ensure_ascii=False, separators=separators)


def _unit(text: str) -> str:
    """One step of indentation as this file does it."""
    match = _INDENT.search(text)
    return match.group(1) if match else "  "


def _depth_of(text: str, at: int) -> str:
    """The white space that the line of `at` begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _index(holder: Node, step: str | int) -> int | None:
    if isinstance(step, int):
        return step if holder.kind == "array" and step < len(holder.children) else None
    matching = [n for n, child in enumerate(holder.children) if child.key == step]
    return matching[-1] if matching else None


def _blank(text: str, holder: Node, child: Child) -> bool:
    """Whether `holder` has nothing but `child`, white space and its comma: no comment to keep."""
    around = text[holder.start + 1 : child.start] + text[child.node.end : holder.end - 1]
    return around.replace(",", "", 1).strip() == ""


def _end_of_ink(text: str, at: int) -> int:
    """Where the white space that leads up to `at` begins."""
    return len(text[:at].rstrip(" \t\r\n"))


def _start_with_space(text: str, child: Child, after: int) -> int:
    """Where `child` begins, with the white space before it; the one before it ends at `after`.

    Behind a line comment the line end stays, unless the child's own line ends after it: without
    a line end, the comment would swallow what follows.
    """
    ink = max(_end_of_ink(text, child.start), after)
    last_line = text[after:ink].rpartition("\n")[2]
    ends_line = text[child.node.end :].lstrip(" \t,").startswith(("\n", "\r\n"))
    return child.start if "//" in last_line and not ends_line else ink


def _after_comma(text: str, child: Child, holder: Node) -> int | None:
    """The place behind the comma that follows `child`, if one follows."""
    following = [c.start for c in holder.children if c.start > child.start]
    if not following and not holder.trailing_comma:
        return None
    limit = following[0] if following else holder.end - 1
    return _comma_between(text, child.node.end, limit) + 1


def _comma_between(text: str, start: int, end: int) -> int:
    """The comma in a stretch that holds only white space, comments and that comma."""
    at = start
    while at < end:
        if text.startswith("//", at):
            at = text.find("\n", at)
        elif text.startswith("/*", at):
            at = text.find("*/", at) + 2
        elif text[at] == ",":
            return at
        else:
            at += 1
    raise AssertionError("parsed text has a comma between two children")  # pragma: no cover
