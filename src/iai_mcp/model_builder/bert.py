"""A BERT encoder as plain arrays: its shape from `config.json`, its numbers from a file of weights."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.errors import ModelDamaged

Floats = NDArray[np.float32]


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
class Linear:
    """`x @ weight + bias`; `weight` is (inputs, outputs)."""

    name: str
    weight: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Norm:
    name: str
    weight: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Layer:
    attention_in: Linear  # queries (already scaled), keys and values side by side
    attention_out: Linear
    attention_norm: Norm
    widen: Linear
    narrow: Linear
    norm: Norm


@dataclass(frozen=True, slots=True)
class Encoder:
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


def read_encoder(tensors: Tensors, architecture: Architecture, max_tokens: int) -> Encoder:
    """The encoder in `tensors`, cut to `max_tokens` positions.

    Raises:
        ModelDamaged: a tensor is missing or cut short.
    """
    # Every token is of the first type, so its vector belongs to the positions.
    token_type = tensors.floats("embeddings.token_type_embeddings.weight")[0]
    positions = tensors.floats("embeddings.position_embeddings.weight")[:max_tokens] + token_type
    return Encoder(
        words=tensors.floats("embeddings.word_embeddings.weight"),
        positions=positions,
        norm=_norm(tensors, "embeddings.LayerNorm"),
        layers=tuple(_layer(tensors, n, architecture.heads) for n in range(architecture.layers)),
        heads=architecture.heads,
        epsilon=architecture.epsilon,
    )


def _layer(tensors: Tensors, number: int, heads: int) -> Layer:
    prefix = f"encoder.layer.{number}"
    return Layer(
        attention_in=_attention_in(tensors, f"{prefix}.attention.self", heads),
        attention_out=_linear(tensors, f"{prefix}.attention.output.dense"),
        attention_norm=_norm(tensors, f"{prefix}.attention.output.LayerNorm"),
        widen=_linear(tensors, f"{prefix}.intermediate.dense"),
        narrow=_linear(tensors, f"{prefix}.output.dense"),
        norm=_norm(tensors, f"{prefix}.output.LayerNorm"),
    )


def _attention_in(tensors: Tensors, prefix: str, heads: int) -> Linear:
    """Three products as one: its input is quantised once instead of three times."""
    query, key, value = (_linear(tensors, f"{prefix}.{part}") for part in ("query", "key", "value"))
    scale = np.float32((query.weight.shape[1] / heads) ** -0.5)
    weight = np.concatenate([query.weight * scale, key.weight, value.weight], axis=1)
    bias = np.concatenate([query.bias * scale, key.bias, value.bias])
    return Linear(f"{prefix}.in", weight, bias)


def _linear(tensors: Tensors, name: str) -> Linear:
    return Linear(name, tensors.floats(f"{name}.weight").T, tensors.floats(f"{name}.bias"))


def _norm(tensors: Tensors, name: str) -> Norm:
    return Norm(name, tensors.floats(f"{name}.weight"), tensors.floats(f"{name}.bias"))
