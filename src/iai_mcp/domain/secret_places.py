"""Secrets that are known by the place they stand in: addresses, headers, cookies, certain files.

`lowered` is always the text in lower case, letter by letter, so that places in it are the same.
"""

import re
from collections.abc import Iterator

from iai_mcp.domain.secret_tokens import Span
from iai_mcp.domain.secret_values import Manner, key_like, password_like, stands_in


def has_any(lowered: str, needles: tuple[str, ...]) -> bool:
    # A list costs less than a generator, which would cost more than the search itself.
    return any([needle in lowered for needle in needles])  # noqa: C419


_IN_ADDRESS = re.compile(r"://([^\s:/?#@\"'`<>]{0,128}):([^\s@\"'`<>/]{1,256})@[\w\[$<{]")
_ALONE_IN_ADDRESS = re.compile(r"://([\w%~.+=-]{16,256})(?::x-oauth-basic)?@[\w\[]")
_SIGNED = re.compile(
    r"[?&](?:sig|sign|signature|hmac|x-amz-signature|x-goog-signature|x-oss-signature"
    r"|x-amz-security-token|x-amz-credential-token|awsaccesskeyid-signature)=([^\s&\"'`<>]{16,2048})"
)


def in_addresses(text: str, lowered: str) -> Iterator[Span]:
    if "://" not in text:
        return
    for match in _IN_ADDRESS.finditer(text):
        if not stands_in(match[2]):
            yield *match.span(2), "url-password"
    for match in _ALONE_IN_ADDRESS.finditer(text):
        if key_like(match[1], "told", named=True):
            yield *match.span(1), "url-password"
    for match in _SIGNED.finditer(lowered):
        if not stands_in(match[1]):
            yield *match.span(1), "signature"


_HEADER = re.compile(
    r"authorization\\{0,3}[\"'`]?(?:[ \t]{0,3}[:=,][ \t]{0,3}\\{0,3}[\"'`]?|[ \t]{1,3}\\{0,3}[\"'`])"
    r"(?:(?:basic|bearer|token|digest|apikey|negotiate|bot|key)[ \t]{1,3})([a-z0-9._~+/=-]{8,4096})"
)
_BEARER = re.compile(r"bearer(?<![\w-]bearer)[ \t]{1,3}([a-z0-9._~+/=-]{20,4096})")
_MAIL_LOGIN = re.compile(r"auth (?:plain|login|xoauth2)[ ]([a-z0-9+/]{12,2048}={0,2})(?![\w+/])")
# machine example.org login ann password …, on one line or on several, in any order of the two.
_NETRC = re.compile(
    r"(?:machine\s{1,4}\S{1,128}|default)\s{1,8}(?:(?:login|account)\s{1,4}\S{1,128}\s{1,8}){1,2}"
    r"password\s{1,4}(\S{1,128})"
)
# (needle, shape, kind): each shape begins with its needle, so that searching is a plain search.
_SPOKEN: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("authorization", _HEADER, "authorization"),
    ("bearer", _BEARER, "authorization"),
    ("auth ", _MAIL_LOGIN, "authorization"),
    ("password", _NETRC, "password"),
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


_COOKIES = re.compile(
    r"cookies?\\{0,3}[\"'`]?(?:[ \t]{0,3}[:=,][ \t]{0,3}|[ \t]{1,3}(?=[\"']))\{?\\{0,3}[\"'`]?([^\n]{1,4096})"
)
_COOKIE = re.compile(r"[\w.$%-]{1,64}[\"']?[ \t]{0,2}[=:][ \t]{0,2}[\"']?([^;,\s\"'`{}]{16,4096})")
# Names of cookies that hold a session, wherever they stand.
_SESSION_NEEDLES = ("sessid", "sessionid", ".sid", "_session=")
_SESSION = re.compile(
    r"(?:phpsessid|jsessionid|sessionid|connect\.sid|aspsessionid\w{0,16}|asp\.net_sessionid|_session)"
    r"[\"']?[ \t]{0,2}=[ \t]{0,2}[\"']?([^;,&\s\"'`{}<>]{16,4096})"
)


