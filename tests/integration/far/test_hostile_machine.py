"""A machine that answers whatever it likes: it is heard as data, within bounds, and told in a sentence."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from iai_mcp.domain.errors import RemoteFailed, TimedOut
from iai_mcp.domain.projects import RemoteRef
from iai_mcp.far.machine import Machine

# In place of `ssh`: the connection opens at once, and what answers over there is `DOES`.
_SSH = """
import json, os, re, sys, time
words, out = sys.argv[1:], sys.stdout.buffer
with open({log!r}, "a") as log:
    log.write(json.dumps(words) + "\\n")
if "-M" in words or "-O" in words:
    sys.exit(0)
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


@pytest.mark.parametrize("socket", ["/tmp/${HOME}", "/tmp/%u", "2222", "/tmp/x:/tmp/y", "/tmp/\n"])
def test_only_a_plain_path_becomes_an_end_of_the_forwarding(
    hostile: Hostile, tmp_path: Path, socket: str
) -> None:
    """Else ssh would tell the other machine what is in this side's environment, or open a port."""
    hostile(f"hello(socket={socket!r}, memory=False)").hello()

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
