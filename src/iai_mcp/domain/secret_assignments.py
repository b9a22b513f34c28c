"""Secrets that only their surroundings give away: `password = "…"`, `API_KEY=…`, `token: …`."""

import re
from collections.abc import Iterator

from iai_mcp.domain.secret_names import HEARTS, Family, family_of
from iai_mcp.domain.secret_values import Manner, key_like, password_like

# start, end, kind
Span = tuple[int, int, str]

_LONGEST_NAME = 64
_NAME_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_REST_OF_NAME = re.compile(r"[\w-]{0,64}")
_QUOTE = r"\\{0,3}[\"'`]"
# What stands between a name and its value. The type of `password: str = "…"` is skipped.
_ASSIGNED = re.compile(
    rf"""
    (?:{_QUOTE})?\]?[ \t]{{0,8}}
    (?:(?:for|of|to|on|für|von|pour|para)[ ][\w .'@-]{{1,40}}?[ ]?(?=[:=]|(?<=[ ])(?:is|was)\b))?
    (?P<sign>
        :[ \t]?[A-Za-z_][\w.|? \[\]]{{0,40}}=(?!=)
      | :=|=>|={{1,3}}|!=|:
      | ,(?=[ \t]{{0,8}}{_QUOTE})
      | (?i:is|was|lautet|es|est)(?::|=)?(?=[ \t])
    )
    [ \t]{{0,8}}
    """,
    re.VERBOSE,
)
_FLAG_VALUE = re.compile(r"[ \t=]{1,8}")
_QUOTED = re.compile(rf"[rbfuRBFU]{{0,2}}(?P<open>{_QUOTE})(?P<value>[^\n]{{1,512}}?)(?P=open)")
_WHOLE_VALUE = re.compile(r"[^\s\"'`<>]{1,512}")
_PART_VALUE = re.compile(r"[^\s\"'`<>,;&|(){}\[\]]{1,512}")
_ELEMENT_VALUE = re.compile(r">([^<>\s]{1,256})</")
_ARGUMENT = re.compile(r"[(\[][\"'`]")  # setenv("NAME", "value"), ["NAME", "value"]
_WORD_BEFORE = re.compile(r"([A-Za-z]{2,12}) $")
_ENDINGS = ".,;:!?)]}"


def find(text: str, lowered: str) -> Iterator[Span]:
    """Every value that its name gives away. `lowered` is `text` in lower case, letter by letter."""
    seen_up_to = 0
    for heart in HEARTS.finditer(lowered):
        if heart.start() < seen_up_to:
            continue
        start, end = _name_around(text, heart.start(), heart.end())
        seen_up_to = end
        family = family_of(text[start:end], _word_before(text, start))
        if family is not None:
            span = _value_of(text, start, end, family)
            if span is not None:
                yield span


def _name_around(text: str, start: int, end: int) -> tuple[int, int]:
    window = text[max(0, start - _LONGEST_NAME) : start]
    first = start - (len(window) - len(window.rstrip(_NAME_LETTERS)))
    rest = _REST_OF_NAME.match(text, end)
    return first, end if rest is None else rest.end()


def _word_before(text: str, start: int) -> str:
    found = _WORD_BEFORE.search(text, max(0, start - 14), start)
    return found[1] if found else ""


def _value_of(text: str, start: int, end: int, family: Family) -> Span | None:
    element = _ELEMENT_VALUE.match(text, end) if text[start - 1 : start] == "<" else None
    if element is not None:
        return _judge(element[1], element.start(1), family, "quoted")
    sign = _ASSIGNED.match(text, end)
    if sign is None and text.startswith("--", start):
        sign = _FLAG_VALUE.match(text, end)
    if sign is None:
        return None
    name = text[start:end]
    setting = name.isupper() and (sign[0] == "=" or (sign[0].rstrip() == ":" and "_" in name))
    quoted = _QUOTED.match(text, sign.end())
    if quoted is not None:
        joined = sign.groupdict().get("sign", "")
        if joined == "," and not _ARGUMENT.match(text, max(0, start - 2)):
            return None
        # "the default of `password_hash` is `sha256`" talks about it, quotes or not, and a list
        # of names is no list of values.
        told = joined == "," or joined.strip(":=").isalpha()
        manner: Manner = "told" if told else "setting" if setting else "quoted"
        return _judge(quoted["value"], quoted.start("value"), family, manner)
    bare = _bare_value(text, sign.end(), sign[0], whole=setting and sign[0] == "=")
    manner = "setting" if setting else "joined" if sign[0] == "=" else "told"
    return _judge(bare, sign.end(), family, manner) if bare else None


def _bare_value(text: str, at: int, sign: str, *, whole: bool) -> str:
    if whole or "=" not in sign:
        found = _WHOLE_VALUE.match(text, at)
        value = found[0] if found else ""
        return value if whole else value.rstrip(_ENDINGS)
    # `password=…` may be one of several, in an address or a connection string.
    part = _PART_VALUE.match(text, at)
    if part is None or text.startswith(("(", "["), part.end()):
        return ""  # a call or a lookup that yields the secret
    return part[0].rstrip(".,:;")


def _judge(value: str, at: int, family: Family, manner: Manner) -> Span | None:
    if family == "password":
        secret = password_like(value, manner)
    else:
        named = family in ("secret", "api-key") or (family == "token" and manner == "setting")
        secret = key_like(value, "told" if family == "key" else manner, named=named)
    kind = "api-key" if family == "key" else family
    return (at, at + len(value), kind) if secret else None
