"""What was put into which session, and why: kept so that people can ask."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from threading import Lock

from iai_mcp.domain.briefing_text import Briefing
from iai_mcp.memory.room import Room
from iai_mcp.memory.showing import record
from iai_mcp.ports.journal import Journal
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.surroundings import Clock
from iai_mcp.protocol.params import Params

KIND = "injection"
_SESSIONS_IN_MIND = 256
_READ_AT_MOST = 10_000
_SHOWN_OF_EACH = 4_000  # characters


@dataclass(slots=True)
class Injections:
    """The journal of injections. It holds ids and reasons, never what people said."""

    memories: Memories
    journal: Journal
    clock: Clock
    later: Callable[[Callable[[], None]], None]  # runs it soon, in order, off the caller's path
    _given: "OrderedDict[str, set[str]]" = field(default_factory=OrderedDict)
    _turnstile: Lock = field(default_factory=Lock)

    def record(self, moment: str, session_id: str, project: str, made: Briefing) -> None:
        """Remember that `made` was given to a session; nothing if it says nothing."""
        if not made.text:
            return
        with self._turnstile:
            ids = self._given.setdefault(session_id, set())
            ids.update(source.id for source in made.sources)
            self._given.move_to_end(session_id)
            while len(self._given) > _SESSIONS_IN_MIND:
                self._given.popitem(last=False)
        data: dict[str, object] = {
            "moment": moment,
            "session_id": session_id,
            "project": project,
            "tokens": made.tokens,
            "sources": [asdict(source) for source in made.sources],
        }
        at = self.clock.now()
        self.later(lambda: self.journal.record_event(KIND, data, at))

    def given_to(self, session_id: str) -> frozenset[str]:
        """The ids that this session was given since the daemon started."""
        with self._turnstile:
            return frozenset(self._given.get(session_id, ())) if session_id else frozenset()

    def show(self, params: Params) -> dict[str, object]:
        """The latest injections, newest first, with the memories that went in."""
        session, project = params.text("session_id", ""), params.text("project", "")
        limit = params.integer("limit", 20, 1, 1000)
        found = [
            event
            for event in reversed(self.journal.events(KIND, None, _READ_AT_MOST))
            if _about(event, "session_id", session) and _about(event, "project", project)
        ]
        room = Room()
        shown: list[dict[str, object]] = []
        for event in found[:limit]:
            told = self._shown(event)
            if not room.takes(told):
                return {"injections": shown, "more": True}
            shown.append(told)
        return {"injections": shown}

    def _shown(self, event: dict[str, object]) -> dict[str, object]:
        data = event["data"]
        details = data if isinstance(data, dict) else {}
        sources = [one for one in details.get("sources", []) if isinstance(one, dict)]
        texts = self._texts([str(one.get("id")) for one in sources])
        return {
            **details,
            "ts": event["ts"],
            "sources": [{**one, **texts.get(str(one.get("id")), _GONE)} for one in sources],
        }

    def _texts(self, ids: Sequence[str]) -> dict[str, dict[str, object]]:
        shown = ("text", "role", "ts", "session_id", "host", "agent")
        return {
            memory.id: {name: record(memory)[name] for name in shown}
            for memory in self.memories.find(ids, _SHOWN_OF_EACH)
        }


_GONE: dict[str, object] = {"text": None, "forgotten": True}


def _about(event: dict[str, object], name: str, wanted: str) -> bool:
    data = event["data"]
    if not wanted or not isinstance(data, dict):
        return not wanted
    value = str(data.get(name, ""))
    # People paste the beginning of a session id, as listings show it.
    return value == wanted or (name == "session_id" and value.startswith(wanted))
