"""What an answer costs whoever gets it: bytes of its JSON, and what passes for tokens."""

import json
from collections.abc import Iterable

from iai_mcp.domain.excerpts import json_bytes
from iai_mcp.domain.memories import DEFAULT_TIER, Memory
from iai_mcp.memory.question import Hit

BYTES_PER_TOKEN = 4  # of English and code; a host's own tokenizer is not known here

# With a blank after each comma and colon, as many programs write it.
ANSWER = 120  # what stands around the hits
_MARKS = 8  # quotes, colon and comma of a key and its value
_SESSION = 70  # the keys of a session's entry
SESSION = 240  # an entry with two hits, as a rule
# The keys that every hit has, with a number as long as a score gets, and what says that nothing is known.
_ALWAYS = len(
    '{"id": "", "text": "", "role": "", "session_id": null, "project": null, "ts": "", '
    '"valid_from": null, "valid_to": null, "meta": {}, "score": -10.0001, "reason": ""}, '
)
_MOMENT = 34  # a time in the place of null
EXCERPT = len('"excerpt": true, ')  # of what is not shown whole
_written = json.JSONEncoder(ensure_ascii=False).encode


def around(memory: Memory) -> int:
    """The bytes that a memory takes besides its text, if that is shown whole; rather too many."""
    whence = memory.provenance
    named = (
        ("speaker", memory.speaker),
        ("host", whence.host),
        ("agent_id", whence.agent_id),
        ("agent", whence.agent_name),
        ("tier", "" if memory.tier == DEFAULT_TIER else memory.tier),
    )
    told: tuple[str, ...] = (
        memory.id,
        memory.role,
        whence.session_id,
        whence.project,
        memory.at.text,
    )
    times = (memory.valid_from is not None) + (memory.valid_to is not None)
    if memory.valid_from == memory.at.micros:
        told, times = (*told, memory.at.text), times - 1
    return (
        _ALWAYS
        + sum(map(json_bytes, told))
        + sum(len(key) + json_bytes(value) + _MARKS for key, value in named if value)
        + memory.pinned * len('"pinned": true, ')
        + memory.derived * len('"derived": true, ')
        + _MOMENT * times
        + (size(memory.sessions) + len('"sessions": , ') if memory.also_in else 0)
        + (size(dict(memory.meta)) if memory.meta else 0)
    )


def around_hit(hit: Hit) -> int:
    """The same with all that is told of a hit; without the turns around it."""
    taken = around(hit.memory) + json_bytes(hit.reason)
    if hit.parts is not None:
        taken += size({name: round(value, 3) for name, value in hit.parts.items() if value}) + 12
    if hit.same:
        taken += size(hit.same) + len('"count": 1000000, "same": , ')
    if hit.request:
        taken += json_bytes(hit.request) + len('"request": "", ')
    if hit.also:
        own = hit.memory.provenance.project
        taken += sum(elsewhere(one, own) for one in hit.also) + len('"also": [], ')
    return taken


def of_hit(hit: Hit) -> int:
    """All that a hit takes, without the turns around it."""
    cut = EXCERPT if hit.shown.characters is not None else 0
    return around_hit(hit) + json_bytes(hit.memory.text) + cut


def sessions(hits: Iterable[Hit]) -> int:
    """What it costs to list the sessions of these hits, with their hits."""
    taken = 0
    for hit in hits:
        whence = hit.memory.provenance
        names = json_bytes(whence.session_id) + json_bytes(whence.project)
        taken += _SESSION + names + json_bytes(hit.memory.id) + _MARKS
    return taken


def elsewhere(memory: Memory, project: str | None = None) -> int:
    """What it costs to name it as another place where the same is said; the first of them a little less.

    Its own project is named beside a hit of another `project`.
    """
    whence = memory.provenance
    told = len('"also": [], {"id": "", "session_id": null, "ts": ""}, ') + sum(
        map(json_bytes, (memory.id, whence.session_id, memory.at.text))
    )
    if whence.project == project:
        return told
    return told + len('"project": null, ') + json_bytes(whence.project)


def size(value: object) -> int:
    """The bytes of `value` as JSON."""
    return len(_written(value).encode("utf-8", "surrogatepass"))
