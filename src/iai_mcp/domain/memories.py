"""What is remembered: a `NewTurn` as it is delivered, a `Turn` with its identity, a `CleanTurn` that
may be stored, a `Memory` that was.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.instants import Instant

Tier = Literal["working", "episodic", "semantic", "procedural", "parametric"]
TIERS: tuple[str, ...] = get_args(Tier)
DEFAULT_TIER: Tier = "episodic"

SUMMARY = "summary"  # the role of what a model wrote as a summary: nobody said it

META_LIMIT = 4096  # bytes of JSON: meta comes back with every hit, so every recall pays for it


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a turn was said, and by whom. Empty strings mean unknown."""

    session_id: str = ""
    project: str = ""  # the key of its project: a root path or a name
    host: str = ""
    agent_id: str = ""
    agent_name: str = ""
    branch: str = ""
    captured_by: str = ""  # the agent whose tool wrote it; "" for a hook or a person
    # Who told it, where another device of a circle did.
    member: str = ""
    machine: str = ""
    circle: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """Something that was said, as it is delivered. Empty strings mean unknown."""

    text: str
    role: str = "user"
    at: Instant | None = None
    session_id: str = ""
    id: str = ""  # the host's own, within the session
    uid: str = ""  # the host's own, the same in every session that repeats the turn
    occurrence: int | None = None  # how often these words came before, where the deliverer counts
    project: str = ""  # a name or a path
    cwd: str = ""
    host: str = ""
    agent_id: str = ""
    agent_name: str = ""
    branch: str = ""
    captured_by: str = ""  # the agent whose tool wrote it
    repository: str = ""  # the url of its remote, where the transcript tells
    speaker: str = ""
    tier: str = DEFAULT_TIER
    cue: str = ""
    meta: str = ""  # canonical JSON, "" when there is none

    def identities(self, salt: bytes, occurrence: int = 0) -> tuple[bytes, ...]:
        """What makes this turn of a transcript itself, after so many of the same words.

        Where it has a `uid`, behind that what it would be without.
        """
        of_session = turn_identity(
            salt,
            self.session_id,
            turn_id=self.id,
            role=self.role,
            text=self.text,
            occurrence=occurrence if self.occurrence is None else self.occurrence,
        )
        if not self.uid:
            return (of_session,)
        return turn_identity(salt, self.session_id, uid=self.uid), of_session

    def everywhere(self, occurrence: int = 0) -> bytes:
        """The identity that this turn of a transcript has on every machine; b"" where nothing but
        its time tells it from the same words elsewhere.
        """
        return self.identities(b"", occurrence)[0] if self.session_id or self.uid else b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Something that was said, as it arrived. It may hold secrets: it is never stored."""

    identity: bytes
    text: str
    role: str
    at: Instant
    speaker: str = ""
    tier: str = DEFAULT_TIER
    cue: str = ""
    provenance: Provenance = field(default_factory=Provenance)
    meta: str = ""  # canonical JSON, "" when there is none
    by_uid: bool = False  # the host's id for it is the same in every session that repeats it
    aliases: tuple[bytes, ...] = ()  # identities under which it may be stored already
    also_in: tuple[str, ...] = ()  # sessions beside its own
    everywhere: bytes = b""  # its identity on every machine, where it has one by its origin

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidInput("there is nothing to remember: the text was blank")
        if self.tier not in TIERS:
            raise InvalidInput(f"tier must be one of {', '.join(TIERS)}, not {self.tier[:40]!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanTurn(Turn):
    """A turn whose secrets were replaced by markers: the only kind a store accepts."""


def clean(turn: Turn, text: str, redact: Callable[[str], str]) -> CleanTurn:
    """The same turn with redacted words: `text` as it came from the redactor, and all else that came
    with it. Its identity stays: it was worked out from what arrived.
    """
    # Late: who only knows what a turn is need not know hundreds of patterns of secrets.
    from iai_mcp.domain.redaction import redact_json

    return CleanTurn(
        identity=turn.identity,
        text=text,
        role=redact(turn.role),
        at=turn.at,
        speaker=redact(turn.speaker),
        tier=turn.tier,
        cue=redact(turn.cue),
        provenance=redacted_provenance(turn.provenance, redact),
        meta=redact_json(turn.meta, redact) if turn.meta else "",
        by_uid=turn.by_uid,
        aliases=turn.aliases,
        also_in=tuple(map(redact, turn.also_in)),
        everywhere=turn.everywhere,
    )


def redacted_provenance(whence: Provenance, redact: Callable[[str], str]) -> Provenance:
    """Where something comes from, without secrets: names hold them, too."""
    return Provenance(
        session_id=redact(whence.session_id),
        project=redact(whence.project),
        host=redact(whence.host),
        agent_id=redact(whence.agent_id),
        agent_name=redact(whence.agent_name),
        branch=redact(whence.branch),
        captured_by=redact(whence.captured_by),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A stored turn or derived memory. `key` orders by arrival; `id` is what the world calls it."""

    key: int
    id: str
    text: str
    role: str
    at: Instant
    speaker: str = ""
    tier: str = DEFAULT_TIER
    cue: str = ""
    provenance: Provenance = field(default_factory=Provenance)
    meta: Mapping[str, object] = field(default_factory=dict)
    valid_from: int | None = None
    valid_to: int | None = None
    successor: int | None = None  # the key of the memory that supersedes this one
    pinned: bool = False
    derived: bool = False  # made in sleep of other memories; nobody said it
    also_in: tuple[str, ...] = ()  # sessions beside the one of its provenance that repeat it

    @property
    def sessions(self) -> tuple[str, ...]:
        """All sessions it belongs to, the one that had it first in front."""
        first = self.provenance.session_id
        return (first, *self.also_in) if first else ()


