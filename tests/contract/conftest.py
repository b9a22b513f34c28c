"""An encrypted file of its own for every contract that one has to keep."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from iai_mcp.adapters.sqlite.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    path = tmp_path / "memory.db"
    path.touch()
    opened = Database(path, bytes(32))
    yield opened
    opened.close()
