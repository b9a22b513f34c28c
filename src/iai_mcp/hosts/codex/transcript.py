"""Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, cold ones compressed as `.jsonl.zst`.

Lines are `{timestamp, type, payload}`. The same words appear as a `response_item` (what the model
saw) and as an `event_msg` (what was shown); either may be missing, and neither order is certain.
So each side counts its words, and a turn is new when one side has said it more often than any
turn that was given out. The identity is the words and that count: it is the same from both sides.

A message of the person's is certain when an `event_msg` shows it. Codex also puts text of its own
(skills, files) on the person's side; no event shows that. In files that show no message of a person
at all (old versions), the items count.
"""

import os

from iai_mcp.hosts import codex, summaries
from iai_mcp.hosts.codex import tool_calls
from iai_mcp.hosts.reader import Reading, lines_of, opened, records
from iai_mcp.hosts.turns import (
    Event,
    Record,
    by_parent,
    digest,
    is_envelopes,
    is_wrapper,
    text_at,
    turn,
    words_key,
)
from iai_mcp.hosts.usage import settle, spend, usage

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_ID = "codex"

# fmt: off
_SILENT_TYPES = frozenset((
    "ghost_snapshot", "inter_agent_communication", "session_state", "state",
    "token_usage_record", "turn_context", "world_state",
))
# fmt: on
_TEXT_KINDS = ("input_text", "output_text", "text", "Text")
_AGENTS_FILE = ("# AGENTS.md instructions", "<INSTRUCTIONS>")
_ENVELOPE_NAME_LENGTH = 60
_MOST_HELD = 100
_NEWEST_SUMMARIES = 16  # each session that ends has one; the others were captured before


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of a rollout, compressed or not."""
    if reading.path.endswith(".md"):
        yield from _memory_file(reading)
        return
    if reading.path.endswith(".zst"):
        yield from _walk_compressed(reading)
    else:
        yield from lines_of(parse)(reading)
    yield from _answer_held(reading)
    yield from _release(reading)
    yield from tool_calls.release(reading)


def parse(record: Record, reading: Reading) -> list[Event] | None:
    """The events of one line. The latest answer is held: what it cost stands in a line behind it."""
    events, cost = _events(record, reading), _usage(record, reading)
    if cost:
        spend(reading.carry, *cost)
    if events is None or not (events or cost):
        return events
    earlier = _answer_held(reading)
    if events and events[-1]["role"] == "assistant":
        reading.answer = events.pop()
    return [*earlier, *events]


def _answer_held(reading: Reading) -> list[Event]:
    """The held answer, with the usage that is known by now."""
    answer, reading.answer = reading.answer, None
    return [] if answer is None else [settle(answer, reading.carry)]


def _usage(record: Record, reading: Reading) -> tuple[Record, object] | None:
    """(what a request cost, what tells it from others), if this line says it."""
    payload = record.get("payload")
    info = payload.get("info") if isinstance(payload, dict) else None
    if not isinstance(info, dict) or not isinstance(payload, dict):
        return None
    known, sums = info.get("last_token_usage"), info.get("total_token_usage")
    if payload.get("type") != "token_count" or not isinstance(known, dict):
        return None
    cached, received = known.get("cached_input_tokens"), known.get("output_tokens")
    cost = usage(reading.carry.get("model"), known.get("input_tokens"), received, cached)
    return cost, sums.get("total_tokens") if isinstance(sums, dict) else None


def _events(record: Record, reading: Reading) -> list[Event] | None:
    """What was said and done in one line; see the module for how the two sides are joined."""
    kind, payload = record.get("type"), record.get("payload")
    if not isinstance(payload, dict):
        return _bare(record, reading)
    if kind == "session_meta":
        _learn(payload, reading)
        return []
    if kind == "turn_context":
        cwd = payload.get("cwd")
        if isinstance(cwd, str) and cwd:
            reading.carry["cwd"] = cwd
        model = payload.get("model")
        if isinstance(model, str) and model:
            reading.carry["model"] = model
        return []
    if kind == "compacted":
        return _compaction(payload, record, reading)
    if kind == "response_item":
        return _item(payload, record, reading)
    if kind == "event_msg":
        return [
            *tool_calls.end_by_event(payload, record, reading),
            *_said(_shown(payload), "e", record, reading),
        ]
    return [] if str(kind) in _SILENT_TYPES else None


def _compaction(payload: Record, record: Record, reading: Reading) -> list[Event]:
    """The summary with which a session goes on after it was compacted; some are encrypted and so blank."""
    carry = reading.carry
    return summaries.summary(
        _ID,
        summaries.COMPACTION,
        text_at(payload, "message") or "",
        ts=record.get("timestamp"),
        cwd=carry.get("cwd"),
        branch=carry.get("branch"),
    )


def _memory_file(reading: Reading) -> "Iterator[Event]":
    """Codex's notes are about all projects: only sections that name a directory have a place here."""
    sections = summaries.file_sections(reading.path)
    whole = _directory_in(sections[0]) if sections and "rollout_summaries" in reading.path else ""
    for text in sections:
        cwd = _directory_in(text) or whole
        if cwd:
            mark = digest(f"{cwd}\0{text}".encode("utf-8", "replace"), 16)
            yield from summaries.summary(
                _ID,
                "codex-memory",
                text,
                identity=f"{_ID} memory {mark}",
                ts=os.stat(reading.path).st_mtime,
                cwd=cwd,
            )


