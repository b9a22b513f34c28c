"""Writes a BERT sentence encoder as an ONNX graph: token ids in, one vector of length one out.

The graph takes no attention mask. Texts are run one by one: with one thread a batch is not
faster from 16 tokens on, padding wastes work, and a vector then depends on its text alone.
"""

from typing import Literal, Protocol

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from iai_mcp.model_making.bert import Encoder, Layer, Linear, Norm

Pooling = Literal["mean", "cls"]

IDS = "input_ids"
SENTENCE = "sentence_embedding"
WORDS = "words"

_OPSET = 20  # the first with Gelu
_IR_VERSION = 10
_RUNTIME_OPS = "com.microsoft"


class Draft:
    """A graph while it is being written. Constants of one name are kept once."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: NDArray[np.generic] | np.generic) -> str:
        if name not in self._constants:
            array = np.ascontiguousarray(value).reshape(np.shape(value))
            self._constants[name] = numpy_helper.from_array(array, name)
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
        node = helper.make_node(kind, list(inputs), names, name=names[0], domain=domain)
        node.attribute.extend(helper.make_attribute(n, value) for n, value in attributes.items())
        self._nodes.append(node)
        return names

    def rename(self, old: str, new: str) -> None:
        """Call the output `old` of the last operation `new`."""
        last = self._nodes[-1]
        last.output[list(last.output).index(old)] = new

    def model(self, hidden: int) -> onnx.ModelProto:
        ids = helper.make_tensor_value_info(IDS, TensorProto.INT64, ["batch", "tokens"])
        sentence = helper.make_tensor_value_info(SENTENCE, TensorProto.FLOAT, ["batch", hidden])
        constants = list(self._constants.values())
        graph = helper.make_graph(self._nodes, "encoder", [ids], [sentence], constants)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_RUNTIME_OPS, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)


class Arithmetic(Protocol):
    """How the two costly steps are computed."""

    def look_up(self, draft: Draft, words: NDArray[np.float32]) -> str: ...

    def multiply(self, draft: Draft, linear: Linear, value: str) -> str: ...


def sentence_encoder(encoder: Encoder, arithmetic: Arithmetic, pooling: Pooling) -> onnx.ModelProto:
    """The whole graph."""
    draft = Draft()
    tokens = draft.node("Shape", IDS, start=1, end=2)
    table = draft.constant("positions", encoder.positions)
    positions = draft.node("Slice", table, draft.numbers(0), tokens, draft.numbers(0))
    value = draft.node("Add", arithmetic.look_up(draft, encoder.words), positions)
    value = layer_norm(draft, encoder.norm, value, encoder.epsilon)
    for layer in encoder.layers:
        value = _layer(draft, layer, value, encoder, arithmetic)
    pooled = _pool(draft, value, pooling)
    draft.rename(draft.node("LpNormalization", pooled, axis=-1, p=2), SENTENCE)
    return draft.model(encoder.hidden)


def _layer(draft: Draft, layer: Layer, value: str, encoder: Encoder, arithmetic: Arithmetic) -> str:
    joined = arithmetic.multiply(draft, layer.attention_in, value)
    thirds = draft.numbers(*[encoder.hidden] * 3)
    parts = draft.nodes("Split", 3, joined, thirds, axis=-1)
    # Without a mask this operation never holds all scores at once; the queries are scaled already.
    seen = draft.node(
        "MultiHeadAttention", *parts, domain=_RUNTIME_OPS, num_heads=encoder.heads, scale=1.0
    )
    seen = arithmetic.multiply(draft, layer.attention_out, seen)
    value = layer_norm(draft, layer.attention_norm, draft.node("Add", seen, value), encoder.epsilon)
    wide = draft.node("Gelu", arithmetic.multiply(draft, layer.widen, value))
    narrow = arithmetic.multiply(draft, layer.narrow, wide)
    return layer_norm(draft, layer.norm, draft.node("Add", narrow, value), encoder.epsilon)


def layer_norm(draft: Draft, norm: Norm, value: str, epsilon: float) -> str:
    weight = draft.constant(f"{norm.name}.weight", norm.weight)
    bias = draft.constant(f"{norm.name}.bias", norm.bias)
    return draft.node("LayerNormalization", value, weight, bias, axis=-1, epsilon=epsilon)


def _pool(draft: Draft, value: str, pooling: Pooling) -> str:
    if pooling == "mean":
        return draft.node("ReduceMean", value, draft.numbers(1), keepdims=0)
    first = draft.constant("first", np.int64(0))
    return draft.node("Gather", value, first, axis=1)


def give_out(model: onnx.ModelProto, values: list[str]) -> None:
    """Make inner `values` outputs of `model` too."""
    model.graph.output.extend(
        helper.make_tensor_value_info(value, TensorProto.FLOAT, None) for value in values
    )
