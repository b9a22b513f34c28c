"""`iai-mcp hosts …` as people and scripts use it."""

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def environment(home: Path, **more: str) -> dict[str, str]:
    return {
        "HOME": str(home),
        "IAI_MCP_STORE": os.environ["IAI_MCP_STORE"],
        "PATH": str(home / "bin"),
        "PYTHONPATH": str(ROOT / "src"),
        **more,
    }


def hosts(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "iai_mcp.cli", "hosts", *words],
        env=environment(home, **more),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )


def test_list_shows_every_host_and_which_are_here(home: Path) -> None:
    (home / ".claude").mkdir()

    done = hosts(home, "list", "--json")

    entries = {entry["id"]: entry for entry in json.loads(done.stdout)["hosts"]}
    assert done.returncode == 0
    assert entries["claude-code"]["detected"] is True
    assert entries["claude-code"]["status"] == "absent"
    assert entries["codex"]["detected"] is False
    assert len(entries) == 11


def test_only_what_is_here_is_connected(home: Path) -> None:
    (home / ".claude").mkdir()

    done = hosts(home, "install", "--yes")

    assert done.returncode == 0, done.stderr
    assert f"pipx install {ROOT}" in done.stderr, "from a clone it does not last"
    assert "connected" in done.stdout
    assert (home / ".claude" / "settings.json").exists()
    assert not (home / ".codex").exists()


def test_a_named_host_is_connected_even_if_it_was_not_found(home: Path) -> None:
    done = hosts(home, "install", "codex", "--yes", "--json")

    entry = json.loads(done.stdout)["hosts"][0]
    assert entry["status"] == "installed"
    assert "/hooks" in entry["note"]
    assert (home / ".codex" / "config.toml").exists()


def test_a_dry_run_prints_what_would_change_and_writes_nothing(home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text('{"theme": "x"}\n')

    done = hosts(home, "install", "gemini", "--dry-run", "--diff")

    planned = hosts(home, "install", "gemini", "--dry-run").stdout
    assert "would change ~/.gemini/settings.json" in planned, "nothing was changed yet"
    assert done.stdout.startswith("--- ")
    assert '+{"theme": "x", "mcpServers"' in done.stdout
    assert (home / ".gemini" / "settings.json").read_text() == '{"theme": "x"}\n'
    assert not Path(os.environ["IAI_MCP_STORE"]).exists()


def test_remove_without_a_name_takes_out_whatever_is_in(home: Path) -> None:
    hosts(home, "install", "codex", "zed", "--yes")

    done = hosts(home, "remove", "--json", "--yes")

    removed = [e["id"] for e in json.loads(done.stdout)["hosts"] if e["status"] == "removed"]
    assert removed == ["codex", "zed"]
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_without_a_terminal_nothing_is_changed_unless_told_to(
    home: Path, as_json: list[str]
) -> None:
    (home / ".claude").mkdir()

    refused = hosts(home, "install", *as_json)

    assert refused.returncode == 1
    assert "--yes" in refused.stdout + refused.stderr
    assert list((home / ".claude").iterdir()) == []
    hosts(home, "install", "--yes")
    before = (home / ".claude" / "settings.json").read_text()
    refused = hosts(home, "remove", *as_json)
    assert refused.returncode == 1
    assert "--yes" in refused.stdout + refused.stderr
    assert (home / ".claude" / "settings.json").read_text() == before


def test_removing_where_nothing_is_connected_says_so(home: Path) -> None:
    for words in (["remove"], ["remove", "--yes"], ["remove", "--dry-run"]):
        done = hosts(home, *words)

        assert (done.returncode, done.stdout) == (
            0,
            "Nothing to disconnect: no agent program is connected.\n",
        )
    named = hosts(home, "remove", "codex", "zed").stdout
    assert named == "Nothing to disconnect: Codex and Zed are not connected.\n"


def test_a_dry_run_where_all_is_connected_says_so(home: Path) -> None:
    hosts(home, "install", "codex", "--yes")

    planned = hosts(home, "install", "codex", "--dry-run").stdout

    assert planned == "Codex: already connected\n"


def test_an_unknown_host_is_an_error_with_its_code(home: Path) -> None:
    done = hosts(home, "install", "clod", "--json")

    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "NOT_FOUND"


def test_a_broken_file_is_a_failure_that_names_the_line(home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text('{\n  "hooks": {,}\n}')

    done = hosts(home, "install", "codex", "--yes")

    assert done.returncode == 1
    assert "line 2" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(("answer", "connected"), [("y", True), ("n", False)])
def test_on_a_terminal_the_changes_are_shown_and_asked_about(
    home: Path, answer: str, connected: bool
) -> None:
    child, terminal = pty.fork()
    if child == 0:
        words = [sys.executable, "-m", "iai_mcp.cli", "hosts", "install", "zed"]
        os.execve(sys.executable, words, environment(home, TERM="dumb"))
    shown = b""
    while b"[d]iff:" not in shown and select.select([terminal], [], [], 30)[0]:
        shown += os.read(terminal, 65_536)
    os.write(terminal, answer.encode() + b"\n")
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)

    assert b"~/.config/zed/settings.json" in shown
    assert code == 0
    assert (home / ".config" / "zed" / "settings.json").exists() is connected


OFFER = """
import sys
from iai_mcp.cli import hosts
hosts.offer_once()
print("asked no more")
"""


def converse(home: Path, answers: list[str]) -> str:
    """Run the offer on a terminal, give one answer to each question, return all that was shown."""
    child, terminal = pty.fork()
    if child == 0:
        words = [sys.executable, "-c", OFFER]
        os.execve(sys.executable, words, environment(home, TERM="dumb"))
    shown = b""
    for answer in [*answers, ""]:
        expected = b"[d]iff: " if answer else b"asked no more"
        while not shown.endswith(expected) and b"asked no more" not in shown:
            assert select.select([terminal], [], [], 30)[0], shown
            shown += os.read(terminal, 65_536)
        if answer:
            os.write(terminal, answer.encode() + b"\n")
    os.waitpid(child, 0)
    os.close(terminal)
    return shown.decode()


def test_the_first_start_offers_to_connect_and_asks_only_once(home: Path) -> None:
    (home / ".codex").mkdir()

    first = converse(home, ["d", "n"])
    second = converse(home, [])

    assert "Codex" in first
    assert "+++ " in first
    assert "hosts install" in first
    assert "Codex" not in second
    assert not (home / ".codex" / "hooks.json").exists()


def test_the_first_start_connects_when_the_person_agrees(home: Path) -> None:
    (home / ".codex").mkdir()

    shown = converse(home, ["y"])

    assert "connected" in shown
    assert "/hooks" in shown
    assert (home / ".codex" / "hooks.json").exists()


def test_without_a_terminal_nothing_is_offered(home: Path) -> None:
    (home / ".codex").mkdir()

    done = subprocess.run(
        [sys.executable, "-c", OFFER],
        env=environment(home),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )

    assert done.stdout == "asked no more\n"
    assert not (home / ".codex" / "hooks.json").exists()
