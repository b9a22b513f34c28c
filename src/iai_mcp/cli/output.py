"""How commands speak: one JSON object for programs, readable text for people, colour if wanted."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO


def emit(result: Mapping[str, object], text: str, *, as_json: bool) -> None:
    """Print `result` as one JSON object, or `text` for people."""
    print(json.dumps(result, ensure_ascii=False, default=str) if as_json else text)


def failure(code: str, message: str, *, as_json: bool) -> None:
    """Say what went wrong: the agreed JSON object on stdout, or a sentence on stderr."""
    if as_json:
        print(json.dumps({"error": {"code": code, "message": message}}, ensure_ascii=False))
    else:
        sys.stderr.write(f"{paint('error', 'red', sys.stderr)}: {message}\n")


def unexpected(error: Exception, *, as_json: bool) -> None:
    """A bug of ours: keep the details in the log, tell the person where they are."""
    from iai_mcp.cli import crash_log

    where = crash_log.keep(error)
    failure(
        "UNEXPECTED",
        f"something went wrong inside iai-mcp ({type(error).__name__}); the details are in {where}",
        as_json=as_json,
    )


_CODES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "dim": "2", "bold": "1"}


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    """`text` in a colour where `stream` is a terminal that wants one (`NO_COLOR` is honoured)."""
    target = sys.stdout if stream is None else stream
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not target.isatty():
        return text
    return f"\033[{_CODES[style]}m{text}\033[0m"


def table(rows: Sequence[Sequence[str]], header: Sequence[str]) -> str:
    """Left-aligned columns, as wide as their widest cell."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    lines = [
        paint("  ".join(c.ljust(w) for c, w in zip(header, widths, strict=True)).rstrip(), "bold")
    ]
    lines += [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join(lines)
