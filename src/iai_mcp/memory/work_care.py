"""What becomes of remembered work: forgotten, moved to another store, kept for so long and no longer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.work import NewWork, Record, Work, clean_work, note_in
from iai_mcp.memory.capture import Captured, placed
from iai_mcp.memory.changing import Selection
from iai_mcp.memory.mending import Mend
from iai_mcp.memory.scoping import Access
from iai_mcp.ports.memories import Memories, Scope, Stored
from iai_mcp.ports.sleep import Enough, Page, never
from iai_mcp.ports.surroundings import Clock, Projects, Redactor
from iai_mcp.ports.works import Works

_AT_ONCE = 1000  # forgotten in one transaction: others write in between
_MENDED = 20  # failures looked at in a page
_EXPIRED = 200  # forgotten in a page
_MICROS_PER_DAY = 86_400_000_000
_ASKED = 400  # characters of a request


@dataclass(frozen=True, slots=True)
class ForgetWork:
    """Removes work for good, by the same selection as turns; a tombstone keeps it away."""

    works: Works
    access: Access
    clock: Clock

    def __call__(self, selection: Selection) -> list[str]:
        """The ids that went. What another session repeats stays with that."""
        keys, stay = self._matches(selection)
        by_agent = selection.caller.visitor
        gone: list[str] = []
        for start in range(0, len(keys), _AT_ONCE):
            part = keys[start : start + _AT_ONCE]
            gone += self.works.forget(part, self.clock.now(), hold="agent" if by_agent else "")
        for start in range(0, 0 if by_agent else len(stay), _AT_ONCE):
            self.works.leave(stay[start : start + _AT_ONCE], selection.about.session_id)
        return gone

    def rehearsed(self, selection: Selection) -> tuple[list[Record], list[Record]]:
        """What would go, and what would stay with another session."""
        going, staying = self._matches(selection)
        return self.works.get(going), self.works.get(staying)

    def _matches(self, selection: Selection) -> tuple[list[int], list[int]]:
        """The keys of what is to go, and of what another session has as well."""
        found, session = self._selected(selection), selection.about.session_id
        stay = self.works.in_other_sessions(found, session) if session else []
        kept = set(stay)
        return [key for key in found if key not in kept], stay

    def _selected(self, selection: Selection) -> list[int]:
        if selection.about.role not in ("", "tool"):
            return []
        scope = self.access.scope(selection.about, selection.caller, all_of_the_owners=True)
        words = selection.words
        within = self.works.containing(words, scope) if words else self.works.keys(scope)
        if selection.ids is None:
            return within
        named = {one.key for one in self.works.find(selection.ids)}
        return [key for key in within if key in named]


@dataclass(frozen=True, slots=True)
class WorkArrival:
    """Work from another store, as it was exported there. `turn` is the request's id there."""

    identity: bytes
    new: NewWork
    turn: bytes | None = None
    sessions: tuple[str, ...] = ()  # beside its own


@dataclass(frozen=True, slots=True)
class TransferWork:
    """Out of this store, and into it."""

    works: Works
    memories: Memories
    projects: Projects
    redact: Redactor
    mend: Mend

    def page(self, after: int, limit: int) -> Sequence[Record]:
        """The next behind that key, in order of arrival."""
        return self.works.after(after, limit)

    def sessions(self, records: Sequence[Record]) -> dict[int, list[str]]:
        """By their keys all sessions of those that belong to several."""
        return self.works.sessions_of([one.key for one in records])

    def take_in(self, arrivals: Sequence[WorkArrival]) -> Captured:
        """Store exported work under the ids it had; what is here already stays as it is."""
        clean = [
            clean_work(self._work(one), lambda text: self.redact(text).text) for one in arrivals
        ]
        turns = [str(UUID(bytes=one.turn)) if one.turn else "" for one in arrivals]
        asked = {one.id: one.text for one in self.memories.find([t for t in turns if t], _ASKED)}
        outcomes = self.works.add(clean, [asked.get(turn, "") for turn in turns])
        self._share(arrivals, outcomes)
        for session in {one.provenance.session_id for one in clean}:
            self.mend.session(session)
        statuses = [outcome.status for outcome in outcomes]
        return Captured(
            inserted=statuses.count("inserted"),
            duplicates=statuses.count("duplicate"),
            skipped=statuses.count("forgotten"),
        )

    def _share(self, arrivals: Sequence[WorkArrival], outcomes: Sequence[Stored]) -> None:
        """Let what is here belong to every session that it belonged to there."""
        several = {
            outcome.key: [self.redact(session).text for session in one.sessions]
            for one, outcome in zip(arrivals, outcomes, strict=True)
            if outcome.key is not None and one.sessions
        }
        if several:
            self.works.share(several)

    def _work(self, one: WorkArrival) -> Work:
        told = one.new.told
        project = self.projects.key_of(told.project, "")
        turn = placed(told, (one.identity,), project, from_micros(0))
        return Work(
            identity=one.identity,
            at=turn.at,
            done=one.new.done,
            note=note_in(told.text, one.new.done),
            turn=one.turn,
            provenance=turn.provenance,
        )


@dataclass(frozen=True, slots=True)
class TendWork:
    """Sleep's share: what mended failures of earlier sessions, and what is too old to be kept.

    By size nothing of it is weighed: it goes when all that was said in its session is gone.
    """

    works: Works
    mend: Mend
    clock: Clock
    days: Callable[[], int]
    megabytes: Callable[[], int]
    name: str = "work"

    def start(self, cursor: str) -> str:
        return "forget|"

    def page(self, cursor: str, enough: Enough = never) -> Page:
        stage, _, after = cursor.partition("|")
        if stage == "forget":
            gone = self.works.forget(self._expired(), self.clock.now(), hold="retention")
            following = "forget|" if len(gone) == _EXPIRED else "requests|"
            return Page(
                following, counts={"changed": len(gone), "forgotten": len(gone)} if gone else {}
            )
        if stage == "requests":
            # Versions before this one left the words of forgotten prompts where work is found by them.
            found = self.works.forget_unknown_requests(_EXPIRED)
            return Page("requests|" if found == _EXPIRED else "mend|0")
        following_key = self.mend.page(int(after or 0), _MENDED)
        if following_key is None:
            return Page("forget|", done=True)
        return Page(f"mend|{following_key}")

    def _expired(self) -> list[int]:
        days = self.days()
        if days:
            before = self.clock.now() - days * _MICROS_PER_DAY
            if old := self.works.keys(Scope(until=before)):
                return old[:_EXPIRED]
        return self.works.left_behind(_EXPIRED) if days or self.megabytes() else []
