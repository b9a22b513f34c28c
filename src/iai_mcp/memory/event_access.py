"""Which events of the journal a caller may hear of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from iai_mcp.domain.projects.identity import is_path
from iai_mcp.memory.scoping import Access, Caller
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.works import Works

Event = dict[str, object]
_READ = 1  # character of each memory: only its project counts


@dataclass(frozen=True, slots=True)
class EventAccess:
    """A visitor hears of events in projects that are open to it.

    Where anything is closed to it, an event has to name something open, or to count nothing: numbers
    are about the whole memory.
    """

    memories: Memories
    works: Works
    access: Access

    def heard(self, events: Sequence[Event], caller: Caller) -> list[Event]:
        if not caller.visitor or not self.memories.private_projects():
            return list(events)
        view = self.access.view(caller)
        named = {id(event): list(_texts(event["data"])) for event in events}
        texts = {text for some in named.values() for text in some}
        opened = self._open_records({one for one in texts if _is_id(one)}, view)
        known = {*self.memories.projects(), *self.memories.private_projects()}
        places = [text for text in texts if is_path(text) or text in known]
        closed = set(self.access.closed(caller, places))
        return [one for one in events if self._is_heard(one, named[id(one)], opened, closed, view)]

    def _is_heard(
        self,
        event: Event,
        texts: Sequence[str],
        opened: set[str],
        closed: set[str],
        view: Scope,
    ) -> bool:
        if any(text in closed or (_is_id(text) and text not in opened) for text in texts):
            return False
        data = event["data"]
        if not isinstance(data, Mapping) or data.get("project") or opened.intersection(texts):
            return True
        session = data.get("session_id")
        if isinstance(session, str) and session:
            return bool(self.memories.newest(replace(view, session_id=session), 1))
        return not any(type(value) in (int, float) for value in _values(data))

    def _open_records(self, ids: set[str], view: Scope) -> set[str]:
        asked = sorted(ids)
        found = {one.id: one.provenance for one in self.memories.find(asked, _READ)}
        found |= {one.id: one.provenance for one in self.works.find(asked)}
        return {one for one, whence in found.items() if view.opens(whence.project)}


def _texts(value: object) -> Iterator[str]:
    return (one for one in _values(value) if isinstance(one, str))


def _values(value: object) -> Iterator[object]:
    """All that stands in a JSON value, however deep."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _values(one)
    else:
        yield value


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
