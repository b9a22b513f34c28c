"""What was done, among what was said: for answers and for timelines."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from iai_mcp.domain.commands import errors_in, same_command
from iai_mcp.domain.errors import PlaceSilent
from iai_mcp.domain.words import words
from iai_mcp.domain.work import Command, Edit, Looked, Record, details_of, text_of
from iai_mcp.domain.work_ranking import stem
from iai_mcp.memory.question import Question
from iai_mcp.memory.scoping import Caller
from iai_mcp.memory.work_answers import WorkAnswers
from iai_mcp.ports.memories import Scope
from iai_mcp.ports.works import Works
from iai_mcp.recall.query import Query, parse_query
from iai_mcp.recall.render import BYTES_PER_TOKEN

Kind = Literal["any", "said", "did"]
KINDS: tuple[Kind, ...] = ("any", "said", "did")

_FITS, _IS_WORK = 0.6, 0.85  # shares of the words that work has to hold: to be shown, to come first
_FIX, _EDIT = 2.0, 1.5  # more than words alone reach
_WITHIN = 0.15  # for work within an exchange that is shown
_CANDIDATES, _OF_EXCHANGE, _SPARE = 24, 60, 8
_MOST = 3  # pieces of work in an answer that is not about work alone
_AFTER = 3  # what was said comes so many times before what was done
_AROUND = 480  # bytes of a hit besides: keys, ids, times, its score
_SHOWN = 5  # of the work between two turns
_BETWEEN = 2000  # pieces of work of a session that a timeline looks at
_PATH = re.compile(r"[\w.@+-]*/[\w.@+/-]+|[\w@+-]+\.[A-Za-z]\w{0,7}\b|\.[a-z][\w.-]+")


@dataclass(frozen=True, slots=True)
class WorkHit:
    """Work that answers a cue, with the words of the request it served."""

    record: Record
    score: float
    request: str
    fit: float = 1.0  # the share of the cue's words, or of a wording's, that it holds

    @property
    def tokens(self) -> int:
        """What it costs, by the bytes of its JSON."""
        done, whence = self.record.done, self.record.provenance
        names = (whence.session_id, whence.project, whence.host, whence.agent_id, whence.agent_name)
        said = (text_of(done, self.record.note), self.request, details_of(done), names)
        written = json.dumps(said, ensure_ascii=False)
        return -(-(len(written.encode("utf-8", "surrogatepass")) + _AROUND) // BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Share:
    """What work takes of an answer: its hits, and behind how many of what was said they come."""

    hits: tuple[WorkHit, ...] = ()
    behind: int = 0

    @property
    def tokens(self) -> int:
        return sum(hit.tokens for hit in self.hits)


@dataclass(frozen=True, slots=True)
class Folded:
    """The work between one turn and the next."""

    commands: int = 0
    failed: int = 0
    edits: int = 0
    looked: int = 0
    did: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkRecall:
    """Finds the work that a cue is about. Words that ask for words lose nothing to it."""

    works: Works
    answers: WorkAnswers

    def share(self, asked: Question, scope: Scope, kind: Kind) -> Share:
        """The work to show beside what was said, or (`did`) in its place."""
        if kind == "said" or asked.by_session or asked.about.role not in ("", "tool"):
            return Share()
        query = parse_query(asked.cue, asked.wordings, now=datetime.now(UTC))
        scope = self._here(asked, scope)
        hits = self._hits(asked.cue, query, scope, (), asked.limit + _SPARE)
        if kind == "did":
            return Share(_within(hits, asked.limit, asked.budget))
        fitting = [hit for hit in hits if hit.fit >= _FITS]
        most = min(_MOST, max(1, asked.limit - _AFTER))
        first = bool(fitting) and fitting[0].fit >= _IS_WORK
        part = asked.budget // (2 if first else 5)
        return Share(_within(fitting, most, part), 0 if first else _AFTER)

    def beside(
        self, asked: Question, scope: Scope, query: Query, spans: Sequence[Scope]
    ) -> Sequence[WorkHit]:
        """The work to show beside results: what fits the question, above all within the exchanges shown,
        which `spans` name by session and time."""
        hits = self._hits(asked.cue, query, self._here(asked, scope), spans, _SPARE)
        return [hit for hit in hits if hit.fit >= _FITS][:_MOST]

    def _here(self, asked: Question, scope: Scope) -> Scope:
        """The caller's project, unless the question names one or the caller stands in none."""
        if asked.about.project or not asked.caller.cwd:
            return scope
        try:
            key = self.answers.access.projects.key_of("", asked.caller.cwd)
        except PlaceSilent:
            key = ""
        if not key:
            return scope
        own = replace(scope, projects=(key,))
        return own if self.works.newest(own, ("command", "edit"), 1) else scope

    def _hits(
        self, cue: str, query: Query, scope: Scope, spans: Sequence[Scope], most: int
    ) -> list[WorkHit]:
        """Work with words of the cue or of a wording, best first, each command and each file once."""
        named = self._named(cue, scope)
        keys = list(named)
        terms = tuple(dict.fromkeys(term for wording in query.wordings for term in wording.terms))
        most_found = _CANDIDATES * min(2, len(query.wordings))
        found = self.works.by_words(terms, scope, ("command", "edit"), most_found)
        keys += [hit.key for hit in found]
        records = {one.key: one for one in self.works.get(list(dict.fromkeys(keys)))}
        within: set[int] = set()
        for span in spans:
            for one in self.works.newest(
                replace(span, not_projects=scope.not_projects), ("command",), _OF_EXCHANGE
            ):
                records[one.key] = one
                within.add(one.key)
        wanted = [frozenset(map(stem, wording.terms)) for wording in query.wordings]
        scored = [
            (one, self._fit(one, wanted), named.get(key, 0.0) + _WITHIN * (key in within))
            for key, one in records.items()
        ]
        scored.sort(key=lambda each: (-each[1] - each[2], -each[0].at.micros))
        distinct: dict[tuple[str, str], tuple[Record, float, float]] = {}
        for each in scored:
            distinct.setdefault(_what(each[0]), each)
        best = list(distinct.values())[:most]
        shown = self.answers.opened([record for record, _, _ in best], scope)
        requests = self.answers.requests(shown, scope)
        return [
            WorkHit(record, fit + extra, requests.get(record.key, ""), 1.0 if extra >= 1 else fit)
            for record, (_, fit, extra) in zip(shown, best, strict=True)
        ]

    def _fit(self, record: Record, wanted: Sequence[frozenset[str]]) -> float:
        """The largest share of a wording's words that the work holds."""
        own = {stem(word) for word in words(f"{text_of(record.done, record.note)}")}
        return max((len(own & each) / len(each) for each in wanted if each), default=0.0)

    def _named(self, cue: str, scope: Scope) -> dict[int, float]:
        """What the cue names outright: edits of a path, the failure that an error message quotes and what
        fixed it."""
        named: dict[int, float] = {}
        if errors := errors_in(cue):
            named |= dict.fromkeys(self.works.failing_with(errors, scope, _MOST), _FIX)
            for fix in self.answers.mendings(cue, scope)[:_MOST]:
                named |= dict.fromkeys((*fix.steps[-2:], fix.failure), _FIX)
        for path in _PATH.findall(cue)[:2]:
            for edit in self.works.edits_of(path, scope, _MOST):
                named.setdefault(edit.key, _EDIT)
        return named

    def one(self, public_id: str, project: str, caller: Caller) -> WorkHit | None:
        """The work of that id, if there is such and the caller may look into its project."""
        found, view = self.works.find([public_id]), self.answers.access.view(caller, project)
        if not found or not view.opens(found[0].provenance.project):
            return None
        (record,) = self.answers.opened(found, view)
        return WorkHit(record, 0.0, self.answers.requests(found, view).get(record.key, ""))

    def folded(self, turns: Sequence[tuple[str, int]], view: Scope) -> list[Folded]:
        """What was done after each of these turns (session, time), before the next of its session, as
        far as the view opens it.
        """
        starts: dict[str, list[tuple[int, int]]] = {}
        for place, (session, at) in enumerate(turns):
            if session:
                starts.setdefault(session, []).append((at, place))
        after: dict[int, list[Record]] = {}
        for session, places in starts.items():
            scope = Scope(session_id=session, since=places[0][0], not_projects=view.not_projects)
            for record in self.works.newest(scope, ("command", "edit", "looked"), _BETWEEN)[::-1]:
                place = max(one for one in places if one[0] <= record.at.micros)[1]
                after.setdefault(place, []).append(record)
        return [_fold(after.get(place, ())) for place in range(len(turns))]


