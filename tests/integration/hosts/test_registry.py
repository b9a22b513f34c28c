"""Every host in the table: what is written for it, and that it goes again."""

import json
import os
import sys
import tomllib
from pathlib import Path

import pytest

from iai_mcp.domain.errors import NotFound
from iai_mcp.hosts import commands, registry
from iai_mcp.hosts.config_files.entries import ConfigFile
from iai_mcp.hosts.host import Host

ALL = registry.hosts()


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below `folder`, and every directory as an empty entry."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"<dir>"
        for path in sorted(folder.rglob("*"))
    }


def is_skill(wanted: ConfigFile) -> bool:
    return wanted.path.endswith("/skills/iai-mcp/SKILL.md")


WITH_SKILLS = [host for host in ALL if host.hooks]


@pytest.mark.parametrize("config", WITH_SKILLS, ids=lambda config: config.id)
def test_a_host_with_hooks_gets_the_skill(home: Path, config: Host) -> None:
    registry.install([config])

    (skill,) = [wanted for wanted in registry.files(config) if is_skill(wanted)]
    text = Path(skill.path).read_text()
    assert text.startswith("---\nname: iai-mcp\ndescription: ")
    assert len(text.splitlines()) <= 60
    assert "memory_recall" in text
    assert "iai-mcp recall" in text


def test_a_skill_that_two_hosts_read_goes_with_the_last_of_them(home: Path) -> None:
    codex, gemini = registry.host("codex"), registry.host("gemini")
    skill = home / ".agents" / "skills" / "iai-mcp" / "SKILL.md"
    registry.install([codex, gemini])

    planned = [registry.plan_remove(host, [codex, gemini]) for host in (codex, gemini)]
    registry.remove([codex])
    assert skill.exists()
    assert registry.status(gemini) == "installed"
    assert registry.status(codex) == "absent"
    registry.remove([gemini])

    named = [str(skill) in [edit.path for edit in outcome.edits] for outcome in planned]
    assert named == [False, True]
    assert tree(home) == {}


def test_a_skill_of_that_name_that_was_there_before_comes_back(home: Path) -> None:
    skill = home / ".claude" / "skills" / "iai-mcp" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("mine")
    before = tree(home)
    claude = registry.host("claude-code")

    registry.install([claude])
    assert skill.read_text() != "mine"
    registry.remove([claude])

    assert tree(home) == before


def test_claude_code_shows_our_tools_to_the_model_unless_the_person_says_no(home: Path) -> None:
    claude, path = registry.host("claude-code"), home / ".claude.json"

    def server() -> dict[str, object]:
        entry: dict[str, object] = json.loads(path.read_text())["mcpServers"]["iai-mcp"]
        return entry

    registry.install([claude])
    assert server()["alwaysLoad"] is True
    path.write_text(path.read_text().replace('"alwaysLoad": true', '"alwaysLoad": false'))
    registry.install([claude])

    assert server()["alwaysLoad"] is False
    assert registry.status(claude) == "installed"


def test_an_installation_from_before_the_skill_is_outdated(home: Path) -> None:
    codex = registry.host("codex")
    registry.install([codex])
    (home / ".agents" / "skills" / "iai-mcp" / "SKILL.md").unlink()

    assert registry.status(codex) == "outdated"


@pytest.mark.parametrize("config", ALL, ids=lambda config: config.id)
def test_each_host_is_connected_once_and_leaves_nothing_behind(home: Path, config: Host) -> None:
    (home / "unrelated").write_text("mine")
    before = tree(home)

    first = registry.install([config])
    again = registry.install([config])
    connected = registry.status(config)
    registry.remove([config])

    assert [edit.kind for edit in first[0].edits] == ["created"] * len(first[0].edits)
    assert not again[0].changes
    assert connected == "installed"
    assert tree(home) == before


@pytest.mark.parametrize("config", ALL, ids=lambda config: config.id)
def test_our_server_is_started_by_this_very_interpreter(home: Path, config: Host) -> None:
    registry.install([config])

    assert config.files is not None
    texts = [Path(wanted.path).read_text() for wanted in config.files(commands.current())]
    everything = "\n".join(texts)

    assert sys.executable in everything
    assert "iai_mcp.bridge" in everything
    assert "iai_mcp.daemon" not in everything
    assert "iai_mcp.core" not in everything


