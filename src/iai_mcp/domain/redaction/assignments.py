"""Secrets that only their names give away: `password = "…"`, `API_KEY=…`, `token: …`."""

import re
from collections.abc import Iterator, Sequence

from iai_mcp.domain.redaction import sentences, tables
from iai_mcp.domain.redaction.keyword_scan import Span
from iai_mcp.domain.redaction.names import Family, family_of, is_credential
from iai_mcp.domain.redaction.values import Candidate, Manner, key_like, password_like

_LONGEST_NAME = 64
_NAME_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_REST_OF_NAME = re.compile(r"[\w-]{0,64}")
_QUOTE = r"(?:\\{0,3}[\"']|`{1,3}|&quot;|&\#3[49];|%22|%27)"
_TAG = r"</?(?:b|i|em|strong|code|tt|kbd|span|td|dd|p)>"
_COLOUR = r"(?:\x1b\[[0-9;]{0,12}m)?"
# What stands between a name and its value. The type of `password: str = "…"` is skipped.
_ASSIGNED = re.compile(
    rf"""
    {_COLOUR}(?:{_QUOTE}|[*_]{{1,3}}|{_TAG})?\]?{_COLOUR}[ \t]{{0,8}}
    (?P<sign>
        :[ \t]?[A-Za-z_][\w.|? \[\]]{{0,40}}(?:[ ]=(?!=)|=(?={_QUOTE}))
      | :=|=>|={{1,3}}|!=|::|[:：＝]|%3[AaDd]
      | ,(?=[ \t]{{0,24}}{_QUOTE})
    )
    [*_]{{0,3}}(?:[ \t]{{0,3}}{_TAG}){{0,2}}[ \t]{{0,24}}{_COLOUR}
    """,
    re.VERBOSE,
)
# Behind an option: a blank, or the next one of a list of arguments.
_FLAG_VALUE = re.compile(
    rf"[ \t=]{{1,8}}|{_QUOTE}[ \t]{{0,4}},\s{{0,20}}(?={_QUOTE})|\n[ \t]{{0,20}}- "
)
_QUOTED = re.compile(rf"[rbfunRBFUN@$]{{0,2}}(?P<open>{_QUOTE})(?P<value>[^\n]{{1,512}}?)(?P=open)")
_WHOLE_VALUE = re.compile(r"[^\s\"'`<>\x1b]{1,512}")
_PART_VALUE = re.compile(r"(?:(?!%2[267C]|%7D)[^\s\"'`<>,;&|(){}\[\]\x1b]){1,512}")
_ENCODED_VALUE = re.compile(r"(?:%(?!2[267C]|7D|26)[0-9A-Fa-f]{2}|[^\s%&\"'`<>]){1,512}")
# getenv("DB_PASSWORD") || "…": what is taken when there is none.
_DEFAULT = re.compile(
    r"[A-Za-z_$][^\n]{0,80}?(?:\?:|\|\||\?\?|\bor\b)[ \t]{0,3}"
    r"(?P<open>[\"'`])(?P<value>[^\"'`\n]{1,256})(?P=open)"
)
_IN_TAG = re.compile(r"<(?:\w{1,20}:)?\Z")
_ELEMENT_VALUE = re.compile(r"(?:[ \t][^<>\n]{0,100})?>\s{0,20}([^<>\s]{1,256})\s{0,20}</")
_ARGUMENT = re.compile(r"[(\[] ?[\"'`]\Z")  # setenv("NAME", "value"), ["NAME", "value"]
_CALLED = re.compile(
    r"\([ \t]{0,2}(?P<open>[\"'`])(?P<value>[^\"'`\n]{1,256})(?P=open)[ \t]{0,2}\)"
)
_SETTER = re.compile(
    r"(?i:(?:set|with|use|change|update|enter|type|fill|reset)[\w-]*|(?:[a-z]+_)?pass(?:word|wd|phrase)?|pwd?)\Z"
)
_BEFORE_FLAGS = ("", " ", "\t", "\n", '"', "'", "(", "[")
_SQL_VALUE = re.compile(r"[ \t]{1,4}(?:[NE](?='))?(?=')")  # PASSWORD 'value'
_WORD_BEFORE = re.compile(r"([A-Za-z]{2,12}) $")
_PROPERTY = re.compile(r"(?:^|\n)[\w.-]*\Z")
# Without one of these nothing near is a value: most sentences about passwords end here.
_TELLING = re.compile(r"[0-9!@#$%^&*+=?~\"“„`]|value")
_BEFORE = re.compile(r"[vV]alue|[ ](?:as|als|come?|como|comme|is|was|ist|est)[ ]|['’]s[ ]|\(")
_NEAR = 160
_PHRASE_LINE = re.compile(r"[a-z]{3,12}(?:[ ][a-z]{3,12}){3,8}(?=[ \t]{0,4}(?:\n|\Z))")
_ONE_OF_SEVERAL = re.compile(r"[&;][\w .-]{1,40}=|;$")
_ENDINGS = ".,;:!?)]}"
_KINDS = {"key": "api-key", "auth": "api-key", "access-token": "token"}


