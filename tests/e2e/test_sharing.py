"""Two machines that share a project, by the commands people type, with daemons and without."""

import json
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.test_sleep_and_hibernation import QUICKLY, is_dormant
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome
from tests.support.sshd import Sshd

PROJECT = "/home/ann/pond"


class Owner:
    """A person at their machine."""

    def __init__(self, name: str) -> None:
        self.name, self.home = name, ScratchHome()
        self.daemon: DaemonProcess | None = None

    def up(self) -> None:
        self.daemon = DaemonProcess(self.home).start()

    def share(self, *words: str) -> Json:
        done = self.home.command("share", *words, "--json")
        told: Json = json.loads(done.stdout)
        assert done.returncode == 0, told
        return told

    def refused(self, *words: str) -> str:
        done = self.home.command("share", *words)
        assert done.returncode != 0 and "Traceback" not in done.stderr
        return done.stderr

    def says(self, text: str) -> None:
        assert self.daemon is not None
        event = {"id": text, "role": "user", "text": text}
        self.daemon.call("capture_events", session_id="s", project=PROJECT, events=[event])

    def finds(self, text: str) -> bool:
        assert self.daemon is not None
        hits = self.daemon.call("memory_recall", cue=text)["hits"]
        return bool(hits) and hits[0]["text"] == text

    def texts(self) -> list[str]:
        done = self.home.command("timeline", "--all", "--json")
        return sorted(one["text"] for one in json.loads(done.stdout)["records"])

    def gone(self) -> None:
        if self.daemon is not None:
            self.daemon.stop()
        self.home.remove()


@pytest.fixture
def people() -> Iterator[tuple[Owner, Owner]]:
    made = Owner("ann"), Owner("bob")
    yield made
    for one in made:
        one.gone()


def meet(ann: Owner, bob: Owner, place: str, *at: str) -> None:
    ann.share("create", "team", "--at", place, "--as", "ann")
    ann.share("project", PROJECT, "--with", "team", "--yes")
    code = ann.share("invite", "team")["code"]
    joined = bob.share("join", code, "--as", "bob", *at)
    assert joined["circle"]["name"] == "team"