def is_from(memory: Memory, sessions: frozenset[str]) -> bool:
    """Whether one of these sessions has the memory before it already."""
    return not sessions.isdisjoint(memory.sessions)


def as_in(memory: Memory, session_id: str) -> Memory:
    """The memory as that session has it, if it is one of its own."""
    if session_id not in memory.also_in:
        return memory
    others = tuple(one for one in memory.sessions if one != session_id)
    whence = replace(memory.provenance, session_id=session_id)
    return replace(memory, provenance=whence, also_in=others)


def turn_identity(
    salt: bytes,
    session_id: str,
    *,
    uid: str = "",
    turn_id: str = "",
    role: str = "",
    text: str = "",
    occurrence: int | None = None,
    project: str = "",
) -> bytes:
    """The 16 bytes that make a turn itself and no other.

    With an id that is unique across sessions: that alone. With one of the host's own: (session, id). Without: (session, role, words, how many times
    these words came before in that transcript); `memory_capture` has no transcript, so no count, but
    the key of its project.
    The salt belongs to the store: an identity seen outside tells nothing about the words.
    """
    parts: tuple[str, ...]
    if uid:
        parts = ("uid", uid)
    elif turn_id:
        parts = ("id", session_id, turn_id)
    elif occurrence is None:
        parts = ("said", session_id, role, text, *((project,) if project else ()))
    else:
        parts = ("nth", session_id, role, text, str(occurrence))
    return _digest(salt, parts)


def stored_identity(session_id: str, role: str, text: str, at: int, occurrence: int = 0) -> bytes:
    """The identity on every machine of what is known by nothing else than what is stored of it."""
    return _digest(b"", ("stored", session_id, role, text, str(at), str(occurrence)))


def _digest(salt: bytes, parts: Sequence[str]) -> bytes:
    digest = hashlib.blake2b(digest_size=16, key=salt)
    for part in parts:
        encoded = part.encode("utf-8")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.digest()


def encodable(text: str) -> str:
    """`text` with lone surrogates replaced: JSON can carry them, UTF-8 and the store can not."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text