@pytest.mark.parametrize("config", ALL, ids=lambda config: config.id)
def test_a_store_elsewhere_is_written_into_the_entries(
    home: Path, config: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IAI_MCP_STORE", str(home / "else where"))
    monkeypatch.setenv("IAI_DAEMON_SOCKET_PATH", str(home / "s.sock"))
    registry.install([config])

    assert config.files is not None
    wanted_files = [wanted for wanted in config.files(commands.current()) if not is_skill(wanted)]

    for text in [Path(wanted.path).read_text() for wanted in wanted_files]:
        assert "else where" in text
        assert "s.sock" in text


def test_the_default_store_needs_no_mention(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IAI_MCP_STORE")
    wired = commands.current()

    assert "--store" not in wired.hook
    assert "IAI_MCP_STORE" not in wired.env


def test_claude_code_gets_hooks_without_a_shell_and_a_server(home: Path) -> None:
    registry.install([registry.host("claude-code")])

    settings = json.loads((home / ".claude" / "settings.json").read_text())
    servers = json.loads((home / ".claude.json").read_text())["mcpServers"]
    stop = settings["hooks"]["Stop"][0]["hooks"][0]

    assert set(settings["hooks"]) >= {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"}
    assert stop["command"] == sys.executable
    assert stop["args"][-2:] == ["claude-code", "Stop"]
    assert servers["iai-mcp"]["type"] == "stdio"


def test_codex_gets_hooks_and_a_server_and_its_note(home: Path) -> None:
    codex = registry.host("codex")
    registry.install([codex])

    hooks = json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]
    config = tomllib.loads((home / ".codex" / "config.toml").read_text())

    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] <= 3
    assert config["mcp_servers"]["iai-mcp"]["command"] == sys.executable
    assert "/hooks" in codex.note


def test_gemini_keeps_the_settings_that_were_there(home: Path) -> None:
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    original = '{\n    "security": { "auth": { "selectedType": "gemini-api-key" } }\n}\n'
    path.write_text(original)

    registry.install([registry.host("gemini")])
    data = json.loads(path.read_text())
    registry.remove([registry.host("gemini")])

    assert data["security"] == {"auth": {"selectedType": "gemini-api-key"}}
    assert set(data["hooks"]) == {
        "SessionStart",
        "BeforeAgent",
        "AfterAgent",
        "SessionEnd",
        "AfterTool",
    }
    assert path.read_text() == original


def test_opencode_gets_a_plugin_beside_its_settings_with_comments(home: Path) -> None:
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.jsonc").write_text('{\n  // mine\n  "theme": "x",\n}\n')

    registry.install([registry.host("opencode")])

    assert "// mine" in (folder / "opencode.jsonc").read_text()
    assert '"iai-mcp"' in (folder / "opencode.jsonc").read_text()
    assert "export const" in (folder / "plugins" / "iai-mcp.js").read_text()
    assert not (folder / "opencode.json").exists()


@pytest.mark.parametrize(
    ("host", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("qwen", "QWEN_HOME", "settings.json"),
        ("copilot", "COPILOT_HOME", "mcp-config.json"),
        ("opencode", "OPENCODE_CONFIG_DIR", "opencode.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
        ("zed", "XDG_CONFIG_HOME", "zed/settings.json"),
    ],
)
def test_a_host_that_was_moved_is_found_where_it_is(
    home: Path, monkeypatch: pytest.MonkeyPatch, host: str, variable: str, file: str
) -> None:
    monkeypatch.setenv(variable, str(home / "moved"))

    registry.install([registry.host(host)])

    assert (home / "moved" / file).exists()


def test_a_host_is_detected_by_its_program_or_its_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(home / "bin"))
    nobody = registry.detected()
    (home / ".gemini").mkdir()
    (home / "bin").mkdir()
    program = home / "bin" / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)

    found = [config.id for config in registry.detected()]

    assert nobody == ()
    assert found == ["codex", "gemini"]


def test_a_broken_host_does_not_keep_the_others_from_being_connected(home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{broken")

    outcomes = registry.install([registry.host("gemini"), registry.host("codex")])

    assert outcomes[0].error is not None
    assert "line 1" in outcomes[0].error.message
    assert (home / ".gemini" / "settings.json").read_text() == "{broken"
    assert outcomes[1].changes


def test_nothing_of_a_host_is_written_when_one_of_its_files_is_broken(home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("= broken")

    outcome = registry.install([registry.host("codex")])[0]

    assert outcome.error is not None
    assert os.listdir(home / ".codex") == ["config.toml"]


def test_an_unknown_host_is_answered_with_the_known_ones() -> None:
    with pytest.raises(NotFound, match="claude-code, codex"):
        registry.host("clod")


def test_a_host_without_a_place_for_us_says_why() -> None:
    with pytest.raises(NotFound, match="neither hooks nor MCP"):
        registry.host("aider")


def test_an_older_installation_is_told_from_none(home: Path) -> None:
    codex = registry.host("codex")
    registry.install([codex])
    path = home / ".codex" / "hooks.json"
    path.write_text(path.read_text().replace(sys.executable, "/gone/python"))

    outdated = registry.status(codex)
    registry.install([codex])

    assert outdated == "outdated"
    assert registry.status(codex) == "installed"
    assert "/gone/python" not in path.read_text()
