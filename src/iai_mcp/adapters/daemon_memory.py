"""`SharedMemory` through the daemon's socket."""

from iai_mcp.client import connection
from iai_mcp.client.connection import CallFailed
from iai_mcp.domain.errors import DaemonUnreachable
from iai_mcp.protocol import markers

# A launch waits for memory no longer than a person notices.
_PATIENCE_SECONDS = 3.0


class DaemonMemory:
    def is_up(self) -> bool:
        return connection.is_up()

    def session_start(self, project: str, agent_id: str, session_id: str) -> str | None:
        try:
            answer = connection.call(
                "session_start_payload",
                {"project": project, "agent_id": agent_id, "session_id": session_id},
                timeout=_PATIENCE_SECONDS,
            )
        except (DaemonUnreachable, CallFailed):
            return None
        text = answer.get("text")
        # Marked as ours, so that what was recalled is never captured as if somebody had said it.
        return markers.wrap(text) if isinstance(text, str) and text.strip() else None
