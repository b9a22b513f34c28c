"""What was put into which session, and why: kept so that people can ask."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from threading import Lock

from iai_mcp.domain.injected_text import InjectedText, Source
from iai_mcp.domain.memories import Memory
from iai_mcp.memory.room import Room, weight
from iai_mcp.ports.journal import Journal
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.surroundings import Clock

KIND = "injection"
_SESSIONS_IN_MIND = 1_024
_READ_AT_MOST = 10_000
_SHOWN_OF_EACH = 4_000  # characters
_AROUND = 2_000  # bytes of one injection beside the words of its memories, and of a forgotten one


@dataclass(frozen=True, slots=True)
class Used:
    """A memory that went in, and why; None for one that was forgotten since."""

    source: Source
    memory: Memory | None


@dataclass(frozen=True, slots=True)
class Injection:
    """What one session was given at one moment."""

    moment: str
    session_id: str
    project: str
    tokens: int
    used: tuple[Used, ...]
    at: str  # ISO-8601


@dataclass(slots=True)
class Injections:
    """The journal of injections. It holds ids and reasons, never what people said."""

    memories: Memories
    journal: Journal
    clock: Clock
    later: Callable[[Callable[[], None]], None]  # runs it soon, in order, off the caller's path
    _given: "OrderedDict[str, set[str]]" = field(default_factory=OrderedDict)
    _forks: "OrderedDict[str, str]" = field(default_factory=OrderedDict)
    _turnstile: Lock = field(default_factory=Lock)

    def record(self, moment: str, session_id: str, project: str, made: InjectedText) -> None:
        """Remember that `made` was given to a session; nothing if it says nothing."""
        if not made.text:
            return
        with self._turnstile:
            ids = self._given.setdefault(session_id, set())
            ids.update(source.id for source in made.sources)
            _keep_newest(self._given, session_id)
        data = {
            "moment": moment,
            "session_id": session_id,
            "project": project,
            "tokens": made.tokens,
            "sources": [asdict(source) for source in made.sources],
        }
        at = self.clock.now()
        self.later(lambda: self.journal.record_event(KIND, data, at))

    def load(self) -> None:
        """Read what the latest sessions were given before this process began."""
        for event in self.journal.events(KIND, None, _READ_AT_MOST):
            data = event["data"]
            details: Mapping[str, object] = data if isinstance(data, dict) else {}
            sources, session_id = details.get("sources"), str(details.get("session_id", ""))
            ids = [
                str(one["id"])
                for one in (sources if isinstance(sources, list) else ())
                if isinstance(one, dict) and "id" in one
            ]
            if session_id and ids:
                with self._turnstile:
                    self._given.setdefault(session_id, set()).update(ids)
                    _keep_newest(self._given, session_id)

    def fork(self, session_id: str, parent: str) -> None:
        """Remember what a session was forked from, until it is captured with the turns it repeats."""
        with self._turnstile:
            self._forks[session_id] = parent
            _keep_newest(self._forks, session_id)

    def lineage(self, session_id: str) -> frozenset[str]:
        """The session and those whose turns it has before it already."""
        own = self.memories.lineage(session_id)
        with self._turnstile:
            parent = self._forks.get(session_id)
        return own if parent is None else own | self.memories.lineage(parent)

    def given_to(self, session_id: str) -> frozenset[str]:
        """The ids that this session was given, or what it was forked from."""
        with self._turnstile:
            names = filter(None, (session_id, self._forks.get(session_id)))
            return frozenset(one for name in names for one in self._given.get(name, ()))

    def latest(
        self,
        limit: int = 20,
        session_id: str = "",
        project: str = "",
        opens: Callable[[str], bool] = lambda _: True,
    ) -> tuple[tuple[Injection, ...], bool]:
        """The latest injections, newest first, with the memories that went in; whether more did not fit.

        `session_id` may be the beginning of one: people paste it as listings show it. `opens` says
        into which projects whoever asks may look.
        """
        room = Room()
        found: list[Injection] = []
        for event in reversed(self.journal.events(KIND, None, _READ_AT_MOST)):
            data = event["data"]
            details: Mapping[str, object] = data if isinstance(data, dict) else {}
            whose, where = str(details.get("session_id", "")), str(details.get("project", ""))
            named = whose.startswith(session_id) and project in ("", where)
            if not named or not opens(where):
                continue
            if len(found) == limit:
                break
            told = self._told(details, str(event["ts"]), opens)
            if not room.takes(_weight(told)):
                return tuple(found), True
            found.append(told)
        return tuple(found), False

    def _told(
        self, details: Mapping[str, object], at: str, opens: Callable[[str], bool]
    ) -> Injection:
        kept = details.get("sources")
        sources = [
            Source(str(one.get("id")), str(one.get("why")))
            for one in (kept if isinstance(kept, list) else [])
            if isinstance(one, dict)
        ]
        wanted = [source.id for source in sources]
        found = self.memories.find(wanted, _SHOWN_OF_EACH)
        known = {memory.id: memory for memory in found}
        closed = {memory.id for memory in found if not opens(memory.provenance.project)}
        tokens = details.get("tokens")
        return Injection(
            moment=str(details.get("moment", "")),
            session_id=str(details.get("session_id", "")),
            project=str(details.get("project", "")),
            tokens=tokens if isinstance(tokens, int) else 0,
            used=tuple(
                Used(source, known.get(source.id)) for source in sources if source.id not in closed
            ),
            at=at,
        )


def _keep_newest(
    kept: "OrderedDict[str, set[str]] | OrderedDict[str, str]", session_id: str
) -> None:
    kept.move_to_end(session_id)
    while len(kept) > _SESSIONS_IN_MIND:
        kept.popitem(last=False)


def _weight(told: Injection) -> int:
    used = (_AROUND if one.memory is None else weight(one.memory) for one in told.used)
    return _AROUND + sum(used)
