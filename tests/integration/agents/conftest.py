"""A person's machine: a home, a project under git, programs on the PATH, and the command line."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.answers import Json

from iai_mcp.cli import main
from iai_mcp.terminal.pty import HolderPty

SOURCES = Path(__file__).parents[3] / "src"
PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Machine:
    root: Path
    capture: pytest.CaptureFixture[str]

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def store(self) -> Path:
        return self.root / "store"

    @property
    def programs(self) -> Path:
        return self.root / "bin"

    def program(self, name: str, text: str) -> Path:
        """Put an executable on the person's PATH."""
        path = self.programs / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command in this process; exit code, output, complaints."""
        self.capture.readouterr()
        code = main([str(word) for word in arguments])
        out, err = self.capture.readouterr()
        return code, out, err

    def json(self, *arguments: str) -> Json:
        """The one JSON object that a successful command prints."""
        code, out, err = self.run(*arguments, "--json")
        assert code == 0, out + err
        found = json.loads(out)
        assert isinstance(found, dict)
        return found

    def error(self, *arguments: str) -> dict[str, str]:
        """The error that a failing command prints as JSON."""
        code, out, _ = self.run(*arguments, "--json")
        assert code == 1, out
        found = json.loads(out)
        assert set(found) == {"error"}
        assert set(found["error"]) == {"code", "message"}
        return dict(found["error"])

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """The same command as a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.cli", *arguments],
            env={**os.environ, "PYTHONPATH": str(SOURCES)},
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def tree(self) -> dict[str, bytes]:
        """Every file below the project and the person's data, except git's own."""
        found: dict[str, bytes] = {}
        for base in (self.project, self.store):
            for path in sorted(base.rglob("*")):
                if path.is_file() and ".git" not in path.parts:
                    found[str(path.relative_to(self.root))] = path.read_bytes()
        return found


@pytest.fixture
def machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Machine]:
    short = Path(tempfile.mkdtemp(prefix="iai-"))
    made = Machine(tmp_path, capsys)
    for folder in ("home", "bin", "project"):
        (tmp_path / folder).mkdir()
    subprocess.run(["git", "init", "-q", str(made.project)], check=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IAI_MCP_STORE", str(made.store))
    monkeypatch.setenv("IAI_DAEMON_SOCKET_PATH", str(short / "s"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setenv("PATH", f"{made.programs}:{os.environ['PATH']}")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(made.project)
    yield made
    pty = HolderPty()
    for session in pty.all():
        if session.status.alive:
            pty.kill(session.id)
    shutil.rmtree(short)


@pytest.fixture
def wait_for() -> Callable[[Callable[[], bool]], None]:
    def wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.01)

    return wait
