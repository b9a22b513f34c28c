"""What people keep out of memory stays out."""

import os
from pathlib import Path

import pytest

from iai_mcp import paths
from iai_mcp.capture import consent


def may_capture(cwd: str | None, project: str | None = None) -> bool:
    return consent.refusal(cwd, project) is None


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    (tmp_path / "store").mkdir()
    return tmp_path


def test_everything_may_be_captured_until_somebody_says_no(home: Path) -> None:
    assert may_capture(str(home / "shop"))
    assert may_capture(None)
    assert may_capture("", "shop")


def test_a_pause_holds_until_it_is_ended(home: Path) -> None:
    consent.pause()
    consent.pause()
    assert consent.refusal(str(home)) == "paused"

    consent.resume()
    consent.resume()

    assert may_capture(str(home))


def test_what_was_said_during_a_pause_stays_out_after_it() -> None:
    consent.pause()
    consent.resume()
    (during,) = consent.pauses()
    marker = Path(paths.in_user_data("capture-pauses"))
    marker.write_text("1767225600 1767229200\nnonsense\n", encoding="utf-8")

    assert during[0] <= during[1]
    assert consent.pauses() == [(1767225600.0, 1767229200.0)]
    for ts, muted in (
        ("2026-01-01T00:30:00Z", True),
        ("2026-01-01T02:30:00+02:00", True),
        ("2026-01-01T00:30:00", True),
        ("2026-01-01T01:00:01Z", False),
        ("2025-12-31T23:59:59Z", False),
        ("some day", False),
        (None, False),
    ):
        assert consent.muted(ts, consent.pauses()) is muted, ts


@pytest.mark.parametrize(
    ("entry", "cwd", "allowed"),
    [
        ("/srv/secret", "/srv/secret", False),
        ("/srv/secret", "/srv/secret/deep/er", False),
        ("/srv/secret/", "/srv/secret", False),
        ("/srv/secret", "/srv/secrets", True),
        ("/srv/*/private", "/srv/a/private/x", False),
        ("/srv/*/private", "/srv/a/b/private", True),
        ("/srv/**/private", "/srv/a/b/private", False),
        ("~/diary", "{home}/diary/2026", False),
        ("# /srv/secret", "/srv/secret", True),
        ("client-*", "/any/where/client-x", False),
        ("client-*", "/any/where/client-x/src", True),
        ("/", "/any/where", False),
        ("/a/b", "/a/b" + "/c" * 5000, False),
    ],
)
def test_listed_places_are_never_captured(home: Path, entry: str, cwd: str, allowed: bool) -> None:
    (home / "store" / "never-capture").write_text(f"\n{entry}\n", encoding="utf-8")

    assert may_capture(cwd.replace("{home}", str(home / "home"))) is allowed


def test_a_projects_name_can_be_listed(home: Path) -> None:
    (home / "store" / "never-capture").write_text("diary\n", encoding="utf-8")

    assert not may_capture("/tmp", "diary")
    assert not may_capture("/tmp", "/home/ann/diary")
    assert may_capture("/tmp", "shop")


def test_an_empty_ignore_file_keeps_its_whole_tree_out(home: Path) -> None:
    deep = home / "shop" / "src" / "deep"
    deep.mkdir(parents=True)
    (home / "shop" / ".iai-ignore").write_text("# nothing from here\n", encoding="utf-8")

    assert not may_capture(str(deep))
    assert not may_capture(str(home / "shop"))
    assert may_capture(str(home))
    assert not may_capture("/tmp", str(home / "shop"))


@pytest.mark.parametrize(
    ("patterns", "below", "allowed"),
    [
        ("secret", "secret", False),
        ("secret", "a/secret/b", False),
        ("secret", "secrets", True),
        ("/secret", "secret/b", False),
        ("/secret", "a/secret", True),
        ("a/*/c", "a/b/c/d", False),
        ("a/**/d", "a/b/c/d", False),
        ("logs/", "x/logs", False),
        ("*\n!open", "closed", False),
        ("*\n!open", "open", True),
        ("other", "a", True),
    ],
)
def test_ignore_patterns_choose_directories_below_them(
    home: Path, patterns: str, below: str, allowed: bool
) -> None:
    project = home / "shop"
    (project / below).mkdir(parents=True)
    (project / ".iai-ignore").write_text(patterns, encoding="utf-8")

    assert may_capture(str(project / below)) is allowed
    assert may_capture(str(project))


def test_the_nearest_ignore_file_that_speaks_wins(home: Path) -> None:
    inner = home / "shop" / "open"
    (inner / "deep").mkdir(parents=True)
    (home / "shop" / ".iai-ignore").write_text("open", encoding="utf-8")
    (inner / ".iai-ignore").write_text("!deep", encoding="utf-8")

    assert may_capture(str(inner / "deep"))
    assert not may_capture(str(inner))


@pytest.mark.parametrize("kind", ["pipe", "device", "directory", "link out", "too long"])
def test_an_ignore_file_that_can_not_be_read_keeps_its_tree_out(home: Path, kind: str) -> None:
    file = home / "shop" / ".iai-ignore"
    (home / "shop").mkdir()
    (home / "elsewhere").write_text("other", encoding="utf-8")
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "directory":
        file.mkdir()
    elif kind == "too long":
        file.write_text("other\n" * 100_000, encoding="utf-8")
    else:
        file.symlink_to("/dev/zero" if kind == "device" else home / "elsewhere")

    assert consent.refusal(str(home / "shop" / "src")) == "ignored by .iai-ignore"
    assert may_capture(str(home))


def test_an_ignore_file_may_be_a_link_within_its_directory(home: Path) -> None:
    (home / "shop" / "conf").mkdir(parents=True)
    (home / "shop" / "conf" / "ignored").write_text("secret", encoding="utf-8")
    (home / "shop" / ".iai-ignore").symlink_to("conf/ignored")

    assert not may_capture(str(home / "shop" / "secret"))
    assert may_capture(str(home / "shop" / "src"))


def test_a_list_that_can_not_be_read_lets_nothing_through(home: Path) -> None:
    os.mkfifo(home / "store" / "never-capture")

    assert consent.refusal(str(home)) == "never-capture can not be read"
