"""Reading, beside the calls and once, the work in histories of which only the words are known."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from iai_mcp.background.threads import Worker
from iai_mcp.domain.work import NewWork
from iai_mcp.ports.journal import Journal

_NOTE, _READ = "past_work", "read"


class Histories(Protocol):
    def files(self) -> Sequence[str]:
        """The files that were imported."""
        ...

    def work_in(self, path: str) -> Iterator[Sequence[NewWork]]:
        """What was done in one of them, some at a time."""
        ...


class PastWork(Worker):
    """What it stores is stored once: ended in the middle, it begins again at the next start."""

    def __init__(
        self,
        histories: Histories,
        journal: Journal,
        capture: Callable[[Sequence[NewWork]], object],
        calm: Callable[[], bool],
        failed: Callable[[str, Exception], None],
    ) -> None:
        super().__init__("past work", failed)
        self._histories = histories
        self._journal = journal
        self._capture = capture
        self._calm = calm

    def work(self) -> None:
        if self._journal.settings().get(_NOTE) == _READ:
            return
        for path in self._histories.files():
            for some in self._histories.work_in(path):
                if self.stopping:
                    return
                self._calm()
                self._capture(some)
        if not self.stopping:
            self._journal.set_setting(_NOTE, _READ)
