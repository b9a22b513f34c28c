"""`Upkeep` over a `FakeMemories`: what takes long is done at once."""

from collections.abc import Callable, Mapping, Sequence

from iai_mcp.domain.memories import Memory
from iai_mcp.ports.memories import Scope
from iai_mcp.ports.upkeep import Compacted, Gone, Reached
from tests.fakes.memories import FakeMemories


class Done:
    """A `Job` that is over."""

    def finished(self, wait: float) -> bool:
        return True


class FakeUpkeep:
    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories
        self._words_to_forget = 0
        self.backups = 0

    def expired(self, before: int, limit: int) -> list[int]:
        return [m.key for m in self._unpinned() if m.at.micros < before][:limit]

    def weighed(self, after: int, limit: int) -> tuple[int, int] | None:
        found = self._memories.after(after, limit)
        return (found[-1].key, sum(map(_weight, found))) if found else None

    def oldest(self, limit: int) -> list[tuple[int, int]]:
        found = sorted(self._unpinned(), key=lambda one: not one.provenance.captured_by)
        return [(memory.key, _weight(memory)) for memory in found[:limit]]

    def forget_words(self, *, begin: bool) -> bool:
        self._words_to_forget = 2 if begin else max(0, self._words_to_forget - 1)
        return self._words_to_forget > 0

    def compact(self, cursor: str) -> Compacted:
        return Compacted("rest", done=cursor == "rest")

    def check(self) -> Done:
        return Done()

    def backup_due(self) -> bool:
        return self.backups == 0

    def back_up(self) -> Done:
        self.backups += 1
        return Done()

    def _unpinned(self) -> list[Memory]:
        said = self._memories.timeline(Scope(said=True), 1 << 30)
        return [memory for memory in said if not memory.pinned]


class FakeCopies:
    """Copies that hold some memories' identities each."""

    def __init__(self, *copies: set[bytes]) -> None:
        self.copies = list(copies)

    def count(self) -> int:
        return len(self.copies)

    def forget(self, gone: Sequence[Gone], stopping: Callable[[], bool]) -> Reached | None:
        for copy in self.copies:
            if stopping():
                return None
            copy -= {one.identity for one in gone}
        return Reached(self.count())


class FakeLeftovers:
    """Turns that wait, each with the session of its file."""

    def __init__(self, *turns: tuple[str, Mapping[str, object]]) -> None:
        self.turns = list(turns)

    def drop(self, is_gone: Callable[[str, Mapping[str, object]], bool]) -> list[str]:
        self.turns = [(session, turn) for session, turn in self.turns if not is_gone(session, turn)]
        return []


def _weight(memory: Memory) -> int:
    return len(memory.text.encode())