@pytest.fixture(params=["directory", "postgres", "ssh"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    if request.param == "directory":
        return str(tmp_path / "place")
    far: Sshd = request.getfixturevalue("far_machine")
    # ssh finds its settings by the user, whatever HOME says: a command in front of it brings ours.
    command = tmp_path / "bin" / "ssh"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {far.config} "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    (tmp_path / "place").mkdir()
    return f"ssh://far{tmp_path}/place"


def test_what_is_said_here_is_found_there_and_back(people: tuple[Owner, Owner], place: str) -> None:
    ann, bob = people
    ann.up()
    bob.up()
    meet(ann, bob, place)
    until(lambda: len(ann.share("members", "team")["members"]) == 2, "bob is seen")
    ann.says("the heron nests in March")
    until(lambda: bob.finds("the heron nests in March"), "bob hears ann")
    bob.share("project", PROJECT, "--with", "team", "--yes")
    bob.says("and leaves in August")
    until(lambda: ann.finds("and leaves in August"), "ann hears bob")
    told = ann.home.command("recall", "when does it leave", "--from", "bob").stdout
    assert "bob" in told and "and leaves in August" in told
    own = ann.home.command("recall", "when does it leave", "--from", "me").stdout
    assert "and leaves in August" not in own


def test_a_killed_daemon_goes_on_where_it_was(people: tuple[Owner, Owner], tmp_path: Path) -> None:
    ann, bob = people
    ann.up()
    meet(ann, bob, str(tmp_path / "place"))
    ann.says("one")
    assert ann.daemon is not None
    ann.daemon.kill()
    ann.up()
    ann.says("two")
    bob.up()
    until(lambda: bob.texts() == ["one", "two"], "bob hears both")


def test_a_daemon_that_hibernates_hears_the_others_now_and_then(
    people: tuple[Owner, Owner], tmp_path: Path
) -> None:
    ann, bob = people
    if not Path("/proc/self/environ").exists():
        pytest.skip("needs /proc: to see a process hibernate without waking it")
    meet(ann, bob, str(tmp_path / "place"))
    bob.daemon = DaemonProcess(bob.home, **QUICKLY, IAI_MCP_HEAR_AFTER="2").start()
    pid = bob.daemon.process.pid

    def lies_there() -> bool:
        return is_dormant(pid)

    until(lies_there, "bob's daemon hibernates", deadline=60)
    ann.home.command("capture", "said in the night", "--project", PROJECT)
    ann.share("now")
    until(lies_there, "it lies there", deadline=60)
    until(lambda: not lies_there(), "it wakes by itself", deadline=60)
    until(lies_there, "it lies down again", deadline=60)
    (tmp_path / "place").rename(tmp_path / "away")
    assert bob.finds("said in the night")


def test_everything_works_without_a_daemon(people: tuple[Owner, Owner], tmp_path: Path) -> None:
    ann, bob = people
    ann.home.command("capture", "the port is 5433", "--project", PROJECT)
    place = str(tmp_path / "place")
    preview = ann.share("preview", PROJECT)
    assert (preview["turns"], preview["redacted"]) == (1, 0)
    assert preview["samples"] == ["the port is 5433"]
    meet(ann, bob, place)
    assert ann.share("now")["sent"] >= 0
    bob.share("now")
    assert bob.texts() == ["the port is 5433"]
    (circle,) = bob.share("status")["circles"]
    assert (circle["applied"], circle["pending_out"], circle["set_aside"]) == (1, 0, [])
    assert [one["name"] for one in bob.share("list")["circles"]] == ["team"]
    bob.share("trust", "team", "ann")
    trusted = {one["member"]: one["trusted"] for one in bob.share("members", "team")["members"]}
    assert trusted == {"ann": True, "bob": True}
    bob.share("untrust", "team", "ann")
    ann.share("remove", "team", "bob", "--yes")
    assert len(ann.share("members", "team")["members"]) == 1
    assert bob.share("leave", "team", "--yes")["circle"] == "team"
    assert bob.share("list") == {"circles": []}
    assert bob.texts() == ["the port is 5433"]  # what one had, one keeps


def test_nothing_leaves_before_somebody_says_yes(
    people: tuple[Owner, Owner], tmp_path: Path
) -> None:
    ann, _ = people
    ann.home.command("capture", "my own words", "--project", PROJECT)
    ann.share("create", "team", "--at", str(tmp_path / "place"))
    assert "add --yes" in ann.refused("project", PROJECT, "--with", "team")
    assert ann.share("now")["sent"] == 0
    assert "--yes" in ann.refused("leave", "team")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["create", "team", "--at", "ftp://x"], "a place is a directory"),
        (
            ["create", "team", "--at", "/proc/none/place"],
            "there is no directory /proc/none: make it",
        ),
        (["create", "te/am", "--at", "/tmp"], "letters, digits"),
        (["create", "team", "--at", "postgresql://127.0.0.1:1/none"], "can not be reached"),
        (["join", "iai1-AAAA"], "copy it again"),
        (["invite", "nobody"], "in no circle called 'nobody'"),
        (["now", "nobody"], "in no circle called 'nobody'"),
    ],
)
def test_what_can_not_be_done_is_a_sentence(
    home: ScratchHome, words: list[str], sentence: str
) -> None:
    done = home.command("share", *words)
    assert done.returncode == 1
    assert sentence in done.stderr and "Traceback" not in done.stderr


def test_who_makes_a_circle_is_told_how_their_own_machine_joins_as_them(
    people: tuple[Owner, Owner], tmp_path: Path
) -> None:
    ann, bob = people
    made = ann.home.command(
        "share", "create", "mine", "--at", str(tmp_path / "place"), "--all"
    ).stdout
    own = next(line for line in made.splitlines() if "machine of yours" in line)
    code = ann.share(*shlex.split(own.split("iai-mcp share ")[1]))["code"]
    joined = bob.share("join", code, "--all")["circle"]["member"]
    assert f"your name there is {joined}\n" in made


def test_the_sql_for_an_administrator_is_printed(home: ScratchHome) -> None:
    done = home.command("share", "init-postgres", "--print")
    assert done.returncode == 0 and "ROW LEVEL SECURITY" in done.stdout


def test_a_store_without_circles_loads_nothing_of_sharing(fresh_daemon: DaemonProcess) -> None:
    assert fresh_daemon.call("share_status") == {"circles": []}
    assert fresh_daemon.call("share_now") == {"sent": 0, "heard": 0, "circles": []}
    maps = Path(f"/proc/{fresh_daemon.process.pid}/maps")
    if maps.exists():
        assert "psycopg" not in maps.read_text() and "_rust.abi3" not in maps.read_text()
