"""Reading a host's SQLite file while the host may be writing it: never locked, never changed."""

import contextlib

from iai_mcp.hosts.reader import NotATranscriptError, Reading
from iai_mcp.protocol.compact_json import loads

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from iai_mcp.hosts.turns import Record

    Rows = Callable[..., Iterator[tuple[object, ...]]]
    Records = Callable[..., Iterator[Record]]

_PATIENCE = 0.3  # seconds to wait for a host that is writing


def json_column(value: object) -> "Record | None":
    """The JSON object in a column; None where there is none."""
    parsed = json_value(value)
    return parsed if isinstance(parsed, dict) else None


def json_value(value: object) -> object:
    """The JSON value in a column; None where there is none."""
    raw = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    try:
        return loads(raw) if isinstance(raw, str) else None
    except ValueError:
        return None


@contextlib.contextmanager
def reading_rows(reading: Reading, *, named: bool = False) -> "Iterator[Rows]":
    """A function from SQL to rows; `named` rows can be made dictionaries.

    Raises:
        NotATranscriptError: the database refuses, or is none; what was read before stays read.
    """
    import os
    import sqlite3

    reading.end = os.stat(reading.path).st_size
    try:
        connection = _open(reading.path)
        if named:
            connection.row_factory = sqlite3.Row
        try:
            yield lambda sql, *values: iter(connection.execute(sql, values))
        finally:
            connection.close()
    except sqlite3.Error as refused:
        raise NotATranscriptError(type(refused).__name__) from refused


@contextlib.contextmanager
def reading_records(reading: Reading) -> "Iterator[Records]":
    """A function from SQL to rows by the names of their columns; see `reading_rows`."""
    with reading_rows(reading, named=True) as rows:
        yield lambda sql, *values: (dict(row) for row in rows(sql, *values))  # type: ignore[arg-type]


def _open(path: str) -> "sqlite3.Connection":
    import os
    import sqlite3

    name = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(f"file:{name}?mode=ro", uri=True, timeout=_PATIENCE)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except sqlite3.OperationalError:
        # A write-ahead log can not be joined from a directory that may not be written.
        connection.close()
        connection = sqlite3.connect(f"file:{name}?immutable=1", uri=True)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    except BaseException:
        connection.close()
        raise
    return connection
