"""One entry of the table of methods."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from iai_mcp.protocol.params import Params

Json = dict[str, object]
# What a method works on: the store of memories, or the workspace of the agents.
On = TypeVar("On")


@dataclass(frozen=True, slots=True)
class Method(Generic[On]):
    """What stands behind a name on the wire, and who may call it.

    `answer` reads the parameters into values, enters one use case, and shows what it gives.
    """

    name: str
    answer: Callable[[On, Params], Json]
    activity: bool = True  # a call keeps the daemon awake; watching it does not
    tool: str = ""  # the MCP tool that it is behind
    page: bool = False  # whether a page in a browser may call it: what only shows
    # Names are asked for as they are stored: without secrets. What makes a turn itself is worked out
    # from its names as they arrive.
    names_as_given: bool = False
    waits_for_sleep: bool = False  # so sleep must not step aside for it
