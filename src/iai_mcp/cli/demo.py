"""See it work: a real daemon in a scratch home, three agents recalling one conversation, a crash.

iai-mcp demo            tells it in the terminal
iai-mcp demo --page     shows the page with the demonstration's memories and a live shell, until Enter

Nothing of yours is touched, and everything is cleaned up at the end.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import resources

from iai_mcp.cli import calling, output
from iai_mcp.client import connection
from iai_mcp.domain.errors import IaiError, IoFailed

Say = Callable[[str], None]
Work = Callable[[], dict[str, object]]

_HOSTS = ("claude-code", "codex", "gemini")
_QUESTIONS = (
    "which port does the staging database use?",
    "why did we drop Redis?",
    "how does the user want commit messages?",
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--page", action="store_true", help="show the page of the scratch home")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    def say(text: str) -> None:
        if not arguments.json:
            output.say(text)
            output.flush()

    with _scratch_home():
        daemon = _Daemon()
        try:
            result = _page(daemon, say, arguments.json) if arguments.page else _story(daemon, say)
        finally:
            daemon.end()
    say("\nThe scratch home is gone. To turn memory on for real:\n")
    say(f"  {output.paint(calling.command() + ' up', 'bold')}\n")
    if arguments.json and not arguments.page:
        output.say_json(result)
    return 0


def _story(daemon: "_Daemon", say: Say) -> dict[str, object]:
    seconds = daemon.start()
    say(f"1. a daemon of its own: started, first answer after {seconds * 1000:.0f} ms")
    turns = conversation()
    took, stored = _timed(
        lambda: connection.call(
            "capture_events", {"session_id": "demo", "project": "demo", "events": turns}
        )
    )
    say(
        f"2. a conversation of {len(turns)} turns: {stored['inserted']} stored and findable after {took * 1000:.0f} ms"
    )
    model = "1 model" if _wait_for_meaning(say) else "no model"
    say("3. three agents of three vendors, each with a bridge of its own, ask the one memory:")
    asked = _side_by_side(say)
    say(
        f"   processes: {len(asked)} bridges, 1 daemon ({_megabytes(daemon.pid)} MB), {model} in memory"
    )
    daemon.kill()
    say("4. kill -9 the daemon ... it is gone, in the middle of everything")
    seconds = daemon.start()
    records = connection.control("status")["records"]
    say(
        f"   started again in {seconds * 1000:.0f} ms: {records} of {stored['inserted']} memories are there"
    )
    if records != stored["inserted"]:
        raise IoFailed("the demo lost a memory: please report this")
    return {"stored": stored["inserted"], "survived": records, "bridges": asked}


def _page(daemon: "_Daemon", say: Say, as_json: bool) -> dict[str, object]:
    """The page with something on it, until the person, or the program that started us, has seen it."""
    from iai_mcp.cli import page
    from iai_mcp.terminal.cleanup import end_all

    daemon.start()
    furnish()
    try:
        subprocess.run(
            [sys.executable, "-m", "iai_mcp.cli", "session", "start", "--detach"],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        told = page.opened()
        url = str(told["url"])
        if as_json:
            output.say_json({"url": url, "port": told["port"]})
            output.flush()
        elif page.browse(url):
            say("the page is open in your browser; Enter ends the demonstration")
        else:
            say(f"open once: {url}\nEnter ends the demonstration")
        with suppress(KeyboardInterrupt):
            sys.stdin.readline()
    finally:
        page.close()
        end_all()
    return told


def furnish() -> None:
    """The demonstration's memories, and a session that was told of them."""
    about: dict[str, object] = {"session_id": "demo", "project": "demo"}
    connection.call("capture_events", {**about, "events": conversation()})
    connection.call("session_start_payload", {"session_id": "later", "project": "demo"})


