"""Values that only their name gives away: `password = "…"`, `API_KEY=…`, tables, pairs, the next line."""

import re
from collections.abc import Iterator, Sequence

from iai_mcp.domain.redaction import sentences
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


def find(text: str, names: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """Every value that its name gives away. `names` are where the names may be."""
    seen_up_to = 0
    for keyword_start, keyword_end in names:
        if keyword_start < seen_up_to:
            continue
        start, end = _name_around(text, keyword_start, keyword_end)
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
    match = _WORD_BEFORE.search(text, max(0, start - 14), start)
    return match[1] if match else ""


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
    yield from elsewhere(text, start, end)
    if not assigned:
        yield from behind(text, start, end)
        yield from sentences.values_after(text, start, end)


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
        manner: Manner = "sentence" if doubtful else "setting" if setting else "quoted"
        return _judge(quoted["value"], quoted.start("value"), family, manner)
    if name.lower().endswith("passphrase") and (phrase := _PHRASE_LINE.match(text, sign.end())):
        return _judge(phrase[0], sign.end(), family, "quoted")
    bare = _bare_value(text, sign.end(), sign[0], whole=setting and sign[0] == "=")
    manner = "setting" if setting else "joined" if sign[0] == "=" else "sentence"
    span = _judge(bare, sign.end(), family, manner) if bare else None
    if span is None and (default := _DEFAULT.match(text, sign.end())) is not None:
        return _judge(default["value"], default.start("value"), family, "sentence")
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
        return _judge(call["value"], call.start("value"), family, "sentence")
    before = _SQL_VALUE.match(text, end)
    quoted = None if before is None else _QUOTED.match(text, before.end())
    return _judge(quoted["value"], quoted.start("value"), family, "quoted") if quoted else None


def _behind_quote(text: str, at: int) -> int:
    return at + 3 if text.startswith(("%22", "%27"), at) else at


def _bare_value(text: str, at: int, sign: str, *, whole: bool) -> str:
    if whole or sign != "=":
        match = _WHOLE_VALUE.match(text, at)
        value = match[0] if match else ""
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
        secret = key_like(value, "sentence", named=False)
        if family == "auth" and manner == "setting":
            secret = secret or password_like(value, "bare")
    else:
        secret = key_like(value, manner, named=family != "token" or manner == "setting")
    return (at, at + len(value), _KINDS.get(family, family)) if secret else None


_JSON_QUOTE = r"\\{0,3}[\"']"
# `name: X`, `"Key": "X"`, `variable "X"`, `<property name="X"`: X is a name, its value has another.
_IS_NAMED = re.compile(
    rf"(?:name|key|variable|param|parameter|field|property|setting|env|id|type)(?:{_JSON_QUOTE})?"
    rf"[ \t]{{0,3}}(?:[:=]|=>|>)?[ \t]{{0,3}}(?:{_JSON_QUOTE})?[\w.:/-]{{0,40}}\Z",
    re.IGNORECASE,
)
_ITS_VALUE = re.compile(
    rf"(?:(?!\b(?:name|key|id)\b|[}}]|\n[ \t]*-[ ]).){{0,160}}?\b(?:[a-z]{{0,12}}value|default|content)"
    rf"(?:{_JSON_QUOTE})?[ \t]{{0,3}}(?P<sign>[:=]|=>)[ \t]{{0,3}}(?:(?P<open>{_JSON_QUOTE})(?P<quoted>[^\n]{{1,512}}?)(?P=open)"
    r"|(?P<plain>[^\s\"'<>,]{1,512}))",
    re.IGNORECASE | re.DOTALL,
)
_ITS_TEXT = re.compile(
    r"(?:[\w.-]{0,40}[\"'][^<>\n]{0,80}>\s{0,20}(?:<value>)?|[\w.-]{0,40}</\w{1,20}>\s{0,40}<\w{1,20}>)"
    r"([^<>\s]{1,256})\s{0,20}</",
    re.IGNORECASE,
)
_VALUE_FIRST = re.compile(
    rf"value(?:{_JSON_QUOTE})?[ \t]{{0,3}}[:=][ \t]{{0,3}}(?P<open>{_JSON_QUOTE})(?P<quoted>[^\"'\n]{{1,200}})(?P=open)"
    rf",?\s{{1,40}}(?:{_JSON_QUOTE})?(?:name|key)(?:{_JSON_QUOTE})?[ \t]{{0,3}}[:=][ \t]{{0,3}}(?:{_JSON_QUOTE})?[\w.:/-]{{0,40}}\Z",
    re.IGNORECASE,
)
# page.fill("#password", "…"), find("password").type("…")
_ENTERED = re.compile(
    r"[\w-]{0,20}[\"'`\])]{1,5}(?:\.(?P<verb>send_?keys|sendKeys|type|fill|val|setValue|set)\([ \t]{0,3}|,[ \t]{0,3})"
    r"(?P<open>[\"'`])(?P<value>[^\"'`\n]{4,256})(?P=open)"
)
_FIRST_STRING = re.compile(r"\([\"'`][^\"'`(),\n]{0,40}\Z")
# The rest of the line is empty, and the next one holds nothing but a value.
_NEXT_LINE = re.compile(
    r"(?:[\"'`*_]{0,3}|[ \t]\([^()\n]{1,30}\))(?P<more>[ ,][^\n:=]{1,60}?)?[ \t]{0,3}(?P<sign>[:：=])?[*_]{0,3}"
    r"[ \t]{0,4}(?:[|>][+-]?)?[ \t]{0,8}\r?\n(?:[ \t]{0,40}\r?\n)?(?:[ \t]{0,40}```\w{0,12}\r?\n)?"
    r"[ \t]{0,40}[\"'`*]{0,3}(?P<value>[^\s\"'`<>]{6,512})[\"'`*]{0,3}[ \t]{0,8}(?=[\r\n]|\Z)"
)
_LABEL = re.compile(r"[ \t#>*•-]{0,10}(?:[\w()./&'’*-]{1,20}[ ]){0,4}[\w*-]{0,24}\Z")
# `set NAME value`, and a line that is nothing but a name and its value.
_NEXT_WORD = re.compile(
    r"[\"']?(?:[ ](?:root|admin|db|wifi|test|prod|staging))?[ \t]{1,8}(?:[0-9][ ])?"
    r"[\"'`]?(?P<value>[^\s\"'`<>|]{6,512})[\"'`]?(?P<last>[ \t]{0,8}(?:[\r\n]|\Z))?"
)
_NEXT_PHRASE = re.compile(r"[ ]{1,3}[\"“]([a-z]{3,12}(?: [a-z]{3,12}){3,8})[\"”]")
# | NAME | value |
_NEXT_CELL = re.compile(
    r"[`*]{0,2}[ \t]{0,40}\|[ \t]{0,40}[`*]{0,2}(?P<value>[^\s|`*]{6,512})[`*]{0,2}[ \t]{0,40}\|"
)
_SETS = re.compile(
    r"(?:^|[\s:;|&(])(?:set|setx|setenv|env|put|write|config|export|define|arg|add)[ \t](?:-{1,2}[\w-]{1,24}[ \t]){0,3}"
    r"[\"']?[\w.:/@-]{0,64}\Z",
    re.IGNORECASE,
)
# INSERT INTO users (…, password, …) VALUES (…), (…)
_INSERTED = re.compile(r"[^()]{0,400}\)\s{0,20}values\s{0,20}(?=\()", re.IGNORECASE)
_LITERAL = re.compile(
    r"\s{0,20}(?:[NE]?'(?P<value>(?:[^'\n]|''){0,512})'|[^,()'\n]{0,200})\s{0,20}(?P<sign>[,)]?)"
)
_NEXT_INSERTED = re.compile(r"\s{0,20},\s{0,20}(?=\()")
_LONGEST_LINE = 1000
_ROWS = 50
_LONGEST_ROW = 2000
_CELLS = 24
_RULE_OFF = re.compile(r"[ \t]{0,8}\|?[ \t:|+-]{3,400}\Z")
_PLAIN_CELLS = re.compile(r"[\w \"'.-]{1,40}(?:[,;\t][\w \"'.-]{1,40}){1,23}\r?\Z")


def elsewhere(text: str, start: int, end: int) -> Iterator[Candidate]:
    """What may be the value of the name from `start` to `end`, and stands apart from it."""
    yield from _paired(text, start, end)
    yield from _inserted(text, start, end)
    line_start = _line_start(text, start)
    if line_start is not None:
        yield from _below(text, line_start, start, end)


def behind(text: str, start: int, end: int) -> Iterator[Candidate]:
    """What may be the value because it is the next word."""
    if (phrase := _NEXT_PHRASE.match(text, end)) is not None:
        yield phrase.start(1), phrase[1], "quoted"
    match = _NEXT_WORD.match(text, end)
    line_start = _line_start(text, start)
    if match is None or line_start is None or match["value"].endswith("..."):
        return
    value = match["value"].rstrip(".,;:!?)]}")
    if _SETS.search(text, max(line_start, start - 160), start):
        yield match.start("value"), value, "joined"
        return
    alone = match["last"] is not None and not text[line_start:start].strip(" \t\"'-*>$")
    yield match.start("value"), value, "sentence" if alone else "bare"


def _line_start(text: str, start: int) -> int | None:
    """Where the line begins, if it is no more than a long sentence before `start`."""
    match = text.rfind("\n", max(0, start - _LONGEST_LINE), start) + 1
    return match if match or start <= _LONGEST_LINE else None


def _line_end(text: str, end: int) -> int | None:
    """Where the line ends, if it is no more than a long sentence behind `end`."""
    match = text.find("\n", end, end + _LONGEST_LINE)
    if match < 0 and len(text) <= end + _LONGEST_LINE:
        return len(text)
    return match if match >= 0 else None


def _paired(text: str, start: int, end: int) -> Iterator[Candidate]:
    if (match := _ENTERED.match(text, end)) is not None:
        if match["verb"]:
            yield match.start("value"), match["value"], "sentence"
        elif _FIRST_STRING.search(text, max(0, start - 44), start):
            yield match.start("value"), match["value"], "bare"
    tag = text.startswith(("<", ">"), start - 1)
    if not tag and _IS_NAMED.search(text, max(0, start - 72), start) is None:
        return
    if (match := _ITS_VALUE.match(text, end)) is not None:
        group = "plain" if match["quoted"] is None else "quoted"
        # `value=name` in code is a variable; `value: name` in a manifest is what it says.
        manner: Manner = (
            "quoted" if group == "quoted" else "sentence" if match["sign"] == "=" else "setting"
        )
        yield match.start(group), match[group], manner
    elif (element := _ITS_TEXT.match(text, end)) is not None:
        yield element.start(1), element[1], "quoted"
    elif (earlier := _VALUE_FIRST.search(text, max(0, start - 320), start)) is not None:
        yield earlier.start("quoted"), earlier["quoted"], "quoted"


def _inserted(text: str, start: int, end: int) -> Iterator[Candidate]:
    """What a statement of SQL puts into the column of that name."""
    opened = text.rfind("(", max(0, start - 400), start)
    row = _INSERTED.match(text, end) if opened >= 0 else None
    column = text.count(",", opened, start)
    for _ in range(_ROWS):
        if row is None:
            return
        at = row.end() + 1
        for number in range(_CELLS):
            literal = _LITERAL.match(text, at)
            if literal is None or not literal["sign"]:
                return
            at = literal.end()
            if number == column and literal["value"]:
                yield literal.start("value"), literal["value"], "quoted"
            if literal["sign"] == ")":
                break
        row = _NEXT_INSERTED.match(text, at)


def _below(text: str, line_start: int, start: int, end: int) -> Iterator[Candidate]:
    match = _NEXT_LINE.match(text, end)
    if match is not None and not match["value"].endswith((":", "{", "[", "(", ",")):
        if match["sign"]:
            yield match.start("value"), match["value"], "bare" if match["more"] else "sentence"
        elif not match["more"] and _LABEL.match(text, line_start, start):
            yield match.start("value"), match["value"], "bare"
    line_end = _line_end(text, end)
    if line_end is None:
        return
    header = text[line_start:line_end]
    if "|" in header:
        if (cell := _NEXT_CELL.match(text, end)) is not None:
            yield cell.start("value"), cell["value"], "sentence"
        yield from _column(text, header, start - line_start, line_end + 1)
    elif _PLAIN_CELLS.match(header) and _begins_a_list(text, line_start):
        yield from _listed(text, header, start - line_start, line_end + 1)


def _column(text: str, header: str, offset: int, at: int) -> Iterator[Candidate]:
    """The cells below one of a Markdown table."""
    column = header.count("|", 0, offset)
    rows = _rows(text, at)
    first = next(rows, None)
    if first is None or column > _CELLS or not _RULE_OFF.match(first[1]):
        return
    for row_start, row in rows:
        if "|" not in row or _RULE_OFF.match(row):
            return
        yield from _cell(row, row_start, "|", column)


def _listed(text: str, header: str, offset: int, at: int) -> Iterator[Candidate]:
    """The values below one name of a list that is separated by commas."""
    sign = next(c for c in header if c in ",;\t")
    column = header.count(sign, 0, offset)
    for row_start, row in _rows(text, at):
        if row.count(sign) != header.count(sign):
            return
        yield from _cell(row, row_start, sign, column)


def _rows(text: str, at: int) -> Iterator[tuple[int, str]]:
    for _ in range(_ROWS):
        end = text.find("\n", at, at + _LONGEST_ROW)
        if end < 0:
            if at < len(text) <= at + _LONGEST_ROW:
                yield at, text[at:]
            return
        yield at, text[at:end]
        at = end + 1


def _cell(row: str, row_start: int, sign: str, column: int) -> Iterator[Candidate]:
    cells = row.split(sign)
    if column >= len(cells):
        return
    cell = cells[column]
    value = cell.strip(" \t\r`*\"'")
    if value and " " not in value:
        at = row_start + sum(len(item) + 1 for item in cells[:column]) + cell.index(value)
        yield at, value, "sentence"


def _begins_a_list(text: str, line_start: int) -> bool:
    """Whether nothing but a blank line or a fence stands above: each list is read once."""
    before = text[max(0, line_start - 80) : line_start].rstrip(" \t")
    above = before.rstrip("\r\n").rpartition("\n")[2].strip()
    return (
        not before.strip()
        or before.endswith("\n\n")
        or above.startswith("```")
        or above.endswith(":")
    )
