"""A scratch home with a real daemon, and a store filled before it starts."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from bench import filled
from bench.corpus import Corpus

SOURCE = Path(__file__).parents[1] / "src"
_LOADING = "still loading"  # in what `status` says of a model that is on its way


class Scratch:
    """A home of its own; the model is the one installed for the user who runs the benchmark."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="iai-b-"))
        self.socket = self.path / "d.sock"
        self.environment = {
            **os.environ,
            "HOME": str(self.path),
            "IAI_MCP_STORE": str(self.path / "store"),
            "IAI_DAEMON_SOCKET_PATH": str(self.socket),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            "PYTHONPATH": str(SOURCE),
        }
        model = installed_model()
        if model:
            self.environment["IAI_MCP_EMBED_MODEL"] = model
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> float:
        """Start the daemon; seconds until its first answer."""
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.daemon"], env=self.environment, cwd="/"
        )
        while True:
            try:
                if self.control("status")["ok"]:
                    return time.perf_counter() - began
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError("the daemon did not start") from None
                time.sleep(0.002)

    def wait_warm(self) -> None:
        """Until meaning works; where it never will, the benchmark ends."""
        while not (told := self.control("status"))["model_ready"]:
            if _LOADING not in str(told["model"]):
                end_without_model(str(told["model"]).removeprefix("meaning: "))
            time.sleep(0.01)

    def wait_embedded(self) -> None:
        while self.control("status")["vectors_pending"]:
            time.sleep(0.05)

    def open_mcp(self) -> None:
        """One MCP session, which waits for the library to be loaded."""
        client = {"name": "bench", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        assert "result" in self.exchange(hello)

    def kill(self) -> None:
        assert self.process
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=10)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.path, ignore_errors=True)

    def dial(self) -> "Caller":
        return Caller(str(self.socket))

    def exchange(self, message: dict[str, object]) -> dict[str, object]:
        with self.dial() as caller:
            return caller.exchange(message)

    def control(self, kind: str) -> dict[str, object]:
        return self.exchange({"type": kind})

    def call(self, method: str, **params: object) -> dict[str, object]:
        with self.dial() as caller:
            return caller.call(method, **params)

    def resident(self) -> float:
        """Resident megabytes of the daemon."""
        assert self.process
        return resident(self.process.pid)

    def cpu(self) -> float:
        """Seconds of processor time that the daemon has used."""
        assert self.process
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def fill(self, count: int, corpus: Corpus, stores: Path | None = None) -> None:
        """Store `count` memories with vectors, through the real write path, before the start.

        `stores` is where filled ones are kept: one that is there is copied.
        """
        needed_model()
        os.environ.update(
            {
                k: v
                for k, v in self.environment.items()
                if k.startswith(("IAI_", "HOME", "PYTHON_K"))
            }
        )
        filled.fill(self.path / "store", count, corpus, stores)


class Caller:
    """One open connection to the daemon."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rb")

    def exchange(self, message: dict[str, object]) -> dict[str, object]:
        self._socket.sendall(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        line = self._file.readline()
        if not line:
            raise ConnectionError("the daemon is gone")
        answer = json.loads(line)
        assert isinstance(answer, dict)
        return answer

    def call(self, method: str, **params: object) -> dict[str, object]:
        answer = self.exchange({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        result = answer.get("result")
        if not isinstance(result, dict):
            raise RuntimeError(str(answer.get("error")))  # noqa: TRY004 - the daemon refused
        return result

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def __enter__(self) -> "Caller":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def scratch() -> Iterator[Scratch]:
    made = Scratch()
    try:
        yield made
    finally:
        made.remove()


def installed_model() -> str | None:
    """Where the model of the user who runs the benchmark is."""
    from iai_mcp.domain.errors import IaiError

    try:
        return _model()
    except IaiError:
        return None


def needed_model() -> str:
    """The same for a benchmark that measures nothing without it, and ends if there is none."""
    from iai_mcp.domain.errors import IaiError

    try:
        return _model()
    except IaiError as problem:
        end_without_model(problem.message)


def end_without_model(problem: str) -> NoReturn:
    sys.exit(f"this benchmark needs a model: {problem}")


def _model() -> str:
    from iai_mcp.adapters.embedding.location import find

    return str(find().directory)


def resident(pid: int) -> float:
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
