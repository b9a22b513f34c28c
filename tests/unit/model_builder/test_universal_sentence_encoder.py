"""The averaging graph computes what the published one does: checked against plain arithmetic."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray
from tests import averaging_models as tiny

from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder.quantization import Exact, Int8
from iai_mcp.model_builder.universal_sentence_encoder import (
    Averager,
    QuantisedGraph,
    averaging_encoder,
    read_averager,
)

Floats = NDArray[np.float64]
IDS = [1, 7, 20, 3, 19, 7, 2]


@pytest.fixture
def published(tmp_path: Path) -> tuple[Averager, tiny.Tensors]:
    tensors = tiny.write_graph(tmp_path / "encoder.onnx", tiny.tiny_tensors())
    return read_averager(QuantisedGraph(tmp_path / "encoder.onnx")), tensors


@pytest.mark.parametrize("ids", [IDS, [1, 2], [7]])
def test_the_float_graph_agrees_with_plain_arithmetic(
    published: tuple[Averager, tiny.Tensors], ids: list[int]
) -> None:
    averager, tensors = published

    found = _run(averaging_encoder(averager, Exact()).serialize(), ids)

    assert np.allclose(found, _plainly(tensors, ids), atol=1e-5)


def test_words_in_int8_change_next_to_nothing(published: tuple[Averager, tiny.Tensors]) -> None:
    averager, tensors = published

    found = _run(averaging_encoder(averager, Exact(small_words=True)).serialize(), IDS)

    assert found @ _plainly(tensors, IDS) > 0.999


def test_the_int8_graph_stays_close_to_the_float_graph(
    published: tuple[Averager, tiny.Tensors],
) -> None:
    averager, tensors = published
    exact = Exact()
    averaging_encoder(averager, exact)
    linears = [averager.gather, *(one for layers in averager.hidden for one in layers)]
    for branch in averager.branches:
        linears += [branch.project, branch.first, branch.second]
    reach = {one.name: np.ones(len(one.weight), np.float32) for one in linears}
    assert reach.keys() == exact.multiplied.keys()

    found = _run(averaging_encoder(averager, Int8(reach)).serialize(), IDS)

    assert found @ _plainly(tensors, IDS) > 0.99


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "encoder.onnx"
    name = "StatefulPartitionedCall/EncoderDNN/CNN_layers/dense/bias:0"
    tiny.write_graph(path, {n: t for n, t in tiny.tiny_tensors().items() if n != name})

    with pytest.raises(ModelDamaged, match="CNN_layers/dense/bias:0"):
        read_averager(QuantisedGraph(path))
    with pytest.raises(ModelDamaged, match="no SentencePiece tokenizer"):
        QuantisedGraph(path).pieces()


def test_a_graph_that_lost_a_table_of_words_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "encoder.onnx"
    tensors = tiny.tiny_tensors()
    del tensors["Func/StatefulPartitionedCall/input/_2:0"]
    tiny.write_graph(path, tensors)

    with pytest.raises(ModelDamaged, match="lacks its word vectors"):
        read_averager(QuantisedGraph(path))


def test_some_other_file_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "encoder.onnx").write_bytes(b"<html>not here</html>")

    with pytest.raises(ModelDamaged, match="can not be read"):
        QuantisedGraph(tmp_path / "encoder.onnx")


def _run(model: bytes, ids: list[int]) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (vectors,) = session.run(None, {"input_ids": np.array([ids])})
    return np.asarray(vectors[0], dtype=np.float32)


def _plainly(tensors: tiny.Tensors, ids: list[int]) -> Floats:
    """Word by word, with loops over the neighbours."""
    tables = [
        tensors[f"Func/StatefulPartitionedCall/input/_{n + 1}:0"].astype(np.float64)
        for n in range(tiny.TABLES)
    ]
    words = np.stack([tables[i % tiny.TABLES][i // tiny.TABLES] for i in ids])
    layers = "StatefulPartitionedCall/EncoderDNN/CNN_layers"
    columns = [words]
    for span, before in ((2, 0), (3, 1), (5, 2)):
        prefix = f"{layers}/ngram_order_{span}"
        dense = f"{prefix}/input_size_projection/dense"
        projected = words @ tensors[f"{dense}/kernel:0"] + tensors[f"{dense}/bias:0"]
        value = _norm(tensors, projected.astype(np.float64), prefix)
        for conv in (f"Ngram-{span}-Conv", f"Ngram-{span}-Conv_1"):
            weight, bias = tensors[f"{prefix}/{conv}/weights:0"], tensors[f"{prefix}/{conv}/bias:0"]
            around = [
                np.concatenate(
                    [
                        value[t + k - before]
                        if 0 <= t + k - before < len(ids)
                        else np.zeros(tiny.INNER)
                        for k in range(span)
                    ]
                )
                for t in range(len(ids))
            ]
            value = np.maximum(np.stack(around) @ weight + bias, 0) + value
        columns.append(value)
    value = _norm(tensors, np.concatenate(columns, axis=1), layers)
    value = value @ tensors[f"{layers}/dense/kernel:0"] + tensors[f"{layers}/dense/bias:0"]
    value = value.sum(axis=0) / np.sqrt(len(ids))
    top = "StatefulPartitionedCall/EncoderDNN/DNN/ResidualHidden"
    for number, finish in ((0, lambda x: np.maximum(x, 0)), (2, np.tanh)):
        change = np.maximum(value @ tensors[f"{top}_{number}/dense/kernel:0"], 0)
        change = change @ tensors[f"{top}_{number + 1}/dense/kernel:0"]
        around_it = value @ tensors[f"{top}_{number + 1}/AdjustDepth/projection/kernel:0"]
        value = finish(change + around_it)
    return np.asarray(value / np.linalg.norm(value))


def _norm(tensors: tiny.Tensors, value: Floats, prefix: str) -> Floats:
    centred = value - value.mean(axis=-1, keepdims=True)
    even = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    return np.asarray(
        even * tensors[f"{prefix}/LayerNorm/gamma:0"] + tensors[f"{prefix}/LayerNorm/beta:0"]
    )
