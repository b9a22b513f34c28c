"""Where a model is looked for, and whether its files are whole.

`IAI_MCP_EMBED_MODEL` names a model of the user's own, or one of the catalogue. Else the one that
was installed last by name, else the default one: in the user data of this store, or in the home's,
because scratch stores share what is installed there.
"""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from iai_mcp import paths
from iai_mcp.adapters.embedding import manifest
from iai_mcp.adapters.embedding.catalogue import DEFAULT, MODELS, CatalogueEntry, by_name
from iai_mcp.adapters.embedding.manifest import Manifest, Pooling
from iai_mcp.domain.errors import InvalidInput, ModelDamaged, NotFound, NotInstalled

OWN_MODEL = "IAI_MCP_EMBED_MODEL"
INSTALL = "run: iai-mcp model install"
TOKENIZER = "tokenizer.json"
GRAPH = "model.onnx"

_CHOSEN = "chosen"
_CHUNK = 1 << 20
# What most sentence encoders were trained with; more costs time and rarely helps.
_USUAL_MAX_TOKENS = 256


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model on disk: the graph, its tokenizer, and what its directory says about them."""

    graph: Path
    tokenizer: Path
    manifest: Manifest
    own: bool

    @property
    def directory(self) -> Path:
        return self.tokenizer.parent

    @property
    def max_tokens(self) -> int:
        return self.manifest.max_tokens or _USUAL_MAX_TOKENS

    @property
    def pooling(self) -> Pooling | None:
        return self.manifest.pooling or _published_pooling(self.directory)

    def remedy(self) -> str:
        """What to do about it if it is damaged."""
        if self.own:
            return f"put a whole model there, or unset {OWN_MODEL} to use the built-in one"
        return INSTALL

    def model_id(self) -> str:
        """The manifest's, else one made from the files' contents and the settings."""
        if self.manifest.model_id is not None:
            return self.manifest.model_id
        digest = hashlib.sha256(f"{self.pooling}|{self.manifest.prefix}|{self.max_tokens}".encode())
        for path in [self.tokenizer, *_parts(self.graph)]:
            digest.update(sha256(path).encode())
        return f"own.{self.graph.stem}.{digest.hexdigest()[:12]}"


def find() -> ModelFiles:
    """The model that the environment of this moment names.

    Raises:
        NotInstalled: there is none; the message says how to get it.
        InvalidInput: `IAI_MCP_EMBED_MODEL` names something that is no model.
        ModelDamaged: one is there, but a file is missing, cut short or senseless.
    """
    named = os.environ.get(OWN_MODEL)
    if named and named not in {entry.name for entry in MODELS}:
        own_place = Path(named).expanduser().absolute()
        if os.sep not in named and not own_place.exists():
            raise InvalidInput(_no_such_model(named))
        return own(own_place)
    entry = by_name(named) if named else chosen()
    place = installed(entry)
    if place is None:
        which = "" if entry is DEFAULT else f" --model {entry.name}"
        raise NotInstalled(f"the embedding model is not installed; {INSTALL}{which}")
    return place


def _no_such_model(name: str) -> str:
    names = ", ".join(entry.name for entry in MODELS)
    return (
        f"{OWN_MODEL} is '{name}', and this iai-mcp has no model of that name: unset it for "
        f"{DEFAULT.name}, or set it to one of {names} (after 'iai-mcp model install --model NAME'), "
        "or to the directory of a model of your own"
    )


def chosen() -> CatalogueEntry:
    """The model of the catalogue that was asked for by name, else the default one."""
    for models in _models_directories():
        try:
            return by_name((models / _CHOSEN).read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError, NotFound):
            continue  # never asked, or for a model that this version does not know
    return DEFAULT


def choose(entry: CatalogueEntry) -> None:
    """Use `entry` from now on."""
    target = Path(paths.in_user_data("models"), _CHOSEN)
    fresh = target.with_suffix(f".{os.getpid()}")
    with fresh.open("x", encoding="utf-8") as file:
        file.write(f"{entry.name}\n")
        os.fchmod(file.fileno(), 0o600)
        os.fsync(file.fileno())
    fresh.replace(target)


def installed(entry: CatalogueEntry) -> ModelFiles | None:
    """Where `entry` is installed, or None.

    Raises:
        ModelDamaged: it is installed, but its files are not whole.
    """
    for directory in homes(entry):
        if directory.is_dir():
            found = manifest.read(directory)
            if found is None:
                raise ModelDamaged(f"the model in {directory} has no manifest; {INSTALL}")
            place = ModelFiles(directory / GRAPH, directory / TOKENIZER, found, own=False)
            check_sizes(place)
            return place
    return None


def homes(entry: CatalogueEntry) -> list[Path]:
    """The directories in which `entry` may be, the one it is installed to first."""
    return [models / entry.model_id for models in _models_directories()]


def _models_directories() -> list[Path]:
    shared = Path(paths.home(), ".iai-mcp", "models")
    return list(dict.fromkeys([Path(paths.in_user_data("models")), shared]))


def check_sizes(place: ModelFiles) -> None:
    """
    Raises:
        ModelDamaged: a file that the manifest names is missing or of another size.
    """
    for name, mark in place.manifest.files.items():
        path = place.directory / name
        try:
            size = path.stat().st_size
        except OSError as error:
            raise ModelDamaged(f"{path} is missing; {place.remedy()}") from error
        if size != mark.size:
            raise ModelDamaged(f"{path} has {size} bytes instead of {mark.size}; {place.remedy()}")


def check_digests(place: ModelFiles) -> None:
    """
    Raises:
        ModelDamaged: a file that the manifest names has other contents.
    """
    check_sizes(place)
    for name, mark in place.manifest.files.items():
        if sha256(place.directory / name) != mark.sha256:
            raise ModelDamaged(f"{place.directory / name} is damaged; {place.remedy()}")


def sha256(path: Path) -> str:
    """
    Raises:
        ModelDamaged: the file can not be read.
    """
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise ModelDamaged(f"{path} can not be read: {error.strerror}") from error
    return digest.hexdigest()


def own(named: Path) -> ModelFiles:
    """The model of the user's own at `named`: a directory or an .onnx file.

    Raises:
        InvalidInput: there is none.
        ModelDamaged: its manifest names files that are missing or cut short.
    """
    # A clone of a published model keeps its graphs one level down.
    candidates = [named] if named.suffix == ".onnx" else [named / GRAPH, named / "onnx" / GRAPH]
    graph = next((path for path in candidates if path.is_file()), None)
    if graph is None:
        raise InvalidInput(
            f"{OWN_MODEL} is {named}, and there is no model: it has to be a directory with "
            f"{GRAPH} and {TOKENIZER}, or an .onnx file next to a {TOKENIZER}"
        )
    for directory in (graph.parent, graph.parent.parent):
        if (directory / TOKENIZER).is_file():
            found = manifest.read(directory) or Manifest()
            place = ModelFiles(graph, directory / TOKENIZER, found, own=True)
            check_sizes(place)
            return place
    raise InvalidInput(f"there is no {TOKENIZER} next to {graph} ({OWN_MODEL} names it)")


def _parts(graph: Path) -> list[Path]:
    """The graph and the files next to it that may hold its numbers, in a fixed order."""
    stem = graph.stem
    return [graph, *sorted(p for p in graph.parent.iterdir() if _is_part(p, stem) and p != graph)]


def _is_part(path: Path, stem: str) -> bool:
    return path.is_file() and path.name.startswith((f"{stem}.", f"{stem}_"))


def _published_pooling(directory: Path) -> Pooling | None:
    """What a sentence-transformers directory says in `1_Pooling/config.json`, if it is there."""
    try:
        said = json.loads((directory / "1_Pooling" / "config.json").read_bytes())
    except (OSError, ValueError):
        return None
    if isinstance(said, dict) and said.get("pooling_mode_cls_token") is True:
        return "cls"
    return "mean"
