"""Models as others export them: masks, token types, token vectors that want pooling."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tests.models import VOCABULARY, write_published

from iai_mcp.adapters.embedding import location
from iai_mcp.adapters.embedding.runtime import OnnxEmbedder
from iai_mcp.domain.errors import ModelDamaged

WORDS = np.random.default_rng(3).normal(size=(len(VOCABULARY), 8)).astype(np.float32)
HELLO, CAKE = VOCABULARY.index("hello"), VOCABULARY.index("cake")


def test_token_vectors_are_averaged(tmp_path: Path) -> None:
    embedder = _embedder(tmp_path, ["input_ids", "attention_mask"], "last_hidden_state", rank=3)

    found = embedder.embed(["hello cake"])[0]

    assert np.allclose(found, _unit(WORDS[[2, HELLO, CAKE, 3]].mean(axis=0)), atol=1e-6)


def test_a_manifest_may_ask_for_the_first_token(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"pooling": "cls", "model_id": "mine"}')
    embedder = _embedder(tmp_path, ["input_ids", "token_type_ids"], "last_hidden_state", rank=3)

    assert np.allclose(embedder.embed(["hello"])[0], _unit(WORDS[2]), atol=1e-6)
    assert embedder.model_id == "mine"


def test_so_may_the_published_pooling_file(tmp_path: Path) -> None:
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    embedder = _embedder(tmp_path, ["input_ids"], "token_embeddings", rank=3)

    assert np.allclose(embedder.embed(["hello"])[0], _unit(WORDS[2]), atol=1e-6)


def test_a_sentence_vector_is_taken_as_it_is(tmp_path: Path) -> None:
    embedder = _embedder(tmp_path, ["input_ids"], "sentence_embedding", rank=2)

    assert np.allclose(embedder.embed(["hello"])[0], _unit(WORDS[2]), atol=1e-6)


def test_a_prefix_is_put_before_every_text(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"prefix": "cake "}')
    embedder = _embedder(tmp_path, ["input_ids"], "last_hidden_state", rank=3)

    found = embedder.embed(["hello"])[0]

    assert np.allclose(found, _unit(WORDS[[2, CAKE, HELLO, 3]].mean(axis=0)), atol=1e-6)


def test_a_graph_that_wants_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match="wants the inputs input_ids, pixel_values"):
        _embedder(tmp_path, ["input_ids", "pixel_values"], "last_hidden_state", rank=3)


def test_a_graph_that_gives_no_vectors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match="outputs logits"):
        _embedder(tmp_path, ["input_ids"], "logits", rank=1)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def _embedder(directory: Path, inputs: list[str], output: str, rank: int) -> OnnxEmbedder:
    """A model that looks words up; of rank 2 and 1, those of the first word."""
    write_published(directory)
    shapes: dict[int, list[str | int | None]] = {3: ["b", "t", 8], 2: ["b", 8], 1: ["b"]}
    constants = [numpy_helper.from_array(WORDS, "table")]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["looked_up"])]
    last = "looked_up"
    for _ in range(3 - rank):
        constants.append(numpy_helper.from_array(np.array(0), f"zero-{last}"))
        nodes.append(helper.make_node("Gather", [last, f"zero-{last}"], [f"{last}-"], axis=1))
        last += "-"
    nodes.append(helper.make_node("Identity", [last], [output]))
    graph = helper.make_graph(
        nodes,
        "own",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["b", "t"]) for n in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shapes[rank])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save_model(model, str(directory / "model.onnx"))
    return OnnxEmbedder(location.own(directory))
