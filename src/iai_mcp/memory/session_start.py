"""What a session is told when it begins: an index of its project, or after compaction of its own work."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from iai_mcp.domain import session_index
from iai_mcp.domain.injected_text import (
    CountTokens,
    IndexLine,
    IndexPage,
    InjectedText,
    joined,
    section,
)
from iai_mcp.domain.memories import Memory, is_from, turn_identity
from iai_mcp.domain.practice import practice
from iai_mcp.domain.projects.identity import from_key
from iai_mcp.domain.quoting import in_line
from iai_mcp.domain.shown_text import shortened
from iai_mcp.domain.standing_quotes import LONGEST_PROMPT
from iai_mcp.domain.work import Record
from iai_mcp.domain.work_pieces import Piece, pieces
from iai_mcp.memory.conversations import Extent
from iai_mcp.memory.injections import Injections
from iai_mcp.memory.scoping import Access, Caller, project_scope
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.works import Works

COMPACT = "compact"  # the source of a session that goes on after its host compacted it

_RECENT = 400  # turns: some forty exchanges
_READ_OF_EACH = 4_000  # characters
_PROMPTS = 1_000  # of the latest of the project that are looked at for quotes
_NOTES = 200
_RUNS, _EDITS = 1_500, 500  # of the latest
_CLOCK_SKEW = 86_400_000_000  # microseconds: another machine's clock may be ahead

_PAGES = 4
_PIECES, _FEWEST_PIECES, _PIECES_OF_A_SESSION, _OWN_PIECES = 15, 8, 3, 30
_QUOTES, _REMEMBERED, _FILES, _COMMANDS = 6, 12, 20, 8
_NAME_WIDTH = 60
# Of the budget at most; what they leave is for the lines of work.
_REMEMBERED_SHARE, _QUOTES_SHARE, _WORKED_SHARE = 0.3, 0.25, 0.25

_SEARCH = "Search: memory_recall (give wordings). Open: memory_show."
_REMEMBER_HEADING = "Asked to remember:"
_WORK_HEADING = "Recent work, newest first:"
_OWN_HEADING = "Your work in this session before it was compacted, newest first:"
_QUOTES_HEADING = "Said by you, may still apply (quotes, newest first; later ones override):"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """A session that begins, or goes on."""

    session_id: str = ""
    fork: str = ""  # the session that will go on, where `session_id` is what it is forked from
    source: str = ""  # why it begins, in the host's words
    project: str = ""  # a name or a path
    caller: Caller = field(default_factory=Caller)
    budget: int | None = None  # tokens; None leaves it to the setting


@dataclass(frozen=True, slots=True)
class SessionStart:
    """Quotes of one project, for a session that begins there."""

    memories: Memories
    works: Works
    access: Access
    extent: Callable[[Scope], Extent]
    count_tokens: Callable[[], CountTokens]
    injections: Injections
    depth: Callable[[], int]  # tokens that a session is told unless the call says otherwise
    now: Callable[[], int] = lambda: time.time_ns() // 1000

    def __call__(self, new: NewSession) -> InjectedText:
        key = self.access.projects.key_of(new.project, new.caller.cwd)
        scope = project_scope(key, self.memories, self.access.projects)
        scope = replace(
            scope,
            not_projects=self.access.closed_to(new.caller, scope.projects),
            # What is told unasked is an instruction that somebody wrote.
            not_members=tuple(self.memories.members(untrusted=True)),
            until=self.now() + _CLOCK_SKEW,
        )
        compacted = new.source == COMPACT and bool(new.session_id)
        index = _Index(
            start=self,
            key=key,
            scope=scope,
            session_id=new.session_id,
            # What was said before compaction the session has no longer before it.
            own=frozenset() if compacted else self.injections.lineage(new.session_id),
            budget=self.depth() if new.budget is None else new.budget,
            count=self.count_tokens(),
        )
        made = index.of_session() if compacted else index.of_project()
        if new.fork:
            self.injections.fork(new.fork, new.session_id)
        self.injections.record("session_start", new.session_id, key, made)
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    """One index. A session that goes on has its own words (`own`) before it already."""

    start: SessionStart
    key: str
    scope: Scope
    session_id: str
    own: frozenset[str]
    budget: int
    count: CountTokens

    def of_project(self) -> InjectedText:
        prompts = self._prompts()
        notes = self._notes(prompts)
        noted = {one.id for one in notes}
        worked = self.start.works.newest(self.scope, ("command", "edit"), _RUNS)
        turns: list[Memory] = []
        recent: list[Piece] = []
        for page in self._pages():
            turns += [one for one in page if one.id not in noted and not is_from(one, self.own)]
            recent = session_index.recent_pieces(pieces(turns, worked), _PIECES_OF_A_SESSION, 0)
            if len(recent) >= _FEWEST_PIECES:
                break
        else:
            recent = session_index.recent_pieces(
                pieces(turns, worked), _PIECES_OF_A_SESSION, _FEWEST_PIECES
            )
        titles = self._titles(turns)
        return self._made(
            notes,
            prompts,
            _WORK_HEADING,
            session_index.work_lines(recent[:_PIECES], titles),
            self._practice(worked),
        )

    def of_session(self) -> InjectedText:
        """Its requests, approved plans, edited files and commands that worked."""
        scope = replace(self.scope, projects=(), session_id=self.session_id)
        turns = self._newest(scope, _RECENT, _READ_OF_EACH)
        edits = self.start.works.newest(scope, ("edit",), _EDITS)
        runs = self.start.works.newest(scope, ("command",), _RUNS)
        prompts = self._prompts()
        return self._made(
            self._notes(prompts),
            prompts,
            _OWN_HEADING,
            session_index.work_lines(pieces(turns, [*edits, *runs])[:_OWN_PIECES], {}),
            [
                *session_index.plan_lines(turns),
                *session_index.file_line(edits, _FILES),
                *session_index.command_line(runs, _COMMANDS),
            ],
        )

    def _made(
        self,
        notes: Sequence[Memory],
        prompts: Sequence[Memory],
        heading: str,
        work: Sequence[IndexLine],
        worked: Sequence[IndexLine],
    ) -> InjectedText:
        """The pages in their order; the lines of work get what the others leave of the budget."""
        extent = self.start.extent(self.scope)
        head = self._page([IndexLine(self._heading(extent))], 1.0)
        remembered = section(
            _REMEMBER_HEADING,
            [session_index.note_line(one) for one in notes],
            int(self.budget * _REMEMBERED_SHARE),
            self.count,
            _REMEMBERED,
        )
        quoted = session_index.quote_lines(prompts, {one.id for one in notes})
        quotes = section(
            _QUOTES_HEADING, quoted, int(self.budget * _QUOTES_SHARE), self.count, _QUOTES
        )
        done = self._page(worked, _WORKED_SHARE)
        rest = self.budget - sum(page.tokens for page in (head, remembered, quotes, done))
        pages = [head, remembered, section(heading, work, rest, self.count), quotes, done]
        made = joined(pages)
        known = extent.messages or any(page.lines for page in pages[1:])
        return made if known else InjectedText()

    def _page(self, lines: Sequence[IndexLine], share: float) -> IndexPage:
        page = IndexPage(int(self.budget * share), self.count)
        for line in lines:
            page.add(line)
        return page

    def _heading(self, extent: Extent) -> str:
        name = in_line(shortened(from_key(self.key).name, _NAME_WIDTH)) if self.key else ""
        what = f"this project ({name})" if name else "what belongs to no project"
        if not extent.messages:
            return f"iai-mcp remembers nothing of {what} yet. {_SEARCH}"
        since = time.strftime("%Y-%m-%d", time.gmtime(max(0, extent.first) // 1_000_000))
        counts = f"{_many(extent.sessions, 'session')}, {_many(extent.messages, 'message')}"
        return f"iai-mcp remembers {what}: {counts} since {since}. {_SEARCH}"

    def _notes(self, prompts: Sequence[Memory]) -> list[Memory]:
        """What a person pinned or noted by hand, what that belongs to no project included, and what they
        asked to remember; newest first."""
        scopes = [self.scope]
        if self.key:
            scopes.append(replace(self.scope, projects=("",)))
        noted = [one for scope in scopes for one in self.start.memories.notes(scope, _NOTES)]
        kept = [one for one in noted if _holds(one) and session_index.is_note(one)]
        kept += session_index.asked_to_remember(prompts)
        distinct = {one.id: one for one in kept if not is_from(one, self.own)}
        return sorted(distinct.values(), key=lambda one: (not one.pinned, -one.at.micros))

    def _prompts(self) -> list[Memory]:
        found = self._newest(replace(self.scope, role="user"), _PROMPTS, LONGEST_PROMPT + 1)
        return [one for one in found if not is_from(one, self.own)]

    def _titles(self, turns: Sequence[Memory]) -> dict[str, Memory]:
        """The title of each session. Those that name a turn are about the session which has it."""
        found = session_index.titles(turns)
        salt, memories = self.start.memories.salt, self.start.memories
        ids = {
            leaf: str(UUID(bytes=turn_identity(salt, "", uid=leaf)))
            for one in found
            if (leaf := session_index.leaf_of(one))
        }
        known = {one.id: one for one in memories.find(list(ids.values()), 1)} if ids else {}
        sessions = {
            leaf: known[public].provenance.session_id
            for leaf, public in ids.items()
            if public in known and self.scope.opens(known[public].provenance.project)
        }
        return session_index.titles_by_session(found, sessions)

    def _practice(self, worked: Sequence[Record]) -> list[IndexLine]:
        """How the project is tested, built and run: each command with the request that last had it run."""
        if not self.key:
            return []
        habits = practice(worked)
        served = {one.latest.turn for one in habits if one.latest.turn is not None}
        known = self.start.memories.find([str(UUID(bytes=turn)) for turn in served], 1)
        opened = [one for one in known if self.scope.opens(one.provenance.project)]
        return session_index.practice_line(habits, opened)

    def _pages(self) -> Iterator[list[Memory]]:
        """The latest turns of the project: a session of an agent alone can fill a page."""
        memories = self.start.memories
        before: tuple[int, int] | None = None
        for _ in range(_PAGES):
            placed = memories.newest(self.scope, _RECENT, before)
            found = memories.get([one.key for one in placed], _READ_OF_EACH)
            yield [one for one in found if _holds(one)]
            if len(placed) < _RECENT:
                return
            before = (placed[-1].at, placed[-1].key)

    def _newest(self, scope: Scope, limit: int, longest: int) -> list[Memory]:
        """The latest of the scope that hold, newest first."""
        memories = self.start.memories
        keys = [one.key for one in memories.newest(scope, limit)]
        return [one for one in memories.get(keys, longest) if _holds(one)]


def _holds(memory: Memory) -> bool:
    """Whether nothing has superseded it."""
    return memory.valid_to is None and memory.successor is None


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