def in_cookies(text: str, lowered: str) -> Iterator[Span]:
    if "cookie" in lowered:
        for header in _COOKIES.finditer(lowered):
            for cookie in _COOKIE.finditer(text, *header.span(1)):
                if key_like(cookie[1], "told", named=True):
                    yield *cookie.span(1), "cookie"
    if has_any(lowered, _SESSION_NEEDLES):
        for match in _SESSION.finditer(lowered):
            value = text[match.start(1) : match.end(1)]
            if key_like(value, "told", named=True):
                yield *match.span(1), "cookie"


# host:port:database:user:password
_PGPASS = re.compile(
    r":(?:\d{3,5}|\*):[\w*-]{1,64}:[\w*-]{1,64}:([^\s:]{6,128})[ \t]*$", re.MULTILINE
)
_PGPASS_HOST = re.compile(r"(?:\A|\n)[\w.*-]{1,128}\Z")
_LOGIN_NEEDLES = ("cred", "login", "log in", "/pass", "/ pass", "zugangsdaten")
_LOGIN = re.compile(
    r"(?:cred(?:ential|enciale)?s?|log ?in|zugangsdaten|user(?:name)?[ ]?/[ ]?pass(?:word)?)\b"
    r"[^\n]{0,40}?[\s:(`\"'*]([\w.@+-]{2,64})[`*]{0,2}(?:[ ]?/[ ]?|:|[ ]\|[ ])[`*]{0,2}(?P<value>[^\s\"'`<>|]{8,128})"
)
# `admin` / `…` as credentials: the word for it comes last.
_LOGIN_FIRST = re.compile(
    r"/(?<=[ `\"'*]/)[ ]?[`\"'*]{0,2}(?P<value>[^\s\"'`<>|/*]{8,128})[`\"'*)\]]{0,3}[^\n/]{0,24}?(?:cred|login|pass|pw\b)"
)
# BasicAuth("ann", "…"): the second of two strings that something with such a name is called with.
_TWO_STRINGS = ('", "', "', '", '","', "','", ",\n")
_CALLED_NEEDLES = ("auth", "credential", "login(", "connect(", "connection(", "mysqli(", "pdo(")
_CALLED = re.compile(
    r"(?:auth|credentials?|login|connect(?:ion)?|mysqli|pdo)\w{0,12}[ ]?[(=]?[ ]?[(\[]"
    r"(?:[^()\"'\n]{0,80}[,\s])?([\"'])[^\"'\n]{0,128}\1,\s{0,20}(?:some\()?([\"'])(?P<value>[^\"'\n]{4,256})\2"
)


def in_logins(text: str, lowered: str) -> Iterator[Span]:
    """Logins as a whole: `host:port:database:user:password`, `login: ann / …`, `login("ann", "…")`."""
    for match in _PGPASS.finditer(text):
        host = _PGPASS_HOST.search(text, max(0, match.start() - 129), match.start())
        if host is not None and password_like(match[1], "told"):
            yield *match.span(1), "password"
    if has_any(lowered, _LOGIN_NEEDLES):
        yield from _second(_LOGIN, text, lowered, "bare")
    if has_any(lowered, (" / ", "`/`")):
        yield from _second(_LOGIN_FIRST, text, lowered, "bare")
    if has_any(text, _TWO_STRINGS) and has_any(lowered, _CALLED_NEEDLES):
        yield from _second(_CALLED, text, lowered, "told")


def _second(shape: re.Pattern[str], text: str, lowered: str, manner: Manner) -> Iterator[Span]:
    for match in shape.finditer(lowered):
        at = match.start("value")
        value = text[at : match.end("value")].rstrip(".,;:!?)")
        if password_like(value, manner):
            yield at, at + len(value), "password"
