"""What a turn gets on its way from the transcript to the store."""

import os
import time

from iai_mcp import paths
from iai_mcp.hosts.turns import Event, moment_of

_META_LIMIT = 3 * 1024  # of the 4 KiB that a turn's meta may have
_AGENT = (
    ("agent_id", "IAI_MCP_AGENT_ID"),
    ("agent_name", "IAI_MCP_AGENT_NAME"),
    ("profile", "IAI_MCP_AGENT_PROFILE"),
)


class Preparation:
    """Holds for all turns of one transcript: host, time if they have none, agent."""

    __slots__ = ("_agent", "_host", "_written")

    def __init__(self, path: str, host: str, agent: dict[str, str]) -> None:
        self._host = host
        self._agent = agent
        self._written = _written_at(path)

    def __call__(self, event: Event) -> Event:
        """The turn as it is to be stored."""
        event["host"] = self._host
        event.setdefault("ts", self._written)
        place = event.get("cwd")
        if isinstance(place, str):
            event["cwd"] = paths.seen_from_home(place)
        if self._agent:
            self._launched(event)
        return event

    def _launched(self, event: Event) -> None:
        """The agent is the one that was launched; a sub-agent of its host's becomes a note, and
        so does the profile it was launched with."""
        notes = {"profile": self._agent.get("profile"), "subagent": event.get("agent_id")}
        short = {key: n for key, n in notes.items() if isinstance(n, str) and len(n) < _META_LIMIT}
        if short:
            meta = event.get("meta")
            event["meta"] = (meta if isinstance(meta, dict) else {}) | short
        event.update((key, value) for key, value in self._agent.items() if key != "profile")


def launched_agent() -> dict[str, str]:
    """The agent that this process was launched for, as keys of a turn; empty outside of one."""
    return {key: os.environ[name] for key, name in _AGENT if os.environ.get(name)}


def _written_at(path: str) -> str:
    """When the transcript was last written: the best guess for a turn without a time."""
    try:
        moment = os.stat(path).st_mtime
    except (OSError, ValueError):
        moment = time.time()
    return moment_of(moment) or ""
