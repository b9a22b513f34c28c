"""A machine of its own for every test: home, store, daemon, project and scripted model."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.real_hosts.programs import Program
from tests.real_hosts.stub_model import Reply, ScriptedModel

ROOT = Path(__file__).parents[2]
# Variables of whoever runs the tests that would lead a host astray.
ASTRAY = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


@dataclass
class Machine:
    home: Path
    project: Path
    cache: Path
    model: ScriptedModel

    def prepare(self, program: Program) -> None:
        program.prepare(self.home, self.model.url)

    def talk(
        self,
        program: Program,
        prompt: str,
        *replies: Reply,
        words: Callable[[str], list[str]] | None = None,
    ) -> list[str]:
        """One session; returns every request the model got, each as one text."""
        self.model.expect(*replies)
        line = (words or program.words)(prompt)
        program.run(line, self.home, self.project, self.model.url, self.cache)
        return [json.dumps(request, ensure_ascii=False) for request in self.model.requests]

    def iai(self, *words: str) -> dict[str, Any]:
        """One of our own commands, with `--json`."""
        done = subprocess.run(
            [sys.executable, "-m", "iai_mcp.cli", *words, "--json"],
            env=os.environ,
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
        answer = json.loads(done.stdout)
        assert isinstance(answer, dict)
        return answer

    def turns(self, at_least: int) -> list[str]:
        """What was captured, oldest first, once so many turns are there."""
        deadline = time.monotonic() + 20
        while True:
            records = self.iai("timeline", "--limit", "1000")["records"]
            if len(records) >= at_least or time.monotonic() > deadline:
                return [record["text"] for record in records]

    def files(self, program: Program) -> dict[str, bytes | None]:
        paths = {name: self.home / name for name in program.settings}
        return {name: p.read_bytes() if p.exists() else None for name, p in paths.items()}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    cache = os.environ.get("IAI_MCP_HOSTS_CACHE")
    if not cache:
        pytest.fail("run these through scripts/test-hosts, which installs the programs")
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True, timeout=30)
    for name in ASTRAY:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    with tempfile.TemporaryDirectory(prefix="iai") as short, ScriptedModel() as model:
        monkeypatch.setenv("IAI_MCP_STORE", str(Path(short) / "store"))
        monkeypatch.setenv("IAI_DAEMON_SOCKET_PATH", str(Path(short) / "s"))
        there = Machine(home, project, Path(cache), model)
        there.iai("up")
        try:
            yield there
        finally:
            there.iai("down")
