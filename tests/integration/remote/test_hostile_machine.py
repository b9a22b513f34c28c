"""A machine that answers whatever it likes: it is heard as data, within bounds, and told in a sentence."""

import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from iai_mcp.domain.agents.profile import AgentProfile, parse_injection
from iai_mcp.domain.errors import InvalidInput, NotFound, RemoteFailed, TimedOut
from iai_mcp.domain.projects.project import RemoteRef
from iai_mcp.remote import all_sessions
from iai_mcp.remote.machine import Machine
from iai_mcp.remote.machine_sync import MachineSync
from iai_mcp.remote.ports import RemoteRuntime
from iai_mcp.remote.sessions import RemoteSessions

# In place of `ssh`: the connection opens at once, and what answers over there is `DOES`.
_SSH = """
import json, os, re, sys, time
words, out = sys.argv[1:], sys.stdout.buffer
with open({log!r}, "a") as log:
    log.write(json.dumps(words) + "\\n")
if "-M" in words or ("-O" in words and not os.path.exists({log!r} + ".stuck")):
    sys.exit(0)
if "-O" in words:
    with open({log!r} + ".stuck", "w") as stuck:
        stuck.write(str(os.getpid()))
    time.sleep(60)
mark = re.search("serve ([0-9a-f]+) ", words[-1])[1].encode()

def say(data):
    out.write(data)
    out.flush()

def hello(**more):
    known = dict(python="/usr/bin/python3", home="/home/x", socket="/home/x/d.sock", memory=True)
    say(b"\\n" + mark + json.dumps({{**known, **more}}).encode() + b"\\n")

def frame(message):
    data = json.dumps(message).encode()
    say(len(data).to_bytes(4, "big") + data)

def answer(result):
    while size := sys.stdin.buffer.read(4):
        asked = json.loads(sys.stdin.buffer.read(int.from_bytes(size, "big")))
        frame({{"id": asked["id"], "result": result}})

{does}
time.sleep(60)
"""

Hostile = Callable[[str], Machine]


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hostile]:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    made: list[Machine] = []

    def make(does: str) -> Machine:
        program = tmp_path / "ssh.py"
        program.write_text(_SSH.format(log=str(tmp_path / "log"), does=does))
        made.append(Machine(RemoteRef.parse("ssh://far"), ssh=(sys.executable, str(program))))
        return made[-1]

    yield make
    for machine in made:
        machine.close()


@pytest.mark.parametrize("end", ["/tmp/${HOME}", "/tmp/%u", "2222", "/tmp/x:/tmp/y", "/tmp/\n"])
def test_only_a_plain_path_becomes_an_end_of_the_forwarding(
    hostile: Hostile, tmp_path: Path, end: str
) -> None:
    """Else ssh would tell the other machine what is in this side's environment, or open a port."""
    hostile(f"hello(socket={end!r}, memory=False)").hello()

    started = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert not [words for words in started if "-R" in words]


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("say(b'\\n' + mark + b'[' * 500_000 + b'\\n')", "nobody asked for"),
        ("say(b'\\n' * 1_000_000)", "before anything ran there"),
    ],
)
def test_noise_instead_of_a_greeting_is_told(hostile: Hostile, does: str, told: str) -> None:
    with pytest.raises(RemoteFailed, match=told):
        hostile(does).hello()


def test_who_answers_what_nobody_asked_is_heard_no_longer(hostile: Hostile) -> None:
    machine = hostile("hello()\nwhile True: frame({'id': 99, 'result': 1})")

    with pytest.raises(RemoteFailed, match="was lost"):
        machine.call("project", 10.0, path="/x")


def test_who_does_not_read_is_waited_for_as_long_as_who_is_silent(hostile: Hostile) -> None:
    machine = hostile("hello()")

    with pytest.raises(TimedOut):
        machine.call("files.write", 0.5, data="x" * 1_000_000)


def test_a_forwarding_that_is_never_answered_takes_no_more_patience_than_there_is(
    hostile: Hostile, tmp_path: Path
) -> None:
    stuck = tmp_path / "log.stuck"
    stuck.touch()
    machine = hostile("hello(memory=False)\nanswer([])")
    began = time.monotonic()

    with contextlib.suppress(TimedOut):
        RemoteSessions(machine).listed(1.5)

    assert time.monotonic() - began < 4
    with pytest.raises(ProcessLookupError):  # and nobody is left who waits for it
        os.kill(int(stuck.read_text()), 0)


_ROW: dict[str, object] = {
    "id": "abcd",
    "label": {},
    "command": "c",
    "cwd": "/x",
    "rows": 24,
    "cols": 80,
    "started_ms": 1,
    "status": "idle",
    "source": "hook",
    "since_ms": 1,
    "last_line": "",
    "attached": 0,
}


@pytest.mark.parametrize(
    "lie", [{"started_ms": 10**300}, {"since_ms": -1}, {"since_ms": 1 << 52}, {"rows": 10**300}]
)
def test_a_session_from_beyond_all_time_is_refused_before_a_list_has_to_show_it(
    hostile: Hostile, lie: dict[str, int]
) -> None:
    row = {**_ROW, **lie}
    machine = hostile(f"hello()\nanswer([{row!r}])")

    with pytest.raises(InvalidInput, match="the other side sent no"):
        RemoteSessions(machine).listed()


def test_a_session_that_the_machine_denies_is_not_found(hostile: Hostile) -> None:
    with pytest.raises(NotFound):
        RemoteSessions(hostile("hello()\nanswer([])")).find("abcd")


def test_a_program_that_nobody_asked_for_is_not_told(hostile: Hostile) -> None:
    found = [{"profile_id": one, "installed": True} for one in ("claude-code", "other")]
    asked = AgentProfile("claude-code", "C", "claude", parse_injection("convention_file:X.md"))

    detected = RemoteRuntime(hostile(f"hello()\nanswer({found!r})")).detect([asked])

    assert [each.profile_id for each in detected] == ["claude-code"]


def test_contact_goes_on_after_something_could_not_be_written_here(
    hostile: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile("hello()\nanswer([])")
    program = tmp_path / "ssh"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path}/ssh.py" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    remote = RemoteRef.parse("ssh://contacted")
    memo = Path(all_sessions._memo(remote))
    memo.mkdir(parents=True)  # so that the list can not be written
    waits = iter((True, True, False))
    with socket.socket(socket.AF_UNIX) as control:  # the connection that everybody shares
        control.bind(Machine.of(remote)._control())
        control.listen(100)
        MachineSync(remote, lambda _seconds: next(waits), lambda _machine, _read: None).keep()

    assert next(waits, None) is None
