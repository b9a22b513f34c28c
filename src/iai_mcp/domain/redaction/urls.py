"""Secrets that are known by the place they stand in: addresses, headers, cookies."""

import re
from collections.abc import Iterator

from iai_mcp.domain.pieces import matches
from iai_mcp.domain.redaction.keyword_scan import Rule, Search, Span
from iai_mcp.domain.redaction.values import is_uuid, key_like, stands_in

_IN_ADDRESS = re.compile(r"://([^\s:/?#@\"'`<>\[]{0,128}):([^\s@\"'`<>/]{1,256})@[\w\[$<{]")
_ALONE_IN_ADDRESS = re.compile(r"https?://([\w%~.+=-]{16,256})(?::x-oauth-basic)?@[\w\[]")
_SIGNED = re.compile(
    r"[?&](?:sig|sign|signature|hmac|x-amz-signature|x-goog-signature|x-oss-signature"
    r"|x-amz-security-token)=([^\s&\"'`<>]{16,2048})"
)


def _signatures(text: str, lowered: str) -> Iterator[Span]:
    for match in matches(_SIGNED, lowered):
        if not stands_in(match[1]):
            yield *match.span(1), "signature"


def _in_addresses(text: str, lowered: str) -> Iterator[Span]:
    for match in matches(_IN_ADDRESS, text):
        if not stands_in(match[2]):
            yield *match.span(2), "url-password"
    for match in matches(_ALONE_IN_ADDRESS, text):
        if key_like(match[1], "told", named=True):
            yield *match.span(1), "url-password"


_HEADER = re.compile(
    r"authorization\\{0,3}[\"'`]?\]?(?:[ \t]{0,3}[:=,][ \t]{0,3}\\{0,3}[\"'`]?|[ \t]{1,3}\\{0,3}[\"'`])"
    r"(?:(?:basic|bearer|token|digest|apikey|negotiate|bot|key)[ \t]{1,3})([a-z0-9._~+/=-]{8,4096})"
)
_BEARER = re.compile(r"bearer(?<![\w-]bearer)[ \t]{1,3}([a-z0-9._~+/=-]{20,4096})")
_MAIL_LOGIN = re.compile(r"auth (?:plain|login|xoauth2) ([a-z0-9+/]{12,2048}={0,2})(?![\w+/])")


def _of_header(expression: re.Pattern[str]) -> Search:
    def search(text: str, lowered: str) -> Iterator[Span]:
        for match in matches(expression, lowered):
            value = text[match.start(1) : match.end(1)].rstrip(".,")
            spoken_word = expression is _BEARER and not any(c.isdigit() for c in value)
            if value and not spoken_word and not stands_in(value):
                yield match.start(1), match.start(1) + len(value), "authorization"

    return search


_COOKIES = re.compile(
    r"cookies?\\{0,3}[\"'`]?(?:[ \t]{0,3}[:=,][ \t]{0,3}|[ \t]{1,3}(?=[\"']))\{?\\{0,3}[\"'`]?([^\n]{1,4096})"
)
_COOKIE = re.compile(r"[\w.$%-]{1,64}[\"']?[ \t]{0,2}[=:][ \t]{0,2}[\"']?([^;,\s\"'`{}]{16,4096})")
# Names of cookies that hold a session, wherever they stand.
_SESSION = re.compile(
    r"(?:phpsessid|jsessionid|sessionid|connect\.sid|aspsessionid\w{0,16}|asp\.net_sessionid|_session)"
    r"[\"']?(?:[ \t]{0,2}=[ \t]{0,2}[\"']?|\t)([^;,&\s\"'`{}<>]{16,4096})"
)


def _in_cookies(text: str, lowered: str) -> Iterator[Span]:
    for header in matches(_COOKIES, lowered):
        for cookie in _COOKIE.finditer(text, *header.span(1)):
            if key_like(cookie[1], "told", named=True):
                yield *cookie.span(1), "cookie"


def _sessions(text: str, lowered: str) -> Iterator[Span]:
    for match in matches(_SESSION, lowered):
        value = text[match.start(1) : match.end(1)]
        # What has the form of an id is one: agents write the ids of their sessions everywhere.
        if key_like(value, "quoted", named=True) and not is_uuid(value):
            yield *match.span(1), "cookie"


RULES: tuple[Rule, ...] = (
    (("://",), _in_addresses),
    (("sig=", "sign=", "signature=", "-amz-", "mac="), _signatures),
    (("authorization",), _of_header(_HEADER)),
    (("bearer",), _of_header(_BEARER)),
    (("auth plain", "auth login", "auth xoauth2"), _of_header(_MAIL_LOGIN)),
    (("cookie",), _in_cookies),
    (("sessid", "sessionid", "t.sid", "_session="), _sessions),
)
