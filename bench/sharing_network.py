"""A network between one device and the database that can be cut.

The database listens on a socket file. A relay on each side carries that over the links, so what the
device speaks to is its own socket file, and what is cut in between is a real network.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.cut_network import Link

_SOCKET = ".s.PGSQL.5432"
_PORT = 15432

# Listens at its first argument and carries each connection to its second: paths, or host:port.
_RELAY = """
import socket, sys, threading
def made(where):
    if ":" in where:
        host, port = where.rsplit(":", 1)
        return socket.AF_INET, (host, int(port))
    return socket.AF_UNIX, where
def pump(a, b):
    try:
        while data := a.recv(1 << 16):
            b.sendall(data)
    except OSError:
        pass
    for one in (a, b):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
family, address = made(sys.argv[1])
server = socket.socket(family)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(address)
server.listen(16)
print("up", flush=True)
while True:
    near, _ = server.accept()
    family, address = made(sys.argv[2])
    far = socket.socket(family)
    far.settimeout(5)
    try:
        far.connect(address)
    except OSError:
        near.close()
        continue
    far.settimeout(None)
    for pair in ((near, far), (far, near)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
"""


class Network:
    """`prefix` is what a process is started with to be on the far side; `address` the database there."""

    def __init__(self, link: Link, directory: Path) -> None:
        self.prefix, self.cut = link.within, link.cut
        self.address = f"postgresql://postgres:@/postgres?host={directory}"

    @classmethod
    @contextmanager
    def made(cls, base: Path, database: str) -> "Iterator[Network | None]":
        """None where this user may not make one."""
        with Link.made() as link, ExitStack() as undone:
            if link is None:
                yield None
                return
            directory = base / "far"
            directory.mkdir()
            network = cls(link, directory)
            there = f"{link.here}:{_PORT}"
            for prefix, listening, target in (
                ([], there, f"{database}/{_SOCKET}"),
                (network.prefix, str(directory / _SOCKET), there),
            ):
                undone.enter_context(_relay(prefix, listening, target))
            yield network


@contextmanager
def _relay(prefix: list[str], listening: str, target: str) -> Iterator[None]:
    process = subprocess.Popen(
        [*prefix, sys.executable, "-c", _RELAY, listening, target], stdout=subprocess.PIPE
    )
    try:
        assert process.stdout
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.wait()
