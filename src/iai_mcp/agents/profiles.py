"""The profiles a person can choose from: the built-in ones, and their own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from iai_mcp.domain.agents.agent import slug_of
from iai_mcp.domain.agents.profile import AgentProfile, ContextInjection, Detection
from iai_mcp.domain.errors import AlreadyExists, InvalidInput, NotFound
from iai_mcp.domain.foreign_text import quoted
from iai_mcp.ports.agent_stores import ProfileStore
from iai_mcp.ports.agent_world import AgentRuntime


@dataclass(frozen=True, slots=True)
class NewProfile:
    """What a person says about a profile of their own."""

    name: str
    command: str
    injection: ContextInjection
    args: tuple[str, ...] = ()
    detect: str | None = None
    cwd_template: str | None = None
    host: str | None = None


@dataclass(frozen=True, slots=True)
class Profiles:
    """A person's own profile with the id of a built-in one takes its place."""

    builtin: Sequence[AgentProfile]
    store: ProfileStore
    runtime: AgentRuntime
    searched: str  # where the runtime looks for programs

    def all(self) -> Sequence[AgentProfile]:
        own = {profile.id: profile for profile in self.store.list()}
        known = [own.pop(profile.id, profile) for profile in self.builtin]
        return [*known, *own.values()]

    def named(self, reference: str) -> AgentProfile:
        """By id, else by name where that is unambiguous."""
        every = self.all()
        found = [p for p in every if p.id == reference]
        found = found or [p for p in every if p.name.casefold() == reference.casefold()]
        if not found:
            raise NotFound(
                f"there is no profile {quoted(reference)}: 'iai-mcp profile list' shows them, "
                "'iai-mcp profile add' makes one"
            )
        if len(found) > 1:
            ids = ", ".join(p.id for p in found)
            raise InvalidInput(f"several profiles are called '{reference}': say which one ({ids})")
        return found[0]

    def missing(self, profile: AgentProfile) -> str | None:
        """That its program is not there, and what installs it; None if it is."""
        if self.runtime.find(profile) is not None:
            return None
        how = f"; install it with: {profile.install}" if profile.install else ""
        return f"{profile.name} is not installed: there is no '{profile.command}' on {self.searched}{how}"

    def is_builtin(self, profile: AgentProfile) -> bool:
        return profile in self.builtin

    def add(self, new: NewProfile) -> AgentProfile:
        profile_id = re.sub("[^a-z0-9-]", "", slug_of(new.name)).strip("-") or "profile"
        if any(p.id == profile_id for p in self.all()):
            raise AlreadyExists(
                f"there is a profile '{profile_id}' already: change it with "
                f"'iai-mcp profile edit {profile_id}', or choose another name"
            )
        profile = AgentProfile(
            id=profile_id,
            name=new.name,
            command=new.command,
            injection=new.injection,
            args=new.args,
            detect=new.detect,
            host=new.host,
        )
        if new.cwd_template is not None:
            profile = replace(profile, cwd_template=new.cwd_template)
        self.store.save(profile)
        return profile

    def edit(self, profile: AgentProfile) -> AgentProfile:
        """Keep a changed profile; a changed built-in one becomes the person's own."""
        self.store.save(profile)
        return profile

    def remove(self, reference: str) -> AgentProfile:
        """Remove a person's own profile; under a built-in id the built-in one is back then."""
        profile = self.named(reference)
        if self.is_builtin(profile):
            raise InvalidInput(
                f"'{profile.id}' is built in and can not be removed; "
                f"'iai-mcp profile edit {profile.id}' changes it for you"
            )
        self.store.delete(profile.id)
        return profile

    def detect(self, profiles: Sequence[AgentProfile] | None = None) -> Sequence[Detection]:
        return self.runtime.detect(self.all() if profiles is None else profiles)

    def default(self) -> AgentProfile:
        """The profile for a new agent when none is named.

        Raises:
            InvalidInput: nothing was chosen yet.
        """
        chosen = self.store.default_profile()
        if chosen is None:
            raise InvalidInput(
                "say which program the agent uses with --profile ('iai-mcp profile detect' shows "
                "what is installed), or choose a default with 'iai-mcp profile setup'"
            )
        return self.named(chosen)
