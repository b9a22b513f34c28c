"""Remember what was said: verbatim but for secrets, each turn exactly once."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from uuid import UUID

from iai_mcp.domain import pieces
from iai_mcp.domain.errors import InvalidInput, NotAllowed
from iai_mcp.domain.instants import Instant, from_micros
from iai_mcp.domain.memories import CleanTurn, NewTurn, Provenance, Turn, clean, turn_identity
from iai_mcp.domain.projects.identity import is_path, is_plain_name
from iai_mcp.memory.scoping import UNNAMED_AGENT, Access, Caller
from iai_mcp.ports.memories import Memories, Stored
from iai_mcp.ports.surroundings import Clock, Consent, Projects, Redactor

ALL_PRIVATE = "all of it was marked private"
_CLOCK_SKEW = 60_000_000  # microseconds that a caller's clock may be ahead
_NAME_LIMIT = 512  # a name longer than this is not one; it would only swell the index
_NAMES = ("session_id", "role", "speaker", "host", "agent_id", "agent_name", "branch")
_AT_ONCE = 1000  # turns stored in one transaction
_NAMES_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of a batch."""

    inserted: int = 0
    duplicates: int = 0
    skipped: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True)
class NotKept:
    """Why something is not to be remembered."""

    reason: str


@dataclass(frozen=True, slots=True)
class Capture:
    """Turns what hooks and people deliver into memories."""

    memories: Memories
    clock: Clock
    projects: Projects  # as they are: what people want is about places
    access: Access  # by the keys that projects are stored under
    redact: Redactor
    consent: Consent
    stored: Callable[[Sequence[Stored]], None]  # told after each durable batch

    def __call__(self, turns: Sequence[NewTurn], spooled: Instant | None = None) -> Captured:
        """A batch of turns, in order. `spooled`: when the hook put them aside, if it did.

        Other writers come in between the parts of a very long one; whoever is cut off in the middle
        of it sends it again, and what was stored is recognised.
        """
        rules, key_of = self.consent.rules(), cache(self.projects.key_of)
        comes_from = cache(self.projects.comes_from)
        now = from_micros(self.clock.now())
        kept: list[Turn] = []
        skipped = errors = 0
        said: Counter[tuple[str, str]] = Counter()
        for new in turns:
            project = key_of(new.project, new.cwd)
            if rules.refusal(project, new.cwd, (new.at or spooled or now).micros):
                skipped += 1
                continue
            if new.repository:
                comes_from(project, new.repository)
            words = (new.role, new.text)
            try:
                check_names(new)
                names = new.identities(self.memories.salt, said[words])
                everywhere = new.everywhere(said[words])
                kept.append(placed(new, names, project, now, everywhere=everywhere))
            except InvalidInput:
                errors += 1
            said[words] += 1
        outcomes = self._add(kept)
        statuses = Counter(one.status for one in outcomes)
        return Captured(
            inserted=statuses["inserted"],
            duplicates=statuses["duplicate"],
            skipped=skipped + statuses["forgotten"] + len(kept) - len(outcomes),
            errors=errors,
        )

    def one(self, new: NewTurn, caller: Caller, *, again: bool = False) -> Stored | NotKept:
        """One memory by hand or by an agent: the same words of a session are one, however often said.

        `again` stores what was forgotten before.
        """
        check_names(new)
        now = self.clock.now()
        if caller.visitor:
            try:
                new = self._by_agent(new, caller, now)
            except NotAllowed as refused:
                return NotKept(refused.message)
        project = self.projects.key_of(new.project, new.cwd)
        stored_as = self.access.projects.key_of(new.project, new.cwd)
        refusal = self.consent.rules().refusal(project, new.cwd, now)
        if refusal is not None:
            return NotKept(refusal)
        identity = self._identity(new, stored_as)
        if again:
            self.memories.unforget([identity])
        outcomes = self._add([placed(new, (identity,), project, from_micros(now))])
        return outcomes[0] if outcomes else NotKept(ALL_PRIVATE)

    def _identity(self, new: NewTurn, project: str) -> bytes:
        """Earlier versions left the project out of it: what they stored here keeps its identity."""
        named = partial(
            turn_identity, self.memories.salt, new.session_id, role=new.role, text=new.text
        )
        without = named()
        known = self.memories.find([str(UUID(bytes=without))], 1)
        if any(one.provenance.project == project for one in known):
            return without
        return named(project=project)

    def _by_agent(self, new: NewTurn, caller: Caller, now: int) -> NewTurn:
        """The turn as the agent's own words: never the person's, and in the agent's project.

        Raises:
            NotAllowed: the project or the session is not the agent's.
            InvalidInput: its time is still to come.
        """
        self.access.own_project(caller, new.project)
        if new.at is not None and new.at.micros > now + _CLOCK_SKEW:
            raise InvalidInput("ts is in the future: leave it out for now")
        return replace(
            new,
            project="",
            cwd=caller.cwd,
            session_id=self.access.own_session(new.session_id, caller),
            role="assistant",
            speaker="",
            captured_by=caller.name or UNNAMED_AGENT,
        )

    def _add(self, turns: Sequence[Turn]) -> list[Stored]:
        """Store what may be kept of the turns; those that were all private are left out."""
        outcomes: list[Stored] = []
        # Many turns bear the same names.
        redact = lru_cache(_NAMES_AT_ONCE)(lambda text: self.redact(text).text)
        for start in range(0, len(turns), _AT_ONCE):
            part = turns[start : start + _AT_ONCE]
            cleaned = [kept for turn in part if (kept := self._clean(turn, redact)) is not None]
            outcomes += self.memories.add(cleaned) if cleaned else []
        if outcomes:
            self.stored(outcomes)
        return outcomes

    def _clean(self, turn: Turn, redact: Callable[[str], str]) -> CleanTurn | None:
        pieces.breathe()  # a batch of thousands takes as long as one huge turn
        redacted = self.redact(turn.text)
        return None if redacted.nothing_left else clean(turn, redacted.text, redact)


def check_names(new: NewTurn) -> None:
    """
    Raises:
        InvalidInput: one of its names is none.
    """
    for name in _NAMES:
        if len(getattr(new, name)) > _NAME_LIMIT:
            raise InvalidInput(f"{name} may have {_NAME_LIMIT} characters at most")
    check_project(new.project)


def check_project(named: str) -> None:
    """
    Raises:
        InvalidInput: the name is blank, or holds characters that nobody can see.
    """
    if named and not is_path(named) and not is_plain_name(named):
        raise InvalidInput("project is blank or holds invisible characters: give a name or a path")


def placed(
    new: NewTurn,
    names: Sequence[bytes],
    project: str,
    now: Instant,
    also_in: tuple[str, ...] = (),
    everywhere: bytes = b"",
) -> Turn:
    """The turn with the key of its project. The first of its names is its identity."""
    identity, *aliases = names
    return Turn(
        identity=identity,
        by_uid=bool(new.uid),
        aliases=tuple(aliases),
        also_in=also_in,
        everywhere=everywhere,
        text=new.text,
        role=new.role,
        at=new.at or now,
        speaker=new.speaker,
        tier=new.tier,
        cue=new.cue,
        provenance=Provenance(
            session_id=new.session_id,
            project=project,
            host=new.host,
            agent_id=new.agent_id,
            agent_name=new.agent_name,
            branch=new.branch,
            captured_by=new.captured_by,
        ),
        meta=new.meta,
    )
