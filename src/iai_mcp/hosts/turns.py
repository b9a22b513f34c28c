"""Builds turn events: plain dictionaries for the spool and the wire.

`text` is verbatim. Unknown fields are left out. `uid` is globally unique, also where forks repeat the
turn. A turn without an id from its host has `occurrence`: how often the same words of the same
role came before in that transcript.
"""

import time

from iai_mcp.protocol.compact_json import loads
from iai_mcp.protocol.host_notices import (
    behind_blanks,
    behind_envelope,
    behind_notice,
    without_notices,
)
from iai_mcp.protocol.markers import without_injected

try:
    from _blake2 import blake2b  # `hashlib` would load OpenSSL for the same function
except ImportError:  # pragma: no cover - interpreters built without it
    from hashlib import blake2b

Event = dict[str, object]
Record = dict[str, object]

_CUE_LENGTH = 80
_SAMPLE = 4 * _CUE_LENGTH

# What hosts write into the user's side of a transcript without anybody having said it.
_WRAPPERS = (
    "<command-",
    "<local-command",
    "<bash-",
    "<system-reminder",
    "Caveat:",
    "[Request interrupted",
    "Operation stopped by hook:",
    "Stop hook feedback:",
)
_ALONE = ("Operation stopped by hook",)
# The same, but words of a person may stand beside them: only a text of nothing else goes.
_ENVELOPES = (
    "ide_opened_file",
    "ide_selection",
    "hook_context",
    "session_context",
    "state_snapshot",
    "environment_context",
    "user_instructions",
    "system_reminder",
)


def turn(
    host: str,
    role: str,
    text: str,
    *,
    ts: object = None,
    turn_id: object = None,
    session_id: object = None,
    cwd: object = None,
    branch: object = None,
    repository: object = None,
    agent_id: object = None,
    agent_name: object = None,
) -> Event | None:
    """The event of one turn, or None when nobody said anything in it."""
    spoken = encodable(without_injected(text))
    if not spoken.strip():
        return None
    event: Event = {
        "text": spoken,
        "cue": cue_of(spoken),
        "tier": "episodic",
        "role": role,
        "host": host,
    }
    moment = moment_of(ts)
    if moment is not None:
        event["ts"] = moment
    for key, value in (
        ("id", turn_id),
        ("session_id", session_id),
        ("cwd", cwd),
        ("branch", branch),
        ("repository", repository),
        ("agent_id", agent_id),
        ("agent_name", agent_name),
    ):
        if isinstance(value, str) and value:
            event[key] = encodable(value)
    if isinstance(turn_id, str) and is_uuid(turn_id):
        event["uid"] = turn_id  # forks and copies of the session repeat it
    return event


def by_parent(event: Event) -> Event:
    """The prompt of a sub-agent: it is asked by the agent that started it, not by a person."""
    if "agent_id" in event and event["role"] == "user":
        event["role"] = "assistant"
    return event


def is_uuid(name: str) -> bool:
    """Whether a name is made so that no other is like it; one that was left blank is not."""
    parts = name.split("-")
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and len(set(name)) > 2


def is_wrapper(text: str) -> bool:
    """Whether a user's text is the host talking to itself."""
    head = without_notices(text).lstrip()  # behind a notice a person may have spoken
    if not head or head.startswith(_WRAPPERS) or head.rstrip() in _ALONE:
        return True
    return head.startswith("<") and is_envelopes(head)


def is_envelopes(text: str, names: tuple[str, ...] = _ENVELOPES) -> bool:
    """Whether `text` is `<name …>…</name>` of these, one or more, and nothing else."""
    at = behind_blanks(text, 0)
    while at < len(text):
        at = behind_envelope(text, at, names) or (
            behind_notice(text, at) if names is _ENVELOPES else 0
        )
        if not at:
            return False
        at = behind_blanks(text, at)
    return True


def blocks_text(
    content: object, kinds: tuple[str, ...] = ("text",), *, of_user: bool
) -> str | None:
    """The words in a message's content (a string or blocks); None if it is neither.

    Blocks that are no text are no conversation; nor are a user's blocks that the host wrote.
    """
    if isinstance(content, str):
        return _of_person(content) if of_user else content
    if not isinstance(content, list):
        return None
    texts: list[str] = []
    known = not content
    for block in content:
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            continue
        known = True
        words = block.get("text")
        if block["type"] not in kinds or not isinstance(words, str) or not words:
            continue
        if of_user:
            words = _of_person(words)
        if words:
            texts.append(words)
    return "\n".join(texts) if known else None


def _of_person(text: str) -> str:
    """What of a user's text a person said."""
    return "" if is_wrapper(text) else without_notices(text)


def cue_of(text: str) -> str:
    """A short label: the first words."""
    words = " ".join(text[:_SAMPLE].split())
    if not words:
        words = " ".join(text.split())
    return words[:_CUE_LENGTH]


def encodable(text: str) -> str:
    """`text` with lone surrogates replaced: JSON can carry them, UTF-8 can not."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def moment_of(ts: object) -> str | None:
    """A time as ISO-8601: text as it is given, numbers as seconds or milliseconds."""
    if isinstance(ts, str):
        text = ts.strip()
        return text if len(text) >= 10 and text[:4].isdigit() and text[4] == "-" else None
    if isinstance(ts, bool) or not isinstance(ts, int | float):
        return None
    seconds = ts / 1000 if abs(ts) >= 100_000_000_000 else ts
    try:
        whole = int(seconds // 1)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
    except (OverflowError, ValueError, OSError):
        return None
    return f"{stamp}.{int((seconds - whole) * 1000):03d}Z"


def count_occurrence(seen: dict[str, int], event: Event) -> int:
    """How often these words of this role came before; remembers that they came again."""
    key = words_key(event)
    before = seen.get(key, 0)
    seen[key] = before + 1
    return before


def words_key(event: Event) -> str:
    """A short name for (role, words)."""
    return f"{str(event['role'])[:1]}{digest(str(event['text']).encode('utf-8'), 9)}"


def digest(data: bytes, size: int) -> str:
    """A hash of `size` bytes, as letters."""
    return blake2b(data, digest_size=size).hexdigest()


def text_at(record: object, *names: str) -> str | None:
    """The string that stands at `names` inside nested objects, if there is one."""
    for name in names:
        if not isinstance(record, dict):
            return None
        record = record.get(name)
    return record if isinstance(record, str) and record else None


def object_in(text: object) -> Record:
    """The object that hosts write as JSON inside a string, or as itself; empty where it is none."""
    try:
        value = loads(text) if isinstance(text, str) else text
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
