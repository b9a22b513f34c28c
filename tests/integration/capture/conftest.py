"""A machine of its own for each test: home, store, socket, transcripts, and real processes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PATIENCE = 30.0
SOURCES = str(Path(__file__).parents[3] / "src")


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a captured session happens."""

    root: Path
    socket: Path

    @property
    def store(self) -> Path:
        return self.root / "store"

    @property
    def spool(self) -> Path:
        return self.store / ".deferred-captures"

    def environment(self, **more: str) -> dict[str, str]:
        return {
            **os.environ,
            "HOME": str(self.root / "home"),
            "IAI_MCP_STORE": str(self.store),
            "IAI_DAEMON_SOCKET_PATH": str(self.socket),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            "PYTHONPATH": SOURCES,
        } | more

    def start(self, *arguments: str, **more: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.cli", "capture-transcript", *arguments],
            env=self.environment(**more),
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def capture(self, *arguments: str, **more: str) -> dict[str, object]:
        """Run the command as a hook does; it must print one JSON object and nothing else."""
        process = self.start(*arguments, **more)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 0, err
        assert err == ""
        result = json.loads(out)
        assert isinstance(result, dict)
        return result

    def spooled(self) -> list[Path]:
        return sorted(self.spool.glob("[!.]*.jsonl"))

    def transcript(self, name: str = "t.jsonl", turns: int = 3, size: int = 0) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(turn(f"turn {n} " + "x" * size) for n in range(turns)))
        return path


def turn(text: str, role: str = "user", **more: object) -> str:
    """A line of Claude Code's."""
    message = {"type": role, "message": {"role": role, "content": text}, "uuid": str(uuid.uuid4())}
    return json.dumps(message | {"timestamp": "2026-03-01T09:30:00.000Z"} | more) + "\n"


def eventually(condition: Callable[[], bool], what: str) -> None:
    """Wait until it is so; fail when it does not become so."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        threading.Event().wait(0.02)


def lines_of(path: Path) -> tuple[dict[str, object], list[dict[str, object]]]:
    header, *events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return header, events


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    short = tempfile.mkdtemp(prefix="iai-", dir="/tmp")  # a socket's path has about 100 bytes
    there = Machine(tmp_path, Path(short) / "d.sock")
    for name in ("HOME", "IAI_MCP_STORE", "IAI_DAEMON_SOCKET_PATH"):
        monkeypatch.setenv(name, there.environment()[name])
    for name in ("AGENT_ID", "AGENT_NAME", "PROJECT", "SESSION_ID"):
        monkeypatch.delenv(f"IAI_MCP_{name}", raising=False)
    (tmp_path / "home").mkdir()
    yield there
    shutil.rmtree(short)
