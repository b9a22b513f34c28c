"""Capture on a store in memory: turns in, what became of them out."""

from collections.abc import Sequence

from tests.fakes.memories import FakeMemories
from tests.unit.memory.bench import Noon, access

from iai_mcp.adapters.surroundings import LocalProjects
from iai_mcp.domain.memories import NewTurn
from iai_mcp.domain.redaction import redact
from iai_mcp.memory.capture import Capture, Captured, NotKept
from iai_mcp.memory.scoping import Caller
from iai_mcp.ports.memories import Stored


class NotBefore:
    """A wish: nothing that was said before this moment."""

    def __init__(self, since: int = 0) -> None:
        self._since = since

    def rules(self) -> "NotBefore":
        return self

    def refusal(self, project: str, cwd: str, at: int) -> str | None:
        return "not then" if at < self._since else None

    def work_refusal(self, project: str, cwd: str) -> str | None:
        return None


def capture(memories: FakeMemories, since: int = 0) -> Capture:
    def told(_outcomes: Sequence[Stored]) -> None: ...

    return Capture(
        memories, Noon(), LocalProjects(), access(memories), redact, NotBefore(since), told
    )


def test_a_batch_is_counted_and_delivered_again_it_is_the_same() -> None:
    memories = FakeMemories()
    turns = [
        NewTurn(text="yes", session_id="s"),
        NewTurn(text="yes", session_id="s"),
        NewTurn(text="no such tier", session_id="s", tier="golden"),
        NewTurn(text="a speaker like no other", session_id="s", speaker="x" * 600),
        NewTurn(text="<private>all of it</private>", session_id="s"),
    ]

    assert capture(memories)(turns) == Captured(inserted=2, skipped=1, errors=2)
    assert capture(memories)(turns) == Captured(duplicates=2, skipped=1, errors=2)


def test_what_people_do_not_want_remembered_is_not_and_says_why() -> None:
    memories = FakeMemories()
    unwanted = capture(memories, since=Noon().now() + 1)

    assert unwanted([NewTurn(text="hello", session_id="s")]) == Captured(skipped=1)
    assert unwanted.one(NewTurn(text="hello"), Caller()) == NotKept("not then")
    assert memories.stored == {}


def test_what_was_remembered_by_hand_is_one_however_often_it_is_said() -> None:
    memories = FakeMemories()
    by_hand = NewTurn(text="the password=hunter2secretvalue99 is old", session_id="s")

    first, again = (capture(memories).one(by_hand, Caller()) for _ in range(2))

    assert isinstance(first, Stored)
    assert isinstance(again, Stored)
    assert (first.status, again.status, again.id) == ("inserted", "duplicate", first.id)
    assert "hunter2" not in memories.stored[1].text
