"""Whoever can reach loopback, at the door of MCP over HTTP."""

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator

from bench.attacks.outcome import Outcome
from bench.scratch import Scratch, scratch

_PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
_ASKED = 20
_STARTS_WITHIN = 30.0


def attacks() -> Iterator[Outcome]:
    with scratch() as home:
        port = _serving(home, "127.0.0.1")
        yield _idle_crowd(home, port)
        yield _dialling_crowd(home, port)
    yield _addresses()


def _idle_crowd(home: Scratch, port: int) -> Outcome:
    """Half of them say nothing, half begin a request and do not go on."""
    with contextlib.ExitStack() as crowd:
        for number in range(500):
            idle = crowd.enter_context(socket.create_connection(("127.0.0.1", port)))
            if number % 2:
                with contextlib.suppress(ConnectionError):
                    idle.sendall(b"POST /mcp HTTP/1.1\r\nHost: ")
        held = sum(_ask(home, port) == 200 for _ in range(_ASKED))
    return Outcome("the owner's requests beside 500 idle connections", held, _ASKED)


def _dialling_crowd(home: Scratch, port: int) -> Outcome:
    """One that dials a hundred times, again and again, and lets each hundred stand for a moment."""
    enough = threading.Event()
    dialling = threading.Thread(target=_dial_on, args=(port, enough))
    dialling.start()
    try:
        held = sum(_ask(home, port) == 200 for _ in range(_ASKED))
    finally:
        enough.set()
        dialling.join()
    return Outcome("the owner's requests beside one that keeps dialling", held, _ASKED)


def _dial_on(port: int, enough: threading.Event) -> None:
    while not enough.wait(0.2):
        with contextlib.ExitStack() as standing:
            for _ in range(100):
                with contextlib.suppress(OSError):
                    address = ("127.0.0.1", port)
                    standing.enter_context(socket.create_connection(address, timeout=1))
            enough.wait(0.2)


def _addresses() -> Outcome:
    hosts = ("127.0.0.1", "127.0.0.2", "127.200.1.9", "::1")
    held = 0
    for host in hosts:
        with scratch() as home:
            held += _ask(home, _serving(home, host), host) == 200
    return Outcome("loopback addresses that answer under their own name", held, len(hosts))


def _serving(home: Scratch, host: str) -> int:
    """The port where a fresh daemon serves HTTP."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as free:
        port = int(free.getsockname()[1])
    home.environment["IAI_MCP_HTTP"] = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    home.start()
    ends_at = time.monotonic() + _STARTS_WITHIN
    while _ask(home, port, host) == 0 and time.monotonic() < ends_at:
        time.sleep(0.05)
    return port


def _ask(home: Scratch, port: int, host: str = "127.0.0.1") -> int:
    """The status of one request of the owner's; 0 when it is not even answered."""
    try:
        token = (home.path / "store/http-token").read_text("ascii").strip()
    except FileNotFoundError:
        return 0  # it has not come to that yet
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("POST", "/mcp", _PING, headers)
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()
