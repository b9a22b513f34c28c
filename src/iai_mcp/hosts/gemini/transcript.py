"""Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, older ones one `.json` document.

The file is a log of changes, not a list of messages: a message is written anew, with the same id,
whenever its tools or tokens change; `$rewindTo` takes back a message and all after it; `$set`
with `messages` replaces what the model sees, at the start and when a long chat is compressed.
What was said stays said: a replacement adds what it brings and removes nothing.
"""

import os

from iai_mcp import regular_files
from iai_mcp.hosts.gemini import tool_calls
from iai_mcp.hosts.reader import NotATranscriptError, Reading, document, name_of, opened, records
from iai_mcp.hosts.turns import (
    Event,
    Record,
    by_parent,
    count_occurrence,
    is_wrapper,
    turn,
    words_key,
)
from iai_mcp.hosts.usage import settle, spend, total, usage
from iai_mcp.protocol.markers import without_hook_context, without_injected

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ID = "gemini"

_ROLES = {"user": "user", "gemini": "assistant", "model": "assistant"}
_SILENT_TYPES = ("info", "error", "warning", "system", "about", "help", "tool", "quit")
# The answer that Gemini CLI writes for the model after it has put in a summary.
_ACKNOWLEDGED = "Got it. Thanks for the additional context!"
_WORKSPACES = "**Workspace Directories:**"


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of a chat. They are known when all of it was read, so reading starts at the top."""
    chat = _Chat(reading)
    if reading.path.endswith(".json"):
        whole = document(reading)
        if not isinstance(whole, dict) or not isinstance(whole.get("messages"), list):
            raise NotATranscriptError("no chat in it")
        chat.describe(whole)
        chat.append(whole["messages"])
    else:
        reading.start = reading.end = 0
        with opened(reading) as file:
            for record in records(reading, file):
                chat.apply(record)
    yield from chat.events()


class _Chat:
    """The chat as the log leaves it: messages in order, each id once."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._messages: dict[str, Record] = {}
        self._nameless = 0
        reading.carry.clear()
        reading.carry["session_id"] = name_of(reading.path)
        cwd = _project_root(reading.path)
        if cwd:
            reading.carry["cwd"] = cwd

    def apply(self, record: Record) -> None:
        """One line of the log."""
        changed = record.get("$set")
        if isinstance(record.get("$rewindTo"), str):
            self._rewind(str(record["$rewindTo"]))
        elif isinstance(changed, dict):
            self.describe(changed)
            self._replace(changed.get("messages"))
        elif "type" in record and ("id" in record or "content" in record):
            self.append([record])
        elif "sessionId" in record or "projectHash" in record:
            self.describe(record)
            self._replace(record.get("messages"))
        else:
            self._reading.skipped += 1

    def describe(self, metadata: Record) -> None:
        """Session, directory and sub-agent, where the metadata names them."""
        carry = self._reading.carry
        session, directories = metadata.get("sessionId"), metadata.get("directories")
        if isinstance(session, str) and session:
            carry["session_id"] = session
        if isinstance(directories, list) and directories and isinstance(directories[0], str):
            carry.setdefault("cwd", directories[0])
        if metadata.get("kind") == "subagent":
            carry["agent_id"] = carry["session_id"]

    def append(self, messages: "Iterable[object]") -> None:
        for message in messages:
            if not isinstance(message, dict):
                self._reading.skipped += 1
                continue
            name = message.get("id")
            if not isinstance(name, str):
                self._nameless += 1
                name = f"\0{self._nameless}"  # no id of the host's can be this one
            self._messages[name] = message

    def events(self) -> "Iterator[Event]":
        carry = self._reading.carry
        for message in self._messages.values():
            event = self._event(message)
            spend(carry, _usage(message))
            if event is not None and event["role"] == "assistant":
                settle(event, carry)
            if event is not None:
                if "id" not in event:
                    event["occurrence"] = count_occurrence(self._reading.seen(), event)
                elif event["role"] == "user":
                    carry["request"] = event["id"]
                yield by_parent(event)
            yield from tool_calls.events_of(message, carry)

    def _rewind(self, target: str) -> None:
        names = list(self._messages)
        first = names.index(target) if target in self._messages else 0
        for name in names[first:]:
            del self._messages[name]

    def _replace(self, messages: object) -> None:
        """Add the messages that are new; some versions give old ones a new id on the way."""
        if not isinstance(messages, list):
            return
        known: dict[str, int] = {}
        for message in self._messages.values():
            self._count(message, known)
        for message in messages:
            if not isinstance(message, dict):
                continue
            key = self._count(message, known, -1)
            if str(message.get("id")) in self._messages:
                continue
            if key is None or known[key] < 0:
                self.append([message])

    def _count(self, message: Record, counts: dict[str, int], step: int = 1) -> str | None:
        role, words = _spoken(message)
        if role is None or not words:
            return None
        key = words_key({"role": role, "text": words})
        counts[key] = counts.get(key, 0) + step
        return key

    def _event(self, message: Record) -> Event | None:
        role, words = _spoken(message)
        if role is None:
            if message.get("type") not in _SILENT_TYPES:
                self._reading.skipped += 1
            return None
        if role == "user" and is_wrapper(words):
            self._learn_workspace(words)
            return None
        if role == "assistant" and words == _ACKNOWLEDGED:
            return None
        carry = self._reading.carry
        return turn(
            _ID,
            role,
            words,
            ts=message.get("timestamp"),
            turn_id=message.get("id"),
            cwd=carry.get("cwd"),
            agent_id=carry.get("agent_id"),
        )

    def _learn_workspace(self, context: str) -> None:
        _, heading, rest = context.partition(_WORKSPACES)
        first = rest.lstrip().split("\n", 1)[0]
        if heading and first.startswith("- "):
            self._reading.carry.setdefault("cwd", first.removeprefix("- ").strip())


def _usage(message: Record) -> Record:
    tokens = message.get("tokens")
    if not isinstance(tokens, dict):
        return {}
    received = total(tokens.get("output"), tokens.get("thoughts"))
    return usage(message.get("model"), tokens.get("input"), received, tokens.get("cached"))


def _spoken(message: Record) -> tuple[str | None, str]:
    role = _ROLES.get(str(message.get("type")))
    content = message.get("content")
    if role == "user" and message.get("displayContent"):
        content = message["displayContent"]  # without the files that `@` pulled in
    return role, parts_text(content)


def parts_text(content: object) -> str:
    """The words of a string or of parts, without thoughts, calls and what hooks put in."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts: list[str] = []
    for part in parts:
        words = part
        if isinstance(part, dict):
            words = None if part.get("thought") else part.get("text")
        if isinstance(words, str) and not (len(parts) > 1 and is_wrapper(words)):
            texts.append(without_injected(without_hook_context(words)))
    return "".join(texts)


def _project_root(path: str) -> str | None:
    """The project's directory, which newer versions write beside the chats."""
    above = os.path.dirname(os.path.dirname(os.path.abspath(path)))
    try:
        content = regular_files.read(
            os.path.join(above, ".project_root"), regular_files.LONGEST_PATH
        )
    except OSError:
        return None
    return content.decode("utf-8", "replace").strip() or None
