"""Writes the universal sentence encoder as an ONNX graph: token ids in, one vector of length one out."""

import onnx

from iai_mcp.model_making.averaging import Averager, Branch
from iai_mcp.model_making.bert import Linear
from iai_mcp.model_making.graph import IDS, SENTENCE, Arithmetic, Draft, layer_norm

_LAST = 1 << 30  # beyond any text


def averaging_encoder(averager: Averager, arithmetic: Arithmetic) -> onnx.ModelProto:
    """The whole graph."""
    draft = Draft()
    words = arithmetic.look_up(draft, averager.words)
    seen = [_branch(draft, branch, words, averager, arithmetic) for branch in averager.branches]
    value = layer_norm(
        draft, averager.norm, draft.node("Concat", words, *seen, axis=-1), averager.epsilon
    )
    # Averaging comes before the product, which is linear: one row instead of one for each word.
    value = draft.node("ReduceMean", value, draft.numbers(1), keepdims=0)
    value = arithmetic.multiply(draft, averager.gather, value)
    value = draft.node("Mul", value, _root_of_length(draft))
    for place, layers in enumerate(averager.hidden):
        last = place == len(averager.hidden) - 1
        value = _residual(draft, layers, value, "Tanh" if last else "Relu", arithmetic)
    draft.rename(draft.node("LpNormalization", value, axis=-1, p=2), SENTENCE)
    return draft.model(averager.dimensions)


def _branch(
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
    return draft.node("Sqrt", draft.node("Cast", tokens, to=onnx.TensorProto.FLOAT))


def _residual(
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
