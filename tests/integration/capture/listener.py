"""A stand-in for the daemon on a real socket. It answers as it is told, or not at all."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from tests.support.answers import Json

Answer = Callable[[dict[str, object]], dict[str, object] | None]


class Listener:
    """Listens until closed; keeps every request. `answer` returning None means silence."""

    def __init__(self, path: Path, answer: Answer) -> None:
        self.requests: list[dict[str, object]] = []
        self.longest = 0
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        self._socket.listen()
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def __enter__(self) -> "Listener":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(timeout=10)
        for connection in self._open:
            connection.close()
        assert not self._thread.is_alive()

    @property
    def events(self) -> list[dict[str, object]]:
        return [event for request in self.requests for event in params(request)["events"]]

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._open.append(connection)
            self._serve(connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as lines:
            for line in self._whole(lines):
                self.longest = max(self.longest, len(line))
                request = json.loads(line)
                self.requests.append(request)
                answer = self._answer(request)
                if answer is None:
                    return
                try:
                    connection.sendall(json.dumps(answer).encode() + b"\n")
                except OSError:
                    return

    def _whole(self, lines: BinaryIO) -> Iterator[bytes]:
        """Lines until the client goes, which it may do in the middle of one."""
        try:
            for line in lines:
                if line.endswith(b"\n"):
                    yield line
        except ConnectionResetError:
            return


def params(request: dict[str, object]) -> Json:
    found = request["params"]
    assert isinstance(found, dict)
    return found


def stored(request: dict[str, object]) -> dict[str, object]:
    """The answer of a daemon that keeps everything."""
    counts = {
        "inserted": len(params(request)["events"]),
        "duplicates": 0,
        "skipped": 0,
        "errors": 0,
    }
    return {"jsonrpc": "2.0", "id": request["id"], "result": counts}


def silent(request: dict[str, object]) -> None:
    """A daemon that accepts and never says a word."""
