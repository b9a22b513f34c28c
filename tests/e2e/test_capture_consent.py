"""People say what is captured: pause, resume, places that are never captured."""

import json
import stat

from tests.support.daemon import DaemonProcess
from tests.support.home import ScratchHome


def said(home: ScratchHome, *words: str) -> dict[str, object]:
    done = home.command("capture", "--json", *words)
    assert done.returncode == 0, done.stdout
    return dict(json.loads(done.stdout))


def test_a_pause_holds_until_it_is_taken_back(fresh_daemon: DaemonProcess) -> None:
    home = fresh_daemon.home
    assert said(home, "pause")["paused"] is True
    assert said(home, "status")["paused_since"] is not None
    answer = said(home, "something", "to", "remember")
    assert answer["status"] == "skipped"
    assert "resume" in str(answer["reason"])
    assert said(home, "resume")["paused"] is False
    assert said(home, "something to remember")["status"] == "inserted"


def test_a_path_is_never_captured_until_it_is_taken_off_the_list(
    fresh_daemon: DaemonProcess,
) -> None:
    home = fresh_daemon.home
    taxes = home.path.resolve() / "taxes"
    (taxes / "2024").mkdir(parents=True)
    (home.path / "link").symlink_to(taxes)
    listed = said(home, "--ignore", "./link")["never_captured"]
    assert isinstance(listed, list)
    assert str(taxes) in listed
    kept = home.store / "never-capture"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert said(home, "--project", str(taxes / "2024"), "a sum")["status"] == "skipped"
    said(home, "--ignore", "~/link")
    assert said(home, "status")["never_captured"] == listed

    assert said(home, "--unignore", "~/link")["never_captured"] == []
    assert said(home, "--project", str(taxes / "2024"), "a sum")["status"] == "inserted"


def test_a_project_can_be_kept_out_by_its_name(fresh_daemon: DaemonProcess) -> None:
    home = fresh_daemon.home
    said(home, "--ignore", "acme-*")
    assert said(home, "--project", "acme-shop", "a sum")["status"] == "skipped"
    assert said(home, "--project", "shop", "a sum")["status"] == "inserted"


def test_the_list_keeps_its_comments(home: ScratchHome) -> None:
    home.store.mkdir()
    (home.store / "never-capture").write_text("# clients\nacme\n\n")
    said(home, "--ignore", "zoo")
    said(home, "--unignore", "acme")
    assert (home.store / "never-capture").read_text() == "# clients\n\nzoo\n"


def test_what_is_not_on_the_list_can_not_be_taken_off(home: ScratchHome) -> None:
    done = home.command("capture", "--json", "--unignore", "nobody")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "NOT_FOUND"


def test_people_read_how_things_stand(home: ScratchHome) -> None:
    assert home.command("capture", "status").stdout.strip() == "capture is on"
    (home.path / ".iai-ignore").touch()
    home.command("capture", "--ignore", "acme")
    shown = home.command("capture", "status").stdout
    assert "never captured:\n  acme" in shown
    assert "this directory is not captured: ignored by .iai-ignore" in shown
    assert "paused since" in home.command("capture", "pause").stdout


def test_nothing_to_remember_is_said_so(home: ScratchHome) -> None:
    done = home.command("capture")
    assert done.returncode == 1
    assert "nothing to remember" in done.stderr