def _directory_in(text: str) -> str:
    """The directory that notes name as `cwd=/home/ann/shop` or `cwd: /home/ann/shop`."""
    for mark in ("cwd=", "cwd: "):
        _, found, rest = text.partition(mark)
        place = rest.split("\n", 1)[0]
        for end in (",", ";", ")", "`"):
            place = place.split(end, 1)[0]
        if found and place.startswith("/"):
            return place.strip()
    return ""


def related(_path: str) -> list[str]:
    """Codex's notes: its handbook, and the newest summaries of sessions."""
    notes = os.path.join(codex.folder(), "memories")
    handbook = os.path.join(notes, "MEMORY.md")
    try:
        with os.scandir(os.path.join(notes, "rollout_summaries")) as entries:
            stamped = [
                (one.stat().st_mtime, one.path) for one in entries if one.name.endswith(".md")
            ]
    except OSError:
        stamped = []
    newest = [path for _, path in sorted(stamped)[-_NEWEST_SUMMARIES:]]
    return [*newest, *([handbook] if os.path.exists(handbook) else [])]


def _bare(record: Record, reading: Reading) -> list[Event] | None:
    """Rollouts of early versions: a header line, then the items themselves."""
    if "record_type" in record:
        return []
    if isinstance(record.get("id"), str) and "timestamp" in record and "type" not in record:
        _learn(record, reading)
        return []
    if isinstance(record.get("type"), str) and record["type"] not in _SILENT_TYPES:
        return _item(record, record, reading)
    return None


def _item(item: Record, record: Record, reading: Reading) -> list[Event]:
    """What an item of the conversation says, or what was done by it."""
    tool_calls.begin(record, reading)
    released = [] if item.get("type", "message") == "message" else _release(reading)
    done = tool_calls.end(item, record, reading)
    return [*released, *done, *_said(_answer(item), "r", record, reading)]


def _learn(meta: Record, reading: Reading) -> None:
    """Session, directory, branch and sub-agent, from the header line."""
    carry = reading.carry
    if "session_id" in carry:
        return  # a forked rollout repeats its parent's header after its own
    for key, value in (
        ("session_id", meta.get("id")),
        ("cwd", meta.get("cwd")),
        ("branch", text_at(meta, "git", "branch")),
        ("repository", _without_login(text_at(meta, "git", "repository_url") or "")),
    ):
        if isinstance(value, str) and value:
            carry[key] = value
    source = meta.get("source")
    if isinstance(source, dict) and "subagent" in source:
        carry["agent_id"] = carry.get("session_id")
        name = meta.get("agent_nickname") or meta.get("agent_role")
        if isinstance(name, str):
            carry["agent_name"] = name


def _without_login(url: str) -> str:
    """A remote's url without the name and token that some put into it."""
    scheme, mark, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}{mark}{place.rpartition('@')[2]}{slash}{path}" if mark else url


