"""A scratch home: its own store, its own socket, nothing of the person who runs the tests."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"


class ScratchHome:
    """A home directory with a short path, because Unix sockets have a limit."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="iai-t-"))
        self.store = self.path / "store"
        self.socket = self.path / "d.sock"

    @property
    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("IAI_", "LISTEN_"))}
        return {
            **kept,
            "HOME": str(self.path),
            "IAI_MCP_STORE": str(self.store),
            "IAI_DAEMON_SOCKET_PATH": str(self.socket),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            "PYTHONPATH": str(SOURCE),
            "NO_COLOR": "1",
        }

    def command(
        self, *arguments: str, stdin: str = "", timeout: float = 60, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `iai-mcp ARGUMENTS` in this home."""
        return subprocess.run(
            [sys.executable, "-m", "iai_mcp.cli", *arguments],
            env={**self.environment, **more},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=self.path,
            check=False,
        )

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
