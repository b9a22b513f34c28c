"""The need to find agent programs and to know how to start them."""

from collections.abc import Sequence
from typing import Protocol

from iai_mcp.domain.agent_profiles import AgentProfile, Detection
from iai_mcp.domain.invocations import Invocation
from iai_mcp.domain.launching import SpawnSpec


class AgentRuntime(Protocol):
    def find(self, profile: AgentProfile) -> str | None:
        """The path of the profile's program on this person's PATH; None: not installed."""
        ...

    def detect(self, profiles: Sequence[AgentProfile]) -> Sequence[Detection]:
        """Run every profile's detect command, all at once, none for longer than a few seconds.

        In the order given. A program that hangs or fails is a `problem`, never an exception.
        """
        ...

    def prepare_invocation(self, profile: AgentProfile, launch: Invocation, cwd: str) -> SpawnSpec:
        """What to start, with which arguments, variables and files. Pure: nothing is touched."""
        ...
