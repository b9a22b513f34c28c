"""The units that a service manager gets: absolute, hardened, and accepted by its own checker."""

import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from iai_mcp.adapters import service_units

Units = dict[str, service_units.ServiceUnit]


@pytest.fixture
def units(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Units:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "my 100% store"))
    monkeypatch.delenv("IAI_DAEMON_SOCKET_PATH", raising=False)
    monkeypatch.delenv("IAI_MCP_EMBED_MODEL", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return {Path(unit.path).name: unit for unit in service_units.units()}


def test_the_socket_and_the_service_name_absolute_paths_and_the_same_store(
    units: Units, tmp_path: Path
) -> None:
    socket, service = units["iai-mcp.socket"].text, units["iai-mcp.service"].text
    store = str(tmp_path / "my 100%% store")
    assert f"ListenStream={store}/.daemon.sock" in socket
    assert f"ExecStart={sys.executable} -m iai_mcp.daemon" in service
    assert f'Environment="IAI_MCP_STORE={store}"' in service


@pytest.mark.parametrize(
    "line",
    [
        "NoNewPrivileges=yes",
        "PrivateTmp=yes",
        "IPAddressDeny=any",
        "RestrictAddressFamilies=AF_UNIX",
        "MemoryMax=1G",
    ],
)
def test_the_service_is_hardened(units: Units, line: str) -> None:
    assert line in units["iai-mcp.service"].text.splitlines()


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_s_own_checker_accepts_them(units: Units) -> None:
    for unit in units.values():
        path = Path(unit.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(unit.text)
    checked = subprocess.run(
        ["systemd-analyze", "--user", "verify", *(unit.path for unit in units.values())],
        capture_output=True,
        text=True,
        check=False,
    )
    complaints = [line for line in checked.stderr.splitlines() if "iai-mcp" in line]
    assert complaints == []


def test_on_a_mac_there_is_one_agent_file(
    units: Units, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "mine & <yours>"))
    (agent,) = service_units.units()
    assert agent.path == str(tmp_path / "Library/LaunchAgents/dev.iai-mcp.daemon.plist")
    parsed = plistlib.loads(agent.text.encode())
    assert parsed == {
        "Label": "dev.iai-mcp.daemon",
        "ProgramArguments": [sys.executable, "-m", "iai_mcp.daemon"],
        "EnvironmentVariables": {"IAI_MCP_STORE": str(tmp_path / "mine & <yours>")},
        # At the first connection, and at the next one after it has ended: no RunAtLoad, no KeepAlive.
        "Sockets": {
            "Listeners": {
                "SockPathName": str(tmp_path / "mine & <yours>" / ".daemon.sock"),
                "SockPathMode": 384,
            }
        },
        "ProcessType": "Background",
        "Umask": 0o077,
    }
    assert Path(parsed["ProgramArguments"][0]).is_absolute()
