"""Open memory and agents in a browser: ask, read, correct and forget, watch agents, use their terminals.

iai-mcp page                open it in the browser
iai-mcp page --no-open      print the address instead, for a browser of your choice
iai-mcp page --close        end it, and every login

The address works once, within ten minutes; run this again for another browser. Only programs of your
own user on this machine get in. From elsewhere, through a tunnel that ends at port 9000 there:

iai-mcp page --tunnel 9000 --port 8765      on the machine with the memory
ssh -L 9000:127.0.0.1:8765 MACHINE          where the browser is; then open the address there

A page that no browser shows is gone after a quarter of an hour (page_idle).
"""

import argparse
import os
import subprocess
import sys
import time

from iai_mcp import __version__, paths
from iai_mcp.child_environment import is_secret, without_secrets
from iai_mcp.cli import output
from iai_mcp.client import connection
from iai_mcp.domain.errors import InvalidInput, IoFailed
from iai_mcp.web import control

_WAIT_SECONDS = 20.0
_SILENT = "the page ended without a word: is the disk full, and may your user write to it?"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-open", action="store_true", help="do not start a browser")
    parser.add_argument("--port", type=int, default=0, help="where to listen (default: any)")
    parser.add_argument(
        "--tunnel",
        type=int,
        default=0,
        help="the port that browsers elsewhere dial (implies --no-open)",
    )
    parser.add_argument("--close", action="store_true", help="end the page and every login")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    if arguments.close:
        closed = close()
        said = "the page is closed" if closed else "no page was open"
        output.emit({"closed": closed}, said, as_json=arguments.json)
        return 0
    for name in ("port", "tunnel"):
        if not 0 <= getattr(arguments, name) <= 65535:
            raise InvalidInput(f"--{name} has to be a number from 1 to 65535")
    version = connection.control("status").get("version")  # without a daemon it says what to do
    if version != __version__:
        raise IoFailed(f"the daemon is of version {version}: 'iai-mcp up' swaps it, then try again")
    told = opened(arguments.port, arguments.tunnel)
    shown = {"url": told["url"], "port": told["port"]}
    here = not (arguments.no_open or arguments.json or arguments.tunnel)
    in_browser = here and browse(str(told["url"]))
    said = "the page is open in your browser" if in_browser else f"open once: {told['url']}"
    output.emit(shown, said, as_json=arguments.json)
    return 0


def opened(port: int = 0, tunnel: int = 0) -> dict[str, object]:
    """A new address for the page, which is started if it does not run.

    Raises:
        IoFailed: it can not be started; the sentence is its own.
    """
    told = control.ask("open", tunnel)
    if told is not None and told.get("version") != __version__:
        close()
        told = None
    if told is None:
        told = _once_begun_or_ended(tunnel) or _started(port, tunnel)
    if port and told["port"] != port:
        raise InvalidInput(
            f"the page is open on port {told['port']}: iai-mcp page --close ends it, then choose another"
        )
    return told


def close() -> bool:
    """End the page; whether there was one."""
    if control.ask("close") is None:
        return False
    from iai_mcp.concurrency import ProcessLock

    deadline = time.monotonic() + _WAIT_SECONDS
    lock = ProcessLock(f"{paths.page_socket_path()}.lock")
    try:
        while not lock.try_acquire_exclusive():
            if time.monotonic() > deadline:
                raise IoFailed(f"the page (pid {lock.holder()}) does not end: end it by hand")
            time.sleep(0.01)
        lock.release()
    finally:
        lock.close()
    return True


def _once_begun_or_ended(tunnel: int) -> dict[str, object] | None:
    """What a page says that is only starting; None where there is none, or one that was ending has ended."""
    from iai_mcp.concurrency import ProcessLock

    deadline = time.monotonic() + _WAIT_SECONDS
    lock = ProcessLock(f"{paths.page_socket_path()}.lock")
    try:
        while not lock.try_acquire_exclusive():
            told = control.ask("open", tunnel)
            if told is not None or time.monotonic() > deadline:
                return told
            time.sleep(0.01)
        lock.release()
    finally:
        lock.close()
    return None


def _started(port: int, tunnel: int) -> dict[str, object]:
    log = os.path.join(paths.private_dir(paths.in_user_data("logs")), "page.log")
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.web", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            cwd="/",
            env=without_secrets(),
            start_new_session=True,
        )
    finally:
        os.close(descriptor)
    deadline = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < deadline:
        told = control.ask("open", tunnel)
        if told is not None:
            return told
        if process.poll():
            with open(log, encoding="utf-8", errors="replace") as file:
                lines = [line for line in file.read().splitlines() if line.strip()]
            raise IoFailed(lines[-1] if lines else _SILENT)
        time.sleep(0.01)
    raise IoFailed(f"the page did not answer within {_WAIT_SECONDS:.0f} s; its log is {log}")


def browse(url: str) -> bool:
    """Whether a browser was told to open it."""
    import webbrowser

    for name in filter(is_secret, list(os.environ)):
        del os.environ[name]  # the browser gets our environment, and this command ends here
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
