"""Secrets known by the format around them: private key blocks, Kubernetes manifests, URLs, headers, cookies."""

import base64
import binascii
import re
from collections.abc import Generator, Iterator

from iai_mcp.domain.pieces import matches
from iai_mcp.domain.redaction.keyword_scan import Rule, Search, Span
from iai_mcp.domain.redaction.values import filler, is_uuid, key_like, stands_in

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
    match = _VALUE.match(written)
    value = match[1] if match else ""
    if (
        match
        and value
        and value not in ("|", ">", "|-", ">-", "|+", ">+", "{}")
        and not stands_in(value)
    ):
        yield at + match.start(1), at + match.end(1), "kubernetes-secret"


def _depth(line: str) -> int:
    match = _INDENTATION.match(line)
    return match.end() if match else 0


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


MANIFESTS: tuple[Rule, ...] = (
    (("kind: secret", "kind:  secret", 'kind: "secret', "kind: 'secret"), _in_yaml),
    (('kind":"secret', 'kind": "secret', 'kind\\":', "kind': 'secret"), _in_json),
)


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


PRIVATE_KEYS: tuple[Rule, ...] = (
    (("begin ",), _blocks),
    (("putty-user-key",), _putty_files),
    (("untrusted comment: ",), _minisign),
    (("ls0tls1crudjti",), _encoded),
    (('kty"', "kty\\"), _json_keys),
)


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
        if key_like(match[1], "sentence", named=True):
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
            if key_like(cookie[1], "sentence", named=True):
                yield *cookie.span(1), "cookie"


def _sessions(text: str, lowered: str) -> Iterator[Span]:
    for match in matches(_SESSION, lowered):
        value = text[match.start(1) : match.end(1)]
        # What has the form of an id is one: agents write the ids of their sessions everywhere.
        if key_like(value, "quoted", named=True) and not is_uuid(value):
            yield *match.span(1), "cookie"


ADDRESSES: tuple[Rule, ...] = (
    (("://",), _in_addresses),
    (("sig=", "sign=", "signature=", "-amz-", "mac="), _signatures),
    (("authorization",), _of_header(_HEADER)),
    (("bearer",), _of_header(_BEARER)),
    (("auth plain", "auth login", "auth xoauth2"), _of_header(_MAIL_LOGIN)),
    (("cookie",), _in_cookies),
    (("sessid", "sessionid", "t.sid", "_session="), _sessions),
)
