"""Brings memories into a session: at its start, with a prompt, and after a command that failed.

The daemon chooses the words; here they are marked as ours (so that they are never captured
again), kept below the host's limit, and put into the form that the host understands. A daemon
that is down or slow means: no memories this time, and nobody waits.
"""

import os
import time

from iai_mcp import paths
from iai_mcp.client.quick_call import ask
from iai_mcp.hosts.host import HookEvent
from iai_mcp.protocol import markers

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from iai_mcp.capture.hook import HookInput

# Claude Code moves more than 10,000 characters into a file; the marks and the heading count too.
LONGEST = 9_500
# Seconds. A session's start is slow anyway; a prompt must not feel us.
START_WITHIN = 1.0
PROMPT_WITHIN = 0.1
# With the start of this process it stays below a tenth of a second.
FAILURE_WITHIN = 0.06

# A launched agent has our hooks twice, its person's and its own: they run within this time.
_TWIN_WITHIN = 5.0
_LONGEST_COMMAND = 4000


def context_for(event: HookEvent, given: "HookInput") -> str | None:
    """What to print for the host, or None for nothing."""
    if event in (HookEvent.TOOL_FAILED, HookEvent.TOOL_USED):
        return _after_failure(event, given)
    if not _is_first(event, given):
        return None
    params = _place(given)
    if event is HookEvent.START:
        fork = given.hooks.fork()
        if fork and given.session_id and fork != given.session_id:
            params["fork"] = fork
        source = given.text("source")
        if source:
            params["source"] = source
        answer = ask("session_start_payload", params, START_WITHIN)
    else:
        prompt = markers.without_hook_context(given.text("prompt") or "")
        if not prompt.strip():
            return None
        # Some of it goes by on the way: what the daemon makes later than this nobody gets.
        within = {"within_ms": int(PROMPT_WITHIN * 800)}
        answer = ask("prompt_injection", params | within | {"prompt": prompt}, PROMPT_WITHIN)
    return _told(answer, event, given)


def _after_failure(event: HookEvent, given: "HookInput") -> str | None:
    """What mended the very same failure before; mostly nothing."""
    failed = given.hooks.failed_call(given.fields)
    if failed is None or not _is_first(event, given, given.text("tool_use_id") or ""):
        return None
    from iai_mcp.domain.telling import rough

    command, printed = failed
    output = rough(printed, command, failed=True)
    params = _place(given) | {"command": command[:_LONGEST_COMMAND], "output": output}
    return _told(ask("after_failure", params, FAILURE_WITHIN), event, given)


def _place(given: "HookInput") -> dict[str, object]:
    params: dict[str, object] = {"cwd": paths.seen_from_home(given.cwd)}
    if given.session_id is not None:
        params["session_id"] = given.session_id
    # A launched agent works in its run directory, on the project that this names.
    if os.environ.get("IAI_MCP_PROJECT"):
        params["project"] = paths.seen_from_home(os.environ["IAI_MCP_PROJECT"])
    return params


def _told(answer: dict[str, object] | None, event: HookEvent, given: "HookInput") -> str | None:
    text = answer.get("text") if answer is not None else None
    if not isinstance(text, str) or not text.strip():
        return None
    return given.hooks.injected(marked(text), given.hooks.name_of(event))


def marked(text: str) -> str:
    """The words with our heading and marks around them, within the hosts' limit."""
    body = text.strip()
    if len(body) > LONGEST:
        cut = body.rfind("\n", 0, LONGEST)
        body = body[: cut if cut > LONGEST // 2 else LONGEST].rstrip() + "\n…"
    return markers.wrap(body)


def _is_first(event: HookEvent, given: "HookInput", about: str = "") -> bool:
    """Whether no twin of this hook has just done it: only launched agents can have one."""
    folder = os.environ.get("IAI_MCP_SESSION_DIR")
    if not folder:
        return True
    told = f"{given.session_id or ''}{about}"
    session = "".join(c for c in told if c.isalnum() or c in "-_")[-80:]
    path = os.path.join(folder, f"injected-{event.name}-{session}")
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return _is_long_ago(path)
    except OSError:
        return True  # nowhere to look: saying it twice is better than not at all
    return True


def _is_long_ago(path: str) -> bool:
    try:
        age = time.time() - os.stat(path).st_mtime
        os.utime(path)
    except OSError:
        return True
    return age > _TWIN_WITHIN
