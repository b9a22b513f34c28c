"""How commands speak: one JSON object for programs, readable text for people, colour if wanted.

Whatever a command says or asks goes through here, and the linter keeps it so. Texts are made of what
others wrote: memories, names, files. None of it is obeyed by the terminal that shows it; only colours
that `paint` chose reach one.
"""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, TextIO

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.shown_text import shown, shown_line
from iai_mcp.protocol.compact_json import harmless

if TYPE_CHECKING:
    from argparse import Namespace

_CODES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "dim": "2", "bold": "1"}
# Stands for a colour until the text around it is clean. Nobody else can write it: it is another one
# in every process.
_PAINT = f"\x1b{os.urandom(8).hex()}"
_NARROWEST = 12  # characters of a column that is broken into lines
_PAINTED = re.compile(f"({_PAINT}[0-9]+m)")


def say(text: str = "", *, end: str = "\n") -> None:
    """Print `text` for people."""
    _write(text + end, sys.stdout)


def aside(text: str) -> None:
    """Say something beside the result, on stderr."""
    _write(f"{text}\n", sys.stderr)


def note(text: str) -> None:
    """Something a person should know, beside the result."""
    aside(f"{paint('note', 'yellow', sys.stderr)}: {text}")


def redraws() -> bool:
    """Whether there is somebody to watch a line that is drawn anew."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def redraw(line: str) -> None:
    """Put `line` in the place of the one that stands there, on stderr."""
    sys.stderr.write(f"\r\033[K{shown_line(line)}")
    sys.stderr.flush()


def pass_on(data: bytes) -> None:
    """A program's own bytes, unchanged. Only for commands that promise just that."""
    sys.stdout.buffer.write(data)


def json_line(value: object) -> str:
    """`value` as one line of JSON, letters as themselves, without anything that a terminal obeys."""
    import json  # late: most commands speak to people

    return harmless(json.dumps(value, ensure_ascii=False, default=str)) + "\n"


def say_json(value: object) -> None:
    """Print `value` for programs."""
    sys.stdout.write(json_line(value))


def emit(result: Mapping[str, object], text: str, *, as_json: bool) -> None:
    """Print `result` as one JSON object, or `text` for people."""
    if as_json:
        say_json(result)
    else:
        say(text)


def page(text: str) -> None:
    """Show `text` in the pager where a terminal is too small for it; else print it."""
    size = terminal_size()
    if size is None or not sys.stdin.isatty() or text.count("\n") < size.lines:
        say(text)
        return
    import shlex
    import subprocess

    from iai_mcp.child_environment import without_secrets

    command = shlex.split(os.environ.get("PAGER") or "less")
    # As other programs set it: colours pass, and a page that fits is simply shown.
    environment = {"LESS": "FRX", **without_secrets()}
    try:
        subprocess.run(
            command, input=_painted(text).encode("utf-8", "replace"), env=environment, check=False
        )
    except (OSError, IndexError):  # there is no such program, or none is named
        say(text)


def failure(code: str, message: str, *, as_json: bool) -> None:
    """Say what went wrong: the agreed JSON object on stdout, or a sentence on stderr."""
    if as_json:
        say_json({"error": {"code": code, "message": message}})
    else:
        aside(f"{paint('error', 'red', sys.stderr)}: {message}")


def unexpected(error: Exception, *, as_json: bool) -> None:
    """A bug of ours: keep the details in the log, tell the person where they are."""
    from iai_mcp.cli import crash_log

    where = crash_log.keep(error)
    failure(
        "UNEXPECTED",
        f"something went wrong inside iai-mcp ({type(error).__name__}); the details are in {where}",
        as_json=as_json,
    )


