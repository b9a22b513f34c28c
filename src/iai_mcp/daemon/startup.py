"""From a command line to a serving daemon, and back to a clean exit."""

import logging
import os
import resource
import signal
import sys
import time
from typing import TYPE_CHECKING

from iai_mcp import paths, settings
from iai_mcp.adapters import allocator
from iai_mcp.concurrency import ProcessLock, is_served
from iai_mcp.daemon import hibernation, launchd
from iai_mcp.domain.errors import Busy, DaemonNotOurs, IaiError
from iai_mcp.domain.shown_text import shown

if TYPE_CHECKING:
    from iai_mcp.daemon.service import Leaving

_log = logging.getLogger(__name__)

_WANTED_FILES = 8192
# How long a thread computes before one that waits for the interpreter gets it. An answer lets go of it
# dozens of times, for the store and the model, and would wait five milliseconds each time.
_SWITCH_SECONDS = 0.0005
# How long a command that found no daemon may have the store to itself before a start gives up.
_PATIENCE_SECONDS = 5.0
_POLL_SECONDS = 0.01


TAKE_OVER = "--take-over"  # take the place of the daemon that runs
CAN_NOT_TAKE_OVER = 3


def main() -> int:
    """Run the daemon until it is told to stop. The exit code says how it went."""
    _prepare_process()
    launchd.adopt_socket()
    lock, socket_lock = ProcessLock(), ProcessLock(f"{paths.socket_path()}.lock")
    try:
        if hibernation.is_dormant():
            hibernation.wait()
        if not hibernation.adopt([lock, socket_lock]) and TAKE_OVER not in sys.argv:
            _claim(lock, socket_lock)
        import asyncio

        from iai_mcp.daemon import handover, logs
        from iai_mcp.daemon.service import run

        estate, load_embedder = None, None
        if TAKE_OVER in sys.argv:
            # Everything that takes long comes before: others wait only while the store changes hands.
            load_embedder = handover.loaded()
            estate = handover.take([lock, socket_lock])
            if estate is None:
                _claim(lock, socket_lock)
        logs.start(settings.load().log_level)
        leaving = asyncio.run(run(lock, estate, load_embedder))
        if leaving is not None:
            logging.shutdown()
            _pass_on(leaving, [lock, socket_lock])
    except IaiError as refused:
        sys.stderr.write(f"iai-mcp daemon: {shown(refused.message)}\n")
        return CAN_NOT_TAKE_OVER if refused.code == "NOT_HANDED_OVER" else 1
    except paths.NotOurs as stranger:
        sys.stderr.write(f"iai-mcp daemon: {shown(stranger.sentence)}\n")
        return 1
    except OSError as refused:
        sys.stderr.write(f"iai-mcp daemon: {shown(f'{refused.strerror}: {refused.filename}')}\n")
        return 1
    finally:
        for held in (socket_lock, lock):
            held.close()
    return 0


def _pass_on(leaving: "Leaving", locks: list[ProcessLock]) -> None:
    """Give our place to who asked for it, or keep it and wait."""
    held = (leaving.listening, locks, leaving.http)
    if leaving.heir is None or not leaving.heir.receives(*held, leaving.remote):
        hibernation.lie_down(*held, leaving.hear_after, leaving.remote)


def _prepare_process() -> None:
    os.umask(0o077)
    sys.setswitchinterval(_SWITCH_SECONDS)
    # More threads for one small matrix product only wait for each other.
    for library in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(library, "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED_FILES if hard == resource.RLIM_INFINITY else min(_WANTED_FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    allocator.keep_little()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def _claim(lock: ProcessLock, socket_lock: ProcessLock) -> None:
    """Become the one daemon of this directory and of this socket.

    Raises:
        Busy: another one is; the sentence names its pid.
        NotOurs, DaemonNotOurs: another user has the socket's place, or could take it.
    """
    _take(lock)
    problem = paths.socket_path_problem(paths.socket_path())
    if problem:
        raise Busy(problem)
    if _is_activated():
        return  # the socket was handed to us: it is ours by definition
    paths.socket_dir(paths.socket_path())
    if not socket_lock.try_acquire_exclusive():
        raise Busy(f"another daemon owns {paths.socket_path()}{_who(socket_lock.holder())}")
    if is_served(paths.socket_path()):
        raise Busy(
            f"another daemon serves {paths.socket_path()}{_who(_pid_behind_socket())}; stop it, "
            "or set IAI_DAEMON_SOCKET_PATH to another path"
        )


def _take(lock: ProcessLock) -> None:
    """Lock the store. A daemon that serves is not waited for; a command is done in a moment.

    Raises:
        Busy: somebody else has it.
    """
    ends_at = time.monotonic() + _PATIENCE_SECONDS
    while not lock.try_acquire_exclusive():
        # A socket that was handed to us is always served: by us.
        if not _is_activated() and is_served(paths.socket_path()):
            raise Busy(f"a daemon for {paths.user_data()} is already running{_who(lock.holder())}")
        if time.monotonic() >= ends_at:
            who = _who(lock.holder())
            raise Busy(f"another process{who} holds {paths.user_data()}: wait for it, or end it")
        time.sleep(_POLL_SECONDS)


def _is_activated() -> bool:
    return os.environ.get("LISTEN_PID") == str(os.getpid())


def _who(pid: int | None) -> str:
    return f" (pid {pid})" if pid else ""


def _pid_behind_socket() -> int | None:
    from iai_mcp.client import connection

    try:
        pid = connection.control("status", timeout=1.0).get("pid")
    except DaemonNotOurs:
        raise
    except (IaiError, ValueError):
        return None
    return pid if isinstance(pid, int) else None
