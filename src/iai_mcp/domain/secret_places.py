"""Secrets that are known by the place they stand in: key blocks, addresses, headers, cookies.

`lowered` is always the text in lower case, letter by letter, so that places in it are the same.
"""

import re
from collections.abc import Iterator

from iai_mcp.domain.secret_assignments import Span
from iai_mcp.domain.secret_values import filler, key_like, stands_in

_KEY_BEGINS = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"[^\"'`_(){}]*")
_KEY_LINES = re.compile(r"(?:\s|\\[nr])*(?:[A-Za-z0-9+/=]{16,}(?:\s|\\[nr])*)+[A-Za-z0-9+/=]*")


def private_keys(text: str) -> Iterator[Span]:
    at = 0
    while (begin := _KEY_BEGINS.search(text, at)) is not None:
        at = begin.end()
        dashes = text.find("-----", at)
        end = _KEY_ENDS.match(text, dashes) if dashes >= 0 else None
        if end is None or not _KEY_BODY.fullmatch(text, at, dashes):
            # Cut off: taken as far as its letters go. A program that only names the line has none.
            end = _KEY_LINES.match(text, at)
        if end is not None:
            body = text[at : end.start()] if end.re is _KEY_ENDS else end[0]
            at = end.end()
            if not filler("".join(body.replace("\\n", "").split())[:200]):
                yield begin.start(), at, "private-key"


_IN_ADDRESS = re.compile(r"://([^\s:/?#@\"'`<>]{0,128}):([^\s@\"'`<>/]{1,256})@[\w\[$<{]")
_SIGNED = re.compile(
    r"[?&](?:sig|x-amz-signature|x-goog-signature|x-amz-security-token)=([^\s&\"'`<>]{16,2048})"
)


def in_addresses(text: str, lowered: str) -> Iterator[Span]:
    if "://" not in text:
        return
    for match in _IN_ADDRESS.finditer(text):
        if not stands_in(match[2]):
            yield *match.span(2), "url-password"
    for match in _SIGNED.finditer(lowered):
        if not stands_in(match[1]):
            yield *match.span(1), "signature"


_HEADER = re.compile(
    r"authorization\\?[\"'`]?[ \t]{0,3}[:=,][ \t]{0,3}\\?[\"'`]?"
    r"(?:(?:basic|bearer|token|digest|apikey|negotiate|bot)[ \t]{1,3})([a-z0-9._~+/=-]{8,4096})"
)
_BEARER = re.compile(r"bearer(?<![\w-]bearer)[ \t]{1,3}([a-z0-9._~+/=-]{20,4096})")
_LOGIN = r"[ \t=]{0,2}[\"']?[^\s:\"'$<{]{1,64}:([^\s\"']{1,128})"
_ARGUMENT = r"[\"']?([^\s\"']{4,128})"
# (needle, shape, kind): each shape begins with its needle, so that searching is a plain search.
_SPOKEN: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("authorization", _HEADER, "authorization"),
    ("bearer", _BEARER, "authorization"),
    ("curl", re.compile(rf"curl\b[^\n]{{0,200}}?[ \t]-u{_LOGIN}"), "password"),
    ("--user", re.compile(rf"--user(?=[ \t=]){_LOGIN}"), "password"),
    (
        "machine",
        re.compile(
            r"machine\s{1,4}\S{1,128}\s{1,4}login\s{1,4}\S{1,128}\s{1,4}password\s{1,4}(\S{1,128})"
        ),
        "password",
    ),
    ("sshpass", re.compile(rf"sshpass[ \t]{{1,3}}-p[ \t]{{0,3}}{_ARGUMENT}"), "password"),
    (
        "mysql",
        re.compile(rf"mysql(?:dump|admin)?\b[^\n|;]{{0,100}}?[ \t]-p{_ARGUMENT}"),
        "password",
    ),
)


def in_headers(text: str, lowered: str) -> Iterator[Span]:
    for needle, expression, kind in _SPOKEN:
        if needle not in lowered:
            continue
        for match in expression.finditer(lowered):
            value = text[match.start(1) : match.end(1)].rstrip(".,")
            spoken_word = expression is _BEARER and not any(c.isdigit() for c in value)
            if value and not spoken_word and not stands_in(value):
                yield match.start(1), match.start(1) + len(value), kind


_COOKIES = re.compile(r"cookie\\?[\"'`]?[ \t]{0,3}[:=,][ \t]{0,3}\\?[\"'`]?([^\n\"'`]{1,4096})")
_COOKIE = re.compile(r"[^=;\s]{1,64}=([^;\s]{16,4096})")


def in_cookies(text: str, lowered: str) -> Iterator[Span]:
    if "cookie" not in lowered:
        return
    for header in _COOKIES.finditer(lowered):
        for cookie in _COOKIE.finditer(text, *header.span(1)):
            if key_like(cookie[1], "told", named=True):
                yield *cookie.span(1), "cookie"
