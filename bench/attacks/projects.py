"""Directories that somebody else made, and callers who ask for what is none of theirs."""

import json
import os
import select
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from tests.support.git import git, repository
from tests.support.hostile_places import PRETENDING, WAITING, below
from tests.support.silent_mount import silent_mount

from bench.attacks.outcome import Outcome
from bench.scratch import Scratch

PATIENCE = 4.0  # seconds for an answer; the longest that a silent place may take is two
WORKERS = 8  # calls that a daemon computes at the same time
SECRET = "the heron vault opens with the word nightjar"
OPEN = "the heron nests in the old boathouse"
EVENTS = [{"text": OPEN, "role": "user"}]


def attacks() -> Iterator[Outcome]:
    yield _waiting()
    yield from _silent()
    yield _transcripts()
    with running(http=True) as home:
        scene = _Scene(home)
        yield scene.pretenders()
        yield scene.visitors()
        yield scene.over_http()
        yield scene.undeclared()


@contextmanager
def running(*, http: bool = False) -> Iterator[Scratch]:
    home = Scratch()
    if http:
        with socket.create_server(("127.0.0.1", 0)) as free:
            home.environment["IAI_MCP_HTTP"] = f"127.0.0.1:{free.getsockname()[1]}"
    try:
        home.start()
        yield home
    finally:
        if home.process is not None and home.process.poll() is None:
            home.kill()
        home.remove()


def _waiting() -> Outcome:
    """Each kind in as many clones as would take every worker, then everybody else's call, and a stop."""
    held = 0
    for make in WAITING.values():
        with running() as home:
            places = [home.path / f"clone{number}" for number in range(WORKERS + 2)]
            for place in places:
                make(place)
            calls: list[dict[str, object]] = [
                {"session_id": p.name, "events": EVENTS, "cwd": below(p)} for p in places
            ]
            held += _answered(home, calls) and _serves_others(home) and _ends(home)
    return Outcome("pipes, devices and riddles in a project keep the daemon", held, len(WAITING))


def _silent() -> Iterator[Outcome]:
    with running() as home:
        try:
            with silent_mount(home.path / "gone") as place:
                calls: list[dict[str, object]] = [
                    {"session_id": "s", "events": EVENTS, "cwd": f"{place}/{number % 3}"}
                    for number in range(2 * WORKERS)
                ]
                held = _answered(home, calls) and _serves_others(home) and _ends(home)
        except PermissionError:
            return  # who may not mount can not make this attack
    yield Outcome("a mount that never answers keeps the daemon", int(held), 1)


def _answered(home: Scratch, calls: list[dict[str, object]]) -> bool:
    """Whether all are answered in time, asked at once on connections of their own."""
    ends_at = time.monotonic() + PATIENCE
    lines = []
    for params in calls:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.connect(str(home.socket))
        request = {"jsonrpc": "2.0", "id": 1, "method": "capture_events", "params": params}
        line.sendall(json.dumps(request).encode() + b"\n")
        lines.append(line)
    try:
        for line in lines:
            line.settimeout(max(0.01, ends_at - time.monotonic()))
            if not line.recv(1 << 16):
                return False
    except TimeoutError:
        return False
    finally:
        for line in lines:
            line.close()
    return True


def _serves_others(home: Scratch) -> bool:
    return _answered(home, [{"session_id": "t", "events": EVENTS, "cwd": str(home.path)}])


def _ends(home: Scratch) -> bool:
    assert home.process
    home.process.terminate()
    try:
        return home.process.wait(5.0) == 0
    except subprocess.TimeoutExpired:
        return False


def _transcripts() -> Outcome:
    """A hook whose transcript, or whose directory's ignore file, is a pipe or has no end."""
    kinds = {"pipe": None, "endless": "/dev/zero", "waiting": "/dev/ptmx"}
    held = 0
    home = Scratch()
    try:
        for kind, device in kinds.items():
            for name in ("transcript", ".iai-ignore"):
                place = home.path / kind / name.strip(".")
                place.mkdir(parents=True)
                os.mkfifo(place / name) if device is None else (place / name).symlink_to(device)
                held += _hook_ends(home, place, place / "transcript")
    finally:
        home.remove()
    return Outcome("pipes and devices as transcripts keep a hook", held, 2 * len(kinds))


def _hook_ends(home: Scratch, cwd: Path, transcript: Path) -> bool:
    given = {"session_id": "s", "cwd": str(cwd), "transcript_path": str(transcript)}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "iai_mcp.cli", "hook", "claude-code", "Stop"],
        env=home.environment,
        input=json.dumps({**given, "last_assistant_message": "Done."}).encode(),
        capture_output=True,
        check=False,
    )
    # Left to itself a hook that waits is ended after five seconds, with nothing captured.
    return done.returncode == 0 and not done.stdout and time.monotonic() - began < PATIENCE


