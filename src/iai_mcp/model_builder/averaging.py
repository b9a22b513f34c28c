"""The universal sentence encoder: read from the ONNX graph that others quantised, written as ours.

A deep averaging network: word vectors, three convolutions over neighbouring words beside them, all
of it summed up, and four small layers on top of the sum. No attention: the cost grows with the text.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder.bert import Floats, Linear, Norm
from iai_mcp.model_builder.graph import IDS, SENTENCE, Arithmetic, Draft, layer_norm
from iai_mcp.model_builder.onnx_graph import FLOAT, Array, Graph, read_graph

_ENCODER = "StatefulPartitionedCall/EncoderDNN"
_WORDS = re.compile(r"Func/StatefulPartitionedCall/input/_(\d+):0_quantized")
# How many words a convolution sees, and how many of them stand before its own.
_SPANS = ((2, 0), (3, 1), (5, 2))
_LAST = 1 << 30  # beyond any text


@dataclass(frozen=True, slots=True)
class Branch:
    """What one width of convolution adds to a word: a projection, then two layers over its neighbours."""

    span: int
    before: int
    project: Linear
    norm: Norm
    first: Linear
    second: Linear


@dataclass(frozen=True, slots=True)
class Averager:
    """Everything between token ids and the sentence's vector."""

    words: Floats
    branches: tuple[Branch, ...]
    norm: Norm
    gather: Linear
    # Two layers, each with a way around it.
    hidden: tuple[tuple[Linear, Linear, Linear], ...]
    epsilon: float

    @property
    def dimensions(self) -> int:
        return int(self.hidden[-1][-1].weight.shape[1])


class QuantisedGraph:
    """A published int8 graph: its tensors as float32, and the tokenizer that stands in it."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            ModelDamaged: the file is absent or no graph.
        """
        self._path = path
        graph = read_graph(path)
        self._tensors = graph.tensors
        models = (
            node.attributes.get("model")
            for node in graph.nodes
            if node.operation == "SentencepieceTokenizer"
        )
        self._models = [model for model in models if isinstance(model, bytes)]

    def pieces(self) -> bytes:
        """The SentencePiece model of its tokenizer.

        Raises:
            ModelDamaged: there is none.
        """
        if not self._models:
            raise ModelDamaged(f"the graph {self._path} has no SentencePiece tokenizer")
        return self._models[0]

    def floats(self, name: str) -> Floats:
        """The tensor `name`, or what was quantised under that name.

        Raises:
            ModelDamaged: it is absent.
        """
        if name in self._tensors:
            return np.asarray(self._array(name), dtype=np.float32)
        steps = self._array(f"{name}_quantized").astype(np.float32)
        steps -= np.float32(self._array(f"{name}_zero_point"))
        steps *= np.float32(self._array(f"{name}_scale"))
        return steps

    def words(self) -> Floats:
        """The word vectors. They are dealt out over several tables like cards, one by one."""
        found = {int(match[1]) for name in self._tensors if (match := _WORDS.fullmatch(name))}
        if sorted(found) != list(range(1, len(found) + 1)) or not found:
            raise ModelDamaged(f"the graph {self._path} lacks its word vectors")
        tables = (self.floats(f"Func/StatefulPartitionedCall/input/_{n}:0") for n in sorted(found))
        first = next(tables)
        words = np.empty((len(first) * len(found), first.shape[1]), np.float32)
        words[:: len(found)] = first
        for place, table in enumerate(tables, 1):
            words[place :: len(found)] = table
        return words

    def _array(self, name: str) -> Array:
        if name not in self._tensors:
            raise ModelDamaged(f"the weights in {self._path} lack the tensor '{name}'")
        return self._tensors[name]


def read_averager(graph: QuantisedGraph) -> Averager:
    """
    Raises:
        ModelDamaged: a tensor is missing.
    """
    layers, top = f"{_ENCODER}/CNN_layers", f"{_ENCODER}/DNN"
    return Averager(
        words=graph.words(),
        branches=tuple(_read_branch(graph, layers, span, before) for span, before in _SPANS),
        norm=_norm(graph, f"{layers}/LayerNorm"),
        gather=_linear(graph, f"{layers}/dense/kernel:0", f"{layers}/dense/bias:0"),
        hidden=(_read_residual(graph, top, 0), _read_residual(graph, top, 2)),
        epsilon=1e-12,
    )


