"""`iai-mcp capture-transcript` without `--no-spawn`: returns when the turns are really stored.

Through the daemon if it runs, else into the store directly; never into the spool.
"""

from collections.abc import Sequence

from iai_mcp.capture import consent, hook_log
from iai_mcp.capture.command import USAGE, Arguments, parse, say
from iai_mcp.capture.daemon_delivery import parts
from iai_mcp.capture.delivery import gather, header_of, pack
from iai_mcp.cli import memory_access, output
from iai_mcp.domain.errors import IaiError
from iai_mcp.protocol.compact_json import loads


def main(argv: Sequence[str]) -> int:
    """Store a transcript's turns; one JSON object on stdout, exit code 0 whatever happens."""
    arguments = parse(argv)
    if arguments.help:
        output.say(USAGE, end="")
        return 0
    result: dict[str, object] = {"inserted": 0, "reinforced": 0, "skipped": 0, "errors": 0}
    try:
        problem = arguments.problem or _store(arguments, result)
    except IaiError as refused:
        problem = refused.message
    except Exception as bug:  # noqa: BLE001 - the last door: a caller's session never breaks
        problem = f"something went wrong inside iai-mcp ({type(bug).__name__})"
    if problem:
        hook_log.note(problem)
        result["errors"] = _number(result["errors"]) + 1
        result["error"] = problem
    say(result)
    return 0


def _store(arguments: Arguments, result: dict[str, object]) -> str | None:
    """Store all turns and count them in `result`; a sentence if the transcript was no good."""
    found = gather(arguments.transcript, arguments.session_id, arguments.host, None, whole=True)
    result["skipped"] = found.skipped
    denied = consent.refusal(found.cwd)
    if denied:
        result["reason"] = denied
        return None
    header = header_of(found, None)
    for part in parts(pack(found, consent.Turns(found.cwd))):
        params = dict(header)
        if part[0][0] is not None:
            params["session_id"] = part[0][0]
        params["events"] = [loads(line.decode("utf-8")) for _, line in part]
        answer = memory_access.call("capture_events", params)
        for mine, theirs in (
            ("inserted", "inserted"),
            ("reinforced", "duplicates"),
            ("skipped", "skipped"),
            ("errors", "errors"),
        ):
            result[mine] = _number(result[mine]) + _number(answer.get(theirs))
    return found.problem


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
