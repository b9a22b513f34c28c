"""Calls to the process over there, several at a time, over the two pipes of one ssh."""

import subprocess
import time
from threading import Condition, Lock, Thread
from typing import BinaryIO, cast

from iai_mcp.domain.errors import DiskFull, RemoteFailed, TimedOut
from iai_mcp.remote import wire
from iai_mcp.remote.json_fields import Fields, error_of


class RpcClient:
    """Owns the ssh process. `ended` once the other side has gone."""

    def __init__(self, process: "subprocess.Popen[bytes]", name: str) -> None:
        self.ended = False
        self._process = process
        self._name = name
        self._next = 0
        self._answers: dict[int, wire.Json | None] = {}
        self._changed = Condition()
        self._lock = Lock()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def ask(self, method: str, params: wire.Json, patience: float) -> object:
        """
        Raises:
            ConnectionError: the other side has gone.
            TimedOut: no answer came in time.
            IaiError: what it refused.
        """
        with self._changed:
            self._next += 1
            number = self._next
            self._answers[number] = None
        deadline = time.monotonic() + patience
        silent = TimedOut(f"{self._name} did not answer within {patience:g} seconds")
        if not self._sent(wire.pack({"id": number, "call": method, "params": params}), deadline):
            raise silent
        with self._changed:
            while (answer := self._answers[number]) is None:
                if self.ended:
                    raise ConnectionError(self._name)
                left = deadline - time.monotonic()
                if left <= 0:
                    raise silent
                self._changed.wait(left)
            del self._answers[number]
        if "error" in answer:
            refused = error_of(Fields(answer).below("error"))
            if isinstance(refused, DiskFull):  # nobody should free some here for it
                raise DiskFull(f"on {self._name}: {refused.message}")
            raise refused
        if "result" not in answer:
            raise RemoteFailed(f"{self._name} says something that nobody asked for")
        return answer["result"]

    def close(self) -> None:
        self._process.kill()
        self._reader.join(5)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue

    def _sent(self, data: bytes, deadline: float) -> bool:
        """Whether the other side took it in time. Who does not read is waited for like who is silent."""
        if not self._lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return False
        try:
            return wire.send(cast("BinaryIO", self._process.stdin).fileno(), data, deadline)
        except (OSError, ValueError) as gone:
            raise ConnectionError(self._name) from gone
        finally:
            self._lock.release()

    def _read(self) -> None:
        """Until the other side ends, or says something else."""
        source = cast("BinaryIO", self._process.stdout)
        try:
            while (message := wire.receive(source)) is not None:
                number = message.get("id")
                with self._changed:
                    if not isinstance(number, int) or number not in self._answers:
                        break  # nobody asked for it, and who says one such thing may never end
                    self._answers[number] = message
                    self._changed.notify_all()
        except (OSError, ValueError):
            pass  # the end, told below
        with self._changed:
            self.ended = True
            self._changed.notify_all()
