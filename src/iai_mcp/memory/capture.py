"""Remember what was said: verbatim but for secrets, each turn exactly once."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from iai_mcp.domain import pieces
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.instants import Instant, from_micros, instant
from iai_mcp.domain.memories import CleanTurn, Provenance, Turn, clean, encodable, turn_identity
from iai_mcp.memory.scoping import VISITOR, closed_to
from iai_mcp.ports.memories import Memories, Stored
from iai_mcp.ports.surroundings import Clock, Consent, ConsentRules, Projects, Redactor
from iai_mcp.protocol.params import Params, meta_json

ALL_PRIVATE = "all of it was marked private"
_CLOSED = "that project is private: only who works in it adds to it"
_NAME_LIMIT = 512  # a name longer than this is not one; it would only swell the index
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
class Capture:
    """Turns what hooks and people deliver into memories."""

    memories: Memories
    clock: Clock
    projects: Projects  # as they are: what people want is about places
    stored_projects: Projects  # by the keys they are stored under
    redact: Redactor
    consent: Consent
    stored: Callable[[Sequence[Stored]], None]  # told after each durable batch

    def text(self, params: Params) -> Stored | str:
        """One memory by hand or by an agent; or why it is not to be remembered."""
        text, role = params.text("text"), params.text("role", "user") or "user"
        session = _name(params.text("session_id", ""), "session_id")
        cwd = params.text("cwd", "")
        project = self.projects.key_of(params.text("project", ""), cwd)
        now = self.clock.now()
        if params.flag(VISITOR) and self._is_closed(params):
            return _CLOSED
        refusal = self.consent.rules().refusal(project, cwd, now)
        if refusal is not None:
            return refusal
        turn = Turn(
            identity=turn_identity(self.memories.salt, session, role=role, text=text),
            text=text,
            role=_name(role, "role"),
            at=params.instant("ts") or from_micros(now),
            speaker=_name(params.text("speaker", ""), "speaker"),
            tier=params.text("tier", "episodic"),
            cue=params.text("cue", ""),
            provenance=Provenance(
                session_id=session,
                project=project,
                host=_name(params.text("host", ""), "host"),
                agent_id=_name(params.text("agent_id", ""), "agent_id"),
                agent_name=_name(params.text("agent_name", ""), "agent_name"),
                branch=_name(params.text("branch", ""), "branch"),
            ),
            meta=params.meta(),
        )
        outcomes = self._add([turn])
        return outcomes[0] if outcomes else ALL_PRIVATE

    def _is_closed(self, params: Params) -> bool:
        key = self.stored_projects.key_of(params.text("project", ""), params.text("cwd", ""))
        return key in closed_to(params, self.memories, self.stored_projects)

    def events(self, params: Params) -> Captured:
        """A batch of turns from one session, in order.

        Other writers come in between the parts of a very long one; whoever is cut off in the middle
        of it sends it again, and what was stored is recognised.
        """
        session = _name(params.text("session_id"), "session_id")
        call = _Call(
            session_id=session,
            project=params.text("project", ""),
            cwd=params.text("cwd", ""),
            host=_name(params.text("host", ""), "host"),
            now=from_micros(self.clock.now()),
            spooled=_time(params.raw("deferred_at")),
            rules=self.consent.rules(),
            key_of=cache(self.projects.key_of),
        )
        turns: list[Turn] = []
        skipped = errors = 0
        said: Counter[tuple[str, str]] = Counter()
        for raw in params.objects("events"):
            try:
                turn = self._turn(raw, call, said)
            except InvalidInput:
                errors += 1
                continue
            if turn is None:
                skipped += 1
            else:
                turns.append(turn)
        outcomes = self._add(turns)
        statuses = Counter(one.status for one in outcomes)
        return Captured(
            inserted=statuses["inserted"],
            duplicates=statuses["duplicate"],
            skipped=skipped + statuses["forgotten"] + len(turns) - len(outcomes),
            errors=errors,
        )

    def _turn(self, raw: object, call: "_Call", said: Counter[tuple[str, str]]) -> Turn | None:
        """The turn that an event describes; None when it is not to be remembered."""
        if not isinstance(raw, dict):
            raise InvalidInput("an event must be an object")
        event = Params(raw)
        text, role = event.text("text", ""), event.text("role", "user") or "user"
        if not text.strip():
            return None
        cwd = event.text("cwd", "") or call.cwd
        project = call.key_of(event.text("project", "") or call.project, cwd)
        at = _time(event.raw("ts"))
        if call.rules.refusal(project, cwd, (at or call.spooled or call.now).micros):
            return None
        occurrence = said[(role, text)]
        said[(role, text)] += 1
        return Turn(
            identity=identity_of(self.memories.salt, event, call.session_id, occurrence),
            text=text,
            role=_name(role, "role"),
            at=at or call.now,
            speaker=_name(event.text("speaker", ""), "speaker"),
            tier=event.text("tier", "episodic") or "episodic",
            cue=event.text("cue", ""),
            provenance=Provenance(
                session_id=_session(event, call.session_id),
                project=project,
                host=_name(event.text("host", ""), "host") or call.host,
                agent_id=_name(event.text("agent_id", ""), "agent_id"),
                agent_name=_name(event.text("agent_name", ""), "agent_name"),
                branch=_name(event.text("branch", ""), "branch"),
            ),
            meta=meta_json(event.raw("meta")),
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


@dataclass(frozen=True, slots=True)
class _Call:
    """What the events of one call share unless they say otherwise."""

    session_id: str
    project: str
    cwd: str
    host: str
    now: Instant
    spooled: Instant | None  # when the hook put it aside, if it did
    rules: ConsentRules
    key_of: Callable[[str, str], str]


def identity_of(salt: bytes, event: Params, session_id: str, occurrence: int) -> bytes:
    """The identity of a turn as hooks deliver it: from one session, after so many of the same words.

    Raises:
        InvalidInput: it is no turn.
    """
    return turn_identity(
        salt,
        _session(event, session_id),
        turn_id=_turn_id(event.raw("id")),
        role=event.text("role", "user") or "user",
        text=event.text("text"),
        occurrence=event.integer("occurrence", occurrence, 0, 1 << 31),
    )


def _session(event: Params, session_id: str) -> str:
    return _name(event.text("session_id", ""), "session_id") or session_id


def _turn_id(raw: object) -> str:
    if raw is None or isinstance(raw, bool):
        return ""
    return encodable(str(raw))


def _time(raw: object) -> Instant | None:
    """The event's time; None when it has none that can be understood: its words still count."""
    try:
        return None if raw is None else instant(raw)
    except InvalidInput:
        return None


def _name(value: str, what: str) -> str:
    if len(value) > _NAME_LIMIT:
        raise InvalidInput(f"{what} may have {_NAME_LIMIT} characters at most")
    return value
