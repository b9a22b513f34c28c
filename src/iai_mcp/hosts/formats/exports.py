"""The conversations of a service's export, one at a time: the file may be hundreds of megabytes."""

from iai_mcp.hosts.reader import NotATranscriptError, Reading, contents
from iai_mcp.hosts.turns import Record
from iai_mcp.protocol.compact_json import scan

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_BETWEEN = " \t\r\n,"


def conversations(reading: Reading) -> "Iterator[Record]":
    """Each object of the list that the file is (or the one object); what is damaged is counted."""
    text = contents(reading).decode("utf-8-sig", "replace")
    at = _pass(text, 0)
    if text[at : at + 1] != "[":
        whole, _ = scan(text, at)
        if not isinstance(whole, dict):
            raise NotATranscriptError("no conversations in it")
        held = whole.get("conversations")
        for item in held if isinstance(held, list) else [whole]:
            yield from _checked(item, reading)
        return
    at = _pass(text, at + 1)
    while text[at : at + 1] not in ("", "]"):
        item, at = scan(text, at)
        yield from _checked(item, reading)
        at = _pass(text, at)
    if at >= len(text):
        reading.skipped += 1  # the list has no end: the file was cut


def _checked(item: object, reading: Reading) -> "Iterator[Record]":
    if isinstance(item, dict):
        yield item
    else:
        reading.skipped += 1


def _pass(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BETWEEN:
        at += 1
    return at
