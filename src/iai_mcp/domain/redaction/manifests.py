"""Manifests of Kubernetes: all that the data of a `kind: Secret` holds, whatever it is called."""

import re
from collections.abc import Generator, Iterator

from iai_mcp.domain.pieces import matches
from iai_mcp.domain.redaction.keyword_scan import Rule, Span
from iai_mcp.domain.redaction.values import stands_in

_DATA = ("data", "stringData", "binaryData")
_YAML_KIND = re.compile(
    r"^([ \t]{0,100}(?:- )?)kind:[ \t]{1,8}[\"']?Secret[\"']?[ \t]{0,100}\r?$", re.MULTILINE
)
_YAML_ENTRY = re.compile(r"([ \t]*)(?:- )?[\"']?[\w./-]{1,253}[\"']?:[ \t]*(.*)")
_INDENTATION = re.compile(r"[ \t]*(?:- )?")
_VALUE = re.compile(r"[\"']?(.*?)[\"']?[ \t\r]*\Z")
_JSON_DATA = re.compile(
    r"(\\{0,3}[\"'])(?:data|stringData)\1[ \t\r\n]{0,40}:[ \t\r\n]{0,40}\{([^{}]{1,100000})\}"
)
_JSON_KIND = re.compile(
    r"[{}]|\\{0,3}[\"'](?:kind\\{0,3}[\"']\s{0,4}:\s{0,4}\\{0,3}[\"'](\w{1,40})|(?:data|stringData)\b)"
)
_JSON_VALUE = re.compile(r":[ \t\r\n]{0,8}(\\{0,3}[\"'])((?:(?!\1)[^\n])*)\1")


def _in_yaml(text: str, lowered: str) -> Iterator[Span]:
    done = 0
    for kind in matches(_YAML_KIND, text):
        if kind.start() < done:
            continue
        column = len(kind[1])
        start = _start_of_object(text, kind.start(), column, done)
        done = yield from _values_of_object(text, start, kind.end(), column)


def _start_of_object(text: str, line_start: int, column: int, not_before: int) -> int:
    """Where the object begins to which the line at `line_start` belongs."""
    while line_start > not_before:
        if text.startswith("- ", line_start + column - 2) and column >= 2:
            return line_start
        previous = text.rfind("\n", 0, line_start - 1) + 1
        line = text[previous : line_start - 1]
        if line.strip() and (line.startswith("---") or _depth(line) < column):
            return line_start
        line_start = previous
    return line_start


def _values_of_object(text: str, at: int, reach: int, column: int) -> Generator[Span, None, int]:
    """The values below `data:`; returns where the object ends."""
    inside, entry_depth = False, -1
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        depth = _depth(line)
        if line.strip():
            begins_another = line.startswith("---") or depth < column
            another_item = depth == column and line.startswith("- ", max(0, column - 2))
            if at > reach and (begins_another or another_item):
                return at
            entry = _YAML_ENTRY.match(line)
            if depth == column:
                name = line.strip().removeprefix("- ").partition(":")[0].strip("\"'")
                inside, entry_depth = name in _DATA, -1
            elif inside and entry is not None and (entry_depth in (-1, depth)):
                entry_depth = depth
                yield from _value(entry[2], at + entry.start(2))
            elif inside:  # a further line of a long value
                yield from _value(line.strip(), at + len(line) - len(line.lstrip()))
        at = end + 1
    return at


def _value(written: str, at: int) -> Iterator[Span]:
    found = _VALUE.match(written)
    value = found[1] if found else ""
    if (
        found
        and value
        and value not in ("|", ">", "|-", ">-", "|+", ">+", "{}")
        and not stands_in(value)
    ):
        yield at + found.start(1), at + found.end(1), "kubernetes-secret"


def _depth(line: str) -> int:
    found = _INDENTATION.match(line)
    return found.end() if found else 0


def _in_json(text: str, lowered: str) -> Iterator[Span]:
    seen = 0
    for data in _JSON_DATA.finditer(text):
        kind = _kind_after(text, data.end()) or _kind_before(text, seen, data.start())
        seen = data.end()
        if kind != "Secret":
            continue
        for value in _JSON_VALUE.finditer(text, *data.span(2)):
            if value[2] and not stands_in(value[2]):
                yield *value.span(2), "kubernetes-secret"


def _kind_after(text: str, at: int) -> str:
    """The kind of the object that goes on at `at`, if it is said further down."""
    depth = 0
    for step in _JSON_KIND.finditer(text, at):
        if step[0] == "{":
            depth += 1
        elif step[0] == "}":
            depth -= 1
        elif step[1] is None or depth == 0:
            return step[1] or ""
        if depth < 0:
            return ""
    return ""


def _kind_before(text: str, start: int, end: int) -> str:
    """The kind of the object that is under way at `end`, if it was said before."""
    kinds: list[str] = [""]
    for step in _JSON_KIND.finditer(text, start, end):
        if step[0] == "{":
            kinds.append("")
        elif step[0] == "}":
            kinds.pop()
            kinds = kinds or [""]
        elif step[1] is not None:
            kinds[-1] = step[1]
    return kinds[-1]


RULES: tuple[Rule, ...] = (
    (("kind: secret", "kind:  secret", 'kind: "secret', "kind: 'secret"), _in_yaml),
    (('kind":"secret', 'kind": "secret', 'kind\\":', "kind': 'secret"), _in_json),
)
