"""Our plugins and the extension, installed, used and removed with the programs' own commands."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from iai_mcp.hosts import plugins
from tests.real_hosts.conftest import Machine
from tests.real_hosts.programs import CLAUDE, CODEX, GEMINI, Program
from tests.real_hosts.stub_model import Say, Use

pytestmark = pytest.mark.real_hosts

FACT = "The staging database of project Heron listens on port 5433."
NOTED = "Noted: Heron's staging database is on 5433."
QUESTION = "Which port does the Heron staging database use?"
ANSWER = "It listens on 5433."
CLAUDES_TOOL = "mcp__plugin_iai-mcp_iai-mcp__memory_recall"


@dataclass(frozen=True)
class Ways:
    """How a program checks, installs and removes what lies in a folder, and calls our tool then."""

    program: Program
    check: Callable[[str], list[list[str]]]
    install: Callable[[str], list[list[str]]]
    remove: list[list[str]]
    recall: Use
    words: Callable[[str], list[str]]


WAYS = [
    Ways(
        CLAUDE,
        lambda folder: [
            ["plugin", "validate", "--strict", folder],
            ["plugin", "validate", "--strict", f"{folder}/plugins/iai-mcp"],
        ],
        lambda folder: [
            ["plugin", "marketplace", "add", folder],
            ["plugin", "install", "iai-mcp@iai-mcp"],
        ],
        [
            ["plugin", "uninstall", "iai-mcp@iai-mcp"],
            ["plugin", "marketplace", "remove", "iai-mcp"],
        ],
        Use(CLAUDES_TOOL, {"cue": "Heron staging port"}),
        lambda prompt: ["-p", prompt, "--allowedTools", CLAUDES_TOOL],
    ),
    Ways(
        CODEX,
        lambda folder: [],
        lambda folder: [
            ["plugin", "marketplace", "add", folder],
            ["plugin", "add", "iai-mcp@iai-mcp"],
        ],
        [["plugin", "remove", "iai-mcp@iai-mcp"], ["plugin", "marketplace", "remove", "iai-mcp"]],
        CODEX.recall("Heron staging port"),
        CODEX.words,
    ),
    Ways(
        GEMINI,
        lambda folder: [["extensions", "validate", folder]],
        lambda folder: [["extensions", "install", folder, "--consent"]],
        [["extensions", "uninstall", "iai-mcp"]],
        GEMINI.recall("Heron staging port"),
        GEMINI.words,
    ),
]


@pytest.fixture
def folder(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The packages, on a machine with the command on its PATH."""
    commands = os.path.dirname(sys.executable)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    place = tmp_path / "packages"
    plugins.write(place, "https://example.org/iai-mcp")
    trusted = machine.home / ".gemini" / "trustedFolders.json"
    trusted.parent.mkdir(parents=True, exist_ok=True)
    trusted.write_text(json.dumps({str(place): "TRUST_FOLDER"}))
    return place


@pytest.mark.parametrize("ways", WAYS, ids=lambda ways: ways.program.id)
def test_a_plugin_is_installed_remembers_and_is_removed(
    machine: Machine, folder: Path, ways: Ways
) -> None:
    program = ways.program
    machine.prepare(program)

    def runs(lines: list[list[str]]) -> None:
        for line in lines:
            program.run(line, machine.home, machine.project, machine.model.url, machine.cache)

    def status() -> str:
        (entry,) = machine.iai("hosts", "list", program.id)["hosts"]
        return str(entry["status"])

    place = str(folder / program.id)
    runs(ways.check(place))
    runs(ways.install(place))
    assert status() == "plugin"

    machine.talk(program, FACT, Say(NOTED), words=ways.words)
    learnt = machine.turns(2)
    asked = machine.talk(program, QUESTION, ways.recall, Say(ANSWER), words=ways.words)
    all_turns = machine.turns(4)
    runs(ways.remove)

    assert learnt == [FACT, NOTED]
    assert FACT in asked[0]
    assert FACT in asked[1].rpartition(QUESTION)[2]
    assert all_turns == [FACT, NOTED, QUESTION, ANSWER]
    assert status() == "absent"


@pytest.mark.parametrize("ways", WAYS, ids=lambda ways: ways.program.id)
def test_a_plugin_beside_an_install_captures_once_and_tells_once(
    machine: Machine, folder: Path, ways: Ways
) -> None:
    program = ways.program
    machine.prepare(program)
    machine.iai("hosts", "install", program.id, "--yes")
    for line in ways.install(str(folder / program.id)):
        program.run(line, machine.home, machine.project, machine.model.url, machine.cache)

    machine.talk(program, FACT, Say(NOTED))
    machine.turns(2)
    (asked, *_) = machine.talk(program, QUESTION, Say(ANSWER))

    assert machine.turns(4) == [FACT, NOTED, QUESTION, ANSWER]
    assert asked.count(FACT) == 1, "told once"
    (entry,) = machine.iai("hosts", "list", program.id)["hosts"]
    assert entry["status"] == "twice"


def test_the_bundle_is_one_that_its_own_tool_takes(machine: Machine, folder: Path) -> None:
    tool = machine.cache / "node_modules" / ".bin" / "mcpb"
    for line in (["unpack", "iai-mcp.mcpb", "unpacked"], ["validate", "unpacked/manifest.json"]):
        told = subprocess.run(
            [tool, *line], cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )
        assert told.returncode == 0, told.stdout + told.stderr
