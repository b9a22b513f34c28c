"""Real bridges and a real socket for them, with deadlines on everything."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.support.answers import Json
from tests.support.bridges import PYTHON

ROOT = Path(__file__).parents[3]
DEADLINE_SECONDS = 20.0


def environment(home: Path, socket: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("IAI_")}
    python_path = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    own = {"HOME": str(home), "IAI_DAEMON_SOCKET_PATH": str(socket), "PYTHONPATH": python_path}
    return {**kept, **own, **more}


class StandinProcess:
    """The stand-in daemon in a process of its own, so that it can be killed."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> int:
        path = self._env["IAI_DAEMON_SOCKET_PATH"]
        Path(path).unlink(missing_ok=True)
        command = [sys.executable, "-m", "tests.integration.mcp_sessions.standin", path]
        self._process = subprocess.Popen(
            command, env=self._env, cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"
        return self._process.pid

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(DEADLINE_SECONDS)
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None


class BridgeProcess:
    """A bridge as a host holds it: two pipes."""

    def __init__(self, env: Mapping[str, str], command: tuple[str, ...] = PYTHON) -> None:
        self.process = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self._heard = b""

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def say(self, *messages: object) -> None:
        self.write(b"".join(json.dumps(m).encode() + b"\n" for m in messages))

    def hear(self) -> Json:
        assert self.process.stdout is not None
        ends_at = time.monotonic() + DEADLINE_SECONDS
        while b"\n" not in self._heard:
            ready, _, _ = select.select([self.process.stdout], [], [], ends_at - time.monotonic())
            assert ready, "the bridge stayed silent"
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            assert data, "the bridge closed its stdout"
            self._heard += data
        line, _, self._heard = self._heard.partition(b"\n")
        heard: Json = json.loads(line)
        return heard

    def resident_megabytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def end(self) -> tuple[int, bytes, bytes]:
        """Close stdin, and return the exit code and what was still on stdout and stderr."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None
        out, err = self.process.communicate(timeout=DEADLINE_SECONDS)
        return self.process.returncode, self._heard + out, err

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None and not pipe.closed:
                pipe.close()
        self.process.wait(DEADLINE_SECONDS)
