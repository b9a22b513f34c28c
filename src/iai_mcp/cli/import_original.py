"""`iai-mcp import --from iai-mcp-0.4`: the memories of the original iai-mcp."""

import argparse
import os
from collections import Counter
from collections.abc import Iterable, Iterator

from iai_mcp import paths
from iai_mcp.adapters import original_store
from iai_mcp.adapters.original_store import OriginalRecords, Record
from iai_mcp.cli import memory_access, output
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.shown_text import memories

_BATCH = 400
_BATCH_LETTERS = 2 * 1024 * 1024


def run(arguments: argparse.Namespace) -> int:
    if len(arguments.path) > 1:
        raise InvalidInput("name one directory: the user data of the original iai-mcp")
    root = os.path.expanduser(arguments.path[0]) if arguments.path else paths.user_data()
    records = OriginalRecords(root, original_store.tables_of(root))
    counts: Counter[str] = Counter(inserted=0, duplicates=0, skipped=0)
    if arguments.dry_run:
        found = sum(1 for _ in records)
        told = {"found": found, "unreadable": records.unreadable}
        output.emit(told, f"{memories(found)} would be imported", as_json=arguments.json)
        return 0
    with memory_access.held() as call:
        for batch in _batches(records):
            done = call("import_records", {"records": batch, "salt": ""})
            counts.update({name: int(str(done[name])) for name in counts})
    original_store.note_imported()
    said = f"{memories(counts['inserted'])} imported, {counts['duplicates']} were known already"
    if records.unreadable:
        said += f"; {records.unreadable} could not be read: they have another key, or no text"
    told = {**counts, "unreadable": records.unreadable}
    output.emit(told, f"{said}. {root} is as it was", as_json=arguments.json)
    return 0


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    letters = 0
    for record in records:
        batch.append(record)
        letters += len(str(record["text"]))
        if len(batch) == _BATCH or letters >= _BATCH_LETTERS:
            yield batch
            batch, letters = [], 0
    if batch:
        yield batch
