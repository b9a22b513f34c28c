"""Start the memory daemon in the background, and say how to connect your agents to it.

It keeps running after this terminal closes. Running it again changes nothing, except after an upgrade:
then the daemon of the other version finishes what is in flight, and the new one takes its place. Whoever
calls meanwhile waits a moment and is answered; if the new one can not open the store, the old one goes on.

  iai-mcp up                start, and show the line that connects each agent program
  iai-mcp up --service      let systemd or launchd start it at the first connection, and after a reboot
  iai-mcp up --foreground   stay in this terminal (for service managers and debugging)
  iai-mcp up --anew         begin with an empty memory where the store was lost and no backup is wanted
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from iai_mcp import __version__, paths
from iai_mcp.adapters import original_store
from iai_mcp.cli import down, output
from iai_mcp.client import connection
from iai_mcp.concurrency import is_served
from iai_mcp.domain.errors import Busy, DaemonUnreachable, IaiError, IoFailed, NotInstalled
from iai_mcp.domain.shown_text import memories

_WAIT_SECONDS = 20.0
_CAN_NOT_TAKE_OVER = 3  # how such a daemon ends
_SILENT = "the daemon ended without a word: is the disk full, and may your user write to it?"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--foreground", action="store_true", help="do not go to the background")
    parser.add_argument("--service", action="store_true", help="install the user service instead")
    parser.add_argument("--anew", action="store_true", help="leave a lost store behind")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    if arguments.anew:
        _begin_anew()
    if arguments.foreground:
        os.execv(sys.executable, [sys.executable, "-m", "iai_mcp.daemon"])  # noqa: S606 - our own interpreter
    if arguments.service:
        return _service(arguments.json)
    status = status_of_running()
    swapped = status is not None and status.get("version") != __version__
    started = status is None or swapped
    if status is None:
        status = start()
    elif swapped:
        status = swap()
    result = {"started": started, "swapped": swapped, **status}
    original = original_store.notice()
    if original:
        result["original_store"] = original
    output.emit(result, _told(status, _word(started, swapped)), as_json=arguments.json)
    if not arguments.json:
        _offer(status, original)
    return 0


def _offer(status: dict[str, object], original: str | None) -> None:
    """What a person may do next."""
    from iai_mcp.cli import calling, hosts, model

    if original:
        output.note(original)
    if _lacks_model(status):
        model.offer_once()
    hosts.offer_once()
    if advice := calling.advice():
        output.say(f"\n{advice}")


def _lacks_model(status: dict[str, object]) -> bool:
    """Looked for here, too: a daemon that has just started does not know it yet."""
    if status.get("model_ready"):
        return False
    from iai_mcp.adapters.embedding import location

    try:
        location.find()
    except NotInstalled:
        return True
    except IaiError:
        return False  # one is there, and doctor says what is wrong with it
    return False


def _begin_anew() -> None:
    from pathlib import Path

    from iai_mcp.adapters.keys import custody
    from iai_mcp.concurrency import ProcessLock

    lock = ProcessLock()
    try:
        if not lock.try_acquire_exclusive():
            raise Busy("memory is on, or another process holds the store: nothing was changed")
        custody.begin_anew(Path(paths.user_data()))
        lock.release()
    finally:
        lock.close()


def status_of_running() -> dict[str, object] | None:
    """What the daemon says of itself, or None when there is none."""
    try:
        return connection.control("status")
    except DaemonUnreachable:
        return None


def _service(as_json: bool) -> int:
    from iai_mcp.adapters import service_units

    if connection.is_up():
        # The service's socket takes the place of the running daemon's.
        down.stop_running()
    written = service_units.install()
    status = connection.control("status", timeout=10.0)
    said = ["memory is on, and starts by itself from now on:", *(f"  {path}" for path in written)]
    output.emit({"units": written, **status}, "\n".join(said), as_json=as_json)
    return 0


def swap() -> dict[str, object]:
    """Put a daemon of this version in the place of the running one; its first status.

    Whoever calls meanwhile waits and is answered. One that is too old to be asked is stopped first, and
    one that a service manager started is started by it again.

    Raises:
        IaiError: it did not work; unless the old one had to be stopped, it goes on.
    """
    try:
        return start("--take-over")
    except NotTakenOver:
        down.stop_running()
    if not is_served(paths.socket_path()):
        return start()
    status = connection.control("status", timeout=_WAIT_SECONDS)
    if status.get("version") != __version__:
        raise IoFailed(
            f"the service starts version {status.get('version')} again: "
            "'iai-mcp up --service' makes it start this one"
        )
    return status


class NotTakenOver(IoFailed):
    """The running daemon has to be stopped before this one can start."""


@contextmanager
def with_memory_off() -> Iterator[None]:
    """The store for this process alone; a daemon that ran is stopped before and started again after.

    Raises:
        Busy: another process holds the store; nothing was done.
    """
    from iai_mcp.concurrency import ProcessLock

    was_up = connection.is_up()
    if was_up:
        down.stop_running()
    lock = ProcessLock()
    try:
        if not lock.try_acquire_exclusive():
            raise Busy("another process holds the store: wait for it and try again")
        yield
        lock.release()
    finally:
        lock.close()
        if was_up and status_of_running() is None:
            start()


def start(*arguments: str) -> dict[str, object]:
    """Start a daemon and return its first status.

    Raises:
        IaiError: it did not start; the sentence is the daemon's own.
    """
    directory = paths.private_dir(paths.user_data())
    log = os.path.join(paths.private_dir(os.path.join(directory, "logs")), "start.log")
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.daemon", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            cwd="/",  # a daemon must not keep somebody's directory from being unmounted
            start_new_session=True,
        )
    finally:
        os.close(descriptor)
    deadline = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return _of_another_or_failed(process.returncode, log)
        try:
            status = connection.control("status", timeout=2.0)
        except (IaiError, ValueError):
            time.sleep(0.01)
            continue
        if status.get("ok") and status.get("pid") == process.pid:
            return status
        time.sleep(0.01)
    raise IoFailed(f"the daemon did not answer within {_WAIT_SECONDS:.0f} s; its log is {log}")


def _of_another_or_failed(code: int, log: str) -> dict[str, object]:
    """Ours ended. Whoever started one at the same moment was first; else its log says why."""
    with open(log, encoding="utf-8", errors="replace") as file:
        said = _last_line(file.read())
    if code == _CAN_NOT_TAKE_OVER:
        raise NotTakenOver(said)
    status = status_of_running()
    if status is not None and status.get("version") == __version__:
        return status
    raise IoFailed(said)


def _last_line(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1].removeprefix("iai-mcp daemon: ") if lines else _SILENT


def _word(started: bool, swapped: bool) -> str:
    if swapped:
        return f"swapped for version {__version__}"
    return "started" if started else "already running"


def _told(status: dict[str, object], word: str) -> str:
    """The state, and which commands come next, but for those that are asked about in a moment."""
    from iai_mcp.cli import hosts, model
    from iai_mcp.cli.connecting import lines

    head = f"{output.paint('memory is on', 'green')}: {word} (pid {status.get('pid')}), {memories(status.get('records'))}"
    parts = [head]
    if _lacks_model(status) and not model.will_offer():
        parts.append(
            "recall works by words; for meaning too, run once: "
            + output.paint("iai-mcp model install", "bold")
        )
    if not hosts.will_offer() and (connecting := lines()):
        parts += ["", *connecting]
    return "\n".join(parts)
