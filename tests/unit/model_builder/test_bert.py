"""The graph computes what BERT computes: checked against a second, plain implementation."""

from math import erf
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray
from tests import models

from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder.bert import (
    Architecture,
    BertEncoder,
    Pooling,
    read_encoder,
    sentence_encoder,
)
from iai_mcp.model_builder.quantization import Exact, Int8
from iai_mcp.model_builder.weights import TensorFile

Floats = NDArray[np.float64]
IDS = [2, 9, 41, 80, 17, 17, 3]


@pytest.fixture
def encoder(tmp_path: Path) -> BertEncoder:
    path = tmp_path / "model.safetensors"
    models.write_safetensors(path, models.tiny_tensors())
    return read_encoder(TensorFile(path), Architecture(models.LAYERS, models.HEADS, 1e-12), 32)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_the_float_graph_agrees_with_a_plain_bert(encoder: BertEncoder, pooling: Pooling) -> None:
    model = sentence_encoder(encoder, Exact(), pooling)

    found = _run(model.serialize(), IDS)

    states = _plain_bert(models.tiny_tensors(), IDS)
    expected = states.mean(axis=0) if pooling == "mean" else states[0]
    assert np.allclose(found, expected / np.linalg.norm(expected), atol=1e-5)


def test_the_int8_graph_stays_close_to_the_float_graph(encoder: BertEncoder) -> None:
    exact = Exact()
    expected = _run(sentence_encoder(encoder, exact, "mean").serialize(), IDS)
    reach = {name: np.ones(_width(encoder, name), np.float32) for name in exact.multiplied}

    found = _run(sentence_encoder(encoder, Int8(reach), "mean").serialize(), IDS)

    assert found @ expected > 0.99


def test_only_a_bert_with_gelu_is_built() -> None:
    config = {"num_hidden_layers": 2, "num_attention_heads": 4, "layer_norm_eps": 1e-12}

    with pytest.raises(ModelDamaged, match="only BERT"):
        Architecture.parse({**config, "model_type": "bert", "hidden_act": "relu"})
    with pytest.raises(ModelDamaged, match=r"config\.json"):
        Architecture.parse({"model_type": "bert"})


def _run(model: bytes, ids: list[int]) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (vectors,) = session.run(None, {"input_ids": np.array([ids])})
    return np.asarray(vectors[0], dtype=np.float32)


def _width(encoder: BertEncoder, name: str) -> int:
    for layer in encoder.layers:
        for linear in (layer.attention_in, layer.attention_out, layer.widen, layer.narrow):
            if linear.name == name:
                return len(linear.weight)
    raise AssertionError(name)


def _plain_bert(tensors: dict[str, NDArray[np.float32]], ids: list[int]) -> Floats:
    """The last hidden states, written from the paper with a loop over the heads."""
    weights = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}

    def linear(value: Floats, name: str) -> Floats:
        result: Floats = value @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
        return result

    def norm(value: Floats, name: str) -> Floats:
        centred = value - value.mean(axis=-1, keepdims=True)
        even = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        result: Floats = even * weights[f"{name}.weight"] + weights[f"{name}.bias"]
        return result

    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    size = models.HIDDEN // models.HEADS
    for layer in range(models.LAYERS):
        prefix = f"encoder.layer.{layer}"
        parts = [linear(x, f"{prefix}.attention.self.{p}") for p in ("query", "key", "value")]
        heads = []
        for head in range(models.HEADS):
            q, k, v = (part[:, head * size : (head + 1) * size] for part in parts)
            scores = np.exp(q @ k.T / np.sqrt(size))
            heads.append(scores / scores.sum(axis=1, keepdims=True) @ v)
        seen = linear(np.concatenate(heads, axis=1), f"{prefix}.attention.output.dense")
        x = norm(x + seen, f"{prefix}.attention.output.LayerNorm")
        wide = linear(x, f"{prefix}.intermediate.dense")
        wide = wide * 0.5 * (1 + np.vectorize(erf)(wide / np.sqrt(2)))
        x = norm(x + linear(wide, f"{prefix}.output.dense"), f"{prefix}.output.LayerNorm")
    return x
