"""What a new session is told: who and what this project is, what holds, and the latest words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from iai_mcp.domain import briefing
from iai_mcp.domain.briefing_text import Briefing, CountTokens, Section, compose, sessions_section
from iai_mcp.domain.memories import Memory, is_from
from iai_mcp.domain.project_identity import from_key
from iai_mcp.memory.injections import Injections
from iai_mcp.memory.scoping import NOWHERE, Access, Caller, open_kin
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.surroundings import Projects

_SAID = ("episodic", "working")
# The last words of a few sessions; older decisions and wishes are found by their words.
_RECENT = 160
_BY_WORDS = 60
_TELLING_TEXT = """
decided decision agreed chose switched migrated instead prefer always never correction wrong
remember convention rule
"""
_TELLING_WORDS = tuple(_TELLING_TEXT.split())
# What belongs to no project counts everywhere, as far as it is a wish or was distilled.
_UNFILED = Scope(projects=("",))
_UNFILED_AT_MOST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """A session that begins."""

    session_id: str = ""
    agent_id: str = ""
    project: str = ""  # a name or a path
    caller: Caller = field(default_factory=Caller)
    budget: int | None = None  # tokens; None leaves it to the setting


@dataclass(frozen=True, slots=True)
class SessionStart:
    """Facts about one project, for a session that begins there."""

    memories: Memories
    access: Access
    count_tokens: Callable[[], CountTokens]
    injections: Injections
    depth: Callable[[], int]  # tokens that a session is told unless the call says otherwise

    def __call__(self, new: NewSession) -> Briefing:
        budget = self.depth() if new.budget is None else new.budget
        projects = self.access.projects
        key = projects.key_of(new.project, new.caller.cwd)
        scope = project_scope(key, self.memories, projects)
        scope = replace(
            scope,
            not_projects=self.access.closed_to(new.caller, scope.projects),
            # What is told unasked is an instruction that somebody wrote.
            not_members=tuple(self.memories.members(untrusted=True)),
        )
        made = self._briefing(key, scope, new.session_id, new.agent_id, budget)
        self.injections.record("session_start", new.session_id, key, made)
        return made

    def _briefing(
        self, key: str, scope: Scope, session: str, agent_id: str, budget: int
    ) -> Briefing:
        nowhere = replace(_UNFILED, not_members=scope.not_members)
        unfiled = self.memories.timeline(nowhere, _UNFILED_AT_MOST)
        recent = self.memories.timeline(scope, _RECENT)
        telling = self.memories.by_words(_TELLING_WORDS, scope, _BY_WORDS)
        candidates = [*recent, *self.memories.get([hit.key for hit in telling])]
        # A session that goes on has its own words before it already, and those it was forked from.
        own = self.memories.lineage(session)
        held = [memory for memory in briefing.holding(candidates) if not is_from(memory, own)]
        latest = {memory.key for memory in recent}
        sittings = briefing.sittings(memory for memory in held if memory.key in latest)
        sections = self._sections(candidates, held, sittings, briefing.holding(unfiled))
        if agent_id:
            sections.insert(0, self._news(held, scope, agent_id))
        turns = [m for m in briefing.holding(recent) if m.tier in _SAID and not is_from(m, own)]
        heading = _heading(key, recent, sittings) if recent else ""
        return compose(heading, sections, turns, budget, self.count_tokens())

    def _sections(
        self,
        candidates: Sequence[Memory],
        held: Sequence[Memory],
        sittings: Sequence[briefing.Sitting],
        unfiled: Sequence[Memory],
    ) -> list[Section]:
        successors = frozenset(m.successor for m in candidates if m.successor is not None)
        said = [m for m in held if m.tier in _SAID]
        decided = briefing.decisions(said, successors)
        known = briefing.lasting([*held, *unfiled])
        # A habit quotes the wish that it was made of.
        habits = [point.text for point in known if point.memory.derived]
        wishes = [
            wish
            for wish in briefing.wishes([*said, *unfiled])
            if not any(wish.text in habit for habit in habits)
        ]
        return [
            Section("Known", known, 5),
            Section("Decided or put right, and still true", decided, 6),
            Section("Wishes that people stated for good", wishes, 6),
            Section("Left open", briefing.open_threads(sittings), 3),
            sessions_section(sittings, 4),
        ]

    def _news(self, held: Sequence[Memory], scope: Scope, agent_id: str) -> Section:
        last_run = self.memories.timeline(replace(scope, agent=agent_id), 1)
        since = last_run[0].at.micros if last_run else None
        said = [m for m in held if m.tier in _SAID]
        news = briefing.learned_by_others(said, agent_id, since)
        return Section("New from other agents since your last session", news, 4)


def project_scope(key: str, memories: Memories, projects: Projects) -> Scope:
    """What belongs to a project: its own memories and those filed under its mere name.

    Without a project: what belongs to none.
    """
    if not key:
        return _UNFILED
    known = memories.projects()
    own = projects.matching(key, known)
    own += open_kin(key, memories, projects)
    own += [name for name in known if name == from_key(key).name and name not in own]
    return Scope(projects=tuple(own) or (NOWHERE,))


def _heading(key: str, recent: Sequence[Memory], sittings: Sequence[briefing.Sitting]) -> str:
    if not key:
        return ""
    project = from_key(key)
    where = f" at {project.root}" if project.root else ""
    hosts = sorted({m.provenance.host for m in recent if m.provenance.host})
    agents = sorted({m.provenance.agent_name for m in recent if m.provenance.agent_name})
    with_whom = [*agents, *hosts]
    told = (
        f"Project {project.name}{where}; last worked on {briefing.newest(recent)[0].at.text[:10]}"
    )
    if with_whom:
        told += f" with {', '.join(with_whom[:6])}"
    branch = sittings[0].last.provenance.branch if sittings else ""
    return f"{told}, branch {branch}." if branch else f"{told}."
