"""Taking in what `iai-mcp export` wrote: each memory once, under the id it had."""

import json
from collections.abc import Iterable, Iterator

from iai_mcp.cli.door import Call
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.memory.transfer import FORMAT

_BATCH = 500
_BATCH_LETTERS = 4 * 1024 * 1024
_LONGEST_HEADER = 4096


def is_export(path: str) -> bool:
    """Whether the file begins as an export does."""
    try:
        with open(path, "rb") as file:
            return file.readline(_LONGEST_HEADER).startswith(b'{"iai-mcp-export"')
    except OSError:
        return False


def take_in(path: str, call: Call) -> dict[str, int]:
    """Store everything in the file; how much of it was new.

    Raises:
        InvalidInput: a line is damaged; what came before it is stored, and importing again is safe.
    """
    counts = {"inserted": 0, "duplicates": 0, "skipped": 0}
    with open(path, encoding="utf-8") as file:
        header = _parsed(file.readline(), 1, path)
        if int(str(header.get("iai-mcp-export"))) > FORMAT:
            raise InvalidInput(f"{path} was written by a newer iai-mcp: upgrade this one")
        for batch in _batches(enumerate(file, 2), path):
            done = call("import_records", {"records": batch, "salt": header.get("salt", "")})
            for name in counts:
                counts[name] += int(str(done[name]))
    return counts


def _parsed(line: str, number: int, path: str) -> dict[str, object]:
    try:
        value = json.loads(line)
    except ValueError as broken:
        raise InvalidInput(
            f"{path}, line {number}: not JSON; what came before it is stored"
        ) from broken
    if not isinstance(value, dict):
        raise InvalidInput(f"{path}, line {number}: not a record; what came before it is stored")
    return value


def _batches(lines: Iterable[tuple[int, str]], path: str) -> Iterator[list[dict[str, object]]]:
    """The records, as many at a time as a call should carry; a long one stands alone."""
    batch: list[dict[str, object]] = []
    letters = 0
    for number, line in lines:
        if batch and (len(batch) == _BATCH or letters + len(line) > _BATCH_LETTERS):
            yield batch
            batch, letters = [], 0
        batch.append(_parsed(line, number, path))
        letters += len(line)
    if batch:
        yield batch
