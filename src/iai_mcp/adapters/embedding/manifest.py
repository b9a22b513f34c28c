"""`manifest.json`: what a model directory says about itself.

Ours carry all of it. A directory of the user's own may have one with any of `model_id`,
`max_tokens`, `pooling`, `prefix`; what is absent is read from the model.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from iai_mcp.domain.errors import ModelDamaged

NAME = "manifest.json"

# "graph": the model's output is the sentence's vector; else how its token vectors become one.
Pooling = Literal["graph", "mean", "cls"]
_POOLINGS: Mapping[str, Pooling] = {"graph": "graph", "mean": "mean", "cls": "cls"}


@dataclass(frozen=True, slots=True)
class FileMark:
    """By what a file is known to be whole."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A text and its vector on the machine that built the model: damage shows as another vector."""

    text: str
    vector: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    model_id: str | None = None
    max_tokens: int | None = None
    pooling: Pooling | None = None
    prefix: str = ""
    files: Mapping[str, FileMark] = field(default_factory=dict)
    probe: Probe | None = None
    # The file with the word vectors and how many there are: mapped, so only what is used is held.
    words: tuple[str, int] | None = None
    # Mean cosine to float32, measured when the model was built.
    fidelity: float | None = None
    licence: str | None = None

    def to_json(self) -> str:
        document: dict[str, object] = {
            "model_id": self.model_id,
            "max_tokens": self.max_tokens,
            "pooling": self.pooling,
            "prefix": self.prefix,
            "files": {n: {"size": m.size, "sha256": m.sha256} for n, m in self.files.items()},
            "fidelity": self.fidelity,
            "licence": self.licence,
        }
        if self.words is not None:
            document["words"] = {"file": self.words[0], "count": self.words[1]}
        if self.probe is not None:
            document["probe"] = {"text": self.probe.text, "vector": self.probe.vector}
        return json.dumps(document, indent=1) + "\n"


def read(directory: Path) -> Manifest | None:
    """The manifest in `directory`, or None if there is none.

    Raises:
        ModelDamaged: there is one and it makes no sense.
    """
    path = directory / NAME
    try:
        document = json.loads(path.read_bytes())
        return _parse(document)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = str(error) or type(error).__name__
        raise ModelDamaged(f"the manifest {path} can not be used: {reason}") from error


def _parse(document: object) -> Manifest:
    if not isinstance(document, dict):
        raise TypeError("it is not a JSON object")
    files, probe, words = document.get("files", {}), document.get("probe"), document.get("words")
    pooling, fidelity = document.get("pooling"), document.get("fidelity")
    return Manifest(
        model_id=_text(document, "model_id"),
        max_tokens=_count(document, "max_tokens"),
        pooling=None if pooling is None else _POOLINGS[pooling],
        prefix=_text(document, "prefix") or "",
        files={str(n): _mark(m) for n, m in dict(files).items()},
        probe=probe and Probe(str(probe["text"]), tuple(float(x) for x in probe["vector"])),
        words=words and (str(words["file"]), int(words["count"])),
        fidelity=None if fidelity is None else float(fidelity),
        licence=_text(document, "licence"),
    )


def _mark(entry: Mapping[str, object]) -> FileMark:
    return FileMark(int(str(entry["size"])), str(entry["sha256"]))


def _text(document: Mapping[str, object], key: str) -> str | None:
    value = document.get(key)
    if value is not None and not isinstance(value, str):
        raise TypeError(f"'{key}' is not a text")
    return value


def _count(document: Mapping[str, object], key: str) -> int | None:
    value = document.get(key)
    if value is not None and not (isinstance(value, int) and value > 2):
        raise ValueError(f"'{key}' is not a number above 2")
    return value
