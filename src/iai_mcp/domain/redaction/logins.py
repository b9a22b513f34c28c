"""Passwords that are known by standing next to a user's name: lines of files, calls, sentences."""

import re
from collections.abc import Iterator

from iai_mcp.domain.pieces import matches
from iai_mcp.domain.redaction.keyword_scan import Rule, Search, Span
from iai_mcp.domain.redaction.values import password_like, stands_in

# ann:…@10.0.0.3, ann:…@tcp(db:3306)
_HOST = re.compile(r"@(?:tcp\(|localhost|\d{1,3}(?:\.\d{1,3}){3})")
_BEFORE_HOST = re.compile(r"(?:\A|[\s\"'`=(])[\w.-]{1,32}:([^\s:@/\"'`]{8,64})\Z")
# machine example.org login ann password …, on one line or on several.
_NETRC = re.compile(
    r"(?:machine\s{1,4}\S{1,128}|default)\s{1,8}(?:(?:login|account)\s{1,4}\S{1,128}\s{1,8}){1,2}"
    r"password\s{1,4}(\S{1,128})"
)
# host:port:database:user:password
_PGPASS = re.compile(
    r":(?:\d{3,5}|\*):[\w*-]{1,64}:[\w*-]{1,64}:([^\s:]{6,128})[ \t]{0,8}$", re.MULTILINE
)
_PGPASS_HOST = re.compile(r"(?:\A|\n)[\w.*-]{1,128}\Z")
_WORDS_FOR_IT = r"(?:cred(?:ential|enciale)?s?|log ?in|zugangsdaten|user(?:name)?[ ]?/[ ]?(?:pass(?:word)?|pw))\b"
_USER = r"[`*]{0,2}[\w.@+-]{2,64}[`*]{0,2}"
# Right behind the word for it a slash will do: elsewhere that is a path.
_LOGIN = re.compile(
    rf"{_WORDS_FOR_IT}(?:[ ]?[:=]?[ ]{{1,2}}{_USER}[/:|]"
    rf"|[^\n]{{0,40}}?[\s(`\"'*]{_USER}(?:[ ](?:[/|]|and|und|et|y|e)[ ]|:))"
    r"[`*]{0,2}(?![/\\])(?P<value>[^\s\"'`<>|]{8,128})"
)
# `admin` / `…` as credentials: the word for it comes last.
_LOGIN_FIRST = re.compile(
    r"/(?<=[ `\"'*]/)[ ]?[`\"'*]{0,2}(?P<value>[^\s\"'`<>|/*]{8,128})[`\"'*)\]]{0,3}"
    r"[^\n/]{0,24}?(?:cred|login|pass|pw\b)"
)
# BasicAuth("ann", "…"), mysqli_connect("db", "ann", "…"), jwt.encode(claims, "…"): a string that
# something with such a name is called with, but not the first one.
_CALLED = re.compile(
    r"(?:(?:auth|credentials?|login|mysqli|getconnection|pdo)\w{0,16}|(?:jwt|hmac)\.\w{1,16})[ ]?[(=]?[ ]?[(\[]"
    r"(?P<arguments>[^()\n]{1,40},[^\n;]{1,200})"
)
_STRING = re.compile(r"[,(][ ]?(?:some\()?([\"'])(?P<value>[^\"'\n]{4,256})\1")


def _in_netrc(text: str, lowered: str) -> Iterator[Span]:
    for match in matches(_NETRC, lowered):
        if not stands_in(text[match.start(1) : match.end(1)]):
            yield *match.span(1), "password"


def _in_calls(text: str, lowered: str) -> Iterator[Span]:
    for call in matches(_CALLED, lowered):
        certain = call[0].startswith(("auth", "cred", "login"))
        for string in _STRING.finditer(lowered, *call.span("arguments")):
            at, end = string.span("value")
            if password_like(text[at:end], "told" if certain else "bare"):
                yield at, end, "password"
                break


def in_lines(text: str) -> Iterator[Span]:
    """Every password in a line of a `.pgpass` file, which no word gives away."""
    for match in matches(_PGPASS, text):
        host = _PGPASS_HOST.search(text, max(0, match.start() - 129), match.start())
        if host is not None and password_like(match[1], "told"):
            yield *match.span(1), "password"


def _of(shape: re.Pattern[str]) -> Search:
    def search(text: str, lowered: str) -> Iterator[Span]:
        for match in matches(shape, lowered):
            at = match.start("value")
            value = text[at : match.end("value")].rstrip(".,;:!?)")
            if password_like(value, "bare"):
                yield at, at + len(value), "password"

    return search


def _before_hosts(text: str, lowered: str) -> Iterator[Span]:
    for host in matches(_HOST, lowered):
        login = _BEFORE_HOST.search(text, max(0, host.start() - 100), host.start())
        if login is not None and password_like(login[1], "bare"):
            yield *login.span(1), "password"


RULES: tuple[Rule, ...] = (
    (("@tcp(", "@localhost", "@1"), _before_hosts),
    (("machine ", "machine\n", "login "), _in_netrc),
    (("cred", "login", "log in", "zugangsdaten", "/pass", "/ pass", "/pw"), _of(_LOGIN)),
    (("/ ", "/`"), _of(_LOGIN_FIRST)),
    (("auth", "credential", "login(", "connection(", "mysqli", "pdo(", "jwt.", "mac."), _in_calls),
)
