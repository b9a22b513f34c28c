"""An installation that moved away leaves commands behind that start nothing: doctor finds them, an
install mends them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.hosts.test_hosts_command import environment, hosts

from iai_mcp.hosts import registry

# Each with a file of its own kind: JSON, TOML, a list of words.
KINDS = ("claude-code", "codex", "opencode", "zed")


def doctor(home: Path, cwd: Path | None = None) -> dict[str, dict[str, str]]:
    done = subprocess.run(
        [sys.executable, "-m", "iai_mcp.cli", "doctor", "--json"],
        env=environment(home),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def replaced(home: Path, host: str, old: str, new: str) -> None:
    for wanted in registry.files(registry.host(host)):
        path = Path(wanted.path)
        path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize("host", KINDS)
def test_doctor_names_an_executable_that_is_gone_and_an_install_mends_it(
    home: Path, host: str
) -> None:
    hosts(home, "install", host, "--yes")
    sound = doctor(home).get(f"host {host}", {})
    replaced(home, host, sys.executable, "/gone/bin/python")

    found = doctor(home)[f"host {host}"]
    mended = hosts(home, "install", host, "--yes")

    assert "gone" not in sound.get("detail", "")
    assert found["status"] == "FAIL"
    assert "/gone/bin/python" in found["detail"]
    assert found["fix"] == f"iai-mcp hosts install {host}"
    assert mended.returncode == 0, mended.stderr
    assert "/gone" not in doctor(home).get(f"host {host}", {}).get("detail", "")
    texts = [Path(wanted.path).read_text() for wanted in registry.files(registry.host(host))]
    assert not any("/gone" in text for text in texts)


def test_doctor_names_an_interpreter_that_has_lost_us(home: Path) -> None:
    other = home / "other-python"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    hosts(home, "install", "claude-code", "--yes")
    replaced(home, "claude-code", sys.executable, str(other))

    found = doctor(home)["host claude-code"]

    assert found["status"] == "FAIL"
    assert f"{other}, where iai-mcp is not installed" in found["detail"]


def test_doctor_never_runs_what_the_directory_it_is_called_in_holds(home: Path) -> None:
    """A repository that was cloned can bring an interpreter of its own."""
    cloned = home / "cloned" / ".venv" / "bin"
    cloned.mkdir(parents=True)
    (cloned / "python").write_text(f"#!/bin/sh\n: > {home}/it-ran\n")
    (cloned / "python").chmod(0o755)
    hosts(home, "install", "claude-code", "--yes")
    replaced(home, "claude-code", sys.executable, ".venv/bin/python")

    found = doctor(home, home / "cloned")["host claude-code"]

    assert not (home / "it-ran").exists()
    assert found["status"] == "FAIL"
    assert ".venv/bin/python" in found["detail"]


def test_a_command_by_its_name_is_looked_for_on_the_path(home: Path) -> None:
    (home / ".claude").mkdir()
    server = {"mcpServers": {"iai-mcp": {"type": "stdio", "command": "iai-mcp", "args": ["mcp"]}}}
    (home / ".claude.json").write_text(json.dumps(server))

    found = doctor(home)["host claude-code"]

    assert found["status"] == "FAIL"
    assert "iai-mcp" in found["detail"]


def test_a_hook_whose_package_is_gone_does_not_block_the_session(home: Path) -> None:
    """Claude Code takes exit code 2 for a refusal, and python ends so where a script is missing."""
    (home / ".claude").mkdir()
    hosts(home, "install", "claude-code", "--yes")
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    hook = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]
    without_us = os.path.join(sys.base_prefix, "bin", "python3")

    run = subprocess.run(
        [without_us, *hook["args"]], input=b"{}", env={"HOME": str(home)}, check=False
    )

    assert not any(word.startswith("/") for word in hook["args"] if "iai_mcp" in word)
    assert run.returncode == 1
