"""The need to find agent programs and to know how to start them."""

from collections.abc import Sequence
from typing import Protocol

from iai_mcp.domain.agent_profiles import AgentProfile, Detection
from iai_mcp.domain.invocations import HostTraits, Invocation
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

    def traits(self, profile: AgentProfile) -> HostTraits:
        """What the profile's program needs from a launch. Pure."""
        ...

    def types_prompt(self, profile: AgentProfile, launch: Invocation) -> bool:
        """Whether the first prompt has to be typed, because the program takes none. Pure."""
        ...

    def prepare_invocation(self, profile: AgentProfile, launch: Invocation, cwd: str) -> SpawnSpec:
        """What to start, with which arguments, variables and files. Pure: nothing is touched."""
        ...

    def record_trust(self, profile: AgentProfile, project: str) -> None:
        """Tell the program that the person trusts `project`, where it only believes its own files.

        Called when the person has said so, and never otherwise.
        """
        ...
