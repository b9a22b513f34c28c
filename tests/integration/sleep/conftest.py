"""A store of its own for each test, without a model unless a test brings one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from iai_mcp.store import MemoryStore


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryStore]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    opened = MemoryStore()
    yield opened
    opened.close()


@pytest.fixture
def shop(tmp_path: Path) -> str:
    (tmp_path / "shop/.git").mkdir(parents=True)
    return str((tmp_path / "shop").resolve())
