"""What a service manager needs to start the daemon at the first connection: units and an agent file.

Paths are absolute, the daemon gets no network, no new privileges, a private /tmp and a memory limit.
"""

import os
import plistlib
import shutil
import subprocess
import sys
from dataclasses import dataclass

from iai_mcp import paths
from iai_mcp.child_environment import without_secrets
from iai_mcp.domain.errors import IoFailed, NotInstalled

NAME = "iai-mcp"
_LABEL = "dev.iai-mcp.daemon"
LAUNCHD_SOCKETS = "Listeners"  # the name under which the daemon asks launchd for its socket

_SOCKET = """[Unit]
Description=iai-mcp memory, on demand

[Socket]
ListenStream={socket}
{remote}SocketMode=0600
DirectoryMode=0700

[Install]
WantedBy=sockets.target
"""

_SERVICE = """[Unit]
Description=iai-mcp memory daemon
Requires={name}.socket
After={name}.socket

[Service]
Type=exec
ExecStart={python} -m iai_mcp.daemon
{environment}
Restart=on-failure
UMask=0077
NoNewPrivileges=yes
PrivateTmp=yes
RestrictAddressFamilies=AF_UNIX
IPAddressDeny=any
MemoryMax=1G
LimitNOFILE=8192
"""


@dataclass(frozen=True, slots=True)
class ServiceUnit:
    """One file for the service manager."""

    path: str
    text: str


def units() -> list[ServiceUnit]:
    """The files for this machine's service manager, as they should be."""
    if sys.platform == "darwin":
        return [
            ServiceUnit(
                os.path.join(paths.home(), "Library/LaunchAgents", f"{_LABEL}.plist"), _agent()
            )
        ]
    directory = os.path.join(
        os.environ.get("XDG_CONFIG_HOME") or os.path.join(paths.home(), ".config"), "systemd/user"
    )
    environment = "\n".join(f'Environment="{k}={_quoted(v)}"' for k, v in _environment().items())
    return [
        ServiceUnit(
            os.path.join(directory, f"{NAME}.socket"),
            _SOCKET.format(socket=_quoted(paths.socket_path()), remote=_remote_stream()),
        ),
        ServiceUnit(
            os.path.join(directory, f"{NAME}.service"),
            _SERVICE.format(name=NAME, python=_quoted(sys.executable), environment=environment),
        ),
    ]


def install() -> list[str]:
    """Write the units and hand them to the service manager; the files written.

    Raises:
        NotInstalled: there is no service manager to hand them to; nothing was written.
    """
    manager = _manager()
    if manager is None:
        raise NotInstalled(
            "no user service manager was found (systemd --user or launchd): use 'iai-mcp up' instead"
        )
    written = []
    for unit in units():
        os.makedirs(os.path.dirname(unit.path), exist_ok=True)
        temporary = f"{unit.path}.{os.getpid()}.tmp"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(unit.text)
        os.replace(temporary, unit.path)
        written.append(unit.path)
    if manager == "systemd":
        _run("systemctl", "--user", "daemon-reload")
        _run("systemctl", "--user", "enable", "--now", f"{NAME}.socket")
    else:
        paths.socket_dir(paths.socket_path())  # launchd makes the socket, not its directory
        _run("launchctl", "load", "-w", written[0])
    return written


def remove() -> list[str]:
    """Take the units out again; the files removed."""
    present = [unit.path for unit in units() if os.path.exists(unit.path)]
    manager = _manager()
    if present and manager == "systemd":
        _run("systemctl", "--user", "disable", "--now", f"{NAME}.socket", f"{NAME}.service")
    elif present and manager == "launchd":
        _run("launchctl", "unload", "-w", present[0])
    for path in present:
        os.unlink(path)
    if present and manager == "systemd":
        _run("systemctl", "--user", "daemon-reload")
    return present


def problem() -> str | None:
    """What `systemd-analyze verify` complains about, where it is present; None when it is content."""
    present = [unit.path for unit in units() if os.path.exists(unit.path)]
    if not present or not shutil.which("systemd-analyze"):
        return None
    checked = subprocess.run(
        ["systemd-analyze", "--user", "verify", *present],
        capture_output=True,
        text=True,
        check=False,
    )
    return checked.stderr.strip() or None if checked.returncode else None


def _manager() -> str | None:
    if sys.platform == "darwin":
        return "launchd" if shutil.which("launchctl") else None
    if not shutil.which("systemctl"):
        return None
    asked = subprocess.run(
        ["systemctl", "--user", "show-environment"], capture_output=True, check=False
    )
    return "systemd" if asked.returncode == 0 else None


def _environment() -> dict[str, str]:
    """What the daemon must know that a service manager does not pass on by itself."""
    names = ("IAI_MCP_STORE", "IAI_DAEMON_SOCKET_PATH", "IAI_MCP_EMBED_MODEL")
    return {name: os.environ[name] for name in names if os.environ.get(name)}


def _remote_stream() -> str:
    """The second socket, for callers on other machines; after the first, which has to come first."""
    path = paths.remote_socket_path()
    return "" if paths.socket_path_problem(path) else f"ListenStream={_quoted(path)}\n"


def _agent() -> str:
    """Without RunAtLoad and KeepAlive: launchd starts the daemon at the next connection anyway."""
    listener = {"SockPathName": paths.socket_path(), "SockPathMode": 0o600}
    agent: dict[str, object] = {
        "Label": _LABEL,
        "ProgramArguments": [sys.executable, "-m", "iai_mcp.daemon"],
        "Sockets": {LAUNCHD_SOCKETS: listener},
        "ProcessType": "Background",
        "Umask": 0o077,
    }
    if _environment():
        agent["EnvironmentVariables"] = _environment()
    return plistlib.dumps(agent).decode()


def _quoted(text: str) -> str:
    """A path as systemd takes it: percent signs are specifiers there."""
    return text.replace("%", "%%")


def _run(*command: str) -> None:
    done = subprocess.run(
        list(command), env=without_secrets(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise IoFailed(f"'{' '.join(command)}' failed: {done.stderr.strip() or done.returncode}")
