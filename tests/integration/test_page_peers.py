"""Whose a connection on loopback is: the kernel is asked, or its tables are read; both say the same."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from bench.strangers import UID
from tests.support.strangers import needs_root

from iai_mcp.web import peers

Way = Callable[[peers.Address, peers.Address], int | None]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose it is")


def by_table(local: peers.Address, remote: peers.Address) -> int | None:
    return peers._looked_up(peers._entry(*local), peers._entry(*remote))


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.settimeout(20)
        yield made


@pytest.fixture(params=[peers._asked, by_table], ids=["asked", "by table"])
def way(request: pytest.FixtureRequest) -> Way:
    found: Way = request.param
    return found


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")]
)
def test_our_own_connections_are_ours(
    listening: socket.socket, way: Way, family: socket.AddressFamily, address: str
) -> None:
    own = listening.getsockname()
    with socket.socket(family) as caller:
        caller.connect((address, own[1]))
        accepted, peer = listening.accept()
        with accepted:
            assert way(peer, own) == os.geteuid()
            assert peers.is_ours(peer, own)


@needs_root
def test_another_users_connection_is_theirs(listening: socket.socket, way: Way) -> None:
    own = listening.getsockname()
    dials = "import encodings.idna, os, socket, sys; os.setuid(int(sys.argv[1]))\n"
    dials += "socket.create_connection(('127.0.0.1', int(sys.argv[2]))).recv(1)"
    child = subprocess.Popen([sys.executable, "-S", "-c", dials, str(UID), str(own[1])])
    accepted, peer = listening.accept()
    assert way(peer, own) == UID
    assert not peers.is_ours(peer, own)
    accepted.close()
    child.wait(timeout=20)


def test_a_connection_that_nobody_has_is_nobodys(listening: socket.socket, way: Way) -> None:
    own = listening.getsockname()
    assert way(("127.0.0.1", 1), own) is None
    assert not peers.is_ours(("127.0.0.1", 1), own)
