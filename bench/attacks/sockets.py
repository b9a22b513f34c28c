"""Another user's socket in the daemon's place, and directories that are not ours."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.attacks.outcome import Outcome
from bench.scratch import Scratch, scratch
from bench.strangers import UID, Eavesdropper, can_be_played

_SAID = "the launch code is 0000"
_HOOKS = ("SessionStart", "UserPromptSubmit", "Stop")
_COMMANDS = (
    ("capture-transcript", "--no-spawn", "t.jsonl"),
    ("capture-transcript", "t.jsonl"),
    ("recall", _SAID),
    ("capture", _SAID),
    ("status",),
    ("down",),
    ("doctor",),
)


def attacks() -> Iterator[Outcome]:
    if can_be_played():
        yield _told_to_a_stranger()
        yield _spooled()
    yield _modes_of_others()
    yield _unsafe_places()


def _told_to_a_stranger() -> Outcome:
    """What each client says to a socket of another user, in a directory that all may write to."""
    heard = []
    with scratch() as home:
        _shared_directory(home)
        clients: list[tuple[list[str], str]] = [(["cli", *words], "") for words in _COMMANDS]
        clients += [(["cli", "hook", "claude-code", event], _given(home)) for event in _HOOKS]
        clients += [(["bridge"], _calls()), (["daemon"], ""), (["daemon", "--take-over"], "")]
        for (module, *words), said in clients:
            home.socket.parent.chmod(0o1777)  # a client before this one may have changed it
            stranger = Eavesdropper(home.socket)
            _run(home, module, *words, said=said)
            heard.append(stranger.heard())
            home.socket.unlink(missing_ok=True)
    held = heard.count(b"")
    return Outcome("clients that tell another user's socket nothing", held, len(heard))


def _spooled() -> Outcome:
    with scratch() as home:
        _shared_directory(home)
        stranger = Eavesdropper(home.socket)
        _run(home, "cli", "capture-transcript", "--no-spawn", "t.jsonl")
        stranger.heard()
        spool = home.path / "store/.deferred-captures"
        kept = [path for path in spool.glob("*.jsonl") if _SAID in path.read_text()]
    return Outcome("turns that wait in the spool instead", len(kept), 1)


def _modes_of_others() -> Outcome:
    """Directories that were there keep their modes when a daemon puts its socket into them."""
    wanted = (0o755, 0o775, 0o1777)
    held = 0
    for mode in wanted:
        with scratch() as home:
            place = _directory(home.path / "there", mode)
            home.socket = place / "d.sock"
            home.environment["IAI_DAEMON_SOCKET_PATH"] = str(home.socket)
            home.start()
            home.stop()
            held += _mode(place) == mode
    return Outcome("directories that keep their mode", held, len(wanted))


def _unsafe_places() -> Outcome:
    """A socket where others could take its place, and a store where others are at home."""
    tried = held = 0
    for variable, mode, owner in (
        ("IAI_DAEMON_SOCKET_PATH", 0o777, None),
        ("IAI_DAEMON_SOCKET_PATH", 0o755, UID),
        ("IAI_MCP_STORE", 0o1777, None),
        ("IAI_MCP_STORE", 0o755, UID),
    ):
        if owner is not None and not can_be_played():
            continue
        with scratch() as home:
            place = _directory(home.path / "unsafe", mode)
            if owner is not None:
                os.chown(place, owner, owner)
            where = place / "d.sock" if variable == "IAI_DAEMON_SOCKET_PATH" else place
            home.environment[variable] = str(where)
            code, said = _run(home, "daemon")
            tried += 1
            refused = code == 1 and str(place) in said and variable in said
            held += refused and _mode(place) == mode
    return Outcome("unsafe directories refused with a sentence, unchanged", held, tried)


def _shared_directory(home: Scratch) -> None:
    os.chmod(home.path, 0o755)
    home.socket = _directory(home.path / "shared", 0o1777) / "d.sock"
    home.environment["IAI_DAEMON_SOCKET_PATH"] = str(home.socket)
    line = {"type": "user", "message": {"role": "user", "content": _SAID}}
    (home.path / "t.jsonl").write_text(json.dumps(line) + "\n")


def _given(home: Scratch) -> str:
    """What a host gives its hooks."""
    transcript = str(home.path / "t.jsonl")
    return json.dumps({"session_id": "s", "prompt": _SAID, "transcript_path": transcript})


def _calls() -> str:
    """What a host says to its bridge."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}
    call = {"name": "memory_recall", "arguments": {"cue": _SAID}}
    messages: list[dict[str, object]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    return "".join(json.dumps(message) + "\n" for message in messages)


def _run(home: Scratch, module: str, *words: str, said: str = "") -> tuple[int | None, str]:
    """The exit code of one of our processes, None for one that goes on, and what it complained of."""
    process = subprocess.Popen(
        [sys.executable, "-m", f"iai_mcp.{module}", *words],
        env=home.environment,
        cwd=home.path,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _, complaint = process.communicate(said, timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None, ""
    return process.returncode, complaint


def _directory(path: Path, mode: int) -> Path:
    path.mkdir()
    path.chmod(mode)
    return path


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777