def find(text: str, hearts: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """Every value that its name gives away. `hearts` are where the names may be."""
    seen_up_to = 0
    for heart_start, heart_end in hearts:
        if heart_start < seen_up_to:
            continue
        start, end = _name_around(text, heart_start, heart_end)
        seen_up_to = end
        if text.startswith("PASS:", start) or text.startswith("[secret:", start - 1):
            continue  # what test runners say, and our own markers
        name, before = text[start:end], _word_before(text, start)
        family = family_of(name, before)
        if family == "token" and is_credential(name, before):
            family = "access-token"
        if family is not None:
            yield from _values_of(text, start, end, family)


def _name_around(text: str, start: int, end: int) -> tuple[int, int]:
    window = text[max(0, start - _LONGEST_NAME) : start]
    first = start - (len(window) - len(window.rstrip(_NAME_LETTERS)))
    rest = _REST_OF_NAME.match(text, end)
    return first, end if rest is None else rest.end()


def _word_before(text: str, start: int) -> str:
    found = _WORD_BEFORE.search(text, max(0, start - 14), start)
    return found[1] if found else ""


def _values_of(text: str, start: int, end: int, family: Family) -> Iterator[Span]:
    """The value of the name that stands from `start` to `end`, in whatever way it is given."""
    sign = _sign(text, start, end)
    span = (
        _passed(text, start, end, family)
        if sign is None
        else _assigned(text, start, end, sign, family)
    )
    if span is not None:
        yield span
        return
    if not _TELLING.search(text, end, end + _NEAR) and not _BEFORE.search(
        text, max(0, start - _NEAR), start
    ):
        return
    for at, value, manner in _candidates(text, start, end, assigned=sign is not None):
        span = _judge(value, at, family, manner)
        if span is not None:
            yield span


def _candidates(text: str, start: int, end: int, *, assigned: bool) -> Iterator[Candidate]:
    yield from tables.elsewhere(text, start, end)
    if not assigned:
        yield from tables.behind(text, start, end)
        yield from sentences.told(text, start, end)


def _sign(text: str, start: int, end: int) -> re.Match[str] | None:
    sign = _ASSIGNED.match(text, end)
    flag = text.startswith("-", start) and text[max(0, start - 1) : start] in _BEFORE_FLAGS
    if flag and (sign is None or sign["sign"] == ","):
        return _FLAG_VALUE.match(text, end)
    return sign


def _assigned(text: str, start: int, end: int, sign: re.Match[str], family: Family) -> Span | None:
    """The value behind a sign."""
    joined = sign.groupdict().get("sign") or ""
    if joined.startswith("%"):
        encoded = _ENCODED_VALUE.match(text, _behind_quote(text, sign.end()))
        return _judge(encoded[0], encoded.start(), family, "joined") if encoded else None
    name = text[start:end]
    setting = _is_setting(text, start, name, sign[0])
    quoted = _QUOTED.match(text, sign.end())
    if quoted is not None:
        if joined == "," and not _ARGUMENT.search(text, max(0, start - 3), start):
            return None
        # A list of names is no list of values, and `pass` has other meanings.
        doubtful = (joined == "," and family == "password") or name.lower() == "pass"
        manner: Manner = "told" if doubtful else "setting" if setting else "quoted"
        return _judge(quoted["value"], quoted.start("value"), family, manner)
    if name.lower().endswith("passphrase") and (phrase := _PHRASE_LINE.match(text, sign.end())):
        return _judge(phrase[0], sign.end(), family, "quoted")
    bare = _bare_value(text, sign.end(), sign[0], whole=setting and sign[0] == "=")
    manner = "setting" if setting else "joined" if sign[0] == "=" else "told"
    span = _judge(bare, sign.end(), family, manner) if bare else None
    if span is None and (default := _DEFAULT.match(text, sign.end())) is not None:
        return _judge(default["value"], default.start("value"), family, "told")
    return span


def _is_setting(text: str, start: int, name: str, sign: str) -> bool:
    """`NAME=value`, `SOME_NAME: value`, or `some.name=value` as the first thing of a line."""
    if sign == "=":
        return name.isupper() or _PROPERTY.search(text, max(0, start - 80), start) is not None
    return sign.rstrip() == ":" and name.isupper() and "_" in name


def _passed(text: str, start: int, end: int, family: Family) -> Span | None:
    """`<password>…</password>`, `setPassword("…")`, and `PASSWORD '…'` as in SQL."""
    in_tag = _IN_TAG.search(text, max(0, start - 24), start) is not None
    if in_tag and (element := _ELEMENT_VALUE.match(text, end)) is not None:
        return _judge(element[1], element.start(1), family, "quoted")
    if family != "password":
        return None
    if (call := _CALLED.match(text, end)) is not None and _SETTER.match(text[start:end]):
        return _judge(call["value"], call.start("value"), family, "told")
    before = _SQL_VALUE.match(text, end)
    quoted = None if before is None else _QUOTED.match(text, before.end())
    return _judge(quoted["value"], quoted.start("value"), family, "quoted") if quoted else None


def _behind_quote(text: str, at: int) -> int:
    return at + 3 if text.startswith(("%22", "%27"), at) else at


def _bare_value(text: str, at: int, sign: str, *, whole: bool) -> str:
    if whole or sign != "=":
        found = _WHOLE_VALUE.match(text, at)
        value = found[0] if found else ""
        if not whole:
            return value.rstrip(_ENDINGS)
        if not _ONE_OF_SEVERAL.search(value):
            return value
    # `password=…` may be one of several, in an address or a connection string.
    part = _PART_VALUE.match(text, at)
    if part is None or text.startswith(("(", "["), part.end()):
        return ""  # a call or a lookup that yields the secret
    return part[0].rstrip(".,:;")


def _judge(value: str, at: int, family: Family, manner: Manner) -> Span | None:
    if family == "password":
        secret = password_like(value, manner)
    elif family in ("key", "auth"):
        secret = key_like(value, "told", named=False)
        if family == "auth" and manner == "setting":
            secret = secret or password_like(value, "bare")
    else:
        secret = key_like(value, manner, named=family != "token" or manner == "setting")
    return (at, at + len(value), _KINDS.get(family, family)) if secret else None
