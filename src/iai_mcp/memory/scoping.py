"""From the filters of a call to the scope of the store, and what is closed to whoever calls."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from iai_mcp.domain.errors import InvalidInput, NotAllowed, NotFound, PlaceSilent
from iai_mcp.domain.memories import Memory
from iai_mcp.domain.projects.identity import from_key
from iai_mcp.ports.held import HeldMemory
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.surroundings import Projects

# No project has this key: a filter that matches nothing must find nothing.
NOWHERE = "\x00nowhere"
HERE = "here"
_MOST_SILENT = 3
UNNAMED_AGENT = "agent"  # for `captured_by` where the agent has no name
_ELSEWHERE = (
    "an agent adds to its own project only, and to no other, open or private: leave 'project' out"
)
ME = "me"  # whoever this memory belongs to, on all their machines


Kind = Literal["person", "agent", "remote"]
PERSON: Kind = "person"  # the command line, the page, and hooks
AGENT: Kind = "agent"  # MCP tools, and commands that run inside an agent's session
REMOTE: Kind = "remote"  # another machine


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and from where.

    A visitor is anybody but the person who owns the memory. Its directory was fixed when it connected:
    naming another project gives it no access.
    """

    cwd: str = ""
    kind: Kind = PERSON
    name: str = ""  # of the agent

    @property
    def visitor(self) -> bool:
        return self.kind != PERSON


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a call is about, in its own words. Empty means all; all have to hold."""

    project: str = ""  # a name or a path; "*" is every project
    session_id: str = ""
    host: str = ""
    agent: str = ""  # an agent's id or name
    role: str = ""
    since: int | None = None  # microseconds, inclusive
    until: int | None = None  # microseconds, exclusive
    as_of: int | None = None  # microseconds: as it would have been answered then
    member: str = ""  # who told it: a member of a circle, or ME
    machine: str = ""  # on which it was said: its name in a circle, or HERE
    trusted: bool = False  # only what oneself said, or a member who is trusted

    @property
    def whole(self) -> bool:
        """Whether it asks for no session, time or party: for all that was said, at most in a project."""
        return replace(self, project="", as_of=None) == Filter()


@dataclass(frozen=True, slots=True)
class Access:
    """What a caller may look into."""

    memories: Memories
    projects: Projects

    def scope(self, wanted: Filter, caller: Caller, *, all_of_the_owners: bool = False) -> Scope:
        """The scope that a filter describes.

        A private project is out of it for whoever works elsewhere, even if they name it.
        `all_of_the_owners`: to its owner the call concerns all that is stored, as forgetting does.
        """
        # What is forgotten can not be brought back: only what was said in that very checkout.
        named = self._keys(wanted.project, with_kin=not all_of_the_owners)
        open_to_all = all_of_the_owners and not caller.visitor
        return Scope(
            projects=named,
            not_projects=() if open_to_all else self.closed_to(caller, named),
            session_id=wanted.session_id,
            host=wanted.host,
            agent=wanted.agent,
            role=wanted.role,
            since=wanted.since,
            until=wanted.until,
            known_at=wanted.as_of,
            members=self._members(wanted.member),
            machines=("" if wanted.machine == HERE else wanted.machine,) if wanted.machine else (),
            not_members=self._not_members(wanted),
        )

    def _not_members(self, wanted: Filter) -> tuple[str, ...]:
        """Who is left out: all others where one's own words are asked for, those without trust where
        agents are told unasked."""
        if not wanted.trusted and wanted.member != ME:
            return ()
        return tuple(self.memories.members(untrusted=wanted.member != ME))

    def _members(self, named: str) -> tuple[str, ...]:
        """The members of that name, in whatever circle; () for everybody."""
        if named in ("", ME):
            return ("",) if named else ()
        known = self.memories.members()
        return tuple(one for one in known if one.partition("/")[2] == named) or (NOWHERE,)

    def view(self, caller: Caller, project: str = "") -> Scope:
        """All that a call which may name a project can look into."""
        return Scope(not_projects=self.closed_to(caller, self._keys(project, with_kin=False)))

    def owners_view(self, caller: Caller) -> Scope:
        """The same for what is for the owner of the memory: to the owner nothing is closed."""
        return self.view(caller) if caller.visitor else Scope()

    def closed(self, caller: Caller, keys: Iterable[str]) -> list[str]:
        """Those of the projects, known or not, that a call may not look into: all in a private area,
        unless it comes from within.
        """
        private = self.memories.private_projects()
        if not private:
            return []
        try:
            here = self.projects.place_of(caller.cwd)
        except PlaceSilent:
            here = ""
        return self.projects.closed(private, list(keys), here)

    def closed_to(self, caller: Caller, named: Sequence[str] = ()) -> tuple[str, ...]:
        """The known projects that a call may not look into.

        An owner who does not say where they are may look into what they name.
        """
        closed = self.closed(caller, self.memories.projects())
        asked_by_name = not caller.cwd and not caller.visitor
        return tuple(key for key in closed if not (asked_by_name and key in named))

    def within(self, found: Iterable[Memory], caller: Caller) -> list[Memory]:
        """Those that a call may touch by their ids."""
        view = self.owners_view(caller)
        return [memory for memory in found if view.opens(memory.provenance.project)]

    def one(self, public_id: str, caller: Caller) -> Memory:
        """The memory that a call names.

        Raises:
            NotFound: there is none that this caller may touch.
        """
        found = self.within(self.memories.find([public_id]), caller)
        if not found:
            raise unknown(public_id)
        return found[0]

    def own_project(self, caller: Caller, named: str = "") -> str:
        """The key of the project that an agent works in, which is the only one it adds to.

        Raises:
            NotAllowed: it names another one, or a private one that it can not prove to be in.
        """
        own = self.projects.key_of("", caller.cwd)
        meant = self.projects.key_of(named, caller.cwd) if named else own
        if meant != own and not (own and meant == from_key(own).name):
            raise NotAllowed(_ELSEWHERE)
        if own in self.closed_to(caller):
            raise NotAllowed(_ELSEWHERE)
        return own

    def own_session(self, session: str, caller: Caller) -> str:
        """The session, if an agent may add to it: a new one, or one of its project.

        Raises:
            NotAllowed: it belongs to other projects only.
        """
        projects = self.memories.session_projects(session) if session else frozenset()
        if projects and self.projects.key_of("", caller.cwd) not in projects:
            raise NotAllowed("that session_id belongs to other work: leave it out")
        return session

    def check_own(self, memory: Memory, caller: Caller) -> None:
        """
        Raises:
            NotAllowed: an agent would change a memory of another project.
        """
        if memory.provenance.project != self.own_project(caller):
            raise NotAllowed(
                "an agent corrects memories of its own project only: a person can correct this one "
                "on the page (iai-mcp page)"
            )

    def _keys(self, project: str, *, with_kin: bool) -> tuple[str, ...]:
        """The stored keys a name or a path stands for; () for none and for every project."""
        if not project or project == "*":
            return ()
        known = self.memories.projects()
        own = self.projects.matching(project, known)
        kin = open_kin(project, self.memories, self.projects) if with_kin else []
        return (*own, *kin) or (NOWHERE,)


def open_kin(project: str, memories: Memories, projects: Projects) -> list[str]:
    """The stored keys of other checkouts of a project's repository, but for private ones.

    That a checkout comes from somewhere is its own word: it opens nothing that is closed.
    """
    known = memories.projects()
    others = projects.kin(project, known)
    closed = set(projects.closed(memories.private_projects(), known, "")) if others else set()
    return [key for key in others if key not in closed]


def project_scope(key: str, memories: Memories, projects: Projects) -> Scope:
    """What belongs to a project: its own memories and those filed under its mere name.

    Without a project: what belongs to none.
    """
    if not key:
        return Scope(projects=("",))
    known = memories.projects()
    own = projects.matching(key, known)
    own += open_kin(key, memories, projects)
    own += [name for name in known if name == from_key(key).name and name not in own]
    return Scope(projects=tuple(own) or (NOWHERE,))


def stands_in(scope: Scope, memory: Memory) -> bool:
    """Whether a scope has a memory in the session that said it first.

    A memory names its member also where that is oneself on another machine: a scope of one's own words
    leaves out all others by name.
    """
    whence, at = memory.provenance, memory.at.micros
    teller = f"{whence.circle}/{whence.member}" if whence.circle else ""
    return all(
        (
            not scope.projects or whence.project in scope.projects,
            scope.opens(whence.project),
            scope.session_id in ("", whence.session_id),
            scope.host in ("", whence.host),
            scope.agent in ("", whence.agent_id, whence.agent_name),
            scope.role in ("", memory.role),
            scope.since is None or at >= scope.since,
            scope.until is None or at < scope.until,
            scope.known_at is None or at <= scope.known_at,
            not (scope.said and memory.derived),
            not scope.members or teller in scope.members or "" in scope.members,
            teller not in scope.not_members,
            not scope.machines or whence.machine in scope.machines,
        )
    )


def stands_in_held(scope: Scope, one: HeldMemory) -> bool:
    """Whether a scope has a memory that is held."""
    return all(
        (
            not scope.projects or one.project in scope.projects,
            scope.session_id in ("", one.session_id),
            scope.role in ("", one.role),
            scope.since is None or one.said_at >= scope.since,
            scope.until is None or one.said_at < scope.until,
        )
    )


def unknown(public_id: str) -> NotFound:
    return NotFound(f"there is no memory with id {public_id[:64]!r}: recall it first to get its id")


@dataclass(frozen=True, slots=True)
class Privacy:
    """Projects whose memories stay among themselves."""

    memories: Memories
    projects: Projects

    def private(self, caller: Caller) -> list[str]:
        """The keys of those that are; to a visitor only those that it stands in."""
        marked = self.memories.private_projects()
        if not caller.visitor:
            return marked
        closed = Access(self.memories, self.projects).closed(caller, marked)
        return [key for key in marked if key not in closed]

    def mark(self, project: str, cwd: str, private: bool) -> list[str]:
        """Make a project private, or open again; the known projects below it.

        Raises:
            InvalidInput: none was named, or it lies in another one that is private.
        """
        key = self.projects.key_of(project, cwd)
        if not key:
            raise InvalidInput("say which project: give its name or its path")
        # A name stands for every project of that name, and a mapped one for what it was.
        known, marked = self.memories.projects(), self.memories.private_projects()
        own = {key, *self.projects.matching(key, known)}
        own |= self._leading_into(key, known if private else marked)
        if not private:
            around = self.projects.covering([one for one in marked if one not in own], key)
            if around and key not in marked:
                raise InvalidInput(
                    f"{key} lies in a private directory: iai-mcp privacy off {around[0]} opens both"
                )
        for one in own:
            self.memories.set_private(one, private)
        covered = self.projects.closed(list(own), known, "")
        if private:
            self.memories.withdraw(covered)
        return [one for one in covered if one not in own]

    def _leading_into(self, key: str, known: Sequence[str]) -> set[str]:
        """Those that were known by another path, and by links lie in the project now."""
        found: set[str] = set()
        silent = 0
        for one in known:
            if self.projects.covering([key], one):
                continue
            try:
                now = self.projects.key_of(one, "") if silent < _MOST_SILENT else one
            except PlaceSilent:
                silent += 1  # each of them takes seconds
                continue
            if self.projects.covering([key], now):
                found.add(one)
        return found
