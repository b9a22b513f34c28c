"""A checkout that moved finds its memories again once it is mapped."""

import json

from tests.support.daemon import DaemonProcess
from tests.support.home import ScratchHome


def test_a_moved_checkout_keeps_its_memories(fresh_daemon: DaemonProcess) -> None:
    home = fresh_daemon.home
    before = home.path.resolve() / "before/shop"
    after = home.path.resolve() / "after/store"
    (before / ".git").mkdir(parents=True)
    fresh_daemon.call("memory_capture", text="the heron is the mascot", project=str(before))
    after.parent.mkdir()
    before.rename(after)
    assert fresh_daemon.call("session_start_payload", cwd=str(after))["text"] == ""

    done = home.command("project", "map", str(before), str(after), "--json")
    assert json.loads(done.stdout) == {"aliases": {str(before): str(after)}}
    assert "heron" in fresh_daemon.call("session_start_payload", cwd=str(after))["text"]
    records = fresh_daemon.call("memory_timeline", project=str(after))["records"]
    assert [record["text"] for record in records] == ["the heron is the mascot"]
    assert str(before) in home.command("project", "map").stdout

    assert home.command("project", "unmap", str(before)).returncode == 0
    assert fresh_daemon.call("session_start_payload", cwd=str(after))["text"] == ""


def test_a_mapping_that_can_not_be_is_refused(home: ScratchHome) -> None:
    done = home.command("project", "map", ".", ".", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "INVALID"
    assert home.command("project", "map").stdout.strip() == "no project is mapped"
