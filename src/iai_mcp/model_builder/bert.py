"""BERT sentence encoders: reads shape and weights, and writes the graph."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder.onnx_graph import RUNTIME_OPS, Graph
from iai_mcp.model_builder.quantization import (
    IDS,
    SENTENCE,
    Arithmetic,
    Floats,
    GraphBuilder,
    Linear,
    Norm,
    layer_norm,
)

Pooling = Literal["mean", "cls"]


class Tensors(Protocol):
    """A file of weights, whatever its format."""

    def floats(self, name: str) -> Floats:
        """The tensor that the published model calls `name`.

        Raises:
            ModelDamaged: it is absent or cut short.
        """
        ...


@dataclass(frozen=True, slots=True)
class Architecture:
    """The numbers that fix the graph."""

    layers: int
    heads: int
    epsilon: float

    @classmethod
    def parse(cls, config: Mapping[str, object]) -> "Architecture":
        """
        Raises:
            ModelDamaged: this is not the configuration of a BERT that can be built here.
        """
        layers, heads = config.get("num_hidden_layers"), config.get("num_attention_heads")
        epsilon = config.get("layer_norm_eps")
        if not (isinstance(layers, int) and isinstance(heads, int) and isinstance(epsilon, float)):
            raise ModelDamaged("the model's config.json does not describe a BERT encoder")
        if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
            raise ModelDamaged("only BERT encoders with the gelu activation can be built")
        return cls(layers, heads, epsilon)


@dataclass(frozen=True, slots=True)
class Layer:
    attention_in: Linear  # queries (already scaled), keys and values side by side
    attention_out: Linear
    attention_norm: Norm
    widen: Linear
    narrow: Linear
    norm: Norm


@dataclass(frozen=True, slots=True)
class BertEncoder:
    """Everything between token ids and the last hidden state."""

    words: Floats
    positions: Floats
    norm: Norm
    layers: tuple[Layer, ...]
    heads: int
    epsilon: float

    @property
    def hidden(self) -> int:
        return int(self.words.shape[1])


def read_encoder(tensors: Tensors, architecture: Architecture, max_tokens: int) -> BertEncoder:
    """The encoder in `tensors`, cut to `max_tokens` positions.

    Raises:
        ModelDamaged: a tensor is missing or cut short.
    """
    # Every token is of the first type, so its vector belongs to the positions.
    token_type = tensors.floats("embeddings.token_type_embeddings.weight")[0]
    positions = tensors.floats("embeddings.position_embeddings.weight")[:max_tokens] + token_type
    return BertEncoder(
        words=tensors.floats("embeddings.word_embeddings.weight"),
        positions=positions,
        norm=_read_norm(tensors, "embeddings.LayerNorm"),
        layers=tuple(
            _read_layer(tensors, n, architecture.heads) for n in range(architecture.layers)
        ),
        heads=architecture.heads,
        epsilon=architecture.epsilon,
    )


def _read_layer(tensors: Tensors, number: int, heads: int) -> Layer:
    prefix = f"encoder.layer.{number}"
    return Layer(
        attention_in=_read_attention_in(tensors, f"{prefix}.attention.self", heads),
        attention_out=_read_linear(tensors, f"{prefix}.attention.output.dense"),
        attention_norm=_read_norm(tensors, f"{prefix}.attention.output.LayerNorm"),
        widen=_read_linear(tensors, f"{prefix}.intermediate.dense"),
        narrow=_read_linear(tensors, f"{prefix}.output.dense"),
        norm=_read_norm(tensors, f"{prefix}.output.LayerNorm"),
    )


def _read_attention_in(tensors: Tensors, prefix: str, heads: int) -> Linear:
    """Three products as one: its input is quantised once instead of three times."""
    query, key, value = (
        _read_linear(tensors, f"{prefix}.{part}") for part in ("query", "key", "value")
    )
    scale = np.float32((query.weight.shape[1] / heads) ** -0.5)
    weight = np.concatenate([query.weight * scale, key.weight, value.weight], axis=1)
    bias = np.concatenate([query.bias * scale, key.bias, value.bias])
    return Linear(f"{prefix}.in", weight, bias)


def _read_linear(tensors: Tensors, name: str) -> Linear:
    return Linear(name, tensors.floats(f"{name}.weight").T, tensors.floats(f"{name}.bias"))


def _read_norm(tensors: Tensors, name: str) -> Norm:
    return Norm(name, tensors.floats(f"{name}.weight"), tensors.floats(f"{name}.bias"))


def sentence_encoder(encoder: BertEncoder, arithmetic: Arithmetic, pooling: Pooling) -> Graph:
    """The whole graph."""
    draft = GraphBuilder()
    tokens = draft.node("Shape", IDS, start=1, end=2)
    table = draft.constant("positions", encoder.positions)
    positions = draft.node("Slice", table, draft.numbers(0), tokens, draft.numbers(0))
    value = draft.node("Add", arithmetic.look_up(draft, encoder.words), positions)
    value = layer_norm(draft, encoder.norm, value, encoder.epsilon)
    for layer in encoder.layers:
        value = _layer(draft, layer, value, encoder, arithmetic)
    pooled = _pool(draft, value, pooling)
    draft.rename(draft.node("LpNormalization", pooled, axis=-1, p=2), SENTENCE)
    return draft.graph(encoder.hidden)


def _layer(
    draft: GraphBuilder, layer: Layer, value: str, encoder: BertEncoder, arithmetic: Arithmetic
) -> str:
    joined = arithmetic.multiply(draft, layer.attention_in, value)
    thirds = draft.numbers(*[encoder.hidden] * 3)
    parts = draft.nodes("Split", 3, joined, thirds, axis=-1)
    # Without a mask this operation never holds all scores at once; the queries are scaled already.
    seen = draft.node(
        "MultiHeadAttention", *parts, domain=RUNTIME_OPS, num_heads=encoder.heads, scale=1.0
    )
    seen = arithmetic.multiply(draft, layer.attention_out, seen)
    value = layer_norm(draft, layer.attention_norm, draft.node("Add", seen, value), encoder.epsilon)
    wide = draft.node("Gelu", arithmetic.multiply(draft, layer.widen, value))
    narrow = arithmetic.multiply(draft, layer.narrow, wide)
    return layer_norm(draft, layer.norm, draft.node("Add", narrow, value), encoder.epsilon)


def _pool(draft: GraphBuilder, value: str, pooling: Pooling) -> str:
    if pooling == "mean":
        return draft.node("ReduceMean", value, draft.numbers(1), keepdims=0)
    first = draft.constant("first", np.int64(0))
    return draft.node("Gather", value, first, axis=1)
