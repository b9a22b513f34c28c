"""A daemon's place taken by a few lines: answers calls on a Unix socket and remembers them."""

import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Answer = Callable[[str, dict[str, Any]], dict[str, Any] | None]


class StandIn:
    """Answers each request with what `answer(method, params)` returns; None is no answer at all."""

    def __init__(self, path: Path, answer: Answer) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()
        for connection in self._open:
            connection.close()

    def params_of(self, method: str) -> dict[str, Any]:
        """The params of the one call of that method."""
        found = [params for name, params in self.calls if name == method]
        assert len(found) == 1, self.calls
        return found[0]

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._open.append(connection)
            with connection.makefile("rwb") as stream:
                for line in stream:
                    self._respond(json.loads(line), stream)

    def _respond(self, request: dict[str, Any], stream: Any) -> None:
        self.calls.append((request["method"], request.get("params", {})))
        result = self._answer(request["method"], request.get("params", {}))
        if result is not None:
            answer = {"jsonrpc": "2.0", "id": request["id"], "result": result}
            stream.write(json.dumps(answer, ensure_ascii=False).encode() + b"\n")
            stream.flush()