def _answer(item: Record) -> tuple[str, str] | None:
    """(role, words) of a message among the items; tools and reasoning have none."""
    role = item.get("role")
    if item.get("type", "message") != "message" or role not in ("user", "assistant"):
        return None
    return str(role), _words(item.get("content"), of_user=role == "user")


def _shown(event: Record) -> tuple[str, str] | None:
    """(role, words) of an event that shows a message."""
    kind, words = event.get("type"), event.get("message")
    if kind == "item_completed":
        item = event.get("item")
        if not isinstance(item, dict):
            return None
        role = {"UserMessage": "user", "AgentMessage": "assistant"}.get(str(item.get("type")))
        return (role, _words(item.get("content"), of_user=role == "user")) if role else None
    if not isinstance(words, str):
        return None
    if kind == "user_message" and event.get("kind", "plain") in ("plain", None):
        return "user", words
    return ("assistant", words) if kind == "agent_message" else None


def _words(content: object, *, of_user: bool) -> str:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    texts: list[str] = []
    for block in content if isinstance(content, list) else ():
        words = block.get("text") if isinstance(block, dict) else None
        if not isinstance(words, str) or not words or block.get("type") not in _TEXT_KINDS:
            continue
        if not (of_user and _from_harness(words)):
            texts.append(words)
    return "\n".join(texts)


def _from_harness(words: str) -> bool:
    """What Codex itself puts on the user's side: files, context, notices, all in envelopes."""
    head = words.lstrip()
    if head.startswith(_AGENTS_FILE) or is_wrapper(head):
        return True
    if not head.startswith("<"):
        return False
    name = head[1:_ENVELOPE_NAME_LENGTH].split(">", 1)[0].split(" ", 1)[0]
    if name in ("image", "/image"):
        return True
    return ("_" in name or name == "skill") and is_envelopes(head, (name,))


def _said(
    spoken: tuple[str, str] | None, side: str, record: Record, reading: Reading
) -> list[Event]:
    if spoken is None:
        return []
    carry = reading.carry
    event = turn(
        _ID,
        *spoken,
        ts=record.get("timestamp"),
        cwd=carry.get("cwd"),
        branch=carry.get("branch"),
        repository=carry.get("repository"),
        agent_id=carry.get("agent_id"),
        agent_name=carry.get("agent_name"),
    )
    if event is None:
        return []
    seen, key = reading.seen(), words_key(event)
    count = seen.get(side + key, 0) + 1
    seen[side + key] = count
    event["occurrence"] = count - 1
    if event["role"] == "user":
        return _by_person(event, side, reading)
    if count <= seen.get(("e" if side == "r" else "r") + key, 0):
        return []  # the other side gave this turn out already
    return [*_release(reading), event]


def _by_person(event: Event, side: str, reading: Reading) -> list[Event]:
    """The message, if an event shows it; an item waits for that, or for the answer to it."""
    if side == "r":
        if not reading.carry.get("shown"):
            reading.held.append(event)
        return _release(reading) if len(reading.held) > _MOST_HELD else []
    reading.carry["shown"] = True
    reading.held.clear()
    return _new(event, reading)


def _release(reading: Reading) -> list[Event]:
    """The items that waited: no event has shown any message of the person's so far."""
    held, reading.held = reading.held, []
    return [event for waiting in held for event in _new(waiting, reading)]


def _new(event: Event, reading: Reading) -> list[Event]:
    """The person's message, unless it was given out already."""
    seen, key = reading.seen(), "g" + words_key(event)
    count = int(str(event["occurrence"])) + 1
    if count <= seen.get(key, 0):
        return []
    seen[key] = count
    return [by_parent(event)]


def _walk_compressed(reading: Reading) -> "Iterator[Event]":
    from iai_mcp import zstd  # late: only a cold rollout needs it

    with opened(reading) as file:
        plain: BinaryIO = zstd.ZstdFile(file)  # type: ignore[assignment] # it has its methods
        try:
            for record in records(reading, plain):
                events = parse(record, reading)
                if events is None:
                    reading.skipped += 1
                else:
                    yield from events
        except (zstd.ZstdError, EOFError):
            reading.skipped += 1  # cut short: what came before the damage is kept
