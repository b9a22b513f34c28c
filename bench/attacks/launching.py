"""A cloned repository whose `.ideai` was made to reach out of it by `iai-mcp agent launch`."""

import json
import os
import pty
import select
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.attacks.outcome import Outcome
from bench.scratch import Scratch

PATIENCE = 10.0  # seconds for one command: a launch takes half of one
KEY = "ssh-ed25519 AAAAC3Nz attacker@example\n"
SECRET = "the private key\n"
ENTRY = {"agent_id": "a1", "name": "Ada", "md_path": "agents/ada.md", "profile_id": "claude-code"}
# Tells how it was started, and with which context, then ends.
HOST = '#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/../told"\ncat CLAUDE.md >> "$HOME/../told"\n'

# A link at a place in `.ideai`, to something in the home of whoever cloned it.
LINKS = (
    ("run/a1/CLAUDE.md", ".ssh/authorized_keys"),
    ("run/a1/CLAUDE.md", ".bash_login"),
    ("run/a1/claude-settings.json", ".profile"),
    ("run/a1", ".claude"),
    ("run", ""),
    ("agents/ada.md", ".ssh/id_ed25519"),
    ("agents", ".ssh"),
    (".gitignore", ".profile"),
    ("agents.json", ".profile"),
    ("run/.lock", ".zprofile"),
)
VALUES: tuple[dict[str, object], ...] = (
    {"agent_id": "../.."},
    {"agent_id": "--help"},
    {"md_path": "../../home/.ssh/id_ed25519"},
    {"md_path": "/etc/passwd"},
    {"name": "Ada\u001b[2J"},
    {"name": "{file:~/.ssh/id_ed25519}"},
    {"name": "$(touch pwned)"},
    {"profile_id": "../../x"},
    {"skills": ["../../home/.profile"]},
    {"origin": {"template": {"id": "../../x", "version": 1}}, "synchronized": True},
)