def conversation() -> list[dict[str, object]]:
    """The small conversation that comes with the product."""
    text = resources.files("iai_mcp.cli").joinpath("demo_conversation.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]


@contextmanager
def _scratch_home() -> Iterator[None]:
    model = _model_directory()
    home = tempfile.mkdtemp(prefix="iai-demo-")
    before = dict(os.environ)
    os.environ.update(
        HOME=home,
        IAI_MCP_STORE=os.path.join(home, "store"),
        IAI_DAEMON_SOCKET_PATH=os.path.join(home, "d.sock"),
        PYTHON_KEYRING_BACKEND="keyring.backends.null.Keyring",
    )
    os.environ.pop("IAI_MCP_CRYPTO_PASSPHRASE", None)
    if model:
        os.environ["IAI_MCP_EMBED_MODEL"] = model
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(home, ignore_errors=True)


def _model_directory() -> str | None:
    """The model that is installed for real, so that the demo does not install another."""
    from iai_mcp.adapters.embedding.location import find

    try:
        return str(find().directory)
    except IaiError:
        return None


class _Daemon:
    """The demo's own daemon, started and killed in front of the user."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    def start(self) -> float:
        """Start it; seconds until its first answer."""
        began = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.daemon"], stdin=subprocess.DEVNULL, cwd="/"
        )
        while not connection.is_up(timeout=0.5):
            if self._process.poll() is not None:
                raise IoFailed("the demo's daemon did not start")
            time.sleep(0.005)
        return time.perf_counter() - began

    def kill(self) -> None:
        if self._process:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def end(self) -> None:
        if self._process and self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=6)
                return
            self._process.kill()


def _wait_for_meaning(say: Say) -> bool:
    """Until every turn has its vector; whether there is a model to make them."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        status = connection.control("status")
        if status.get("model_ready") and not status.get("vectors_pending"):
            return True
        if not status.get("model_ready") and "loading" not in str(status.get("model")):
            say(f"   ({status.get('model')}; the demo goes on with words alone)")
            return False
        time.sleep(0.02)
    return True


def _side_by_side(say: Say) -> list[dict[str, object]]:
    bridges = [
        subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.bridge"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in _HOSTS
    ]
    asked: list[dict[str, object]] = []
    try:
        for host, question, bridge in zip(_HOSTS, _QUESTIONS, bridges, strict=True):
            milliseconds, text = _ask(bridge, host, question)
            asked.append({"host": host, "ms": round(milliseconds, 1), "answer": text})
            say(
                f"   {host:<12} {question}\n   {milliseconds:9.1f} ms  {output.paint(text, 'green')}"
            )
    finally:
        for bridge in bridges:
            if bridge.stdin:
                bridge.stdin.close()
            bridge.wait(timeout=5)
            if bridge.stdout:
                bridge.stdout.close()
    return asked


def _ask(bridge: "subprocess.Popen[bytes]", host: str, question: str) -> tuple[float, str]:
    """Handshake as a host does, then one recall: its milliseconds and the best hit's words."""
    _exchange(
        bridge,
        "initialize",
        {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": host, "version": "demo"},
        },
    )
    _send(bridge, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    arguments = {"cue": question, "k": 1, "project": "demo", "format": "json"}
    took, answer = _timed(
        lambda: _exchange(bridge, "tools/call", {"name": "memory_recall", "arguments": arguments})
    )
    result = answer.get("result")
    structured = result.get("structuredContent") if isinstance(result, dict) else None
    hits = structured.get("hits") if isinstance(structured, dict) else None
    return took * 1000, str(hits[0]["text"]) if hits else "(no answer)"


def _exchange(
    bridge: "subprocess.Popen[bytes]", method: str, params: dict[str, object]
) -> dict[str, object]:
    _send(bridge, {"jsonrpc": "2.0", "id": method, "method": method, "params": params})
    assert bridge.stdout is not None  # noqa: S101 - opened with a pipe
    answer = json.loads(bridge.stdout.readline())
    return answer if isinstance(answer, dict) else {}


def _send(bridge: "subprocess.Popen[bytes]", message: dict[str, object]) -> None:
    assert bridge.stdin is not None  # noqa: S101 - opened with a pipe
    bridge.stdin.write(json.dumps(message).encode() + b"\n")
    bridge.stdin.flush()


def _timed(work: Work) -> tuple[float, dict[str, object]]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def _megabytes(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            resident = next(line for line in status if line.startswith("VmRSS"))
        return str(int(resident.split()[1]) // 1024)
    except (OSError, StopIteration):
        shown = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        return str(int(shown.stdout.strip() or 0) // 1024)
