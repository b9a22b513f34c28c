"""A network of its own beside this machine's, with a link between them that can be cut and mended.

with Link.made() as link:
    subprocess.Popen([*link.within, "sshd", …])  # reached from here at link.there
    with link.cut(): …
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

NEEDED = "needs root and ip netns"


class Link:
    """`within` is what a process is started with to be on the far side."""

    here, there = "10.87.23.1", "10.87.23.2"

    def __init__(self, name: str) -> None:
        self._end = f"{name}a"
        self.within = ["ip", "netns", "exec", name]

    @classmethod
    @contextmanager
    def made(cls) -> "Iterator[Link | None]":
        """None where this user may not make one."""
        name = f"iai{os.getpid()}"
        if os.geteuid() or not _did("netns", "add", name):
            yield None
            return
        with ExitStack() as undone:
            undone.callback(_did, "netns", "delete", name)
            near, far = f"{name}a", f"{name}b"
            steps = (
                ("link", "add", near, "type", "veth", "peer", "name", far, "netns", name),
                ("addr", "add", f"{cls.here}/24", "dev", near),
                ("link", "set", near, "up"),
                ("-n", name, "addr", "add", f"{cls.there}/24", "dev", far),
                ("-n", name, "link", "set", far, "up"),
                ("-n", name, "link", "set", "lo", "up"),
            )
            yield cls(name) if all(_did(*step) for step in steps) else None

    @contextmanager
    def cut(self) -> Iterator[None]:
        _did("link", "set", self._end, "down")
        try:
            yield
        finally:
            _did("link", "set", self._end, "up")

    def move(self) -> None:
        """This side is known by another address from now on, as after a night in another place."""
        for change, address in (("del", self.here), ("add", "10.87.23.3")):
            _did("addr", change, f"{address}/24", "dev", self._end)
        self.here = "10.87.23.3"


def _did(*words: str) -> bool:
    with suppress(OSError):
        done = subprocess.run(["ip", *words], capture_output=True, check=False)
        return done.returncode == 0
    return False
