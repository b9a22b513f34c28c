"""A real daemon in a process of its own, and raw conversations with it."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from tests.support.answers import Json
from tests.support.home import ScratchHome

DEADLINE = 20.0

T = TypeVar("T")


def until(condition: Callable[[], T | None], what: str, deadline: float = DEADLINE) -> T:
    """Wait for a condition to be true and return what it gave."""
    end = time.monotonic() + deadline
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError(f"waited {deadline} s in vain until {what}")


class Line:
    """One open connection: lines out, lines in."""

    def __init__(self, path: str, deadline: float = DEADLINE) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(deadline)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rb")

    def send(self, message: object) -> None:
        self.send_raw(
            json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        )

    def send_raw(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self) -> Json:
        line = self._file.readline()
        assert line, "the daemon closed the connection without an answer"
        answer: Json = json.loads(line)
        return answer

    def ask(self, message: object) -> Json:
        self.send(message)
        return self.receive()

    def at_end(self) -> bool:
        return self._file.read(1) == b""

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class DaemonProcess:
    """`python -m iai_mcp.daemon` in a scratch home."""

    def __init__(self, home: ScratchHome, **environment: str) -> None:
        self.home = home
        self._environment = {**home.environment, **environment}
        self._process: subprocess.Popen[str] | None = None

    @property
    def started(self) -> bool:
        return self._process is not None

    @property
    def process(self) -> "subprocess.Popen[str]":
        assert self._process is not None, "the daemon was not started"
        return self._process

    @process.setter
    def process(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def start(self) -> "DaemonProcess":
        self.process = self.spawn()
        until(self.answers, "the daemon answers")
        return self

    def spawn(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.daemon"],
            env=self._environment,
            stderr=subprocess.PIPE,
            text=True,
        )

    def answers(self) -> bool:
        if self.started and self.process.poll() is not None:
            raise AssertionError(f"the daemon ended: {self.process.communicate()[1]}")
        try:
            with self.line() as line:
                return bool(line.ask({"type": "status"}).get("ok"))
        except (OSError, AssertionError):
            return False

    def line(self, deadline: float = DEADLINE) -> Line:
        return Line(str(self.home.socket), deadline)

    def ask(self, message: object) -> Json:
        with self.line() as line:
            return line.ask(message)

    def rpc(self, method: str, **params: object) -> Json:
        """The whole answer of one call."""
        return self.ask({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

    def call(self, method: str, **params: object) -> Json:
        """The result of one call that must succeed."""
        answer = self.rpc(method, **params)
        assert "result" in answer, answer
        result: Json = answer["result"]
        return result

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.ended()

    def stop(self) -> int:
        """Stop it as a service manager would; its exit code."""
        if not self.started:
            return 0
        self.process.terminate()
        return self.ended()

    def ended(self) -> int:
        """Wait for its end, and let go of it; its exit code."""
        code = self.process.wait(timeout=DEADLINE)
        if self.process.stderr is not None:
            self.process.stderr.close()
        self._process = None
        return code
