"""Reads JSON, with comments and trailing commas where people wrote them, and keeps every span.

Editing needs to know where a value stands in the text, not only what it is: with the spans, a
member can be put in or taken out and every other byte of the file stays as it was.
"""

import json
import re
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

# Deep enough for any configuration, shallow enough that a hostile file can not end the process.
_DEEPEST = 200

_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class NotJson(ValueError):
    """The text is broken at `line` and `column` (from 1); `what` says what was expected there."""

    def __init__(self, text: str, at: int, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.line = text.count("\n", 0, at) + 1
        self.column = at - (text.rfind("\n", 0, at) + 1) + 1


@dataclass(frozen=True, slots=True)
class Child:
    """A member of an object (with `key`) or an item of an array: `start` is where it begins."""

    start: int
    node: "Node"
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A value with the span of its text. `kind` is "object", "array" or "scalar"."""

    kind: str
    start: int
    end: int
    data: Json
    children: tuple[Child, ...] = field(default=())
    trailing_comma: bool = False

    def get(self, key: str) -> "Node | None":
        """The member's value; of a doubled key the last one, which is the one that counts."""
        last = None
        for child in self.children:
            if child.key == key:
                last = child.node
        return last


def parse(text: str) -> Node:
    """The one value in `text`.

    Raises:
        NotJson: with the place where reading stopped.
    """
    reader = _Reader(text)
    node = reader.value(reader.skip(0), 0)
    end = reader.skip(node.end)
    if end != len(text):
        reader.stop(end, "nothing more after the first value")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def stop(self, at: int, what: str) -> NoReturn:
        raise NotJson(self.text, at, f"expected {what}")

    def skip(self, at: int) -> int:
        """The next place that is neither white space nor comment."""
        text = self.text
        while True:
            match = _SPACE.match(text, at)
            at = match.end() if match else at
            if text.startswith("//", at):
                newline = text.find("\n", at)
                at = len(text) if newline < 0 else newline
            elif text.startswith("/*", at):
                close = text.find("*/", at + 2)
                if close < 0:
                    self.stop(at, "this comment to be closed")
                at = close + 2
            else:
                return at

    def value(self, at: int, depth: int) -> Node:
        if depth > _DEEPEST:
            self.stop(at, f"at most {_DEEPEST} levels")
        opening = self.text[at : at + 1]
        if opening == "{":
            return self._container(at, depth, "object", "}")
        if opening == "[":
            return self._container(at, depth, "array", "]")
        match = _STRING.match(self.text, at) or _SCALAR.match(self.text, at)
        if match is None:
            self.stop(at, "a value")
        return Node("scalar", at, match.end(), json.loads(match.group()))

    def _container(self, start: int, depth: int, kind: str, closing: str) -> Node:
        children: list[Child] = []
        comma = False
        at = self.skip(start + 1)
        while not self.text.startswith(closing, at):
            if children and not comma:
                self.stop(at, f"',' or '{closing}'")
            child = self._member(at, depth) if kind == "object" else self._item(at, depth)
            children.append(child)
            at = self.skip(child.node.end)
            comma = self.text.startswith(",", at)
            if comma:
                at = self.skip(at + 1)
        data: Json = (
            {child.key or "": child.node.data for child in children}
            if kind == "object"
            else [child.node.data for child in children]
        )
        return Node(kind, start, at + 1, data, tuple(children), comma)

    def _item(self, at: int, depth: int) -> Child:
        return Child(at, self.value(at, depth + 1))

    def _member(self, at: int, depth: int) -> Child:
        match = _STRING.match(self.text, at)
        if match is None:
            self.stop(at, "a key in double quotes, or '}'")
        colon = self.skip(match.end())
        if not self.text.startswith(":", colon):
            self.stop(colon, "':'")
        return Child(at, self.value(self.skip(colon + 1), depth + 1), json.loads(match.group()))
