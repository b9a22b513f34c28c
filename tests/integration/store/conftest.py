"""A store of its own for each test, in a directory that only this test knows."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from iai_mcp.store import MemoryStore


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.delenv("IAI_MCP_CRYPTO_PASSPHRASE", raising=False)


@pytest.fixture
def opened() -> Iterator[Callable[[], MemoryStore]]:
    """Opens the store that the environment names; everything opened is closed at the end."""
    stores: list[MemoryStore] = []

    def open_one() -> MemoryStore:
        stores.append(MemoryStore())
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()
