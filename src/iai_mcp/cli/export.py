"""Write every memory, and what agents did, as JSON lines, for other programs or another store.

This is plain text: anybody who gets the file can read it. 'iai-mcp import FILE' takes it in again,
each memory once.

  iai-mcp export memories.jsonl
  iai-mcp export - | wc -l
"""

import argparse
import json
import os
from collections.abc import Callable

from iai_mcp.cli import memory_access, output
from iai_mcp.domain.errors import IaiError, IoFailed


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", default="-", help="where to write; '-' is standard output"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    if arguments.file == "-":
        _write(output.say_json)
        return 0
    path = os.path.abspath(os.path.expanduser(arguments.file))
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            count = _write(lambda record: file.write(output.json_line(record)))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as refused:
        raise IoFailed(f"{path} could not be written: {refused.strerror}") from refused
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)
    result = {"path": path, "records": count}
    output.emit(result, f"{count} records written to {path} (plain text)", as_json=arguments.json)
    return 0


def _write(put: Callable[[object], object]) -> int:
    """A header line, then one line per memory in order of arrival; how many there were."""
    after: object = 0
    count = 0
    with memory_access.held(looks=True) as call:
        while after is not None:
            page = call("export_page", {"after": after, "limit": 1000})
            if after == 0:
                put({"iai-mcp-export": page["format"], "salt": page["salt"]})
            records = page["records"]
            assert isinstance(records, list)  # noqa: S101 - the method's own promise
            if page.get("large"):
                records = [*records, *_large(call, page["large"])]
            for record in records:
                put(record)
            count += len(records)
            after = page["next"]
        count += _write_work(call, put)
    return count


def _write_work(call: memory_access.Call, put: Callable[[object], object]) -> int:
    """What was done comes behind all that was said; how much there was."""
    after: object = 0
    count = 0
    while after is not None:
        page = call("export_work_page", {"after": after, "limit": 1000})
        records = page["records"]
        assert isinstance(records, list)  # noqa: S101 - the method's own promise
        for record in records:
            put(record)
        count += len(records)
        after = page["next"]
    return count


def _large(call: memory_access.Call, identity: object) -> list[object]:
    """A memory that no answer can hold; none if it was forgotten meanwhile."""
    pieces: list[str] = []
    offset: object = 0
    while offset is not None:
        try:
            found = call("export_piece", {"id": identity, "offset": offset})
        except IaiError as gone:
            if gone.code == "NOT_FOUND":
                return []
            raise
        pieces.append(str(found["piece"]))
        offset = found["next"]
    return [json.loads("".join(pieces))]
