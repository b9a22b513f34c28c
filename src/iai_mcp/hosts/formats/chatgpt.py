"""ChatGPT's export: `conversations.json`, a list of conversations, each a tree of messages.

Answers that were asked for again and questions that were edited are branches of the tree: all of
them were said, so all of them are turns, each after the one it answers.
"""

from iai_mcp.hosts.reader import Reading
from iai_mcp.hosts.turns import Event, Record, count_occurrence, turn

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "chatgpt"

_SPOKEN_KINDS = (None, "text", "multimodal_text")


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of all conversations; each carries its session."""
    from iai_mcp.hosts.formats.exports import conversations

    for conversation in conversations(reading):
        mapping = conversation.get("mapping")
        if not isinstance(mapping, dict):
            reading.skipped += 1
            continue
        session = conversation.get("conversation_id") or conversation.get("id")
        if reading.wanted is not None and session != reading.wanted:
            continue
        seen: dict[str, int] = {}
        for name, message in _in_order(mapping):
            event = _event(name, message, session)
            if event is not None:
                if "id" not in event:
                    event["occurrence"] = count_occurrence(seen, event)
                yield event


def _in_order(mapping: Record) -> "Iterator[tuple[str, Record]]":
    """All messages, parents before children, siblings by their time."""
    children: dict[str, list[str]] = {}
    roots: list[str] = []
    for name, node in mapping.items():
        parent = node.get("parent") if isinstance(node, dict) else None
        if isinstance(parent, str) and parent in mapping and parent != name:
            children.setdefault(parent, []).append(name)
        else:
            roots.append(name)
    visited: set[str] = set()
    waiting = sorted(roots, key=lambda name: _time(mapping[name]), reverse=True)
    while waiting:
        name = waiting.pop()
        if name in visited:
            continue
        visited.add(name)
        node = mapping[name]
        message = node.get("message") if isinstance(node, dict) else None
        if isinstance(message, dict):
            yield name, message
        below = children.get(name, [])
        waiting.extend(sorted(below, key=lambda child: _time(mapping[child]), reverse=True))


def _time(node: object) -> float:
    message = node.get("message") if isinstance(node, dict) else None
    moment = message.get("create_time") if isinstance(message, dict) else None
    return float(moment) if isinstance(moment, int | float) else 0.0


def _event(name: str, message: Record, session: object) -> Event | None:
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, dict) else None
    if role not in ("user", "assistant") or not isinstance(content, dict):
        return None
    metadata = message.get("metadata")
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return None
    if content.get("content_type") not in _SPOKEN_KINDS:
        return None  # thoughts, code for a tool, the person's profile
    if message.get("recipient") not in (None, "all"):
        return None
    parts = content.get("parts")
    words = "\n".join(filter(None, map(_part, parts))) if isinstance(parts, list) else ""
    return turn(
        _ID,
        str(role),
        words,
        ts=message.get("create_time"),
        turn_id=message.get("id") or name,
        session_id=session,
    )


def _part(part: object) -> str:
    words = part.get("text") if isinstance(part, dict) else part
    return words if isinstance(words, str) else ""