class Victim:
    """A home with things worth taking, and a clone of somebody else's repository beside it."""

    def __init__(self) -> None:
        self._scratch = Scratch()
        self.root = self._scratch.path
        self.home, self.clone = self.root / "home", self.root / "clone"
        self.data = self.clone / ".ideai"
        programs = self.root / "bin"
        for folder in (self.home / ".ssh", self.home / ".claude", self.data / "agents", programs):
            folder.mkdir(parents=True)
        (programs / "claude").write_text(HOST)
        (programs / "claude").chmod(0o755)
        for name, text in (
            (".ssh/authorized_keys", "mine\n"),
            (".ssh/id_ed25519", SECRET),
            (".claude/CLAUDE.md", "mine\n"),
            (".profile", "mine\n"),
        ):
            (self.home / name).write_text(text)
        (self.data / "agents" / "ada.md").write_text(KEY)
        self.manifest()
        self.environment = {
            **self._scratch.environment,
            "HOME": str(self.home),
            "PATH": f"{programs}:{os.environ['PATH']}",
        }
        self.before = self.everything(self.home)

    def __enter__(self) -> "Victim":
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.remove()

    def manifest(self, **change: object) -> None:
        manifest = {"version": 1, "entries": [ENTRY | change]}
        (self.data / "agents.json").write_text(json.dumps(manifest))

    def put(self, place: str, text: str) -> None:
        path = self.data / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def link(self, place: str, target: str) -> None:
        path = self.data / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            (path / "ada.md").unlink()
            path.rmdir()
        path.unlink(missing_ok=True)
        path.symlink_to(self.home / target)

    def run(self, *words: str) -> "subprocess.CompletedProcess[str] | None":
        """The command, as a person runs it in the clone; None if it hung."""
        try:
            return subprocess.run(
                [sys.executable, "-m", "iai_mcp.cli", *words, "--json"],
                env=self.environment,
                cwd=self.clone,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None

    def answer(self, answer: str) -> bool:
        """Launch at a terminal and answer the question of trust; whether it was asked."""
        person, terminal = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.cli", "agent", "launch", "ada", "--detach"],
            env=self.environment,
            cwd=self.clone,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
        os.close(terminal)
        said, deadline = "", time.monotonic() + PATIENCE
        try:
            while "Do you trust" not in said and time.monotonic() < deadline:
                if select.select([person], [], [], 0.1)[0]:
                    said += os.read(person, 65_536).decode(errors="replace")
            os.write(person, f"{answer}\n".encode())
            process.wait(PATIENCE)
        except (OSError, subprocess.TimeoutExpired):
            process.kill()
            process.wait()
        finally:
            os.close(person)
        return "Do you trust" in said

    @property
    def told(self) -> str:
        """What the program was started with, once it was."""
        path = self.root / "told"
        return path.read_text() if path.exists() else ""

    def is_whole(self) -> bool:
        """Nothing of the home changed, and nothing of it was read into a context."""
        return self.everything(self.home) == self.before and SECRET not in self.told

    @staticmethod
    def everything(root: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for path in [root, *root.rglob("*")]:
            mode = path.lstat().st_mode
            found[str(path)] = (mode, path.read_bytes() if stat.S_ISREG(mode) else None)
        return found


def refused(done: "subprocess.CompletedProcess[str] | None") -> bool:
    """Whether a command refused with a sentence that a terminal can show."""
    if done is None or done.returncode != 1:
        return False
    error = json.loads(done.stdout)["error"]
    return error["code"] != "UNEXPECTED" and str(error["message"]).isprintable()


def attacks() -> Iterator[Outcome]:
    yield counted("links in .ideai lead a launch nowhere", [_linked(*each) for each in LINKS])
    yield counted(
        "no answer to the question of trust lets a link through",
        [_answered(answer, *link) for answer in "yn" for link in (LINKS[0], LINKS[3])],
    )
    yield counted("a no leaves the project as it was", [_declined])
    yield counted(
        "records and conversations that came with a clone count for nothing",
        [_recorded, *(_resumed(each) for each in ("--dangerously-skip-permissions", "c0ffee"))],
    )
    yield counted(
        "pipes and endless files are refused at once",
        [
            _blocked(place, kind)
            for place in ("agents.json", "agents/ada.md", ".gitignore", "run/.lock")
            for kind in ("pipe", "endless")
            if (place, kind) != ("run/.lock", "endless")  # its length is nobody's concern
        ],
    )
    yield counted("a manifest's values lead nowhere", [_valued(each) for each in VALUES])
    yield counted("deleting and pruning remove links, not what is behind", [_removed])


def counted(attack: str, tries: Sequence[Callable[[Victim], bool]]) -> Outcome:
    held = 0
    for attempt in tries:
        with Victim() as victim:
            held += attempt(victim)
    return Outcome(attack, held, len(tries))


def _linked(place: str, target: str) -> Callable[[Victim], bool]:
    def attempt(victim: Victim) -> bool:
        victim.link(place, target)
        done = victim.run("agent", "launch", "ada", "--detach", "--trust")
        return refused(done) and victim.is_whole() and not victim.told

    return attempt


def _answered(answer: str, place: str, target: str) -> Callable[[Victim], bool]:
    def attempt(victim: Victim) -> bool:
        victim.link(place, target)
        return victim.answer(answer) and victim.is_whole() and not victim.told

    return attempt


def _declined(victim: Victim) -> bool:
    project = victim.everything(victim.clone)
    return victim.answer("n") and victim.everything(victim.clone) == project and not victim.told


def _recorded(victim: Victim) -> bool:
    victim.manifest(agent_id="a3")
    victim.link("run/a3", "")
    victim.put("run/.launches/a3.json", json.dumps({"files": [".ssh", ".profile"]}))
    return refused(victim.run("agent", "launch", "ada", "--detach")) and victim.is_whole()


def _resumed(conversation: str) -> Callable[[Victim], bool]:
    def attempt(victim: Victim) -> bool:
        victim.put("run/.launches/a1.json", json.dumps({"session_id": "s", "files": []}))
        victim.put("run/.launches/a1.conversation", conversation)
        done = victim.run("agent", "resume", "ada", "--detach")
        return refused(done) and conversation not in victim.told

    return attempt


def _blocked(place: str, kind: str) -> Callable[[Victim], bool]:
    def attempt(victim: Victim) -> bool:
        victim.put(place, "")
        path = victim.data / place
        if kind == "pipe":
            path.unlink()
            os.mkfifo(path)
        else:
            os.truncate(path, 1 << 40)
        return refused(victim.run("agent", "launch", "ada", "--detach")) and not victim.told

    return attempt


def _valued(change: dict[str, object]) -> Callable[[Victim], bool]:
    def attempt(victim: Victim) -> bool:
        victim.manifest(**change)
        done = victim.run("agent", "launch", "ada", "--detach")
        return refused(done) and victim.is_whole() and not victim.told

    return attempt


def _removed(victim: Victim) -> bool:
    victim.link("run/gone", ".ssh")
    victim.link("run/a1/inner", ".ssh")
    ended = [victim.run("agent", "prune"), victim.run("agent", "delete", "ada")]
    left = os.path.lexists(victim.data / "run" / "gone") or (victim.data / "run" / "a1").exists()
    return all(done and done.returncode == 0 for done in ended) and not left and victim.is_whole()