def is_terminal() -> bool:
    """Whether there is a person to ask: both ends are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def somebody_watches() -> bool:
    """Whether any of our ends is a terminal, though what we say may go through a pipe first."""
    return any(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def terminal_size() -> os.terminal_size | None:
    """(columns, rows) of the terminal that shows us, if it is one."""
    return os.get_terminal_size(sys.stdout.fileno()) if sys.stdout.isatty() else None


def ask(question: str) -> str | None:
    """What a person answers; None when they leave without an answer."""
    say(question, end=" ")
    flush()
    try:
        return input().strip()
    except EOFError:
        say()
        return None


def agrees(question: str, *, by_default: bool = False) -> bool:
    """Whether a person says yes. `by_default` is what Enter alone means."""
    return answered(question, by_default=by_default) is True


def answered(question: str, *, by_default: bool = False) -> bool | None:
    """The same, where leaving without an answer (Ctrl-D) must not be taken for a no: None."""
    answer = ask(f"{question} {'[Y/n]' if by_default else '[y/N]'}")
    if answer is None:
        return None
    return answer.lower() in ("y", "yes") if answer else by_default


def told_to(arguments: "Namespace", consequence: str) -> bool:
    """Whether `--yes` was given; if not, there is a person to ask.

    Raises:
        InvalidInput: there is neither; nothing may be touched then.
    """
    if arguments.yes:
        return True
    if arguments.json or not sys.stdin.isatty():
        raise InvalidInput(f"{consequence}: add --yes to confirm; nothing was touched")
    return False


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    """`text` in a colour where `stream` is a terminal that wants one (`NO_COLOR` is honoured)."""
    target = sys.stdout if stream is None else stream
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not target.isatty():
        return text
    return f"{_PAINT}{_CODES[style]}m{text}{_PAINT}0m"


def table(rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> str:
    """Left-aligned columns, as wide as their widest cell. A row is one line whatever is in it, unless a
    terminal is too narrow for it: then its longest cells go on below.
    """
    lines = [header] if header else []
    lines += [[_around_paint(cell, shown_line) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    if (columns := _columns()) is not None:
        widths = _narrowed(widths, columns)
    shown = [_row(line, widths) for line in lines]
    return "\n".join([paint(shown[0], "bold"), *shown[1:]] if header else shown)


def fitted(text: str) -> str:
    """Sentences for people, broken between words where a terminal is too narrow for them."""
    columns = _columns()
    if columns is None:
        return text
    import textwrap  # late: only for people's eyes

    def broken(line: str) -> str:
        if _width(line) <= columns or _PAINT in line:
            return line
        indent = line[: len(line) - len(line.lstrip())]
        return textwrap.fill(
            line,
            columns,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )

    return "\n".join(map(broken, text.split("\n")))


def open_closed_streams() -> None:
    """Where a caller closed a standard stream, reading gives nothing and writing goes nowhere."""
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 - as long as we run
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def flush() -> None:
    sys.stdout.flush()


def give_up() -> None:
    """The interpreter must not try to write the rest at exit, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(text: str, stream: TextIO) -> None:
    stream.write(_painted(text))


def _painted(text: str) -> str:
    """`text` as a terminal may have it: nothing in it acts but our colours."""
    clean = _around_paint(text, shown)
    return _PAINTED.sub(lambda mark: f"\033[{mark.group()[len(_PAINT) :]}", clean)


def _around_paint(text: str, change: Callable[[str], str]) -> str:
    """`text` changed, except for our colours."""
    pieces = _PAINTED.split(text)
    pieces[::2] = map(change, pieces[::2])
    return "".join(pieces)


def _columns() -> int | None:
    """How wide the terminal is that shows us; None where there is none, or one that does not tell."""
    size = terminal_size()
    return None if size is None else size.columns or None


def _narrowed(widths: list[int], columns: int) -> list[int]:
    """The widest give way until a line fits, down to what can still be read."""
    fit = list(widths)
    while (excess := sum(fit) + 2 * (len(fit) - 1) - columns) > 0 and max(fit) > _NARROWEST:
        widest = fit.index(max(fit))
        others = sorted(fit)[-2] if len(fit) > 1 else 0
        fit[widest] = max(fit[widest] - excess, min(others, fit[widest] - 1), _NARROWEST)
    return fit


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    pieces = [_pieces(cell, width) for cell, width in zip(cells, widths, strict=True)]
    return "\n".join(
        "  ".join(map(_filled, line, widths)).rstrip()
        for line in zip_longest(*pieces, fillvalue="")
    )


def _pieces(cell: str, width: int) -> list[str]:
    if _width(cell) <= width or _PAINT in cell:  # what is painted is short
        return [cell]
    import textwrap  # late: most tables fit

    return textwrap.wrap(cell, width, break_on_hyphens=False)


def _width(cell: str) -> int:
    return len(_PAINTED.sub("", cell))


def _filled(cell: str, width: int) -> str:
    return cell + " " * (width - _width(cell))
