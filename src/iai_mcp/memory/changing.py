"""Contradict, reinforce and forget: the ways a memory changes after it was captured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from iai_mcp.domain.errors import AlreadyExists, InvalidInput, NotFound
from iai_mcp.domain.instants import from_micros, iso
from iai_mcp.domain.memories import Memory, Turn, clean, turn_identity
from iai_mcp.memory.scoping import scope_of, within_reach
from iai_mcp.memory.showing import record
from iai_mcp.ports.memories import Memories, Stored
from iai_mcp.ports.surroundings import Clock, Projects, Redactor
from iai_mcp.protocol.params import Params

_SHOWN_AT_MOST = 100
_SHOWN_OF_EACH = 1000  # characters
_IDS = 100_000  # named in an answer; of more than that it says how many there were
_AT_ONCE = 1000  # forgotten in one transaction: others write in between
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
        keys = self._matches(params)
        if params.flag("dry_run"):
            told = _told(0, self.memories.ids_of(keys[:_IDS]), len(keys))
            shown = params.integer("show", 0, 0, _SHOWN_AT_MOST)  # for whoever asks a person first
            found = self.memories.get(keys[:shown], _SHOWN_OF_EACH)
            return {**told, "records": [record(m) for m in found]} if shown else told
        ids: list[str] = []
        for start in range(0, len(keys), _AT_ONCE):
            part = keys[start : start + _AT_ONCE]
            ids += self.memories.forget(part, self.clock.now(), purge=False)
            self.forgotten(part)
        if ids:
            self.memories.purge()
        return _told(len(ids), ids[:_IDS], len(ids))

    def _matches(self, params: Params) -> Sequence[int]:
        """The keys of what is to go; never the words, of which there may be any amount."""
        filters = ("ids", "query", "session_id", "project", "after", "before")
        if not any(_narrows(params, name) for name in filters):
            raise InvalidInput(f"say what to forget: give at least one of {', '.join(filters)}")
        named = params.has("ids")
        scope = scope_of(
            params,
            self.memories,
            self.projects,
            since="after",
            until="before",
            all_of_the_owners=True,
        )
        # What was derived goes with its sources; by itself only where somebody names it.
        scope = replace(scope, said=not named)
        words = params.text("query", "")
        if params.has("query") and not words.strip():
            raise InvalidInput("query is blank: give the words that the memories contain")
        within = self.memories.containing(words, scope) if words else self.memories.keys(scope)
        if not named:
            return within or []
        keys = self.memories.keys_of(params.texts("ids"))
        allowed = None if within is None else set(within)
        return [key for key in keys if allowed is None or key in allowed]


def _told(forgotten: int, ids: Sequence[str], matches: int) -> dict[str, object]:
    told: dict[str, object] = {"forgotten": forgotten, "ids": list(ids), "matches": matches}
    return {**told, "more": True} if len(ids) < matches else told


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
        raise unknown(identity)
    return found[0]


def one(memories: Memories, public_id: str) -> Memory:
    """The memory of that id, for whoever all of them belong to.

    Raises:
        NotFound: there is none.
    """
    found = memories.find([public_id])
    if not found:
        raise unknown(public_id)
    return found[0]


def unknown(public_id: str) -> NotFound:
    return NotFound(f"there is no memory with id {public_id[:64]!r}: recall it first to get its id")
