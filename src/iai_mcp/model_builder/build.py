"""Turns a model's weights into the int8 graph that the runtime loads, and proves it faithful."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import onnxruntime

from iai_mcp.adapters.embedding import manifest
from iai_mcp.adapters.embedding.location import GRAPH, TOKENIZER, sha256
from iai_mcp.adapters.embedding.manifest import FileMark, Manifest, Probe
from iai_mcp.adapters.embedding.pieces import Pieces
from iai_mcp.adapters.embedding.tokens import Tokens
from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder.bert import (
    Architecture,
    BertEncoder,
    Pooling,
    Tensors,
    read_encoder,
    sentence_encoder,
)
from iai_mcp.model_builder.calibration import CALIBRATE, CHECK, LANGUAGES
from iai_mcp.model_builder.onnx_graph import FLOAT, Array, Graph, Value
from iai_mcp.model_builder.quantization import (
    IDS,
    SENTENCE,
    WORDS,
    Arithmetic,
    Exact,
    Floats,
    Int8,
)
from iai_mcp.model_builder.universal_sentence_encoder import (
    QuantisedGraph,
    averaging_encoder,
    read_averager,
    read_vocabulary,
    write_pieces,
)
from iai_mcp.model_builder.weights import OnnxWeights, TensorFile
from iai_mcp.paths import sync_directory

_WORDS_FILE = "words.bin"
_WEIGHTS_FILE = "weights.bin"
_FAITHFUL = 0.99
# Constants below this many bytes stay in the graph's own file.
_OUTSIDE = 1024


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """The published model's files and how its sentences are meant to be read."""

    weights: Path
    config: Path
    tokenizer: Path
    shape: Literal["bert", "averaging"]
    model_id: str
    max_tokens: int
    pooling: Pooling
    licence: str


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be built, whatever the encoder's shape."""

    words: int
    write: Callable[[Arithmetic], Graph]
    tokens: Tokens | Pieces
    calibrate: tuple[str, ...]
    check: tuple[str, ...]
    small_words: bool
    # The share of a layer's mean reach that its quiet channels count for. A Relu leaves channels
    # that no calibration stirs: scaled up by what was seen of them, the first text that does
    # stir one would drown all others.
    quiet: float


def build(source: PublishedModel, directory: Path) -> Manifest:
    """Write a whole model into the empty `directory`, safe on disk; returns its manifest.

    Raises:
        ModelDamaged: the weights are not whole, or the result strays too far from them.
        OSError: the directory can not be written.
    """
    plan = _plan(source, directory)
    check = [plan.tokens.ids(text) for text in plan.check]

    exact = Exact(small_words=plan.small_words)
    model = plan.write(exact)
    expected = _vectors(_session(model.serialize()), check)
    ids = [plan.tokens.ids(text) for text in plan.calibrate]
    reach = _reach(model, exact.multiplied, ids, plan.quiet)

    _write_graph(plan.write(Int8(reach)), directory)
    found = _vectors(_session(str(directory / GRAPH)), check)
    fidelity = float((expected * found).sum(axis=1).mean())
    if not fidelity >= _FAITHFUL:
        raise ModelDamaged(
            f"the int8 model strays from its weights on this machine (cosine {fidelity:.3f})"
        )
    made = Manifest(
        model_id=source.model_id,
        max_tokens=source.max_tokens,
        pooling="graph",
        files=_marks(directory),
        probe=Probe(plan.check[0], tuple(round(float(x), 5) for x in found[0])),
        words=(_WORDS_FILE, plan.words),
        fidelity=round(fidelity, 4),
        licence=source.licence,
    )
    (directory / manifest.NAME).write_text(made.to_json(), encoding="utf-8")
    _settle(directory)
    return made


def _plan(source: PublishedModel, directory: Path) -> _Plan:
    """Read the weights, and write the tokenizer."""
    return (
        _averaging(source, directory) if source.shape == "averaging" else _bert(source, directory)
    )


