"""Where a session's transcript lies, also for hosts that do not say it in every hook."""

import os
import time

from iai_mcp import paths, regular_files
from iai_mcp.capture.host_input import Input

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Callable

_COPILOT_LAG = 0.3  # seconds; 0.1 was seen
_TAIL_BYTES = 64 * 1024


def transcript_of(host: str, event: str, given: Input, *, of_subagent: bool = False) -> str | None:
    """The transcript's path; None when the host does not say and it is not where it should be."""
    path = _path_of(host, given, of_subagent=of_subagent)
    if host == "copilot" and path is not None:
        _await_copilot(path, event)
    return path


def _path_of(host: str, given: Input, *, of_subagent: bool) -> str | None:
    if of_subagent:
        said = given.text("agent_transcript_path", "agentTranscriptPath")
        if said is not None:
            return said
    said = given.text("transcript_path", "transcriptPath")
    if said is not None:
        return said
    look = _PLACES.get(host)
    session = given.session_id
    if look is None or session is None or "/" in session or session in (".", ".."):
        return None
    return look(session)


def cursor_has_our_hooks() -> bool:
    """Whether Cursor runs our hook by itself, beside the one that it borrows from Claude Code."""
    hooks = os.path.join(paths.home(), ".cursor", "hooks.json")
    try:
        return b"iai_mcp" in regular_files.read(hooks, 1 << 20, links=regular_files.ANYWHERE)
    except (OSError, ValueError):
        return False


def _of_cursor(session: str) -> str | None:
    """`~/.cursor/projects/<slug>/agent-transcripts/`: flat from the command line, else nested."""
    projects = os.path.join(paths.home(), ".cursor", "projects")
    try:
        slugs = os.listdir(projects)
    except OSError:
        return None
    for slug in slugs:
        folder = os.path.join(projects, slug, "agent-transcripts")
        for name in (f"{session}.jsonl", os.path.join(session, f"{session}.jsonl")):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                return path
    return None


def _of_copilot(session: str) -> str | None:
    home = os.environ.get("COPILOT_HOME") or os.path.join(paths.home(), ".copilot")
    folder = os.path.join(home, "session-state", session)
    return os.path.join(folder, "events.jsonl") if os.path.isdir(folder) else None


def _await_copilot(path: str, event: str) -> None:
    """Give Copilot a moment to write what came before this hook.

    It writes its file in batches, a tenth of a second late. The line that tells of this very
    hook comes after all that was said.
    """
    mark = f'"hookType":"{event}"'.encode()
    deadline = time.monotonic() + _COPILOT_LAG
    while time.monotonic() < deadline:
        lines = _written(path).rstrip(b"\n").rsplit(b"\n", 1)
        if mark in lines[-1] and b'"hook.start"' in lines[-1]:
            return
        time.sleep(0.01)


def _written(path: str) -> bytes:
    try:
        return regular_files.tail(path, _TAIL_BYTES)
    except (OSError, ValueError):
        return b""


def _of_opencode(session: str) -> str | None:
    """One database holds all sessions; the parser picks this one out."""
    del session
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(paths.home(), ".local", "share")
    return _if_there(os.path.join(data, "opencode", "opencode.db"))


def _if_there(path: str) -> str | None:
    return path if os.path.exists(path) else None


_PLACES: "dict[str, Callable[[str], str | None]]" = {
    "cursor": _of_cursor,
    "copilot": _of_copilot,
    "opencode": _of_opencode,
}
