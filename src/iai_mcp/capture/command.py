"""`iai-mcp capture-transcript --no-spawn`: what hooks run. One JSON object out, always exit 0."""

import os
import sys

from iai_mcp.hosts import READABLE
from iai_mcp.protocol.compact_json import dumps, harmless

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = f"""\
usage: iai-mcp capture-transcript [--no-spawn] [--session-id ID] [--host HOST] TRANSCRIPT

Captures what was said in an agent's session. TRANSCRIPT is the file in which the agent's program
keeps it; the program is recognised by the file, or named with --host:
{", ".join(READABLE)}.

  --no-spawn         for hooks: hand the turns to the daemon if it answers at once, else leave them
                     in the spool for it; done in well under a second
  --session-id ID    the session that the turns belong to (default: what the transcript says)

Without --no-spawn the turns are stored when the command returns. Capturing the same transcript
again adds only what is new. Prints one JSON object and exits 0, whatever happens.
"""


class Arguments:
    """The parsed command line; `problem` when it makes no sense."""

    __slots__ = ("help", "host", "no_spawn", "problem", "session_id", "transcript")

    def __init__(self) -> None:
        self.transcript = ""
        self.session_id: str | None = None
        self.host: str | None = None
        self.no_spawn = False
        self.help = False
        self.problem: str | None = None


def parse(argv: "Sequence[str]") -> Arguments:
    """By hand: argparse takes longer to import than a capture takes."""
    found = Arguments()
    waiting = list(argv)
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            found.help = True
        elif word == "--no-spawn":
            found.no_spawn = True
        elif name in ("--session-id", "--host"):
            if not equals and not waiting:
                found.problem = f"{name} needs a value"
                break
            given = value if equals else waiting.pop(0)
            setattr(found, name[2:].replace("-", "_"), given or None)
        elif word.startswith("-") and word != "-" and word not in ("--", "--json"):
            found.problem = f"there is no option {name}"
        elif word not in ("--", "--json"):
            found.problem = "more than one transcript" if found.transcript else found.problem
            found.transcript = word
    if not found.transcript and not found.problem:
        found.problem = "which transcript? name its file"
    return found


def main(argv: "Sequence[str]") -> int:
    """Capture for a hook. The session it serves must never notice."""
    arguments = parse(argv)
    if arguments.help:
        sys.stdout.write(USAGE)
        return 0
    say(captured(arguments))
    return 0


def captured(arguments: Arguments) -> dict[str, object]:
    """What `main` prints."""
    if arguments.problem:
        return {"status": "failed", "errors": 1, "error": arguments.problem}
    try:
        from iai_mcp.capture.delivery import deliver_transcript

        return deliver_transcript(arguments.transcript, arguments.session_id, arguments.host)
    except Exception as bug:  # noqa: BLE001 - the last door: a hook never breaks its session
        from iai_mcp.capture import hook_log

        hook_log.note(f"{type(bug).__name__} at {_place(bug)}")
        return {"status": "failed", "errors": 1, "error": f"unexpected {type(bug).__name__}"}


def say(result: dict[str, object]) -> None:
    """One JSON object on stdout; a host that closed its end is no failure of ours."""
    try:
        sys.stdout.write(harmless(dumps(result)) + "\n")
        sys.stdout.flush()
    except (OSError, ValueError):
        # What could not be written is still buffered, and the interpreter would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _place(bug: Exception) -> str:
    """Where it happened; what it was about may be what somebody said."""
    trace = bug.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "nowhere"
