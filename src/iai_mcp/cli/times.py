"""Options that take a time, and what their help says about it."""

import argparse
from datetime import datetime

_HOW = """a time is a date (2026-03-01, 1.3.2026), an ISO-8601 time (2026-03-01T09:30Z; UTC unless it
says otherwise), or words by your clock: now, today, yesterday, 'yesterday 14:00', monday, 'last
week', 'last month', march, '3 days ago', 2h, 30m, 7d. A stretch of time means its beginning."""


def add(parser: argparse.ArgumentParser, option: str, text: str) -> None:
    """An option that takes a time; the daemon, or `micros`, understands it."""
    parser.add_argument(option, metavar="TIME", help=text)
    parser.epilog = _HOW


def micros(said: str, option: str) -> int:
    """A time for what is done in this process.

    Raises:
        InvalidInput: it is none.
    """
    from iai_mcp.domain.moments import moment

    return moment(said, datetime.now().astimezone(), name=option)


def iso(said: str, option: str) -> str:
    """A time for what is kept as it was given: ISO-8601 stays as it is.

    Raises:
        InvalidInput: it is none.
    """
    from iai_mcp.domain import instants
    from iai_mcp.domain.errors import InvalidInput

    meant = instants.from_micros(micros(said, option))
    try:
        return instants.instant(said).text
    except InvalidInput:
        return meant.text
