"""A person's profiles in memory."""

from collections.abc import Sequence

from iai_mcp.domain.agents.profile import AgentProfile
from iai_mcp.domain.errors import NotFound


class FakeProfileStore:
    def __init__(self, *profiles: AgentProfile) -> None:
        self._profiles = {profile.id: profile for profile in profiles}
        self._configured = False
        self._default: str | None = None

    def list(self) -> Sequence[AgentProfile]:
        return tuple(self._profiles.values())

    def save(self, profile: AgentProfile) -> None:
        self._profiles[profile.id] = profile

    def delete(self, profile_id: str) -> None:
        if self._profiles.pop(profile_id, None) is None:
            raise NotFound(f"you have no profile '{profile_id}'")

    def is_configured(self) -> bool:
        return self._configured

    def default_profile(self) -> str | None:
        return self._default

    def mark_configured(self, default_profile: str | None = None) -> None:
        self._configured = True
        self._default = default_profile or self._default
