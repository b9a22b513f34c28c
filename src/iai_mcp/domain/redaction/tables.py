"""Values that do not stand right behind their names: in pairs, on the next line, below in a table."""

import re
from collections.abc import Iterator

from iai_mcp.domain.redaction.values import Candidate, Manner

_QUOTE = r"\\{0,3}[\"']"
# `name: X`, `"Key": "X"`, `variable "X"`, `<property name="X"`: X is a name, its value has another.
_IS_NAMED = re.compile(
    rf"(?:name|key|variable|param|parameter|field|property|setting|env|id|type)(?:{_QUOTE})?"
    rf"[ \t]{{0,3}}(?:[:=]|=>|>)?[ \t]{{0,3}}(?:{_QUOTE})?[\w.:/-]{{0,40}}\Z",
    re.IGNORECASE,
)
_ITS_VALUE = re.compile(
    rf"(?:(?!\b(?:name|key|id)\b|[}}]|\n[ \t]*-[ ]).){{0,160}}?\b(?:[a-z]{{0,12}}value|default|content)"
    rf"(?:{_QUOTE})?[ \t]{{0,3}}(?P<sign>[:=]|=>)[ \t]{{0,3}}(?:(?P<open>{_QUOTE})(?P<quoted>[^\n]{{1,512}}?)(?P=open)"
    r"|(?P<plain>[^\s\"'<>,]{1,512}))",
    re.IGNORECASE | re.DOTALL,
)
_ITS_TEXT = re.compile(
    r"(?:[\w.-]{0,40}[\"'][^<>\n]{0,80}>\s{0,20}(?:<value>)?|[\w.-]{0,40}</\w{1,20}>\s{0,40}<\w{1,20}>)"
    r"([^<>\s]{1,256})\s{0,20}</",
    re.IGNORECASE,
)
_VALUE_FIRST = re.compile(
    rf"value(?:{_QUOTE})?[ \t]{{0,3}}[:=][ \t]{{0,3}}(?P<open>{_QUOTE})(?P<quoted>[^\"'\n]{{1,200}})(?P=open)"
    rf",?\s{{1,40}}(?:{_QUOTE})?(?:name|key)(?:{_QUOTE})?[ \t]{{0,3}}[:=][ \t]{{0,3}}(?:{_QUOTE})?[\w.:/-]{{0,40}}\Z",
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
    found = _NEXT_WORD.match(text, end)
    line_start = _line_start(text, start)
    if found is None or line_start is None or found["value"].endswith("..."):
        return
    value = found["value"].rstrip(".,;:!?)]}")
    if _SETS.search(text, max(line_start, start - 160), start):
        yield found.start("value"), value, "joined"
        return
    alone = found["last"] is not None and not text[line_start:start].strip(" \t\"'-*>$")
    yield found.start("value"), value, "told" if alone else "bare"


def _line_start(text: str, start: int) -> int | None:
    """Where the line begins, if it is no more than a long sentence before `start`."""
    found = text.rfind("\n", max(0, start - _LONGEST_LINE), start) + 1
    return found if found or start <= _LONGEST_LINE else None


def _line_end(text: str, end: int) -> int | None:
    """Where the line ends, if it is no more than a long sentence behind `end`."""
    found = text.find("\n", end, end + _LONGEST_LINE)
    if found < 0 and len(text) <= end + _LONGEST_LINE:
        return len(text)
    return found if found >= 0 else None


def _paired(text: str, start: int, end: int) -> Iterator[Candidate]:
    if (found := _ENTERED.match(text, end)) is not None:
        if found["verb"]:
            yield found.start("value"), found["value"], "told"
        elif _FIRST_STRING.search(text, max(0, start - 44), start):
            yield found.start("value"), found["value"], "bare"
    tag = text.startswith(("<", ">"), start - 1)
    if not tag and _IS_NAMED.search(text, max(0, start - 72), start) is None:
        return
    if (found := _ITS_VALUE.match(text, end)) is not None:
        group = "plain" if found["quoted"] is None else "quoted"
        # `value=name` in code is a variable; `value: name` in a manifest is what it says.
        manner: Manner = (
            "quoted" if group == "quoted" else "told" if found["sign"] == "=" else "setting"
        )
        yield found.start(group), found[group], manner
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
    found = _NEXT_LINE.match(text, end)
    if found is not None and not found["value"].endswith((":", "{", "[", "(", ",")):
        if found["sign"]:
            yield found.start("value"), found["value"], "bare" if found["more"] else "told"
        elif not found["more"] and _LABEL.match(text, line_start, start):
            yield found.start("value"), found["value"], "bare"
    line_end = _line_end(text, end)
    if line_end is None:
        return
    header = text[line_start:line_end]
    if "|" in header:
        if (cell := _NEXT_CELL.match(text, end)) is not None:
            yield cell.start("value"), cell["value"], "told"
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
        at = row_start + sum(len(one) + 1 for one in cells[:column]) + cell.index(value)
        yield at, value, "told"


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
