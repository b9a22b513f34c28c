"""`Memories`, `WordIndex` and `VectorLog` in memory: what a store does, without a file."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from uuid import UUID

import numpy as np

from iai_mcp.domain.errors import NotFound
from iai_mcp.domain.exchanges import noted
from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import SUMMARY, CleanTurn, Memory, Provenance
from iai_mcp.domain.ranking.use import FULL, Link
from iai_mcp.domain.traits import WISH, traits_of
from iai_mcp.domain.whole_words import Phrase
from iai_mcp.ports.memories import (
    DISPUTES,
    Carried,
    Entry,
    EntryPage,
    Placed,
    Renewed,
    Scope,
    Stored,
    Unembedded,
    WordHit,
)
from iai_mcp.ports.upkeep import Gone
from iai_mcp.ports.vectors import Coded, CodedPage, CodedParts
from iai_mcp.ports.words import Places

_WORD = re.compile(r"\w+")


def said(
    text: str,
    *,
    at: int = 0,
    identity: bytes | None = None,
    role: str = "user",
    session: str = "s",
    project: str = "",
) -> CleanTurn:
    """A turn as capture makes it; the same words are the same turn unless an identity is given."""
    return CleanTurn(
        identity=identity or text.encode().ljust(16, b"\0")[-16:],
        text=text,
        role=role,
        at=from_micros(at),
        provenance=Provenance(session_id=session, project=project),
    )


class FakeMemories:
    """Everything said, by key. What is told to it with `say` is said one second after the other."""

    def __init__(self, *texts: str) -> None:
        self.stored: dict[int, Memory] = {}
        self.to_embed: set[int] = set()
        self.other_names: dict[str, int] = {}  # public id -> key
        self._left: set[tuple[int, str]] = set()
        self._salt = b"salt"
        self._last = 0
        self.tombstones: dict[bytes, int] = {}
        self._unreached: list[Gone] = []
        self._links: dict[tuple[int, int, str], Link] = {}
        self._private: set[str] = set()
        self._projects: set[str] = set()
        self.on_forgotten: list[Callable[[int], None]] = []  # what hangs on a memory goes with it
        self.say(*texts)

    def say(self, *texts: str, role: str = "user", project: str = "") -> list[int]:
        """Store these turns of session "s"; their keys."""
        turns = [
            said(text, at=(self._last + n) * 1_000_000, role=role, project=project)
            for n, text in enumerate(texts, 1)
        ]
        return [one.key for one in self.add(turns) if one.key is not None]

    @property
    def salt(self) -> bytes:
        return self._salt

    def add(self, turns: Sequence[CleanTurn]) -> list[Stored]:
        return [self._add(turn) for turn in turns]

    def get(self, keys: Sequence[int], longest: int | None = None) -> list[Memory]:
        found = dict.fromkeys(key for key in keys if key in self.stored)
        return [replace(m := self.stored[key], text=m.text[:longest]) for key in found]

    def find(self, ids: Sequence[str], longest: int | None = None) -> list[Memory]:
        return self.get(self.keys_of(ids), longest)

    def keys_of(self, ids: Sequence[str]) -> list[int]:
        known = self.other_names | {memory.id: key for key, memory in self.stored.items()}
        return list(dict.fromkeys(known[one.lower()] for one in ids if one.lower() in known))

    def ids_beginning(self, digits: str, limit: int) -> list[str]:
        known = [memory.id for memory in self.stored.values()]
        return sorted(one for one in known if one.replace("-", "").startswith(digits))[:limit]

    def ids_of(self, keys: Sequence[int]) -> list[str]:
        return [self.stored[key].id for key in keys if key in self.stored]

    def timeline(self, scope: Scope, limit: int) -> list[Memory]:
        return self._in_time(scope)[-limit:]

    def newest(
        self, scope: Scope, limit: int, before: tuple[int, int] | None = None
    ) -> list[Placed]:
        found = [m for m in self._in_time(scope) if before is None or _place(m) < before]
        return [_placed(memory) for memory in found[::-1][:limit]]

    def notes(self, scope: Scope, limit: int) -> list[Memory]:
        successors = {one.successor for one in self.stored.values()}
        marked = [
            one
            for one in self._in_time(scope)
            if not one.derived
            and (one.pinned or not one.provenance.session_id or one.key in successors)
        ]
        return marked[::-1][:limit]

    def arrived(self, after: int, limit: int) -> list[Placed]:
        return [_placed(memory) for memory in self.after(after, limit)]

    def containing(self, words: str, scope: Scope) -> list[int]:
        phrase = Phrase(words)
        found = self._within(scope)
        return [m.key for m in found if phrase.is_in(m.text) or phrase.is_in(noted(m.meta))]

    def neighbours(
        self, memory: Memory, count: int, longest: int | None = None
    ) -> tuple[list[Memory], list[Memory]]:
        session = memory.provenance.session_id
        if not session or count <= 0:
            return [], []
        around = [m for m in self._in_time(Scope(session_id=session)) if m.role != SUMMARY]
        before = [m.key for m in around if _place(m) < _place(memory)][-count:]
        after = [m.key for m in around if _place(m) > _place(memory)][:count]
        return self.get(before, longest), self.get(after, longest)

    def keys(self, scope: Scope) -> Sequence[int] | None:
        return None if scope.everything else [memory.key for memory in self._within(scope)]

    def by_words(self, terms: Sequence[str], scope: Scope, limit: int) -> list[WordHit]:
        wanted = {word for term in terms for word in _words(term)}
        hits = [
            WordHit(memory.key, float(len(wanted & set(_words(memory.text)))))
            for memory in self._within(scope)
        ]
        held = [hit for hit in hits if hit.strength]
        return sorted(held, key=lambda hit: (-hit.strength, hit.key))[:limit]

    def supersede(self, old: Memory, new: CleanTurn, at: int) -> Stored:
        if old.key not in self.stored:
            raise NotFound("that memory was forgotten a moment ago")
        stored = self._add(new)
        if stored.key is not None and stored.key != old.key:
            self._change(old.key, valid_to=at, successor=stored.key)
            self.link([(old.key, stored.key)], "contradicts", 1.0, at)
        return stored

    def dispute(self, old: Memory, new: CleanTurn, at: int) -> Stored:
        if old.key not in self.stored:
            raise NotFound("that memory was forgotten a moment ago")
        stored = self._add(new)
        if stored.key is not None and stored.key != old.key:
            self.link([(old.key, stored.key)], DISPUTES, 1.0, at)
        return stored

    def reinstate(self, key: int) -> None:
        self._change(key, valid_to=None, successor=None)

    def unforget(self, identities: Sequence[bytes]) -> None:
        for one in identities:
            self.tombstones.pop(one, None)

    def session_projects(self, session: str) -> frozenset[str]:
        found = (m for m in self.stored.values() if session in m.sessions)
        return frozenset(m.provenance.project for m in found)

    def link(self, pairs: Iterable[tuple[int, int]], kind: str, step: float, at: int) -> int:
        there = [p for p in pairs if p[0] in self.stored and p[1] in self.stored]
        for pair in there:
            a, b = min(pair), max(pair)
            known = self._links.get((a, b, kind))
            weight = min(FULL, (known.weight if known else 0.0) + step)
            self._links[a, b, kind] = Link(a, b, weight, at)
        return len(there)

    def links(self, keys: Sequence[int], kind: str) -> list[Link]:
        found = [
            link
            for (a, b, of), link in self._links.items()
            if of == kind and (a in keys or b in keys)
        ]
        return sorted(found, key=lambda link: (-link.weight, link.a, link.b))

    def forget(
        self,
        keys: Sequence[int],
        at: int,
        *,
        purge: bool = True,
        only_here: bool = False,
        hold: str = "",
    ) -> list[str]:
        gone = self.ids_of(keys)
        for key in keys:
            if key in self.stored:
                self._remove(key, at)
        return gone

    def leave(self, keys: Sequence[int], session: str) -> list[int]:
        gone = self.in_other_sessions(keys, session)
        for key in gone:
            memory = self.stored[key]
            self._left.add((key, session))
            first, *others = [one for one in memory.sessions if one != session]
            whence = replace(memory.provenance, session_id=first)
            self._change(key, provenance=whence, also_in=tuple(others))
        return gone

    def in_other_sessions(self, keys: Sequence[int], session: str) -> list[int]:
        return [m.key for m in self.get(sorted(keys)) if set(m.sessions) - {session}]

    def lineage(self, session: str) -> frozenset[str]:
        firsts = (m.sessions[0] for m in self.stored.values() if session in m.also_in)
        return frozenset((session, *firsts)) if session else frozenset()

    def aliases(self, keys: Sequence[int]) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for name, key in sorted(self.other_names.items()):
            if key in keys:
                found.setdefault(key, []).append(name)
        return found

    def mend(self, limit: int) -> tuple[int, Sequence[int]]:
        return 0, ()  # no older version stored anything here

    def purge(self) -> None:
        pass

    def unreached(self) -> list[Gone]:
        return list(self._unreached)

    def unreached_count(self) -> int:
        return len(self._unreached)

    def scrub(self) -> None:
        pass

    def reached(self, gone: Sequence[Gone]) -> None:
        self._unreached = [one for one in self._unreached if one not in gone]

    def after(self, key: int, limit: int) -> list[Memory]:
        return [m for m in self._within(Scope(said=True)) if m.key > key][:limit]

    def pin(self, key: int, pinned: bool) -> None:
        self._change(key, pinned=pinned)

    def supersedes(self, keys: Sequence[int]) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for memory in self.stored.values():
            if memory.successor in keys and memory.successor is not None:
                found.setdefault(memory.successor, []).append(memory.id)
        return found

    def carry_over(self, carried: Sequence[Carried]) -> None:
        for one in carried:
            self._change(one.key, pinned=one.pinned, valid_to=one.valid_to)
            for key in self.keys_of(one.supersedes):
                old, new = self.stored[key], self.stored[one.key]
                if key != one.key and old.successor is None:
                    until = new.at.micros if old.valid_to is None else old.valid_to
                    self._change(key, successor=one.key, valid_to=until)
                    self.link([(key, one.key)], "contradicts", 1.0, new.at.micros)

    def adopt_salt(self, salt: bytes) -> None:
        if not self.stored:
            self._salt = salt

    def latest(self) -> int:
        return max((m.key for m in self._within(Scope(said=True))), default=0)

    def entries(self, after: int, limit: int) -> EntryPage:
        found = [_entry(one) for one in self._within(Scope(said=True)) if one.key > after]
        return EntryPage.of(found[:limit])

    def renew(self, limit: int) -> list[Renewed]:
        return []

    def pending(self, after: int = 0) -> list[int]:
        last = max((one.at.micros for one in self.stored.values()), default=0)
        current = {
            one.provenance.project
            for one in self.stored.values()
            if one.at.micros >= last - 7 * 86_400_000_000
        } - {""}

        def wanted(key: int) -> tuple[bool, int, int]:
            one = self.stored[key]
            return one.provenance.project in current, one.at.micros, key

        return sorted((key for key in self.to_embed if key > after), key=wanted, reverse=True)

    def unembedded(self, keys: Sequence[int]) -> Iterator[Unembedded]:
        for memory in self.get(keys):
            wishes = bool(traits_of(memory.text, memory.role).facts & WISH)
            yield Unembedded(memory.key, memory.text, memory.role, wishes)

    def said_before(self, key: int) -> Unembedded | None:
        before, _ = self.neighbours(self.stored[key], 1)
        return next(self.unembedded([one.key for one in before]), None)

    def pending_count(self) -> int:
        return len(self.to_embed)

    def count(self) -> int:
        return len(self._within(Scope(said=True)))

    def members(self, *, untrusted: bool = False) -> list[str]:
        return sorted({_member(one) for one in self.stored.values()} - {""})

    def private_projects(self) -> list[str]:
        return sorted(self._private)

    def withdraw(self, projects: Sequence[str]) -> None:
        pass

    def set_private(self, project: str, private: bool) -> None:
        self._projects.add(project)
        (self._private.add if private else self._private.discard)(project)

    def projects(self) -> list[str]:
        return sorted(self._projects)

    def _add(self, turn: CleanTurn) -> Stored:
        names = [str(UUID(bytes=one)) for one in (turn.identity, *turn.aliases)]
        public = names[0]
        known = self.keys_of(names)
        if known:
            self._join(known[0], names, turn)
            return Stored("duplicate", self.stored[known[0]].id, known[0])
        if any(UUID(name).bytes in self.tombstones for name in names):
            self.tombstones |= {UUID(name).bytes: 0 for name in names}
            return Stored("forgotten", public, None)
        self._last += 1
        self.stored[self._last] = _memory(self._last, public, turn)
        self._join(self._last, names, turn)
        self._projects |= {turn.provenance.project} - {""}
        self.to_embed.add(self._last)
        return Stored("inserted", public, self._last)

    def _join(self, key: int, names: Sequence[str], turn: CleanTurn) -> None:
        memory = self.stored[key]
        self.other_names |= {name: key for name in names if name != memory.id}
        added = (
            one
            for one in (turn.provenance.session_id, *turn.also_in)
            if one and one not in memory.sessions and (key, one) not in self._left
        )
        if memory.provenance.session_id:
            self._change(key, also_in=tuple(sorted({*memory.also_in, *added})))

    def _remove(self, key: int, at: int) -> None:
        names = [self.stored.pop(key).id, *self.aliases([key]).get(key, ())]
        for identity in (UUID(name).bytes for name in names):
            self.tombstones[identity] = at
            self._unreached.append(Gone(identity, at))
        self.other_names = {name: of for name, of in self.other_names.items() if of != key}
        self.to_embed.discard(key)
        self._links = {at: link for at, link in self._links.items() if key not in at[:2]}
        for memory in list(self.stored.values()):
            if memory.successor == key:
                self._change(memory.key, successor=None)
        for told in self.on_forgotten:
            told(key)

    def _change(self, key: int, **changes: object) -> None:
        if key in self.stored:
            self.stored[key] = replace(self.stored[key], **changes)  # type: ignore[arg-type] # each names a field

    def _within(self, scope: Scope) -> list[Memory]:
        return [m for _, m in sorted(self.stored.items()) if _holds(scope, m)]

    def _in_time(self, scope: Scope) -> list[Memory]:
        return sorted(self._within(scope), key=_place)


class FakeWordIndex:
    """The words of a `FakeMemories`, spelled in small letters and not cut down to their stems."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories

    @contextmanager
    def looked_up(self) -> Iterator["FakeWordIndex"]:
        yield self

    def spelled(self, terms: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(word for term in terms for word in _words(term)))

    def places(self, word: str, limit: int) -> Places:
        held = [key for key, own in self._indexed() for _ in range(own.count(word))]
        return np.array(held[:limit], dtype=np.int64)

    def holding(self, word: str) -> int:
        return sum(word in own for _, own in self._indexed())

    def holding_phrase(self, phrase: str, limit: int) -> list[int]:
        wanted = _words(phrase)
        if not wanted:
            return []
        found = [
            key
            for key, own in self._indexed()
            if any(own[n : n + len(wanted)] == wanted for n in range(len(own)))
        ]
        return found[::-1][:limit]

    def _indexed(self) -> list[tuple[int, list[str]]]:
        said = self._memories.after(0, 1 << 30)
        return [(m.key, _words(traits_of(m.text, m.role).index)) for m in said]


