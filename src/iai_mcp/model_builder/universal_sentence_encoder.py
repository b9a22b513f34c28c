"""The universal sentence encoder: reads the published int8 graph and its SentencePiece vocabulary, writes ours.

A deep averaging network: word vectors and three convolutions over neighbouring words are averaged, with
four small layers on top. It has no attention: the cost grows with the text.
"""

import base64
import json
import re
import struct
from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iai_mcp.adapters.embedding.pieces import NAMES, SCORES
from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder.onnx_graph import FLOAT, Array, Graph, read_graph
from iai_mcp.model_builder.protobuf import content, fields, integer, text
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
    draft = GraphBuilder()
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
    draft: GraphBuilder, branch: Branch, words: str, averager: Averager, arithmetic: Arithmetic
) -> str:
    projected = arithmetic.multiply(draft, branch.project, words)
    value = layer_norm(draft, branch.norm, projected, averager.epsilon)
    for layer in (branch.first, branch.second):
        around = _neighbours(draft, branch, value)
        change = draft.node("Relu", arithmetic.multiply(draft, layer, around))
        value = draft.node("Add", change, value)
    return value


def _neighbours(draft: GraphBuilder, branch: Branch, value: str) -> str:
    """Each word's value beside those of its neighbours; beyond the text there is nothing."""
    after = branch.span - 1 - branch.before
    padded = draft.node("Pad", value, draft.numbers(0, branch.before, 0, 0, after, 0))
    windows = []
    for place in range(branch.span):
        left = branch.span - 1 - place
        begin, end = draft.numbers(place), draft.numbers(-left if left else _LAST)
        windows.append(draft.node("Slice", padded, begin, end, draft.numbers(1)))
    return draft.node("Concat", *windows, axis=-1)


def _root_of_length(draft: GraphBuilder) -> str:
    tokens = draft.node("Shape", IDS, start=1, end=2)
    return draft.node("Sqrt", draft.node("Cast", tokens, to=FLOAT))


def _write_residual(
    draft: GraphBuilder,
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


_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_TEXT, _SCORE, _KIND = 1, 2, 3
_CHARSMAP = 2
_UNIGRAM = 1
_ORDINARY, _UNKNOWN = 1, 2
_BEGIN, _END = "<s>", "</s>"
_ZERO = memoryview(bytes(4))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A unigram vocabulary. A piece's place is its id; "" stands for marks, which no text holds."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    unknown: int
    begin: int
    end: int
    charsmap: bytes


def read_vocabulary(model: bytes) -> Vocabulary:
    """
    Raises:
        ModelDamaged: this is no SentencePiece model, or none of the unigram kind.
    """
    pieces: list[str] = []
    scores: list[float] = []
    marks: dict[str, int] = {}
    unknown = kind = -1
    charsmap = b""
    try:
        for field, value in fields(model):
            if field == _PIECES:
                entry = dict(fields(content(value)))
                piece = text(entry[_TEXT])
                ordinary = entry.get(_KIND, _ORDINARY) == _ORDINARY
                if entry.get(_KIND) == _UNKNOWN:
                    unknown = len(pieces)
                if not ordinary:
                    marks[piece] = len(pieces)
                pieces.append(piece if ordinary else "")
                scores.append(struct.unpack("<f", content(entry.get(_SCORE, _ZERO)))[0])
            elif field == _TRAINER:
                kind = integer(dict(fields(content(value))).get(3, _UNIGRAM))
            elif field == _NORMALIZER:
                charsmap = bytes(content(dict(fields(content(value))).get(_CHARSMAP, _ZERO[:0])))
        if kind != _UNIGRAM or unknown < 0:
            raise ModelDamaged("the model's tokenizer is not a unigram of SentencePiece")
        begin, end = marks[_BEGIN], marks[_END]
    except (KeyError, IndexError, ValueError, TypeError, struct.error) as error:
        raise ModelDamaged(f"the model's tokenizer can not be read ({error})") from error
    return Vocabulary(tuple(pieces), tuple(scores), unknown, begin, end, charsmap)


def write_pieces(vocabulary: Vocabulary, directory: Path, settings: str) -> None:
    """Put `vocabulary` into `directory`; the file `settings` says how to use it."""
    charsmap = base64.b64encode(vocabulary.charsmap).decode()
    document = {
        "unknown": vocabulary.unknown,
        "begin": vocabulary.begin,
        "end": vocabulary.end,
        "charsmap": charsmap,
    }
    (directory / settings).write_text(json.dumps(document), encoding="utf-8")
    (directory / NAMES).write_text("\n".join(vocabulary.pieces), encoding="utf-8")
    (directory / SCORES).write_bytes(array("f", vocabulary.scores).tobytes())
