"""What people and agents do with memory, noted in the journal: what was done, never what was said."""

from iai_mcp.store import MemoryStore


def note(store: MemoryStore, kind: str, **about: object) -> None:
    """Written after the answer has left: nobody waits for the disk a second time."""
    at = store.clock.now()
    store.later(lambda: store.journal.record_event(kind, about, at))