def _read_branch(graph: QuantisedGraph, layers: str, span: int, before: int) -> Branch:
    prefix = f"{layers}/ngram_order_{span}"
    dense = f"{prefix}/input_size_projection/dense"
    first, second = f"{prefix}/Ngram-{span}-Conv", f"{prefix}/Ngram-{span}-Conv_1"
    return Branch(
        span,
        before,
        project=_linear(graph, f"{dense}/kernel:0", f"{dense}/bias:0"),
        norm=_norm(graph, f"{prefix}/LayerNorm"),
        first=_linear(graph, f"{first}/weights:0", f"{first}/bias:0"),
        second=_linear(graph, f"{second}/weights:0", f"{second}/bias:0"),
    )


def _read_residual(graph: QuantisedGraph, top: str, number: int) -> tuple[Linear, Linear, Linear]:
    """In, out, and around."""
    after = f"{top}/ResidualHidden_{number + 1}"
    return (
        _linear(graph, f"{top}/ResidualHidden_{number}/dense/kernel:0"),
        _linear(graph, f"{after}/dense/kernel:0"),
        _linear(graph, f"{after}/AdjustDepth/projection/kernel:0"),
    )


def _linear(graph: QuantisedGraph, weight: str, bias: str | None = None) -> Linear:
    matrix = graph.floats(weight)
    shift = np.zeros(matrix.shape[1], np.float32) if bias is None else graph.floats(bias).ravel()
    return Linear(weight.removesuffix(":0"), matrix, shift)


def _norm(graph: QuantisedGraph, name: str) -> Norm:
    return Norm(name, graph.floats(f"{name}/gamma:0"), graph.floats(f"{name}/beta:0"))


def averaging_encoder(averager: Averager, arithmetic: Arithmetic) -> Graph:
    """The whole graph."""
    draft = Draft()
    words = arithmetic.look_up(draft, averager.words)
    seen = [
        _write_branch(draft, branch, words, averager, arithmetic) for branch in averager.branches
    ]
    value = layer_norm(
        draft, averager.norm, draft.node("Concat", words, *seen, axis=-1), averager.epsilon
    )
    # Averaging comes before the product, which is linear: one row instead of one for each word.
    value = draft.node("ReduceMean", value, draft.numbers(1), keepdims=0)
    value = arithmetic.multiply(draft, averager.gather, value)
    value = draft.node("Mul", value, _root_of_length(draft))
    for place, layers in enumerate(averager.hidden):
        last = place == len(averager.hidden) - 1
        value = _write_residual(draft, layers, value, "Tanh" if last else "Relu", arithmetic)
    draft.rename(draft.node("LpNormalization", value, axis=-1, p=2), SENTENCE)
    return draft.graph(averager.dimensions)


def _write_branch(
    draft: Draft, branch: Branch, words: str, averager: Averager, arithmetic: Arithmetic
) -> str:
    projected = arithmetic.multiply(draft, branch.project, words)
    value = layer_norm(draft, branch.norm, projected, averager.epsilon)
    for layer in (branch.first, branch.second):
        around = _neighbours(draft, branch, value)
        change = draft.node("Relu", arithmetic.multiply(draft, layer, around))
        value = draft.node("Add", change, value)
    return value


def _neighbours(draft: Draft, branch: Branch, value: str) -> str:
    """Each word's value beside those of its neighbours; beyond the text there is nothing."""
    after = branch.span - 1 - branch.before
    padded = draft.node("Pad", value, draft.numbers(0, branch.before, 0, 0, after, 0))
    windows = []
    for place in range(branch.span):
        left = branch.span - 1 - place
        begin, end = draft.numbers(place), draft.numbers(-left if left else _LAST)
        windows.append(draft.node("Slice", padded, begin, end, draft.numbers(1)))
    return draft.node("Concat", *windows, axis=-1)


def _root_of_length(draft: Draft) -> str:
    tokens = draft.node("Shape", IDS, start=1, end=2)
    return draft.node("Sqrt", draft.node("Cast", tokens, to=FLOAT))


def _write_residual(
    draft: Draft,
    layers: tuple[Linear, Linear, Linear],
    value: str,
    activation: str,
    arithmetic: Arithmetic,
) -> str:
    inward, outward, around = layers
    change = draft.node("Relu", arithmetic.multiply(draft, inward, value))
    change = arithmetic.multiply(draft, outward, change)
    kept = arithmetic.multiply(draft, around, value)
    return draft.node(activation, draft.node("Add", kept, change))
