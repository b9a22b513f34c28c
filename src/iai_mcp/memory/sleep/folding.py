"""Fold repeats: what was said several times is one visible memory with a count."""

from dataclasses import dataclass

from iai_mcp.domain.repeats import bands, fold_digest, repeats, wording
from iai_mcp.ports.learned import Known, Repeats, Said
from iai_mcp.ports.sleep import Enough, Folded, Page, never

_MEMORIES = 32  # of a page
_LETTERS = 8_000  # of a page: whichever comes first
_COMPARED = 8


@dataclass(frozen=True, slots=True)
class FoldRepeats:
    """Compares every memory once with all that came before it. Nothing is ever hidden or removed:
    a group's members stay as they are, and recall shows the one that answers best.
    """

    known: Repeats
    name: str = "folds"

    def start(self, cursor: str) -> str:
        return cursor or "0"

    def page(self, cursor: str, enough: Enough = never) -> Page:
        found = self.known.unfolded(int(cursor), _MEMORIES)
        here: dict[int, Known] = {}
        letters = 0
        changes: list[Folded] = []
        for said in found:
            change = self._compared(said, here)
            changes.append(change)
            for mark in (change.digest, *change.bands):
                here.setdefault(mark, Known(change.key, change.fold, said.text))
            letters += len(said.text)
            if letters >= _LETTERS or enough():
                break
        return Page(
            cursor=str(changes[-1].key) if changes else cursor,
            done=len(found) < _MEMORIES and len(changes) == len(found),
            changes=tuple(changes),
            counts={
                "changed": len(changes),
                "folded": sum(change.fold is not None for change in changes),
            },
        )

    def _compared(self, said: Said, here: dict[int, Known]) -> Folded:
        read = wording(said.text)
        digest = fold_digest(said.project, said.role, read)
        marks = bands(said.project, said.role, read)
        known = self.known.with_digest(digest) or here.get(digest)
        if known is not None and known.key != said.key:
            return Folded(said.key, digest, marks, known.fold or known.key)
        of_this_page = [here[mark] for mark in marks if mark in here]
        for near in (*self.known.with_bands(marks, _COMPARED), *of_this_page):
            if near.key != said.key and repeats(read, wording(near.text)):
                return Folded(said.key, digest, marks, near.fold or near.key)
        return Folded(said.key, digest, marks)
