"""Calls to the process over there, several at a time, over the two pipes of one ssh."""

import subprocess
import time
from threading import Condition, Lock, Thread
from typing import BinaryIO, cast

from iai_mcp.domain.errors import RemoteFailed, TimedOut
from iai_mcp.far import wire
from iai_mcp.far.fields import Fields, error_of


class Calls:
    """Owns the ssh process. `ended` once the other side has gone."""

    def __init__(self, process: "subprocess.Popen[bytes]", name: str) -> None:
        self.ended = False
        self._process = process
        self._name = name
        self._next = 0
        self._answers: dict[int, wire.Json | None] = {}
        self._changed = Condition()
        self._turnstile = Lock()
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
        self._send(wire.pack({"id": number, "call": method, "params": params}))
        deadline = time.monotonic() + patience
        with self._changed:
            while (answer := self._answers[number]) is None:
                if self.ended:
                    raise ConnectionError(self._name)
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimedOut(f"{self._name} did not answer within {patience:g} seconds")
                self._changed.wait(left)
            del self._answers[number]
        if "error" in answer:
            raise error_of(Fields(answer).below("error"))
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

    def _send(self, data: bytes) -> None:
        try:
            with self._turnstile:
                stdin = cast("BinaryIO", self._process.stdin)
                stdin.write(data)
                stdin.flush()
        except (OSError, ValueError) as gone:
            raise ConnectionError(self._name) from gone

    def _read(self) -> None:
        """Until the other side ends, or says something else."""
        source = cast("BinaryIO", self._process.stdout)
        try:
            while (message := wire.receive(source)) is not None:
                number = message.get("id")
                with self._changed:
                    if isinstance(number, int) and number in self._answers:
                        self._answers[number] = message
                        self._changed.notify_all()
        except (OSError, ValueError):
            pass  # the end, told below
        with self._changed:
            self.ended = True
            self._changed.notify_all()
