"""A real daemon in a process of its own, and raw conversations with it."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable

from tests.support.home import ScratchHome

DEADLINE = 20.0


def until(condition: Callable[[], object], what: str, deadline: float = DEADLINE) -> object:
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

    def receive(self) -> dict:
        line = self._file.readline()
        assert line, "the daemon closed the connection without an answer"
        return json.loads(line)

    def ask(self, message: object) -> dict:
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
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> "DaemonProcess":
        self.process = self.spawn()
        until(self.answers, "the daemon answers")
        return self

    def spawn(self, **more: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.daemon"],
            env=self._environment,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def answers(self) -> bool:
        if self.process is not None and self.process.poll() is not None:
            raise AssertionError(f"the daemon ended: {self.process.stderr.read()}")
        try:
            with self.line() as line:
                return bool(line.ask({"type": "status"}).get("ok"))
        except (OSError, AssertionError):
            return False

    def line(self, deadline: float = DEADLINE) -> Line:
        return Line(str(self.home.socket), deadline)

    def ask(self, message: object) -> dict:
        with self.line() as line:
            return line.ask(message)

    def rpc(self, method: str, **params: object) -> dict:
        """The whole answer of one call."""
        return self.ask({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

    def call(self, method: str, **params: object) -> dict:
        """The result of one call that must succeed."""
        answer = self.rpc(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.process.wait(timeout=DEADLINE)
        self.process.stderr.close()
        self.process = None

    def stop(self) -> int:
        """Stop it as a service manager would; its exit code."""
        if self.process is None:
            return 0
        self.process.terminate()
        code = self.process.wait(timeout=DEADLINE)
        self.process.stderr.close()
        self.process = None
        return code
