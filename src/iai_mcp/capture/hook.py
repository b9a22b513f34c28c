"""What hosts run: `iai-mcp hook HOST EVENT` and `iai-mcp session-start [--host HOST]`.

The host's JSON comes on stdin. Nothing goes to stdout but what that host understands, and the
exit code is 0 whatever happens: a hook must never break the session it serves.
"""

# `signal` spends two milliseconds on wrapping these in enums.
import _signal  # type: ignore[import-not-found]  # typeshed describes only `signal`
import os
import select
import time

from iai_mcp.capture import hook_times
from iai_mcp.hosts import DEFAULT, hooks_of
from iai_mcp.hosts.host import HookEvent
from iai_mcp.protocol.compact_json import loads

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Sequence

    from iai_mcp.hosts.host import Hooks

# Seconds until we give up, whatever we are doing; every step has a shorter limit of its own, so
# this is for machines that are brought to their knees. Claude Code gives the hooks of a session's
# end 1.5 s together, and a person waits behind a prompt.
_LONGEST = {
    HookEvent.END: 1.2,
    HookEvent.PROMPT: 1.0,
    HookEvent.TOOL_FAILED: 1.0,
    HookEvent.TOOL_USED: 1.0,
}
_LONGEST_ELSE = 5.0

# Why a session starts that has a conversation behind it.
_GOES_ON = ("resume", "fork", "compact")
_TOLD = (HookEvent.START, HookEvent.PROMPT, HookEvent.TOOL_FAILED, HookEvent.TOOL_USED)

# A prompt can be a pasted log; beyond this it is no use to a hook.
_MOST_BYTES = 16 * 1024 * 1024
# Hosts write at once and close. One that keeps the pipe open must not hold us for longer.
_PATIENCE = 0.3
_LONGEST_WAIT = 1.0

USAGE = """\
usage: iai-mcp hook [--store DIR] [--socket PATH] [--plugin] HOST EVENT
       iai-mcp session-start [--host HOST]

Agent programs run this; 'iai-mcp hosts install' writes it into their settings. The program's own
JSON is read from stdin. Capture events store what was said; a session's start prints the memories
of the project, in the form that the program understands. Always exits 0.
"""


class HookCall:
    """The parsed command line: whose hook, and its name there."""

    __slots__ = ("by_plugin", "help", "hook", "host")

    def __init__(self) -> None:
        self.host = DEFAULT
        self.hook = ""
        self.help = False
        self.by_plugin = False


class HookInput:
    """The fields that hosts agree on, whatever each of them calls them.

    Some write `session_id`, some `sessionId`; `hooks` knows what else this host calls it.
    """

    __slots__ = ("fields", "hooks")

    def __init__(self, fields: dict[str, object], hooks: "Hooks") -> None:
        self.fields = fields
        self.hooks = hooks

    def text(self, name: str) -> str | None:
        """The text of that field, if it has one."""
        other = self.fields.get(self.hooks.fields.get(name, ""))
        if isinstance(other, list) and other:
            other = other[0]  # Cursor names all directories of a workspace
        for value in (self.fields.get(name), self.fields.get(_camel(name)), other):
            if isinstance(value, str) and value:
                return value
        return None

    @property
    def session_id(self) -> str | None:
        return self.text("session_id")

    @property
    def cwd(self) -> str:
        """The session's directory, else where we run."""
        return self.text("cwd") or os.environ.get("CLAUDE_PROJECT_DIR") or _here()

    @property
    def last_answer(self) -> str | None:
        return self.text("last_assistant_message")

    def transcript_path(self, *, of_subagent: bool = False) -> str | None:
        """Where the transcript lies; None when it is not said, and not where it should be."""
        said = self.text("agent_transcript_path") if of_subagent else None
        said = said or self.text("transcript_path")
        if said is not None:
            return said
        session, look = self.session_id, self.hooks.find_transcript
        if look is None or session is None or "/" in session or session in (".", ".."):
            return None
        return look(session)


def main(argv: "Sequence[str]") -> int:
    """Run one hook. `argv` begins with `hook` or `session-start`."""
    call = _parse(argv)
    if call.help:
        os.write(1, USAGE.encode())
        return 0
    try:
        event = hooks_of(call.host).event_of(call.hook)
        if event is not None:
            _stop_after(_LONGEST.get(event, _LONGEST_ELSE))
            _serve(call, event)
    except Exception as error:  # noqa: BLE001 - the host's session must not notice
        from iai_mcp.capture import hook_log

        hook_log.note(f"hook {call.host} {call.hook}: {type(error).__name__}")
    return 0


