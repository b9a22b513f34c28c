"""Opens a graph on onnxruntime with one thread and little memory, and reads what it wants."""

import mmap
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as refusals

from iai_mcp.adapters.embedding.location import ModelFiles
from iai_mcp.adapters.embedding.manifest import Pooling
from iai_mcp.domain.errors import ModelDamaged

# The library's errors share no class of their own.
REFUSALS: tuple[type[Exception], ...] = (
    refusals.Fail,
    refusals.InvalidArgument,
    refusals.InvalidGraph,
    refusals.InvalidProtobuf,
    refusals.NoModel,
    refusals.NoSuchFile,
    refusals.NotImplemented,
    refusals.RuntimeException,
)

# The graph's constant that holds one row for each word of the vocabulary.
_WORDS = "words"
_ERRORS_ONLY = 3
_TYPES: dict[str, type[np.generic]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_KNOWN = ("input_ids", "attention_mask", "token_type_ids", "position_ids")


class Run(Protocol):
    """A graph that is ready: the values of its inputs in, the wanted outputs out."""

    def __call__(
        self, outputs: list[str], feed: dict[str, NDArray[np.generic]]
    ) -> list[NDArray[np.generic]]: ...


@dataclass(frozen=True, slots=True)
class Session:
    """A loaded graph: its inputs by name and type, its output, and how that is pooled."""

    run: Run
    inputs: dict[str, type[np.generic]]
    output: str
    pooling: Pooling
    # What the graph reads from without owning it: freed earlier, the next run would crash.
    borrowed: onnxruntime.OrtValue | None


def open_session(place: ModelFiles, words: mmap.mmap | None) -> Session:
    """
    Raises:
        ModelDamaged: onnxruntime refuses the file, or it is no text encoder.
    """
    onnxruntime.set_default_logger_severity(_ERRORS_ONLY)
    table = _table(place, words)
    options = _options()
    if table is not None:
        options.add_initializer(_WORDS, table)
    try:
        raw = onnxruntime.InferenceSession(
            str(place.graph), options, providers=["CPUExecutionProvider"]
        )
    except REFUSALS as error:
        raise ModelDamaged(
            f"onnxruntime can not load {place.graph} ({type(error).__name__}); {place.remedy()}"
        ) from error
    output, pooling = _output(raw, place)
    return Session(raw.run, _inputs(raw, place), output, pooling, table)


def map_words(place: ModelFiles) -> mmap.mmap | None:
    """The model's word vectors as a mapped file, if it keeps them in one."""
    if place.manifest.words is None:
        return None
    path = place.directory / place.manifest.words[0]
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    except (OSError, ValueError) as error:
        raise ModelDamaged(f"{path} can not be read; {place.remedy()}") from error


def _table(place: ModelFiles, words: mmap.mmap | None) -> onnxruntime.OrtValue | None:
    """The mapped words as the graph's constant, uncopied.

    onnxruntime would map the file by itself, but only pages of our mapping can be given back.
    """
    if words is None or place.manifest.words is None:
        return None
    try:
        table = np.frombuffer(words, dtype=np.int8).reshape(place.manifest.words[1], -1)
    except ValueError as error:
        raise ModelDamaged(f"the words of {place.graph} are cut short; {place.remedy()}") from error
    return onnxruntime.OrtValue.ortvalue_from_numpy(table)


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    # Buffers come and go with each run instead of staying at their largest size.
    options.enable_cpu_mem_arena = False
    return options


def _inputs(raw: onnxruntime.InferenceSession, place: ModelFiles) -> dict[str, type[np.generic]]:
    wanted = {value.name: _TYPES.get(value.type) for value in raw.get_inputs()}
    known = {name: kind for name, kind in wanted.items() if name in _KNOWN and kind is not None}
    if known.keys() != wanted.keys() or "input_ids" not in known:
        raise ModelDamaged(
            f"{place.graph} wants the inputs {', '.join(wanted)}; a text encoder has input_ids "
            f"and at most attention_mask, token_type_ids and position_ids; {place.remedy()}"
        )
    return known


def _output(raw: onnxruntime.InferenceSession, place: ModelFiles) -> tuple[str, Pooling]:
    """The output to take, and how: a sentence's vector if there is one, else the tokens'."""
    ranks = {value.name: len(value.shape or ()) for value in raw.get_outputs()}
    sentences = [name for name, rank in ranks.items() if rank == 2]
    tokens = [name for name, rank in ranks.items() if rank == 3]
    if place.pooling in (None, "graph") or not tokens:
        for name in ("sentence_embedding", *sentences):
            if name in sentences and (name == "sentence_embedding" or not tokens):
                return name, "graph"
    if tokens and place.pooling != "graph":
        return tokens[0], place.pooling or "mean"
    raise ModelDamaged(
        f"{place.graph} has the outputs {', '.join(ranks)}, and none of them is a vector for "
        f"each text or token; {place.remedy()}"
    )
