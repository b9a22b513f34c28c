"""Remember what was done: redacted, each tool call once, on the request that it served."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from uuid import UUID

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.instants import Instant, from_micros
from iai_mcp.domain.memories import Memory, turn_identity
from iai_mcp.domain.work import (
    CleanWork,
    Command,
    Done,
    NewWork,
    Work,
    clean_work,
    is_shared_directory,
    is_within,
    note_in,
    within_project,
)
from iai_mcp.memory.capture import Captured, check_names, placed
from iai_mcp.memory.lost_checkouts import LostCheckouts
from iai_mcp.memory.mending import Mend
from iai_mcp.ports.memories import Memories, Scope, Stored
from iai_mcp.ports.surroundings import Clock, Consent, Projects, Redactor
from iai_mcp.ports.works import Works

_ASKED = 400  # characters of a request
_TURNS = 500  # requests of a session that are looked through
_NAMES_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class CaptureWork:
    """Takes what was done. The turns that it served are captured before it."""

    works: Works
    memories: Memories
    clock: Clock
    projects: Projects
    redact: Redactor
    consent: Consent
    mend: Mend
    enabled: Callable[[], bool]
    lost: LostCheckouts

    def __call__(self, given: Sequence[NewWork], spooled: Instant | None = None) -> Captured:
        """A batch, in order. `spooled`: when the hook put it aside, if it did."""
        if not given or not self.enabled():
            return Captured(skipped=len(given))
        rules, key_of = self.consent.rules(), cache(self.projects.key_of)
        now = from_micros(self.clock.now())
        wanted: list[tuple[Work, str]] = []
        skipped = errors = 0
        seen: Counter[str] = Counter()
        for new in given:
            told = new.told
            project = key_of(told.project, told.cwd)
            moment = (told.at or spooled or now).micros
            places = {project: told.cwd}
            if elsewhere := self._ran_elsewhere(new, project):
                project = elsewhere
                places[project] = new.done.cwd if isinstance(new.done, Command) else ""
            if any(
                rules.refusal(key, place, moment) or rules.work_refusal(key, place)
                for key, place in places.items()
            ):
                skipped += 1
            else:
                try:
                    wanted.append((self._work(new, project, now, seen[told.text]), new.served))
                except InvalidInput:
                    errors += 1
                seen[told.text] += 1
        outcomes = self._add(wanted)
        self.lost.learn([work for work, _ in wanted])
        statuses = Counter(one.status for one in outcomes)
        return Captured(
            inserted=statuses["inserted"],
            duplicates=statuses["duplicate"],
            skipped=skipped + statuses["forgotten"] + len(wanted) - len(outcomes),
            errors=errors,
        )

    def _ran_elsewhere(self, new: NewWork, project: str) -> str:
        """The project of a command that ran outside of its session's; "" where it ran inside.

        A directory that is here counts if it is a repository, one that is not here by its path.
        """
        place = new.done.cwd if isinstance(new.done, Command) else ""
        around = (project, new.told.cwd)
        if not place.startswith("/") or not all(around) or is_shared_directory(place):
            return ""
        if any(is_within(place, one) for one in around) or is_within(new.told.cwd, place):
            return ""
        other = self.projects.key_of("", place)
        if other == project or not other.startswith("/"):
            return ""
        is_repository = self.projects.is_here(f"{other}/.git")
        return other if is_repository or not self.projects.is_here(place) else ""

    def _work(self, new: NewWork, project: str, now: Instant, occurrence: int) -> Work:
        told = new.told
        check_names(told)
        turn = placed(told, new.identities(self.memories.salt, occurrence), project, now)
        done = within_project(new.done, told.cwd, project)
        return Work(
            identity=turn.identity,
            at=turn.at,
            done=done,
            note=note_in(told.text, new.done),
            provenance=turn.provenance,
        )

    def _add(self, given: Sequence[tuple[Work, str]]) -> list[Stored]:
        """Store what may be kept: each with the id of the turn it served, "" where it says none."""
        redact = lru_cache(_NAMES_AT_ONCE)(lambda text: self.redact(text).text)
        requests = _Requests(self.memories)
        kept: list[CleanWork] = []
        asked: list[str] = []
        for work, turn in given:
            if self._is_private(work.done):
                continue
            request = requests.of(work, turn)
            clean = clean_work(work, redact)
            if request is not None:
                clean = replace(clean, turn=UUID(request.id).bytes)
            kept.append(clean)
            # One session can go through several projects: work is found by the words of its own.
            same = request is not None and request.provenance.project == clean.provenance.project
            asked.append(request.text if request is not None and same else "")
        outcomes = self.works.add(kept, asked) if kept else []
        self._settle(kept, outcomes)
        return outcomes

    def _is_private(self, done: Done) -> bool:
        """Whether nothing of it is left when secrets and private spans are out."""
        return isinstance(done, Command) and self.redact(done.command).nothing_left

    def _settle(self, kept: Sequence[CleanWork], outcomes: Sequence[Stored]) -> None:
        """A command that was run again may show what mended an earlier failure."""
        sessions = {
            work.provenance.session_id: None
            for work, outcome in zip(kept, outcomes, strict=True)
            if outcome.status == "inserted" and isinstance(work.done, Command)
        }
        for session in sessions:
            self.mend.session(session)


class _Requests:
    """The requests of one batch, each looked up once."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories
        self._known: dict[tuple[str, str], Memory | None] = {}
        self._turns: dict[str, list[Memory]] = {}

    def of(self, work: Work, turn: str) -> Memory | None:
        session = work.provenance.session_id
        if not turn:
            return self._before(session, work.at.micros)
        if (session, turn) not in self._known:
            self._known[session, turn] = self._named(session, turn)
        return self._known[session, turn]

    def _named(self, session: str, turn: str) -> Memory | None:
        """By the id that the turn has in every session, or by the one that it has in this."""
        salt = self._memories.salt
        names = (turn_identity(salt, "", uid=turn), turn_identity(salt, session, turn_id=turn))
        found = self._memories.find([str(UUID(bytes=name)) for name in names], _ASKED)
        return found[0] if found else None

    def _before(self, session: str, at: int) -> Memory | None:
        """Where a host's turns have no ids: the last thing that the person said before."""
        if session not in self._turns:
            scope = Scope(session_id=session, role="user", said=True)
            self._turns[session] = self._memories.timeline(scope, _TURNS) if session else []
        turns = self._turns[session]
        place = bisect_right([one.at.micros for one in turns], at)
        return turns[place - 1] if place else None
