"""Contradict, reinforce and forget: the ways a memory changes after it was captured."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from iai_mcp.domain.errors import AlreadyExists, InvalidInput, NotFound
from iai_mcp.domain.instants import from_micros, iso
from iai_mcp.domain.memories import Memory, Turn, clean, turn_identity
from iai_mcp.memory.params import Params
from iai_mcp.memory.scoping import scope_of, within_reach
from iai_mcp.memory.showing import record
from iai_mcp.ports.memories import Memories, Stored
from iai_mcp.ports.surroundings import Clock, Projects, Redactor

_PAGE = 500  # memories read at a time
_SHOWN_AT_MOST = 100
_REINFORCE_STEP = 0.1
_REINFORCED_AT_MOST = 50  # pairs grow with the square


@dataclass(frozen=True, slots=True)
class Contradict:
    """A new fact that supersedes an old one: both stay, linked, and the newer comes first."""

    memories: Memories
    clock: Clock
    projects: Projects
    redact: Redactor
    stored: Callable[[Sequence[Stored]], None]

    def __call__(self, params: Params) -> dict[str, object]:
        params.text("id")  # the first that is missing is named
        fact = params.text("new_fact")
        old = named(params, self.memories, self.projects)
        now = self.clock.now()
        raw = Turn(
            identity=turn_identity(
                self.memories.salt,
                old.provenance.session_id,
                turn_id=f"contradicts {old.id} {fact}",
            ),
            text=fact,
            role=old.role,
            at=params.instant("ts") or from_micros(now),
            speaker=old.speaker,
            tier=old.tier,
            provenance=old.provenance,
        )
        new = clean(raw, self.redact(fact).text, lambda text: self.redact(text).text)
        outcome = self.memories.supersede(old, new, new.at.micros)
        if outcome.status == "forgotten":
            raise AlreadyExists(
                "that fact was forgotten before, and what was forgotten stays away: word it differently"
            )
        self.stored([outcome])
        return {
            "original_id": old.id,
            "new_record_id": outcome.id,
            "edge_type": "contradicts",
            "ts": iso(now),
        }


@dataclass(frozen=True, slots=True)
class Reinforce:
    """Memories that answered together are linked, so that one brings up the other."""

    memories: Memories
    clock: Clock
    projects: Projects
    useful: Callable[[Sequence[str]], None]  # told which were

    def __call__(self, params: Params) -> dict[str, object]:
        params.need("ids")
        ids = params.texts("ids")
        if not ids:
            raise InvalidInput("ids must name at least one memory")
        if len(ids) > _REINFORCED_AT_MOST:
            raise InvalidInput(f"reinforce {_REINFORCED_AT_MOST} memories at a time at most")
        found = within_reach(self.memories.find(ids), params, self.memories, self.projects)
        pairs = list(combinations(sorted({memory.key for memory in found}), 2))
        boosted = self.memories.link(pairs, "together", _REINFORCE_STEP, self.clock.now())
        known = [memory.id for memory in found]
        self.useful(known)
        return {
            "edges_boosted": boosted,
            "reinforced": known,
            "unknown": [i for i in ids if i.lower() not in known],
        }


@dataclass(frozen=True, slots=True)
class Forget:
    """Remove memories for good: text, vectors, index entries. A tombstone keeps them away."""

    memories: Memories
    clock: Clock
    projects: Projects
    forgotten: Callable[[Sequence[int]], None]  # told which keys went

    def __call__(self, params: Params) -> dict[str, object]:
        # What was derived goes with its sources; by itself only where somebody names it.
        named = {identity.lower() for identity in params.texts("ids")}
        matches = [m for m in self._matches(params) if not m.derived or m.id in named]
        if params.flag("dry_run"):
            told: dict[str, object] = {"forgotten": 0, "ids": [memory.id for memory in matches]}
            shown = params.integer("show", 0, 0, _SHOWN_AT_MOST)  # for whoever asks a person first
            return {**told, "records": [record(m) for m in matches[:shown]]} if shown else told
        keys = [memory.key for memory in matches]
        ids = self.memories.forget(keys, self.clock.now()) if keys else []
        self.forgotten(keys)
        return {"forgotten": len(ids), "ids": ids}

    def _matches(self, params: Params) -> list[Memory]:
        filters = ("ids", "query", "session_id", "project", "after", "before")
        if not any(_narrows(params, name) for name in filters):
            raise InvalidInput(f"say what to forget: give at least one of {', '.join(filters)}")
        scope = scope_of(
            params,
            self.memories,
            self.projects,
            since="after",
            until="before",
            all_of_the_owners=True,
        )
        keys = self.memories.keys(scope)
        if params.has("ids"):
            within = None if keys is None else set(keys)
            named = self.memories.find(params.texts("ids"))
            keys = [memory.key for memory in named if within is None or memory.key in within]
        if not params.has("query"):
            return self.memories.get(keys or [])
        words = params.text("query").casefold()
        if not words.strip():
            raise InvalidInput("query is blank: give the words that the memories contain")
        return [memory for memory in self._read(keys) if words in memory.text.casefold()]

    def _read(self, keys: Sequence[int] | None) -> Iterator[Memory]:
        """These memories, or all, a page at a time: to forget means to miss none."""
        if keys is not None:
            for start in range(0, len(keys), _PAGE):
                yield from self.memories.get(keys[start : start + _PAGE])
            return
        page = self.memories.after(0, _PAGE)
        while page:
            yield from page
            page = self.memories.after(page[-1].key, _PAGE)


def _narrows(params: Params, name: str) -> bool:
    """Whether this filter is given and leaves anything out: a blank one and `*` mean everything."""
    return params.has(name) and params.raw(name) not in (("", "*") if name == "project" else ("",))


def named(params: Params, memories: Memories, projects: Projects) -> Memory:
    """The memory that a call names by its `id`.

    Raises:
        NotFound: there is none that this caller may touch.
    """
    identity = params.text("id")
    found = within_reach(memories.find([identity]), params, memories, projects)
    if not found:
        raise NotFound(
            f"there is no memory with id {identity[:64]!r}: recall it first to get its id"
        )
    return found[0]
