"""A store of its own for each test, without a model unless a test brings one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.embedder import FakeEmbedder

from iai_mcp.domain.errors import NotInstalled
from iai_mcp.ports.embedder import Embedder
from iai_mcp.store import MemoryStore


def no_model() -> Embedder:
    raise NotInstalled("no model here")


@pytest.fixture
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MemoryStore]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    # Nearness by the words that two texts share: a model without the model.
    meaning = getattr(request, "param", "words") == "meaning"
    opened = MemoryStore(load_embedder=(lambda: FakeEmbedder(128)) if meaning else no_model)
    yield opened
    opened.close()


@pytest.fixture
def shop(tmp_path: Path) -> str:
    (tmp_path / "shop/.git").mkdir(parents=True)
    return str((tmp_path / "shop").resolve())
