"""The need for a program in a terminal of its own."""

from collections.abc import Callable, Sequence
from typing import Protocol

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import SessionLabel, TerminalSession, TerminalSize

Unsubscribe = Callable[[], None]


class PtyPort(Protocol):
    """Starts programs in pseudo-terminals and speaks with them by session id.

    Unknown session ids raise `NotFound`; a terminal that can not be had raises `PtyFailed`.
    """

    def spawn(
        self,
        spec: SpawnSpec,
        size: TerminalSize,
        *,
        session_id: str | None = None,
        detached: bool = True,
        label: SessionLabel | None = None,
    ) -> str:
        """Start `spec.command` at `spec.cwd` and return the session's id.

        The environment is the caller's own plus `spec.env`. `session_id` is taken if given
        (the program already knows it from its environment), else one is made. `label` says
        whose session it is, for listings; without one it is a shell. `detached` sessions
        outlive the caller. When this returns, the program was really executed.

        Raises:
            NotInstalled: there is no such executable; nothing was started.
            PtyFailed: anything else went wrong; nothing is left running.
        """
        ...

    def write(self, session_id: str, data: bytes) -> None:
        """Deliver `data` to the program, all of it, as typed."""
        ...

    def resize(self, session_id: str, size: TerminalSize) -> None: ...

    def subscribe_output(self, session_id: str, callback: Callable[[bytes], None]) -> Unsubscribe:
        """Call `callback` with output as it comes, first with what the session still holds.

        The callback runs on a thread of the adapter, and with `b""` once at the end of the output.
        """
        ...

    def kill(self, session_id: str) -> int | None:
        """Hang up, then SIGKILL after half a second; returns when it has ended, with its exit code.

        A session that had ended before gives its kept exit code.
        """
        ...


class Sessions(Protocol):
    """What is known about terminal sessions, running and ended."""

    def all(self) -> Sequence[TerminalSession]:
        """Every session that was not pruned, oldest first."""
        ...
