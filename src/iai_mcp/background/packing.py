"""Packing what the next start reads of every memory, beside the calls."""

from collections.abc import Callable

from iai_mcp.background.threads import Worker
from iai_mcp.ports.blocks import Blocks

# After a start, and after something was stored or forgotten: what follows soon is packed with it, and a
# start is over by then.
_SETTLED_SECONDS = 60.0
_BETWEEN_SECONDS = 0.05  # so that whoever wants to write has a turn


class Packing(Worker):
    """Works when the store has been left alone for a while since it was woken."""

    def __init__(
        self,
        blocks: Blocks,
        calm: Callable[[], bool],
        failed: Callable[[str, Exception], None],
        settled: float = _SETTLED_SECONDS,
    ) -> None:
        super().__init__("packing", failed)
        self._blocks = blocks
        self._calm = calm
        self._settled = settled

    def work(self) -> None:
        self.rest(self._settled)
        if not self.stopping:
            self.pack_all(_BETWEEN_SECONDS)

    def pack_all(self, between: float = 0.0) -> int:
        """Pack all that is not; how many there were."""
        packed = 0
        for block in self._blocks.missing():
            self._calm()
            if self.stopping:
                break
            self._blocks.pack(block)
            packed += 1
            self.rest(between)
        return packed