class FakeVectorLog:
    """The vectors of a `FakeMemories`."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories
        self._turns: dict[int, Coded] = {}
        self._parts: dict[int, CodedParts] = {}
        memories.on_forgotten.append(self._forget)

    def put(
        self,
        turns: Sequence[Coded],
        parts: Sequence[CodedParts] = (),
        unfinished: Collection[int] = (),
    ) -> list[int]:
        there = self._memories.stored
        self._parts |= {one.key: one for one in parts if one.key in there}
        self._turns |= {one.key: one for one in turns if one.key in there}
        self._memories.to_embed -= {one.key for one in turns} - set(unfinished)
        keys = [*(one.key for one in parts), *(one.key for one in turns)]
        return list(dict.fromkeys(key for key in keys if key in there))

    def page(self, after: int, limit: int) -> CodedPage:
        found = [self._turns[key] for key in sorted(self._turns) if key > after][:limit]
        codes = np.frombuffer(b"".join(one.code for one in found), np.int8)
        return CodedPage(
            np.array([one.key for one in found], np.int64),
            np.array([one.scale for one in found], np.float32),
            codes.reshape(len(found), -1 if found else 0),
        )

    def parts(self, keys: Sequence[int]) -> list[CodedParts]:
        return [self._parts[key] for key in keys if key in self._parts]

    def with_topics(self, after: int, limit: int) -> list[CodedParts]:
        found = [self._parts[key] for key in sorted(self._parts) if key > after]
        return [one for one in found if one.topics][:limit]

    def _forget(self, key: int) -> None:
        self._turns.pop(key, None)
        self._parts.pop(key, None)


def _memory(key: int, public: str, turn: CleanTurn) -> Memory:
    return Memory(
        key=key,
        id=public,
        text=turn.text,
        role=turn.role,
        at=turn.at,
        speaker=turn.speaker,
        tier=turn.tier,
        cue=turn.cue,
        provenance=turn.provenance,
        meta=json.loads(turn.meta) if turn.meta else {},
        valid_from=turn.at.micros,
    )


def _entry(memory: Memory) -> Entry:
    traits = traits_of(memory.text, memory.role, json.dumps(dict(memory.meta)))
    whence = memory.provenance
    return Entry(
        memory.key,
        memory.at.micros,
        traits.length,
        traits.facts,
        whence.session_id,
        whence.project,
        memory.speaker or whence.agent_name,
        memory.role,
        whence.host,
        whence.agent_id,
        whence.agent_name,
        _member(memory),
        whence.machine,
    )


def _holds(scope: Scope, memory: Memory) -> bool:
    whence, at = memory.provenance, memory.at.micros
    return all(
        (
            not scope.projects or whence.project in scope.projects,
            whence.project not in scope.not_projects,
            scope.session_id in ("", *memory.sessions),
            scope.host in ("", whence.host),
            scope.role in ("", memory.role),
            scope.agent in ("", whence.agent_id, whence.agent_name),
            scope.since is None or at >= scope.since,
            scope.until is None or at < scope.until,
            scope.known_at is None or at <= scope.known_at,
            not (scope.said and memory.derived),
            not scope.members or _member(memory) in scope.members,
            _member(memory) not in scope.not_members,
            not scope.machines or whence.machine in scope.machines,
        )
    )


def _place(memory: Memory) -> tuple[int, int]:
    return memory.at.micros, memory.key


def _placed(memory: Memory) -> Placed:
    return Placed(
        memory.key, memory.at.micros, len(memory.text.encode()) + len(memory.cue.encode())
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _member(memory: Memory) -> str:
    whence = memory.provenance
    return f"{whence.circle}/{whence.member}" if whence.circle else ""
