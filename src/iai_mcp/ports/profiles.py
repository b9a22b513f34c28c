"""The need to keep a person's own profiles."""

from collections.abc import Sequence
from typing import Protocol

from iai_mcp.domain.agent_profiles import AgentProfile


class ProfileStore(Protocol):
    """A person's own profiles; the built-in ones are not kept here."""

    def list(self) -> Sequence[AgentProfile]:
        """In the order they were first saved.

        Raises:
            InvalidInput: the file was damaged; the sentence names the line, the file stays.
        """
        ...

    def save(self, profile: AgentProfile) -> None:
        """Add it, or replace the one with its id."""
        ...

    def delete(self, profile_id: str) -> None:
        """
        Raises:
            NotFound: there is none with this id.
        """
        ...

    def is_configured(self) -> bool:
        """Whether the first-use walk through the profiles has been done."""
        ...

    def default_profile(self) -> str | None:
        """The profile a new agent gets when none is named."""
        ...

    def mark_configured(self, default_profile: str | None = None) -> None: ...
