"""Where what agents did outlives the process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from iai_mcp.domain.mendings import Mending
from iai_mcp.domain.work import CleanWork, Kind, Record
from iai_mcp.ports.memories import Scope, Stored


@dataclass(frozen=True, slots=True)
class Found:
    """Work found by its words. `strength` is larger for better; it is not bounded."""

    key: int
    strength: float


class Works(Protocol):
    """The store of work as the use cases see it. Every call is safe from any thread.

    Of a scope, what only turns have (a role, whether they were derived) does not count.
    Each method may raise `StoreError` or `IoFailed` with a sentence for people.
    """

    def add(self, works: Sequence[CleanWork], asked: Sequence[str]) -> list[Stored]:
        """Store all of it durably in one transaction, each at most once, in order.

        What is stored already belongs to the session that repeats it, too, unless it was taken out of it.
        `asked` are the words of the request that each served: it is found by them, too. What was
        forgotten is not brought back.
        """
        ...

    def get(self, keys: Sequence[int]) -> list[Record]:
        """What exists among `keys`, in the order asked."""
        ...

    def find(self, ids: Sequence[str]) -> list[Record]:
        """What exists among the public `ids`, in the order asked."""
        ...

    def ids_beginning(self, digits: str, limit: int) -> list[str]:
        """Public ids, at most `limit`, that begin with these hexadecimal digits."""
        ...

    def in_session(self, session_id: str, limit: int) -> list[Record]:
        """The newest `limit` of a session, oldest first."""
        ...

    def newest(self, scope: Scope, kinds: Sequence[Kind], limit: int) -> list[Record]:
        """The newest of the scope and of those kinds, newest first."""
        ...

    def by_words(
        self, terms: Sequence[str], scope: Scope, kinds: Sequence[Kind], limit: int
    ) -> list[Found]:
        """Work with any of the terms, best first."""
        ...

    def runs_of(self, commands: Sequence[str], scope: Scope) -> dict[str, list[int]]:
        """The keys of all runs of each of these commands (as `same_command` has them), oldest first."""
        ...

    def edits_of(self, path: str, scope: Scope, limit: int) -> list[Record]:
        """Edits of a file, or of what lies below a directory, newest first.

        The path may be as seen from the project, its end, or whole.
        """
        ...

    def failing_with(self, errors: Sequence[str], scope: Scope, limit: int) -> list[int]:
        """Failed commands with any of these lines (as `same_error` has them), newest first."""
        ...

    def put_mendings(self, mendings: Sequence[Mending]) -> None:
        """Write down what mended which failure, in place of what was known of each."""
        ...

    def mendings_of(self, failures: Sequence[int]) -> list[Mending]:
        """What is known to have mended these, in the order asked."""
        ...

    def unsettled(self, after: int, limit: int) -> list[tuple[int, str]]:
        """(key, session) of failures that nothing is known to have mended, in order of arrival."""
        ...

    def keys(self, scope: Scope) -> list[int]:
        """All keys of the scope, ascending."""
        ...

    def left_behind(self, limit: int) -> list[int]:
        """The keys of work in whose session nothing is left that was said."""
        ...

    def containing(self, words: str, scope: Scope) -> list[int]:
        """The keys of all work of the scope with these words in it: whole, in any case."""
        ...

    def after(self, key: int, limit: int) -> list[Record]:
        """The next `limit`, in order of arrival."""
        ...

    def in_other_sessions(self, keys: Sequence[int], session: str) -> list[int]:
        """Which of `keys` belong to a session beside that one, ascending."""
        ...

    def sessions_of(self, keys: Sequence[int]) -> dict[int, list[str]]:
        """All sessions, ascending, of those among `keys` that belong to several."""
        ...

    def share(self, sessions: Mapping[int, Sequence[str]]) -> None:
        """Each key belongs to these sessions, too, unless it was taken out of one."""
        ...

    def leave(self, keys: Sequence[int], session: str) -> None:
        """Take work out of one of its sessions for good, where it belongs to others, too."""
        ...

    def forget(self, keys: Sequence[int], at: int, *, hold: str = "") -> list[str]:
        """Remove it and leave tombstones; the ids that went.

        `hold` names who forgets ("agent", "retention") where a person may bring it back.
        """
        ...

    def forget_unknown_requests(self, limit: int) -> int:
        """Work whose request is no longer known is found by that one's words no more; of how much that
        was so, `limit` at most."""
        ...

    def count(self) -> int: ...
