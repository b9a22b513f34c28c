"""What a new session is told: who and what this project is, what holds, and the latest words."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from iai_mcp.domain import briefing
from iai_mcp.domain.briefing import Point
from iai_mcp.domain.briefing_text import Briefing, CountTokens, Section, compose
from iai_mcp.domain.memories import Memory, is_from
from iai_mcp.domain.projects.identity import from_key
from iai_mcp.domain.recap import endings
from iai_mcp.domain.rule_register import Register
from iai_mcp.memory.injections import Injections
from iai_mcp.memory.rules import Rules
from iai_mcp.memory.scoping import NOWHERE, Access, Caller, open_kin
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.surroundings import Projects

_SAID = ("episodic", "working")
_RECENT = 240  # turns, of which two thirds are narration: some thirty exchanges
# What belongs to no project counts everywhere, as far as it is a wish or was distilled.
_UNFILED = Scope(projects=("",))
_UNFILED_AT_MOST = 60
_CLOCK_SKEW = 86_400_000_000  # microseconds: another machine's clock may be ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """A session that begins."""

    session_id: str = ""
    fork: str = ""  # the session that will go on, where `session_id` is what it is forked from
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
    rules: Rules
    practice: Callable[[Scope], Sequence[Point]] = lambda _: ()  # how it is built and tested
    now: Callable[[], int] = lambda: time.time_ns() // 1000

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
        if new.fork:
            self.injections.fork(new.fork, new.session_id)
        self.injections.record("session_start", new.session_id, key, made)
        return made

    def _briefing(
        self, key: str, scope: Scope, session: str, agent_id: str, budget: int
    ) -> Briefing:
        nowhere = replace(_UNFILED, not_members=scope.not_members)
        unfiled = briefing.confirmed(
            briefing.holding(self.memories.timeline(nowhere, _UNFILED_AT_MOST))
        )
        recent = self.memories.timeline(scope, _RECENT)
        # A session that goes on has its own words before it already, and those it was forked from.
        own = self.injections.lineage(session)
        holding = briefing.confirmed(briefing.holding(recent))
        held = [memory for memory in holding if not is_from(memory, own)]
        register = self.rules.of(scope)
        known = [*held, *(m for m in unfiled if not _runs_elsewhere(m))]
        known = briefing.not_outlived(known, register)
        sections = [
            Section("Known", briefing.lasting(known), 0.1),
            self._rules(register, briefing.lasting(known)),
            *self._sections(scope, recent, held, register),
        ]
        if agent_id:
            sections.insert(0, self._news(held, scope, agent_id))
        heading = _heading(key, self._past(recent), briefing.sittings(held)) if recent else ""
        told = endings(memory for memory in held if memory.tier in _SAID)
        # What holds is told as a rule, and what no longer does not at all.
        ruled = register.only_rules.union(register.newer)
        told = [one for each in told if (one := each.without(ruled)) is not None]
        return compose(heading, sections, told, budget, self.count_tokens())

    def _past(self, recent: Sequence[Memory]) -> Sequence[Memory]:
        """Without turns that are dated after now, where there are others."""
        now = self.now()
        return [one for one in recent if one.at.micros <= now + _CLOCK_SKEW] or recent

    def _rules(self, register: Register, known: Sequence[Point]) -> Section:
        # A habit quotes the wish that it was made of.
        habits = [point.text for point in known if point.memory.derived]
        rules = [*briefing.rules(register), *briefing.rules(self.rules.of(_UNFILED))]
        points = [one for one in rules if not any(one.text in habit for habit in habits)]
        return Section("Rules that hold, as people put them", points, 0.7, verbatim=True)

    def _sections(
        self, scope: Scope, recent: Sequence[Memory], held: Sequence[Memory], register: Register
    ) -> list[Section]:
        successors = frozenset(m.successor for m in recent if m.successor is not None)
        said = [m for m in held if m.tier in _SAID and m.key not in register.newer]
        decided = briefing.decisions(said, successors)
        passing = briefing.rulings_in_passing(said)
        return [
            Section("Decided or put right, and still true", decided, 0.1),
            Section("Ruled in passing", passing, 0.15, verbatim=True),
            Section("Left open", briefing.open_threads(endings(said)), 0.12),
            Section("How this project is built and tested", self.practice(scope), 0.1),
        ]

    def _news(self, held: Sequence[Memory], scope: Scope, agent_id: str) -> Section:
        last_run = self.memories.timeline(replace(scope, agent=agent_id), 1)
        since = last_run[0].at.micros if last_run else None
        said = [m for m in held if m.tier in _SAID]
        news = briefing.learned_by_others(said, agent_id, since)
        return Section("New from other agents since your last session", news, 0.2)


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


def _runs_elsewhere(memory: Memory) -> bool:
    """A wish that was stated in several projects holds everywhere; a command does not run there."""
    return memory.meta.get("kind") == "command"


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
