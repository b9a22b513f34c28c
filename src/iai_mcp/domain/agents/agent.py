"""An agent: a name, a persona and a profile, kept in the project's manifest."""

import itertools
import re
import unicodedata
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from iai_mcp.domain.agents.lookup import look_up
from iai_mcp.domain.errors import AlreadyExists, InvalidInput, NotFound
from iai_mcp.domain.foreign_text import bare_file_name, branch_name, is_seen, quoted

MANIFEST_VERSION = 1
CONTEXTS = "agents"

# A file name may have 255 bytes; this leaves room for "-2" and ".md" in any script.
_LONGEST_SLUG = 48
_LONGEST_NAME = 100
_MOST_SKILLS = 100
_NOTHING: Mapping[str, object] = MappingProxyType({})
_AGENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}\Z")


def is_agent_id(text: str) -> bool:
    return _AGENT_ID.match(text) is not None


def slug_of(name: str) -> str:
    """`Backend Dev` -> `backend-dev`: letters and digits of any script, the rest as one dash."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    kept = "".join(char if char.isalnum() else "-" for char in folded)
    return re.sub("-+", "-", kept)[:_LONGEST_SLUG].strip("-") or "agent"


def free_slug(name: str, taken: Container[str]) -> str:
    """The slug of `name`, with `-2`, `-3` … if it is taken."""
    slug = slug_of(name)
    candidate, number = slug, 1
    while candidate in taken:
        number += 1
        candidate = f"{slug}-{number}"
    return candidate


def numbered(name: str) -> Iterator[str]:
    """`Ada 2`, `Ada 3` …: names for others like Ada. Never longer than a name may be."""
    return (f"{name[: _LONGEST_NAME - 12]} {number}" for number in itertools.count(2))


@dataclass(frozen=True, slots=True)
class Scratch:
    """Made without a template."""


@dataclass(frozen=True, slots=True)
class FromTemplate:
    """Made from, or last synchronized with, this version of a template."""

    id: str
    version: int

    def __post_init__(self) -> None:
        bare_file_name(self.id)
        if self.version < 1:
            raise InvalidInput(f"a template's versions start at 1, not at {self.version}")


Origin = Scratch | FromTemplate


@dataclass(frozen=True, slots=True)
class Agent:
    """`context_path` is relative to `.ideai/`; `extra` is what others keep in the entry.

    `worktree` is the branch of the checkout that the agent has for itself; None: it works in the
    project.
    """

    id: str
    name: str
    context_path: str
    profile_id: str
    origin: Origin = field(default_factory=Scratch)
    synchronized: bool = False
    skills: tuple[str, ...] = ()
    worktree: str | None = None
    extra: Mapping[str, object] = field(default_factory=lambda: _NOTHING)

    def __post_init__(self) -> None:
        if not is_agent_id(self.id):
            raise InvalidInput(
                f"{quoted(self.id)} can not be an agent's id: use letters, digits, '-' and '_'"
            )
        if not self.name.strip() or not is_seen(self.name) or len(self.name) > _LONGEST_NAME:
            raise InvalidInput(
                f"give the agent a name of one line: {quoted(self.name)} is blank, longer than "
                f"{_LONGEST_NAME} characters or has control characters"
            )
        if not self.profile_id.strip() or not is_seen(self.profile_id):
            raise InvalidInput(f"an agent needs a profile, and {quoted(self.profile_id)} is none")
        folder, _, file = self.context_path.partition("/")
        if folder != CONTEXTS or not file.endswith(".md") or file == ".md":
            raise InvalidInput(
                f"a context lies at {CONTEXTS}/<name>.md, not at {quoted(self.context_path)}"
            )
        bare_file_name(file)
        if self.worktree is not None:
            branch_name(self.worktree)
        if len(self.skills) > _MOST_SKILLS:
            raise InvalidInput(f"an agent can have at most {_MOST_SKILLS} skills")
        if self.synchronized and isinstance(self.origin, Scratch):
            raise InvalidInput("only an agent made from a template can be synchronized with one")

    @property
    def slug(self) -> str:
        return self.context_path.removeprefix(f"{CONTEXTS}/").removesuffix(".md")


def context_path_of(slug: str) -> str:
    return f"{CONTEXTS}/{slug}.md"


@dataclass(frozen=True, slots=True)
class Repeated:
    """The first entry, by its number, that has the id or the context of one before it."""

    number: int
    what: str
    value: str


def first_repeated(entries: Sequence[Agent]) -> Repeated | None:
    seen: set[tuple[str, str]] = set()
    for number, agent in enumerate(entries):
        for what, value in (("id", agent.id), ("context", agent.context_path)):
            if (what, value) in seen:
                return Repeated(number, what, value)
            seen.add((what, value))
    return None


@dataclass(frozen=True, slots=True)
class AgentManifest:
    """Every agent of a project. No two share an id or a context."""

    entries: tuple[Agent, ...] = ()
    version: int = MANIFEST_VERSION
    extra: Mapping[str, object] = field(default_factory=lambda: _NOTHING)

    def __post_init__(self) -> None:
        if self.version != MANIFEST_VERSION:
            raise InvalidInput(
                f"the manifest has version {self.version}, and this iai-mcp knows "
                f"{MANIFEST_VERSION}: update iai-mcp"
            )
        repeated = first_repeated(self.entries)
        if repeated is not None:
            raise AlreadyExists(f"two agents have the same {repeated.what}: {repeated.value}")

    def with_agent(self, agent: Agent) -> "AgentManifest":
        return replace(self, entries=(*self.entries, agent))

    def with_changed(self, agent: Agent) -> "AgentManifest":
        self.by_id(agent.id)
        return replace(self, entries=tuple(agent if a.id == agent.id else a for a in self.entries))

    def without(self, agent_id: str) -> "AgentManifest":
        self.by_id(agent_id)
        return replace(self, entries=tuple(a for a in self.entries if a.id != agent_id))

    def by_id(self, agent_id: str) -> Agent:
        for agent in self.entries:
            if agent.id == agent_id:
                return agent
        raise NotFound(f"there is no agent '{agent_id}' here: 'iai-mcp agent list' shows them")

    def named(self, reference: str) -> Agent:
        """See `agent_lookup`: by id or its prefix, else by slug, else by name."""
        return look_up(reference, self.entries)
