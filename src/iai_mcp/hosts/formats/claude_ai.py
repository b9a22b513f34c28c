"""Claude.ai's export: `conversations.json`, a list of conversations with `chat_messages`."""

from iai_mcp.hosts.reader import Reading
from iai_mcp.hosts.turns import Event, Record, blocks_text, count_occurrence, turn

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "claude-ai"

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of all conversations; each carries its session."""
    from iai_mcp.hosts.formats.exports import conversations

    for conversation in conversations(reading):
        messages = conversation.get("chat_messages")
        if not isinstance(messages, list):
            reading.skipped += 1
            continue
        session = conversation.get("uuid")
        if reading.wanted is not None and session != reading.wanted:
            continue
        seen: dict[str, int] = {}
        for message in messages:
            event = _event(message, session) if isinstance(message, dict) else None
            if event is None:
                reading.skipped += not isinstance(message, dict)
                continue
            if "id" not in event:
                event["occurrence"] = count_occurrence(seen, event)
            yield event


def _event(message: Record, session: object) -> Event | None:
    role = _ROLES.get(str(message.get("sender")))
    if role is None:
        return None
    words = blocks_text(message.get("content") or None, of_user=False)
    if not words:
        # Older exports have no blocks. Newer ones repeat here what the blocks say.
        flat = message.get("text")
        words = flat if isinstance(flat, str) else ""
    return turn(
        _ID,
        role,
        words,
        ts=message.get("created_at"),
        turn_id=message.get("uuid"),
        session_id=session,
    )