def _averaging(source: PublishedModel, directory: Path) -> _Plan:
    graph = QuantisedGraph(source.weights)
    averager = read_averager(graph)
    write_pieces(read_vocabulary(graph.pieces()), directory, TOKENIZER)
    return _Plan(
        words=len(averager.words),
        write=lambda arithmetic: averaging_encoder(averager, arithmetic),
        tokens=Pieces(directory / TOKENIZER, source.max_tokens),
        calibrate=CALIBRATE + LANGUAGES[::2],
        check=CHECK + LANGUAGES[1::2],
        small_words=True,
        quiet=1.0,
    )


def _bert(source: PublishedModel, directory: Path) -> _Plan:
    encoder = _encoder(source)
    _write_tokenizer(source.tokenizer, directory / TOKENIZER)
    return _Plan(
        words=len(encoder.words),
        write=lambda arithmetic: sentence_encoder(encoder, arithmetic, source.pooling),
        tokens=Tokens(directory / TOKENIZER, source.max_tokens),
        calibrate=CALIBRATE,
        check=CHECK,
        small_words=False,
        quiet=0.0,
    )


def _encoder(source: PublishedModel) -> BertEncoder:
    try:
        config = json.loads(source.config.read_bytes())
    except ValueError as error:
        raise ModelDamaged(f"{source.config} is not JSON") from error
    if not isinstance(config, dict):
        raise ModelDamaged(f"{source.config} is not a JSON object")
    architecture = Architecture.parse(config)
    onnx_graph = source.weights.suffix == ".onnx"
    tensors: Tensors = OnnxWeights(source.weights) if onnx_graph else TensorFile(source.weights)
    return read_encoder(tensors, architecture, source.max_tokens)


def _write_tokenizer(published: Path, ours: Path) -> None:
    """The published tokenizer without its padding and cutting, which cost time and are not used."""
    document = json.loads(published.read_bytes())
    document.update(truncation=None, padding=None)
    ours.write_text(
        json.dumps(document, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
    )


def _session(graph: bytes | str) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _vectors(session: onnxruntime.InferenceSession, texts: Sequence[list[int]]) -> Floats:
    rows = [session.run([SENTENCE], {IDS: np.array([ids])})[0] for ids in texts]
    return np.concatenate(rows)


def _reach(
    model: Graph,
    multiplied: Mapping[str, str],
    texts: Sequence[list[int]],
    quiet: float,
) -> dict[str, Floats]:
    """How far from zero each channel goes that `model` multiplies by weights."""
    model.outputs.extend(Value(name, FLOAT) for name in sorted(set(multiplied.values())))
    session = _session(model.serialize())
    reach: dict[str, Floats] = {}
    for ids in texts:
        values = session.run(list(multiplied.values()), {IDS: np.array([ids])})
        for name, value in zip(multiplied, values, strict=True):
            largest = np.abs(value).reshape(-1, value.shape[-1]).max(axis=0)
            reach[name] = np.maximum(reach.get(name, largest), largest)
    return {name: np.maximum(seen, quiet * seen.mean()) for name, seen in reach.items()}


def _write_graph(model: Graph, directory: Path) -> None:
    """The graph with its numbers in two files beside it, which are mapped instead of copied."""

    def file_of(name: str, array: Array) -> str | None:
        if array.nbytes < _OUTSIDE:
            return None
        return _WORDS_FILE if name == WORDS else _WEIGHTS_FILE

    model.write(directory / GRAPH, file_of)


def _marks(directory: Path) -> dict[str, FileMark]:
    return {p.name: FileMark(p.stat().st_size, sha256(p)) for p in sorted(directory.iterdir())}


def _settle(directory: Path) -> None:
    """Private to their owner, and on disk before anybody is told of them."""
    for path in directory.iterdir():
        path.chmod(0o600)
        with path.open("rb") as file:
            os.fsync(file.fileno())
    sync_directory(directory)
