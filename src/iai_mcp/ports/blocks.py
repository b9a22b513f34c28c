"""What a start reads of every memory, kept so that it is read quickly."""

from typing import Protocol


class Blocks(Protocol):
    """Ranges of memories that are packed. One that something changed in is not packed any more."""

    def missing(self) -> list[int]:
        """The full ranges that are not packed, and are not about to change."""
        ...

    def pack(self, block: int) -> None:
        """Pack one as it is now; it comes to the same if it is packed already."""
        ...
