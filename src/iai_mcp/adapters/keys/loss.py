"""A store that was made and is not there any more: told from one that was never made."""

import stat
from dataclasses import dataclass
from pathlib import Path

from iai_mcp.adapters.keys import backup, descriptor
from iai_mcp.adapters.keys.files import STORE_NAME, automatic_backups
from iai_mcp.domain.errors import IaiError, StoreLost
from iai_mcp.domain.shown_text import memories

_ANEW = "to begin with an empty memory on purpose: iai-mcp up --anew"


@dataclass(frozen=True, slots=True)
class StoreLoss:
    """What is missing, and what can be done about it."""

    what: str
    remedy: str

    def as_error(self) -> StoreLost:
        return StoreLost(f"{self.what}: {self.remedy}; nothing was changed")


def loss(directory: Path) -> StoreLoss | None:
    """The loss of this directory's store; None where it is there, or where none was ever made."""
    record = descriptor.load(directory)
    if record is None or record.unused:
        return None
    path = directory / STORE_NAME
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return of(directory, f"{path} is gone, and memories were kept in it")
    if not stat.S_ISREG(found.st_mode):
        return of(directory, f"{path} is not a file any more, and memories were kept in it")
    if found.st_size == 0:
        return of(directory, f"{path} is empty, and memories were kept in it")
    return None


def of(directory: Path, what: str) -> StoreLoss:
    """The loss with the ways back from it that there are."""
    for made in reversed(automatic_backups(directory)):
        try:
            header = backup.read_header(made)
        except IaiError:
            continue  # cut off, or not a backup
        held = f"{memories(header.records)} of {header.created[:10]}"
        return StoreLoss(
            what,
            f"put it back, or restore the newest backup ({held}) with: iai-mcp restore {made}; {_ANEW}",
        )
    remedy = "there is no automatic backup: put it back, or restore one of your own with: iai-mcp restore FILE"
    return StoreLoss(what, f"{remedy}; {_ANEW}")
