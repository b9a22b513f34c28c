"""Private keys: blocks of lines that say what they are, pasted in whatever quotes and indentation."""

import base64
import binascii
import re
from collections.abc import Iterator

from iai_mcp.domain.pieces import matches
from iai_mcp.domain.redaction.keyword_scan import Rule, Span
from iai_mcp.domain.redaction.values import filler

_LABEL = r"(?:[A-Za-z0-9]{1,12} ){0,3}(?:PRIVATE KEY(?: BLOCK)?|Static key V1)"
_BEGINS = re.compile(rf"-{{4,5}} ?BEGIN {_LABEL} ?-{{4,5}}")
_ENDS = re.compile(rf"-{{4,5}} ?END {_LABEL} ?-{{4,5}}")
_BODY = re.compile(r"[^\"'`_(){}]*")
# One line of letters, with what stands in front of it in code, quotations and changes.
_IN_FRONT = r"(?:[\s\"'\\+,>#*|.]|(?<=\\)[nr])"
_LINE = re.compile(
    rf"{_IN_FRONT}{{0,40}}(?:[A-Za-z0-9+/=]{{16,}}|=[A-Za-z0-9+/]{{4}}(?![\w+/=])"
    r"|(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n\\]{0,100})"
)
_LAST_LINE = re.compile(
    rf"{_IN_FRONT}{{1,40}}(?=[A-Za-z]{{0,14}}[0-9+/=])[A-Za-z0-9+/=]{{1,15}}(?![\w+/=])"
)
_PUTTY = "PuTTY-User-Key-File-"
_PUTTY_ENDS = re.compile(r"Private-MAC: [0-9a-f]{16,64}")
_PUTTY_PRIVATE = re.compile(r"Private-Lines: \d{1,3}")
_MINISIGN = re.compile(
    r"untrusted comment: [^\n]{0,100}secret key[^\n]{0,100}(?:\n|\\n)[ \t]{0,20}([A-Za-z0-9+/=]{40,400})"
)
# A key block that was encoded once more, as in manifests and variables of build systems.
_ENCODED = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{20,}={0,2}")
_JSON_KEY = re.compile(
    r"\\{0,3}\"(?:d|p|q|dp|dq|qi|k)\\{0,3}\"\s{0,4}:\s{0,4}\\{0,3}\"([\w-]{22,2048})"
)


def _blocks(text: str, lowered: str) -> Iterator[Span]:
    at = 0
    while (begin := _BEGINS.search(text, at)) is not None:
        at = begin.end()
        dashes = text.find("----", at)
        end = _ENDS.match(text, dashes) if dashes >= 0 else None
        if end is None or not _BODY.fullmatch(text, at, dashes):
            # Cut off, or in quotes line by line: taken as far as its letters go. A program that
            # only names the line has none.
            dashes = stop = _end_of_lines(text, at)
            if stop == at:
                continue
        else:
            stop = end.end()
        body = text[at:dashes]
        at = stop
        if not filler("".join(body.replace("\\n", "").split())[:200]):
            yield begin.start(), stop, "private-key"


def _putty_files(text: str, lowered: str) -> Iterator[Span]:
    start = text.find(_PUTTY)
    while start >= 0:
        following = text.find(_PUTTY, start + 1)
        stop = len(text) if following < 0 else following
        if (end := _PUTTY_ENDS.search(text, start, stop)) is not None:
            yield start, end.end(), "private-key"
        elif (lines := _PUTTY_PRIVATE.search(text, start, stop)) is not None:
            yield start, _end_of_lines(text, lines.end()), "private-key"
        start = following


def _end_of_lines(text: str, at: int) -> int:
    """Where the letters of a key end that begin at `at`."""
    stop = at
    while (line := _LINE.match(text, stop)) is not None:
        stop = line.end()
    if stop > at and (last := _LAST_LINE.match(text, stop)) is not None:
        return last.end()
    return stop


def _decoded(letters: str) -> bytes:
    try:
        return base64.b64decode(letters[: len(letters) // 4 * 4])
    except binascii.Error:
        return b""


def _minisign(text: str, lowered: str) -> Iterator[Span]:
    for match in matches(_MINISIGN, text):
        yield *match.span(1), "private-key"


def _encoded(text: str, lowered: str) -> Iterator[Span]:
    for match in _ENCODED.finditer(text):
        if b"PRIVATE KEY" in _decoded(match[0][:96]):
            yield *match.span(), "private-key"


def _json_keys(text: str, lowered: str) -> Iterator[Span]:
    for match in matches(_JSON_KEY, text):
        yield *match.span(1), "private-key"


RULES: tuple[Rule, ...] = (
    (("begin ",), _blocks),
    (("putty-user-key",), _putty_files),
    (("untrusted comment: ",), _minisign),
    (("ls0tls1crudjti",), _encoded),
    (('kty"', "kty\\"), _json_keys),
)
