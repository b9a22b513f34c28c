"""Questions about what was done: how, fix, blame, changed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

from iai_mcp.domain.commands import errors_in, same_command, words_of_error
from iai_mcp.domain.cue.analysis import read
from iai_mcp.domain.cue.exact import quoted
from iai_mcp.domain.memories import Memory
from iai_mcp.domain.mendings import Mending
from iai_mcp.domain.words import words
from iai_mcp.domain.work import Command, Edit, Kind, Record, text_of
from iai_mcp.domain.work_ranking import (
    Ranked,
    covered,
    is_about_failure,
    nearer,
    rank_commands,
    weighed,
)
from iai_mcp.memory.recall import MeaningLeg
from iai_mcp.memory.scoping import Access
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.works import Works

_CANDIDATES = 400
_WEIGHED = 16  # by their meaning: each takes the model some milliseconds
_READ_OF_EACH = 300  # characters
_FAILURES = 60
_REQUEST = 300  # characters of a request that is shown
_ERROR_WORDS = 24  # of a message that is searched by its words
_PARTS = 3  # exact parts of an error that a failure must have, the longest first


@dataclass(frozen=True, slots=True)
class WorkAnswers:
    """Commands, edits and fixes, found by what they were for."""

    works: Works
    memories: Memories
    access: Access
    meaning: Callable[[], MeaningLeg | str]  # a string says why there is none

    def how(
        self, question: str, scope: Scope, limit: int, wordings: Sequence[str] = ()
    ) -> list[dict[str, object]]:
        """Commands that worked, those first that fit best and were used most."""
        ranked = self._by_meaning(question, self.commands(question, scope, wordings))[:limit]
        requests = self.requests([one.shown for one in ranked], scope)
        return [_command(one, requests) for one in ranked]

    def _by_meaning(self, question: str, ranked: list[Ranked]) -> list[Ranked]:
        """The best once more, by what the question means, where there is a model."""
        leg = self.meaning()
        best = ranked[:_WEIGHED]
        if isinstance(leg, str) or not question.strip() or len(best) < 2:
            return ranked
        texts = [f"{one.shown.note}: {_line(one.shown)}"[:_READ_OF_EACH] for one in best]
        asked, *rows = leg.embedder.embed([question[:_READ_OF_EACH], *texts])
        return nearer(ranked, [float(row @ asked) for row in rows])

    def commands(self, question: str, scope: Scope, wordings: Sequence[str] = ()) -> list[Ranked]:
        """All that answer the question, best first."""
        if question.strip():
            found = self.found(question, scope, ("command",), wordings)
        else:
            found = [(one, 1.0) for one in self.works.newest(scope, ("command",), _CANDIDATES)]
        same = {same_command(_line(record)) for record, _ in found}
        runs = self.works.runs_of(sorted(same), scope)
        uses = {command: len(keys) for command, keys in runs.items()}
        return rank_commands(found, uses, worked_first=not is_about_failure(question))

    def found(
        self, question: str, scope: Scope, kinds: Sequence[Kind], wordings: Sequence[str] = ()
    ) -> list[tuple[Record, float]]:
        """Work with words of the question or of a wording in it, best first, and how well each fits."""
        scores: dict[int, float] = {}
        records: dict[int, Record] = {}
        for text in (question, *wordings):
            terms = tuple(read(text, datetime.now(UTC)).terms)
            hits = self.works.by_words(terms, scope, kinds, _CANDIDATES)
            best = max((one.strength for one in hits), default=1.0) or 1.0
            own = {one.key: one for one in self.works.get([hit.key for hit in hits])}
            requests = self.requests(own.values(), scope)
            for hit in hits:
                if (record := own.get(hit.key)) is not None:
                    share = covered(record, requests.get(hit.key, ""), terms)
                    value = weighed(hit.strength / best, share)
                    scores[hit.key] = scores.get(hit.key, 0.0) + value
            records |= own
        return sorted(
            ((records[key], score) for key, score in scores.items()), key=lambda one: -one[1]
        )

    def fix(self, error: str, scope: Scope, limit: int) -> list[dict[str, object]]:
        """What fixed this very failure before, the newest first."""
        answers: list[dict[str, object]] = []
        for mending in self.mendings(error, scope)[:limit]:
            shown = self._mended(mending, error, scope)
            if shown is not None:
                answers.append(shown)
        return answers

    def mendings(self, error: str, scope: Scope) -> list[Mending]:
        """Fixes of failures that printed the same error line, or all exact parts of what is asked."""
        same = self.works.failing_with(errors_in(error), scope, _FAILURES)
        failures = list(dict.fromkeys([*same, *self._holding_exactly(error, scope)]))
        found = open_mendings(self.works, failures, scope)
        distinct = {(one.steps, one.success): one for one in reversed(found)}
        return [one for one in found if distinct.get((one.steps, one.success)) is one]

    def _holding_exactly(self, error: str, scope: Scope) -> list[int]:
        """Failed commands whose output has every exact part of the error: codes, addresses, names."""
        # A file is the same one wherever it was named from.
        parts = [part.lower().rstrip("/").rpartition("/")[2] for part in quoted(error)][:_PARTS]
        if not parts:
            return []
        terms = tuple(dict.fromkeys(term for part in parts for term in words(part)))[:_ERROR_WORDS]
        found = self.works.by_words(terms, scope, ("command",), _CANDIDATES)
        return [
            one.key
            for one in self.works.get([hit.key for hit in found])
            if isinstance(one.done, Command)
            and one.done.failed
            and all(part in one.done.output.lower() for part in parts)
        ][:_FAILURES]

    def _mended(self, mending: Mending, error: str, scope: Scope) -> dict[str, object] | None:
        records = self.works.get([mending.failure, *mending.steps])
        if len(records) < 2 or records[0].key != mending.failure:
            return None
        failure, *steps = records
        return {
            "failure": _failure(failure, error),
            "command": _line(failure),
            "mended_by": "\n".join(text_of(one.done) for one in steps),
            "ts": steps[-1].at.text,
            "session_id": failure.provenance.session_id,
            "ids": [one.id for one in records],
            "project": failure.provenance.project or None,
            **_request(self.requests([failure], scope).get(failure.key)),
        }

    def blame(self, path: str, scope: Scope, limit: int) -> list[dict[str, object]]:
        """The edits of a file or directory, newest first, with the request that led to each."""
        return self._edits(self.works.edits_of(path, scope, limit), scope)

    def changed(self, scope: Scope, limit: int) -> list[dict[str, object]]:
        """All edits of a time, newest first."""
        return self._edits(self.works.newest(scope, ("edit",), limit), scope)

    def _edits(self, records: Sequence[Record], scope: Scope) -> list[dict[str, object]]:
        requests = self.requests(records, scope)
        return [edit for one in records if (edit := _edit(one, requests)) is not None]

    def requests(self, records: Iterable[Record], scope: Scope) -> Mapping[int, str]:
        """The words of the request that each served, by its key; of those that are known and open."""
        served = {one.key: str(UUID(bytes=one.turn)) for one in records if one.turn is not None}
        asked = self._open(list(dict.fromkeys(served.values())), scope)
        return {key: asked[turn].text for key, turn in served.items() if turn in asked}

    def opened(self, records: Sequence[Record], scope: Scope) -> list[Record]:
        """The same records, without the ids of requests that are closed to whoever asks."""
        if not scope.not_projects:
            return list(records)
        turns = {str(UUID(bytes=one.turn)) for one in records if one.turn is not None}
        known = {UUID(one).bytes for one in self._open(sorted(turns), scope)}
        return [one if one.turn in known else replace(one, turn=None) for one in records]

    def _open(self, turns: Sequence[str], scope: Scope) -> dict[str, Memory]:
        """The beginnings of these turns by their ids. One session can go through several projects."""
        found = self.memories.find(turns, _REQUEST)
        return {one.id: one for one in found if scope.opens(one.provenance.project)}


def open_mendings(works: Works, failures: Sequence[int], scope: Scope) -> list[Mending]:
    """What is known to have mended these failures, where all of its steps are open."""
    found = works.mendings_of(failures)
    steps = {key for one in found for key in (*one.steps, one.success)}
    closed = {one.key for one in works.get(list(steps)) if not scope.opens(one.provenance.project)}
    return [one for one in found if closed.isdisjoint((*one.steps, one.success))]


def _command(one: Ranked, requests: Mapping[int, str]) -> dict[str, object]:
    record, done = one.shown, one.shown.done
    return {
        "command": _line(record),
        "exit": done.exit if isinstance(done, Command) else None,
        "uses": one.runs,
        "last": record.at.text,
        "session_id": record.provenance.session_id,
        "id": record.id,
        "project": record.provenance.project or None,
        **_request(requests.get(record.key)),
        **({"for": record.note} if record.note else {}),
    }


def _edit(record: Record, requests: Mapping[int, str]) -> dict[str, object] | None:
    done, whence = record.done, record.provenance
    if not isinstance(done, Edit):
        return None
    return {
        "path": done.path,
        "action": done.action,
        "added": done.added,
        "removed": done.removed,
        "names": list(done.names),
        "ts": record.at.text,
        "agent": whence.agent_name or whence.agent_id,
        "host": whence.host,
        "session_id": whence.session_id,
        "project": whence.project or None,
        "id": record.id,
        **_request(requests.get(record.key)),
    }


def _request(words: str | None) -> dict[str, object]:
    return {"request": words or ""}


def _line(record: Record) -> str:
    return record.done.command if isinstance(record.done, Command) else ""


def _failure(record: Record, asked: str) -> str:
    done = record.done
    said = words_of_error(done.output, asked) if isinstance(done, Command) else ""
    return said or f"exit {done.exit if isinstance(done, Command) else '?'}"
