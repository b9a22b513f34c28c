"""One entry of the table of methods."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from iai_mcp.protocol.params import Params

if TYPE_CHECKING:
    from iai_mcp.store import MemoryStore

Json = dict[str, object]
# What a method works on: the store of memories, or the workspace of the agents.
On = TypeVar("On")
Asked = TypeVar("Asked")
Told = TypeVar("Told")


@dataclass(frozen=True, slots=True)
class Method(Generic[On]):
    """What stands behind a name on the wire, and who may call it."""

    name: str
    answer: Callable[[On, Params], Json]
    activity: bool = True  # a call keeps the daemon awake; watching it does not
    tool: str = ""  # the MCP tool that it is behind
    page: bool = False  # whether the page in a browser may call it: what only shows
    # Names are asked for as they are stored: without secrets. What makes a turn itself is worked out
    # from its names as they arrive.
    names_as_given: bool = False
    waits_for_sleep: bool = False  # so sleep must not step aside for it


def through(
    read: Callable[[Params], Asked],
    use: "Callable[[MemoryStore, Asked], Told]",
    show: Callable[[Told], Json],
) -> "Callable[[MemoryStore, Params], Json]":
    """The answer of a use case: parameters in, values through, JSON out."""
    return lambda store, params: show(use(store, read(params)))


def nothing(_params: Params) -> None:
    """For methods that take no parameters."""
