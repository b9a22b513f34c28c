"""`Held` in a list."""

from collections.abc import Callable, Sequence

from iai_mcp.ports.held import HeldMemory, Restored


class FakeHeld:
    def __init__(self, *held: HeldMemory) -> None:
        self.held = list(held)

    def entries(self, since: int, ids: Sequence[str] = ()) -> list[HeldMemory]:
        return [one for one in self.held if one.at > since and (not ids or one.id in ids)]

    def restore(self, ids: Sequence[str]) -> Restored:
        came = tuple(one.id for one in self.held if one.id in ids)
        self.held = [one for one in self.held if one.id not in ids]
        return Restored(came, len(came))

    def drop(self, matches: Callable[[HeldMemory], bool]) -> int:
        before = len(self.held)
        self.held = [one for one in self.held if not matches(one)]
        return before - len(self.held)

    def expire(self, before: int) -> int:
        return self.drop(lambda one: one.at <= before)