class _Scene:
    """A private project, another one, and a daemon that knows both."""

    def __init__(self, home: Scratch) -> None:
        self._home = home
        room = home.path.resolve()
        self.private, self.other = repository(room / "private"), repository(room / "other")
        git("worktree", "add", "-q", "../feature", cwd=self.private)
        for place, text in ((self.private, SECRET), (self.other, OPEN)):
            said = home.call("memory_capture", text=text, cwd=str(place), session_id="s")
            if place == self.private:
                self.memory = str(said["record_id"])
        home.call("project_privacy", cwd=str(self.private), private=True)
        with Bridge(home, self.private) as inside:  # without this nothing is proved by silence
            assert "nightjar" in inside.tool("memory_recall", cue="heron vault")

    def pretenders(self) -> Outcome:
        held = 0
        for number, make in enumerate(PRETENDING.values()):
            place = self.other / f"clone{number}"
            make(place, self.private)
            named = place / self.private.name
            with Bridge(self._home, named if named.is_dir() else place) as caller:
                held += "nightjar" not in caller.tool("memory_recall", cue="heron vault")
        return Outcome("a directory passes for a private project", held, len(PRETENDING))

    def visitors(self) -> Outcome:
        moved = {"IAI_MCP_PROJECT": str(self.private), "PWD": str(self.private)}
        with Bridge(self._home, self.other, **moved) as caller:
            answers = [caller.tool(tool, **given) for tool, given in self._questions()]
        return self._kept("tools tell another project what is private", answers)

    def over_http(self) -> Outcome:
        secret = self._home.path / "store/http-token"
        ends_at = time.monotonic() + PATIENCE
        while not secret.exists() and time.monotonic() < ends_at:
            time.sleep(0.05)  # the library behind this door is loaded after the socket serves
        token = secret.read_text().strip()
        url = f"http://{self._home.environment['IAI_MCP_HTTP']}/mcp"
        answers = [_post(url, token, tool, given) for tool, given in self._questions()]
        return self._kept("HTTP tells what is private", answers)

    def undeclared(self) -> Outcome:
        said: dict[str, object] = {"cwd": str(self.private), "visitor": False, "show": 9}
        tools: dict[str, dict[str, object]] = {
            "memory_recall": {"cue": "heron vault"},
            "memory_timeline": {},
            "memory_forget": {"query": "nightjar", "dry_run": True},
        }
        with Bridge(self._home, self.other) as caller:
            answers = [
                caller.tool(tool, **given, **{name: value})
                for tool, given in tools.items()
                for name, value in said.items()
            ]
        held = sum("-32602" in answer for answer in answers)
        return Outcome("arguments that no tool declares are taken", held, len(answers))

    def _questions(self) -> list[tuple[str, dict[str, object]]]:
        private = str(self.private)
        return [
            ("memory_recall", {"cue": "heron vault", "context": 5}),
            ("memory_recall", {"cue": "heron vault", "project": private}),
            ("memory_recall", {"cue": "heron vault", "project": "private"}),
            ("memory_timeline", {"session_id": "s"}),
            ("memory_timeline", {"project": private}),
            ("memory_forget", {"query": "nightjar", "dry_run": True}),
            ("memory_forget", {"project": private, "dry_run": True}),
            ("memory_contradict", {"id": self.memory, "new_fact": "it is a wren"}),
            ("events_query", {"limit": 1000}),
            ("topology", {}),
        ]

    def _kept(self, attack: str, answers: list[str]) -> Outcome:
        """Silence about the words, and about the memory's id but where it says there is none."""
        assert any("boathouse" in answer for answer in answers), "what is open is told"
        held = 0
        for answer in answers:
            named = self.memory in answer and "there is no memory" not in answer
            held += "nightjar" not in answer and not named
        return Outcome(attack, held, len(answers))


class Bridge:
    """What a host starts, and the calls it makes."""

    def __init__(self, home: Scratch, cwd: Path, **more: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.bridge"],
            env={**home.environment, **more},
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._heard = b""
        client = {"name": "bench", "version": "1"}
        hello: dict[str, object] = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": client,
        }
        self._ask("initialize", hello)

    def tool(self, name: str, **arguments: object) -> str:
        return self._ask("tools/call", {"name": name, "arguments": arguments})

    def _ask(self, method: str, params: dict[str, object]) -> str:
        assert self._process.stdin
        assert self._process.stdout
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        while b"\n" not in self._heard:
            if not select.select([self._process.stdout], [], [], 3 * PATIENCE)[0]:
                raise RuntimeError("the bridge stayed silent")
            self._heard += os.read(self._process.stdout.fileno(), 1 << 20)
        line, _, self._heard = self._heard.partition(b"\n")
        return line.decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def _post(url: str, token: str, tool: str, arguments: dict[str, object]) -> str:
    params = {"name": tool, "arguments": arguments}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    request = urllib.request.Request(url, json.dumps(call).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as refused:
        raise RuntimeError(refused.read().decode()) from refused
