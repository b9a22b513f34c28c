"""`Works` in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from iai_mcp.domain.commands import errors_in, same_command
from iai_mcp.domain.mendings import Mending
from iai_mcp.domain.whole_words import Phrase
from iai_mcp.domain.words import words
from iai_mcp.domain.work import (
    KINDS,
    CleanWork,
    Command,
    Edit,
    Kind,
    Looked,
    Record,
    text_of,
    whole_path,
)
from iai_mcp.ports.memories import Scope, Stored
from iai_mcp.ports.works import Found


class FakeWorks:
    def __init__(self) -> None:
        self._records: dict[int, Record] = {}
        self._asked: dict[int, str] = {}
        self._known: dict[str, int] = {}
        self._gone: set[str] = set()
        self._mendings: dict[int, Mending] = {}
        self._last = 0
        self._further: dict[tuple[int, str], bool] = {}  # (key, session): whether it left that one
        self.requests: set[bytes] = set()  # that are known
        self.spoken: set[str] = set()  # sessions of which something said is left

    def add(self, works: Sequence[CleanWork], asked: Sequence[str]) -> list[Stored]:
        return [self._add(work, words) for work, words in zip(works, asked, strict=True)]

    def get(self, keys: Sequence[int]) -> list[Record]:
        return [self._records[key] for key in keys if key in self._records]

    def find(self, ids: Sequence[str]) -> list[Record]:
        return self.get([self._known[i] for i in ids if i in self._known])

    def ids_beginning(self, digits: str, limit: int) -> list[str]:
        return sorted(one for one in self._known if one.replace("-", "").startswith(digits))[:limit]

    def in_session(self, session_id: str, limit: int) -> list[Record]:
        return self._newest(Scope(session_id=session_id), KINDS)[:limit][::-1]

    def newest(self, scope: Scope, kinds: Sequence[Kind], limit: int) -> list[Record]:
        return self._newest(scope, kinds)[:limit]

    def by_words(
        self, terms: Sequence[str], scope: Scope, kinds: Sequence[Kind], limit: int
    ) -> list[Found]:
        wanted = {term.lower() for term in terms}
        found = [
            Found(one.key, float(shared))
            for one in self._newest(scope, kinds)
            if not isinstance(one.done, Looked)
            and (shared := len(wanted & set(words(self._text(one)))))
        ]
        return sorted(found, key=lambda one: -one.strength)[:limit]

    def runs_of(self, commands: Sequence[str], scope: Scope) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for one in self._newest(scope, ("command",))[::-1]:
            same = same_command(one.done.command) if isinstance(one.done, Command) else ""
            if same in commands:
                found.setdefault(same, []).append(one.key)
        return found

    def edits_of(self, path: str, scope: Scope, limit: int) -> list[Record]:
        plain = path.strip().removeprefix("./").rstrip("/")
        for root in scope.projects:
            if root.startswith("/") and plain.startswith(f"{root}/"):
                plain = plain[len(root) + 1 :]
        edits = [(one, one.done) for one in self._newest(scope, ("edit",))]
        found = [
            one
            for one, done in edits
            if isinstance(done, Edit)
            and plain
            and (
                _is_at(one, done, plain)
                or (done.path.startswith("/") and f"/{plain}/" in f"{done.path}/")
            )
        ]
        ends = [
            one
            for one, done in edits
            if isinstance(done, Edit) and plain and f"/{plain}/" in f"/{done.path}/"
        ]
        return (found or ([] if plain.startswith("/") else ends))[:limit]

    def failing_with(self, errors: Sequence[str], scope: Scope, limit: int) -> list[int]:
        shared = [
            (len(set(errors) & set(errors_in(one.done.output))), one.key)
            for one in self._newest(scope, ("command",))
            if isinstance(one.done, Command) and one.done.failed
        ]
        return [key for count, key in sorted(shared, key=lambda one: -one[0]) if count][:limit]

    def put_mendings(self, mendings: Sequence[Mending]) -> None:
        known = self._records
        self._mendings |= {
            m.failure: m for m in mendings if m.failure in known and m.success in known
        }

    def mendings_of(self, failures: Sequence[int]) -> list[Mending]:
        return [self._mendings[key] for key in failures if key in self._mendings]

    def unsettled(self, after: int, limit: int) -> list[tuple[int, str]]:
        found = [
            (key, one.provenance.session_id)
            for key, one in self._records.items()
            if key > after
            and isinstance(one.done, Command)
            and one.done.failed
            and key not in self._mendings
        ]
        return found[:limit]

    def keys(self, scope: Scope) -> list[int]:
        return sorted(one.key for one in self._newest(scope, KINDS))

    def left_behind(self, limit: int) -> list[int]:
        left = (one.key for one in self._records.values())
        sessions = self._records
        return [k for k in left if sessions[k].provenance.session_id not in self.spoken][:limit]

    def containing(self, words: str, scope: Scope) -> list[int]:
        phrase = Phrase(words)
        found = self._newest(scope, KINDS)
        return sorted(one.key for one in found if phrase.is_in(self._text(one)))

    def after(self, key: int, limit: int) -> list[Record]:
        return [one for known, one in self._records.items() if known > key][:limit]

    def in_other_sessions(self, keys: Sequence[int], session: str) -> list[int]:
        return sorted(key for key in keys if self._sessions(key) - {session})

    def sessions_of(self, keys: Sequence[int]) -> dict[int, list[str]]:
        known = {key: sorted(self._sessions(key)) for key in keys if key in self._records}
        return {key: sessions for key, sessions in known.items() if len(sessions) > 1}

    def share(self, sessions: Mapping[int, Sequence[str]]) -> None:
        for key, several in sessions.items():
            for session in several:
                self._share(key, session)

    def leave(self, keys: Sequence[int], session: str) -> None:
        for key in keys:
            others = sorted(self._sessions(key) - {session})
            one = self._records[key]
            if others and one.provenance.session_id == session:
                whence = replace(one.provenance, session_id=others[0])
                self._records[key] = replace(one, provenance=whence)
            if others:
                self._further[key, session] = True

    def _sessions(self, key: int) -> set[str]:
        further = {s for (k, s), gone in self._further.items() if k == key and not gone}
        return {self._records[key].provenance.session_id} | further

    def forget(self, keys: Sequence[int], at: int, *, hold: str = "") -> list[str]:
        gone = [self._records.pop(key).id for key in keys if key in self._records]
        self._gone.update(gone)
        self._mendings = {
            key: one
            for key, one in self._mendings.items()
            if key in self._records and one.success in self._records
        }
        return gone

    def forget_unknown_requests(self, limit: int) -> int:
        unknown = [
            key for key, one in self._records.items() if one.turn and one.turn not in self.requests
        ][:limit]
        for key in unknown:
            self._asked[key] = ""
            self._records[key] = replace(self._records[key], turn=None)
        return len(unknown)

    def count(self) -> int:
        return len(self._records)

    def _share(self, key: int, session: str) -> None:
        if session not in ("", self._records[key].provenance.session_id):
            self._further.setdefault((key, session), False)

    def _add(self, work: CleanWork, asked: str) -> Stored:
        public = str(UUID(bytes=work.identity))
        if public in self._gone:
            return Stored("forgotten", public, None)
        if public in self._known and self._known[public] in self._records:
            key = self._known[public]
            self._share(key, work.provenance.session_id)
            return Stored("duplicate", public, key)
        self._last += 1
        self._known[public] = self._last
        self._asked[self._last] = asked
        self._records[self._last] = Record(
            key=self._last,
            id=public,
            at=work.at,
            done=work.done,
            note=work.note,
            turn=work.turn,
            provenance=work.provenance,
        )
        return Stored("inserted", public, self._last)

    def _text(self, one: Record) -> str:
        output = one.done.output if isinstance(one.done, Command) else ""
        return "\n".join((text_of(one.done, one.note), output, self._asked[one.key]))

    def _newest(self, scope: Scope, kinds: Sequence[Kind]) -> list[Record]:
        session = scope.session_id
        scope = replace(scope, role="", said=False, session_id="")
        found = [
            one
            for one in self._records.values()
            if one.kind in kinds
            and _within(one, scope)
            and (not session or session in self._sessions(one.key))
        ]
        return sorted(found, key=lambda one: (one.at.micros, one.key), reverse=True)


def _within(one: Record, scope: Scope) -> bool:
    whence, at = one.provenance, one.at.micros
    return (
        (not scope.projects or whence.project in scope.projects)
        and (not whence.project or whence.project not in scope.not_projects)
        and (not scope.members or "" in scope.members)
        and (not scope.machines or "" in scope.machines)
        and scope.host in ("", whence.host)
        and scope.agent in ("", whence.agent_id, whence.agent_name)
        and (scope.since is None or at >= scope.since)
        and (scope.until is None or at < scope.until)
        and (scope.known_at is None or at <= scope.known_at)
    )


def _is_at(one: Record, done: Edit, asked: str) -> bool:
    path = whole_path(done, one.provenance.project) if asked.startswith("/") else done.path
    return path == asked or path.startswith(f"{asked}/")
