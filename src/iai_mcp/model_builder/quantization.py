"""Builds ONNX graphs, with the costly steps exact in float32 or quantized to int8.

Graphs take token ids and return one vector of length one. They take no attention mask: texts run one by
one. With one thread a batch is not faster from 16 tokens on, padding wastes work, and this way a vector
depends on its text alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from iai_mcp.model_builder.onnx_graph import FLOAT, INT64, Array, Graph, OnnxNode, Value

Floats = NDArray[np.float32]

IDS = "input_ids"
SENTENCE = "sentence_embedding"
WORDS = "words"

# Weights use 64 of the 127 steps: AVX2 without VNNI adds two products in 16 bits, and
# 2 x 255 x 64 is the most that fits. With 127 such machines would compute other vectors.
_STEPS = 64
# How much of the spread moves from activations into weights, measured on 200 sentences: mean
# cosine to float32 .994 at .6, .996 at .75, .996 at .8 (with a worse minimum); .993 without.
_SHARE = 0.75
_LEAST = 1e-5


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


class GraphBuilder:
    """A graph while it is being written. Constants of one name are kept once."""

    def __init__(self) -> None:
        self._nodes: list[OnnxNode] = []
        self._constants: dict[str, Array] = {}

    def constant(self, name: str, value: NDArray[np.generic] | np.generic) -> str:
        if name not in self._constants:
            self._constants[name] = np.asarray(value)
        return name

    def numbers(self, *values: int) -> str:
        """A constant list of whole numbers, as axes and shapes are given."""
        return self.constant("i" + "_".join(map(str, values)), np.array(values, dtype=np.int64))

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: float) -> str:
        """Add an operation with one output and return the output's name."""
        return self.nodes(kind, 1, *inputs, domain=domain, **attributes)[0]

    def nodes(
        self, kind: str, outputs: int, *inputs: str, domain: str = "", **attributes: float
    ) -> list[str]:
        names = [f"{kind}.{len(self._nodes)}.{number}" for number in range(outputs)]
        self._nodes.append(OnnxNode(kind, names[0], inputs, tuple(names), domain, attributes))
        return names

    def rename(self, old: str, new: str) -> None:
        """Call the output `old` of the last operation `new`."""
        last = self._nodes[-1]
        outputs = tuple(new if name == old else name for name in last.outputs)
        self._nodes[-1] = replace(last, outputs=outputs)

    def graph(self, hidden: int) -> Graph:
        ids = Value(IDS, INT64, ("batch", "tokens"))
        sentence = Value(SENTENCE, FLOAT, ("batch", hidden))
        return Graph(self._nodes, self._constants, [ids], [sentence])


class Arithmetic(Protocol):
    """How the two costly steps are computed."""

    def look_up(self, draft: GraphBuilder, words: NDArray[np.float32]) -> str: ...

    def multiply(self, draft: GraphBuilder, linear: Linear, value: str) -> str: ...


def layer_norm(draft: GraphBuilder, norm: Norm, value: str, epsilon: float) -> str:
    weight = draft.constant(f"{norm.name}.weight", norm.weight)
    bias = draft.constant(f"{norm.name}.bias", norm.bias)
    return draft.node("LayerNormalization", value, weight, bias, axis=-1, epsilon=epsilon)


class Exact:
    """Float32, as the model was trained. Remembers what is multiplied, for calibration.

    `small_words`: the words in int8 all the same, where they were published so; a large vocabulary
    in float32 is copied more than once on its way into a graph.
    """

    def __init__(self, *, small_words: bool = False) -> None:
        self.multiplied: dict[str, str] = {}
        self._small_words = small_words

    def look_up(self, draft: GraphBuilder, words: Floats) -> str:
        if self._small_words:
            return _look_up_small(draft, words)
        return draft.node("Gather", draft.constant(WORDS, words), IDS)

    def multiply(self, draft: GraphBuilder, linear: Linear, value: str) -> str:
        self.multiplied[linear.name] = value
        weight = draft.constant(f"{linear.name}.weight", linear.weight)
        bias = draft.constant(f"{linear.name}.bias", linear.bias)
        return draft.node("Add", draft.node("MatMul", value, weight), bias)


class Int8:
    """Int8 weights by output channel, int8 activations scaled as they come.

    A few channels of BERT's activations are far larger than the rest and would eat the range
    of all: each channel is divided by its `reach` (the largest value that calibration saw)
    to some power, and the weights multiplied by the same. The product stays what it was.
    """

    def __init__(self, reach: Mapping[str, Floats]) -> None:
        self._reach = reach

    def look_up(self, draft: GraphBuilder, words: Floats) -> str:
        return _look_up_small(draft, words)

    def multiply(self, draft: GraphBuilder, linear: Linear, value: str) -> str:
        name = linear.name
        divisor = _divisor(self._reach[name], linear.weight)
        weight = linear.weight * divisor[:, None]
        scales = np.maximum(np.abs(weight).max(axis=0) / _STEPS, _LEAST)
        small = draft.constant(f"{name}.weight", np.rint(weight / scales).astype(np.int8))

        even = draft.node("Mul", value, draft.constant(f"{name}.even", 1 / divisor))
        tight, scale, zero = draft.nodes("DynamicQuantizeLinear", 3, even)
        product = draft.node(
            "MatMulInteger", tight, small, zero, draft.constant("zero", np.int8(0))
        )
        scale = draft.node("Mul", scale, draft.constant(f"{name}.scale", scales))
        product = draft.node("Mul", draft.node("Cast", product, to=FLOAT), scale)
        return draft.node("Add", product, draft.constant(f"{name}.bias", linear.bias))


def _divisor(reach: Floats, weight: Floats) -> Floats:
    weights = np.maximum(np.abs(weight).max(axis=1), _LEAST)
    divisor = np.maximum(reach, _LEAST) ** _SHARE / weights ** (1 - _SHARE)
    return np.asarray(divisor / np.exp(np.log(divisor).mean()), dtype=np.float32)


def _look_up_small(draft: GraphBuilder, words: Floats) -> str:
    # A scale for each word: one for all would lose the quiet ones.
    largest = np.maximum(words.max(axis=1, keepdims=True), -words.min(axis=1, keepdims=True))
    scales = np.maximum(largest / 127, _LEAST)
    # A large vocabulary is a quarter of a gigabyte: one copy of it is enough.
    steps = words / scales
    small = np.rint(steps, out=steps).astype(np.int8)
    rows = draft.node("Gather", draft.constant(WORDS, small), IDS)
    scale = draft.node("Gather", draft.constant(f"{WORDS}.scale", scales), IDS)
    return draft.node("Mul", draft.node("Cast", rows, to=FLOAT), scale)
