"""What the use cases of memory are put together with in their unit tests: no file, no model."""

from tests.fakes.memories import FakeMemories, FakeWordIndex
from tests.fakes.sleep import FakeLedger, FakeRepeats

from iai_mcp.adapters.surroundings import LocalProjects
from iai_mcp.domain.knobs import Knobs
from iai_mcp.engine.columns import Columns
from iai_mcp.memory.recall import Recall
from iai_mcp.memory.scoping import Access
from iai_mcp.recall.candidates import Finder


class Noon:
    """A clock that stands still."""

    def now(self) -> int:
        return 1_772_532_000_000_000


def access(memories: FakeMemories) -> Access:
    """Without a place or a name nothing looks at the machine."""
    return Access(memories, LocalProjects())


def recall(memories: FakeMemories, knobs: Knobs | None = None) -> Recall:
    """By words alone."""
    index = FakeWordIndex(memories)
    return Recall(
        memories=memories,
        access=access(memories),
        finder=Finder(Columns(memories), index, lambda: None),
        meaning=lambda: "meaning: there is no model",
        clock=Noon(),
        knobs=lambda: knobs or Knobs(),
        repeats=FakeRepeats(FakeLedger(memories)),
        tokens=index.tokens,
    )
