"""What was done, among what was said: for answers and for timelines."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from iai_mcp.domain.commands import errors_in, same_command
from iai_mcp.domain.work import Command, Edit, Looked, Record, details_of, text_of
from iai_mcp.domain.work_ranking import asks_for_work, names_work
from iai_mcp.memory.payload import BYTES_PER_TOKEN, size
from iai_mcp.memory.question import Question
from iai_mcp.memory.scoping import Caller
from iai_mcp.memory.work_answers import WorkAnswers
from iai_mcp.ports.memories import Scope
from iai_mcp.ports.works import Works

Kind = Literal["any", "said", "did"]
KINDS: tuple[Kind, ...] = ("any", "said", "did")

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

    @property
    def tokens(self) -> int:
        """What it costs, by the bytes of its JSON."""
        done, whence = self.record.done, self.record.provenance
        names = (whence.session_id, whence.project, whence.host, whence.agent_id, whence.agent_name)
        said = (text_of(done, self.record.note), self.request, details_of(done), names)
        return -(-(size(said) + _AROUND) // BYTES_PER_TOKEN)


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
        """What to show of it beside what was said, or (`did`) in its place."""
        if kind == "said" or asked.by_session or asked.about.role not in ("", "tool"):
            return Share()
        named = names_work(asked.cue)
        if kind == "any" and not named and not asks_for_work(asked.cue):
            return Share()
        found = self._here_first(asked, scope)
        if kind == "did":
            return Share(_within(found, asked.limit, asked.budget))
        if named:
            return Share(_within(found, _MOST, asked.budget // 2))
        most = min(_MOST, max(1, asked.limit - _AFTER))
        return Share(_within(found, most, asked.budget // 3), _AFTER)

    def _here_first(self, asked: Question, scope: Scope) -> list[WorkHit]:
        """Work of the caller's project; of others only where that has none, or they are asked for."""
        if not asked.about.project and asked.caller.cwd:
            here = replace(asked.about, project=asked.caller.cwd)
            found = self._found(asked, self.answers.access.scope(here, asked.caller))
            if found:
                return found
        return self._found(asked, scope)

    def _found(self, asked: Question, scope: Scope) -> list[WorkHit]:
        """Work that is about the cue, best first, each command and each file once."""
        cue = asked.cue
        records: dict[int, float] = {}
        if names_work(cue) and errors_in(cue):
            for mending in self.answers.mendings(cue, scope)[:_MOST]:
                records |= dict.fromkeys((*mending.steps[-2:], mending.failure), 20.0)
        for path in _PATH.findall(cue)[:2]:
            for edit in self.works.edits_of(path, scope, _MOST):
                records.setdefault(edit.key, 15.0)
        ranked = self.answers.commands(cue, scope)
        edits = [
            one for one in self.answers.found(cue, scope, ("edit",)) if one[0].key not in records
        ]
        scored = [
            *((one.shown, one.score) for one in ranked),
            *((record, strength) for record, strength in edits),
            *((one, records[one.key]) for one in self.works.get(list(records))),
        ]
        scored.sort(key=lambda one: (-one[1], -one[0].at.micros))
        distinct = {_what(record): (record, score) for record, score in reversed(scored)}
        best = sorted(distinct.values(), key=lambda one: (-one[1], -one[0].at.micros))[:50]
        shown = self.answers.opened([record for record, _ in best], scope)
        requests = self.answers.requests(shown, scope)
        return [
            WorkHit(record, score, requests.get(record.key, ""))
            for record, (_, score) in zip(shown, best, strict=True)
        ]

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