def shared_room(asked: Question, share: Share) -> Question:
    """The question as it is put to what was said: with the room that work leaves."""
    if not share.hits:
        return asked
    limit = max(1, asked.limit - len(share.hits))
    return replace(asked, limit=limit, budget=max(1, asked.budget - share.tokens))


def _within(found: Iterable[WorkHit], most: int, budget: int) -> tuple[WorkHit, ...]:
    kept: list[WorkHit] = []
    for hit in found:
        if len(kept) < most and hit.tokens <= budget:
            kept.append(hit)
            budget -= hit.tokens
    return tuple(kept)


def _what(record: Record) -> tuple[str, str]:
    done = record.done
    if isinstance(done, Command):
        return "command", same_command(done.command)
    return (
        ("edit", f"{record.provenance.session_id} {done.path}")
        if isinstance(done, Edit)
        else ("", "")
    )


def _fold(records: Sequence[Record]) -> Folded:
    done = [one.done for one in records]
    commands = [one for one in done if isinstance(one, Command)]
    edits = [one for one in done if isinstance(one, Edit)]
    return Folded(
        commands=len(commands),
        failed=sum(one.failed for one in commands),
        edits=len(edits),
        looked=sum(isinstance(one, Looked) for one in done),
        did=tuple(_lines(commands, edits))[:_SHOWN],
    )


def _lines(commands: Sequence[Command], edits: Sequence[Edit]) -> Iterable[str]:
    """Each file once with all that was done to it, then each command once."""
    files: dict[str, list[Edit]] = {}
    for edit in edits:
        files.setdefault(edit.path, []).append(edit)
    for path, changes in files.items():
        added, removed = sum(one.added for one in changes), sum(one.removed for one in changes)
        yield f"{changes[-1].action} {path} +{added} −{removed}"
    latest: Mapping[str, Command] = {same_command(one.command): one for one in commands}
    for command in latest.values():
        ended = " (refused)" if command.rejected else " (failed)" if command.failed else ""
        yield f"$ {' '.join(command.command.split())[:160]}{ended}"
