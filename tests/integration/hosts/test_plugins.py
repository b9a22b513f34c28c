"""A host that has our plugin is connected: an install leaves it alone, and both at once capture once."""

import json
from pathlib import Path

import pytest
from tests.integration.hosts.test_hosts_command import hosts
from tests.integration.hosts.test_moved_installation import doctor

INSTALLED = {
    "claude-code": (".claude/settings.json", '{"enabledPlugins": {"iai-mcp@iai-mcp": true}}'),
    "codex": (".codex/config.toml", '[plugins."iai-mcp@iai-mcp"]\nenabled = true\n'),
    "gemini": (".gemini/extensions/iai-mcp/gemini-extension.json", "{}"),
}
OFF = {
    "claude-code": '{"enabledPlugins": {"iai-mcp@iai-mcp": false, "x@iai-mcp": true}}',
    "codex": '[plugins."iai-mcp@iai-mcp"]\nenabled = false\n',
}


def plugin(home: Path, host: str, text: str | None = None) -> Path:
    place, said = INSTALLED[host]
    path = home / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or said)
    return path


def status(home: Path, host: str) -> str:
    (entry,) = json.loads(hosts(home, "list", host, "--json").stdout)["hosts"]
    return str(entry["status"])


@pytest.mark.parametrize("host", INSTALLED)
def test_a_host_with_our_plugin_is_not_connected_again(home: Path, host: str) -> None:
    path = plugin(home, host)
    before = path.read_bytes()

    done = hosts(home, "install", host, "--yes")

    assert (done.returncode, status(home, host)) == (0, "plugin")
    assert "connected by our plugin" in done.stdout
    assert path.read_bytes() == before
    assert not (home / ".codex/hooks.json").exists()


@pytest.mark.parametrize("host", OFF)
def test_a_plugin_that_is_turned_off_does_not_count(home: Path, host: str) -> None:
    plugin(home, host, OFF[host])
    assert status(home, host) == "absent"
    assert hosts(home, "install", host, "--yes").returncode == 0
    assert status(home, host) == "installed"


@pytest.mark.parametrize("host", INSTALLED)
def test_a_plugin_beside_an_install_is_told_and_the_install_can_go(home: Path, host: str) -> None:
    hosts(home, "install", host, "--yes")
    place, said = INSTALLED[host]
    if host == "claude-code":
        settings = json.loads((home / place).read_text())
        said = json.dumps({**settings, **json.loads(said)})
    elif host == "codex":
        said = (home / place).read_text() + said
    plugin(home, host, said)

    again = hosts(home, "install", host, "--yes")
    found = doctor(home)[f"host {host}"]
    hosts(home, "remove", host, "--yes")

    assert "connected twice" in again.stdout
    # The plugin starts the command by its name, and this test's PATH has none.
    assert found["status"] == "FAIL" and "iai-mcp, which is not on PATH" in found["detail"]
    assert status(home, host) == "plugin"


def test_settings_that_can_not_be_read_hold_no_plugin(home: Path) -> None:
    plugin(home, "claude-code", "{")
    plugin(home, "codex", "[")
    assert (status(home, "claude-code"), status(home, "codex")) == ("broken", "broken")
