"""A terminal window in which commands are run, as a person sees it."""

import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Iterator

from tests.support.home import ScratchHome


class Window:
    """A terminal window: every line typed into it runs in one shell."""

    def __init__(self, home: ScratchHome, columns: int = 100, **environment: str) -> None:
        self.home = home
        self.columns = columns
        self.environment = {**home.environment, **environment}
        self.environment["XDG_RUNTIME_DIR"] = str(home.path / "run")
        (home.path / "run").mkdir(mode=0o700, exist_ok=True)

    def run(self, *lines: str, typed: str = "") -> str:
        """What the window shows when these commands are run one after the other."""
        iai = f"{sys.executable} -m iai_mcp.cli"
        script = "\n".join(line.replace("iai-mcp", iai) for line in lines)
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (40, self.columns))
        os.write(master, typed.encode())
        shell = subprocess.Popen(
            ["/bin/sh", "-c", script],
            env=self.environment,
            cwd=self.home.path,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        shown = b"".join(_until_it_ends(master))
        os.close(master)
        assert shell.wait(60) is not None
        return shown.decode().replace("\r\n", "\n")


def _until_it_ends(master: int) -> Iterator[bytes]:
    while select.select([master], [], [], 60)[0]:
        try:
            data = os.read(master, 65_536)
        except OSError:  # the shell has gone
            return
        if not data:
            return
        yield data
