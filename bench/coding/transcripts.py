"""Transcripts of Claude Code sessions, captured as its hooks do."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.scratch import Scratch


class Transcript:
    """One session's file. `capture` stores what had been written at some time."""

    def __init__(self, path: Path) -> None:
        self.session = path.stem
        self.developer = "?"
        self._lines: list[tuple[str, str]] = []  # as they are, with their times
        self._captured = 0
        for raw, event in _events(path):
            self._lines.append((raw, str(event.get("timestamp") or "")))
            cwd = str(event.get("cwd") or "")
            if self.developer == "?" and cwd.count("/") > len("//"):
                self.developer = cwd.split("/")[2]

    def capture(self, home: Scratch, before: str = "") -> None:
        known = [raw for raw, at in self._lines if not before or not at or at < before]
        if len(known) <= self._captured:
            return
        self._captured = len(known)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / f"{self.session}.jsonl"
            path.write_text("".join(known))
            command = ["-m", "iai_mcp.cli", "capture-transcript", "--host", "claude-code"]
            subprocess.run(
                [sys.executable, *command, "--session-id", self.session, str(path)],
                env=home.environment,
                stdout=subprocess.DEVNULL,
                check=True,
            )


def of_developer(files: list[Path], developer: str) -> list[Transcript]:
    """The sessions of one developer, in the order of the files."""
    return [one for path in files if (one := Transcript(path)).developer == developer]


def _events(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open(errors="replace") as lines:
        for raw in lines:
            try:
                event = json.loads(raw)
            except ValueError:
                continue
            if isinstance(event, dict):
                yield raw, event