def _serve(call: HookCall, event: HookEvent) -> None:
    given = _read_input(hooks_of(call.host))
    if _is_done_by_others(call, given):
        return
    hook_times.note(call.host, event)
    if os.environ.get("IAI_MCP_SESSION_DIR"):
        from iai_mcp.capture import agent_session

        agent_session.report_status(event, given)
        if event in (HookEvent.START, HookEvent.PROMPT):
            agent_session.note_conversation(event, given)
        elif event is HookEvent.STOP:
            agent_session.tell_last_words(given)
    if event in _TOLD:
        if event is HookEvent.START and given.text("source") in _GOES_ON:
            _capture(call, event, given)  # what a session repeats must not be told to it
        _inject(event, given)
    elif event in (HookEvent.STOP, HookEvent.SUBAGENT_STOP, HookEvent.COMPACT, HookEvent.END):
        _capture(call, event, given)


def _inject(event: HookEvent, given: HookInput) -> None:
    from iai_mcp.capture.injection import context_for

    text = context_for(event, given)
    if text:
        os.write(1, text.encode("utf-8", "replace") + b"\n")


def _capture(call: HookCall, event: HookEvent, given: HookInput) -> None:
    of_subagent = event is HookEvent.SUBAGENT_STOP
    path = given.transcript_path(of_subagent=of_subagent)
    if path is None or (event is HookEvent.START and not os.path.exists(path)):
        return
    if given.hooks.await_transcript is not None:
        given.hooks.await_transcript(path, call.hook)
    from iai_mcp.capture.delivery import deliver_transcript

    # At a session's end the transcript is complete, and there is no time to wait for more.
    wait_for = given.last_answer if event in (HookEvent.STOP, HookEvent.SUBAGENT_STOP) else None
    # A sub-agent's transcript says itself whose it is: in some hosts it is a session of its own.
    session = None if of_subagent else given.session_id
    deliver_transcript(path, session, call.host, given.cwd, wait_for=wait_for)


def _is_done_by_others(call: HookCall, given: HookInput) -> bool:
    """Whether this happening has a hook of ours elsewhere; a host that borrowed this one is taken as itself."""
    if call.by_plugin and os.environ.get("IAI_MCP_SESSION_DIR"):
        return True  # a launch brings its own
    for field, borrower in given.hooks.borrowed_by.items():
        if field in given.fields:
            call.host, given.hooks = borrower, hooks_of(borrower)
            return given.hooks.are_installed()
    return call.by_plugin and given.hooks.are_installed()


def _parse(argv: "Sequence[str]") -> HookCall:
    """By hand: argparse takes longer to import than most hooks run."""
    call = HookCall()
    words: list[str] = []
    waiting = list(argv[1:])
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            call.help = True
        elif word == "--plugin":
            call.by_plugin = True
        elif name in ("--host", "--store", "--socket"):
            given = value if equals else (waiting.pop(0) if waiting else "")
            _take(call, name, given)
        elif not word.startswith("-"):
            words.append(word)
    if argv[:1] == ["session-start"]:
        call.hook = "SessionStart"
    elif len(words) >= 2:
        call.host, call.hook = words[0], words[1]
    else:
        call.help = True
    return call


def _take(call: HookCall, name: str, value: str) -> None:
    if not value:
        return
    if name == "--host":
        call.host = value
    elif name == "--store":
        os.environ["IAI_MCP_STORE"] = value
    else:
        os.environ["IAI_DAEMON_SOCKET_PATH"] = value


def _stop_after(seconds: float) -> None:
    """End quietly when the time is over: what was captured so far is in the spool or the daemon."""
    _signal.signal(_signal.SIGALRM, lambda *_: os._exit(0))
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def _read_input(hooks: "Hooks", descriptor: int = 0) -> HookInput:
    """What stands on stdin. Garbage, silence and a terminal give an input without fields."""
    try:
        found = loads(_drain(descriptor).decode("utf-8", "replace"))
    except (OSError, ValueError):
        found = None
    return HookInput(found if isinstance(found, dict) else {}, hooks)


def _drain(descriptor: int) -> bytes:
    if os.isatty(descriptor):
        return b""
    received = bytearray()
    deadline = time.monotonic() + _LONGEST_WAIT
    while len(received) <= _MOST_BYTES:
        wait = min(_PATIENCE, deadline - time.monotonic()) if received else _LONGEST_WAIT
        if wait <= 0 or not select.select([descriptor], [], [], wait)[0]:
            break
        part = os.read(descriptor, 1 << 16)
        if not part:
            break
        received += part
    return bytes(received)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # the directory is gone
        return "/"
