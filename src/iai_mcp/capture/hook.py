"""What hosts run: `iai-mcp hook HOST EVENT` and `iai-mcp session-start [--host HOST]`.

The host's JSON comes on stdin. Nothing goes to stdout but what that host understands, and the
exit code is 0 whatever happens: a hook must never break the session it serves.
"""

# `signal` spends two milliseconds on wrapping these in enums.
import _signal  # type: ignore[import-not-found]  # typeshed describes only `signal`
import os

from iai_mcp.capture.host_input import Input, read_input
from iai_mcp.capture.moments import Moment, moment_of

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Sequence

# Seconds until we give up, whatever we are doing; every step has a shorter limit of its own, so
# this is for machines that are brought to their knees. Claude Code gives the hooks of a session's
# end 1.5 s together, and a person waits behind a prompt.
_LONGEST = {Moment.END: 1.2, Moment.PROMPT: 1.0}
_LONGEST_ELSE = 5.0

USAGE = """\
usage: iai-mcp hook [--store DIR] [--socket PATH] HOST EVENT
       iai-mcp session-start [--host HOST]

Agent programs run this; 'iai-mcp hosts install' writes it into their settings. The program's own
JSON is read from stdin. Capture events store what was said; a session's start prints the memories
of the project, in the form that the program understands. Always exits 0.
"""


class Call:
    """The parsed command line."""

    __slots__ = ("event", "help", "host")

    def __init__(self) -> None:
        self.host = "claude-code"
        self.event = ""
        self.help = False


def main(argv: "Sequence[str]") -> int:
    """Run one hook. `argv` begins with `hook` or `session-start`."""
    call = _parse(argv)
    if call.help:
        os.write(1, USAGE.encode())
        return 0
    moment = moment_of(call.event)
    if moment is None:
        return 0
    try:
        _stop_after(_LONGEST.get(moment, _LONGEST_ELSE))
        _serve(call, moment)
    except Exception as error:  # noqa: BLE001 - the host's session must not notice
        from iai_mcp.capture import journal

        journal.note(f"hook {call.host} {call.event}: {type(error).__name__}")
    return 0


def _serve(call: Call, moment: Moment) -> None:
    given = read_input()
    if given.comes_from_cursor and call.host != "cursor":
        # Cursor's command line runs Claude Code's hooks too. Its own hook has done the work,
        # where it is installed.
        from iai_mcp.capture.whereabouts import cursor_has_our_hooks

        if cursor_has_our_hooks():
            return
        call.host = "cursor"
    if os.environ.get("IAI_MCP_SESSION_DIR"):
        from iai_mcp.capture.agent_status import report

        report(moment, given)
        if moment is Moment.START:
            from iai_mcp.capture.conversation import note

            note(given)
    if moment in (Moment.START, Moment.PROMPT):
        _inject(call, moment, given)
    elif moment in (Moment.STOP, Moment.SUBAGENT_STOP, Moment.COMPACT, Moment.END):
        _capture(call, moment, given)


def _inject(call: Call, moment: Moment, given: Input) -> None:
    from iai_mcp.capture.injection import context_for

    text = context_for(moment, call.host, given)
    if text:
        os.write(1, text.encode("utf-8", "replace") + b"\n")


def _capture(call: Call, moment: Moment, given: Input) -> None:
    from iai_mcp.capture.whereabouts import transcript_of

    of_subagent = moment is Moment.SUBAGENT_STOP
    path = transcript_of(call.host, call.event, given, of_subagent=of_subagent)
    if path is None:
        return
    from iai_mcp.capture.deliver import deliver_transcript

    # At a session's end the transcript is complete, and there is no time to wait for more.
    wait_for = given.last_answer if moment in (Moment.STOP, Moment.SUBAGENT_STOP) else None
    # A sub-agent's transcript says itself whose it is: in some hosts it is a session of its own.
    session = None if of_subagent else given.session_id
    deliver_transcript(path, session, call.host, given.cwd, wait_for=wait_for)


def _parse(argv: "Sequence[str]") -> Call:
    """By hand: argparse takes longer to import than most hooks run."""
    call = Call()
    words: list[str] = []
    waiting = list(argv[1:])
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            call.help = True
        elif name in ("--host", "--store", "--socket"):
            given = value if equals else (waiting.pop(0) if waiting else "")
            _take(call, name, given)
        elif not word.startswith("-"):
            words.append(word)
    if argv[:1] == ["session-start"]:
        call.event = "SessionStart"
    elif len(words) >= 2:
        call.host, call.event = words[0], words[1]
    else:
        call.help = True
    return call


def _take(call: Call, name: str, value: str) -> None:
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
