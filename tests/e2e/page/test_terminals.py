"""Terminals in the page: everybody who was let in may look, nobody types who did not take the keyboard."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.daemon import DaemonProcess
from tests.support.home import ScratchHome
from tests.support.page import Visitor, opened
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from iai_mcp.terminal.frames import STATUS, frame
from iai_mcp.web.logins import KEYBOARD_SECONDS, Logins


@pytest.fixture(scope="module")
def home() -> Iterator[ScratchHome]:
    made = ScratchHome()
    daemon = DaemonProcess(made).start()
    yield made
    made.command("page", "--close")
    for one in json.loads(made.command("session", "list", "--json").stdout)["sessions"]:
        made.command("session", "kill", one["id"])
    daemon.stop()
    made.remove()


@pytest.fixture(scope="module")
def owner(home: ScratchHome) -> Visitor:
    return Visitor.of(opened(home))


def started(home: ScratchHome, *command: str) -> str:
    done = home.command("session", "start", "--detach", "--json", "--", *command)
    return str(json.loads(done.stdout)["session"]["id"])


def dial(visitor: Visitor, session: str, **changed: str | None) -> ClientConnection:
    here = f"127.0.0.1:{visitor.port}"
    headers = {"Cookie": visitor.cookie, "Origin": f"http://{here}", **changed}
    secret = headers.pop("secret", visitor.secret)
    named = headers.pop("named", here)
    return connect(
        f"ws://{named}/terminal/{session}",
        sock=socket.create_connection(("127.0.0.1", visitor.port), timeout=20),
        additional_headers={name: value for name, value in headers.items() if value},
        subprotocols=[Subprotocol(one) for one in ("iai-terminal", secret) if one],
        open_timeout=10,
        proxy=None,
    )


def printed(terminal: ClientConnection, wanted: bytes) -> bytes:
    """The last of what came until `wanted` was in it."""
    seen = b""
    while wanted not in seen:
        message = terminal.recv(timeout=20)
        if isinstance(message, bytes):
            seen = seen[-100_000:] + message
            terminal.send(json.dumps({"read": len(message)}))
    return seen


def said(terminal: ClientConnection, key: str) -> object:
    while True:
        message = terminal.recv(timeout=20)
        if isinstance(message, str) and key in (told := json.loads(message)):
            return told[key]


@pytest.mark.parametrize(
    "changed",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": None},
        {"Origin": "http://127.0.0.1:1"},
        {"named": "evil.example:80", "Origin": "http://evil.example:80"},
        {"Cookie": None},
        {"Cookie": "iai_page=made-up"},
        {"secret": None},
        {"secret": "guessed"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_a_stranger_is_not_shown_a_terminal(
    home: ScratchHome, owner: Visitor, changed: dict[str, str | None]
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        dial(owner, "any", **changed)
    assert refused.value.response.status_code == 403


def test_the_screen_is_there_at_once_and_typing_needs_the_keyboard(
    home: ScratchHome, owner: Visitor
) -> None:
    session = started(home, "sh", "-c", "echo ready; exec cat")
    home.command("session", "send", session, "before")
    with dial(owner, session) as terminal:
        printed(terminal, b"before")
        terminal.send(b"sneaked in\r")
        assert said(terminal, "keyboard") is False
        body = json.dumps({"session": session}).encode()
        stranger = Visitor(owner.port, cookie=owner.cookie)
        assert (
            stranger.ask("POST", "/keyboard", body, Content_Type="application/json").status == 403
        )
        assert owner.ask("POST", "/keyboard", body, Content_Type="application/json").status == 200
        terminal.send(b"typed\r")
        assert b"sneaked" not in printed(terminal, b"typed\r\ntyped")
        again = json.dumps({"session": session, "take": False}).encode()
        owner.ask("POST", "/keyboard", again, Content_Type="application/json")
        terminal.send(b"more\r")
        assert said(terminal, "keyboard") is False
        with dial(Visitor.of(opened(home)), session) as other:
            other.send(b"another login\r")
            assert said(other, "keyboard") is False


def test_a_message_is_sent_only_by_who_took_that_keyboard(
    home: ScratchHome, owner: Visitor
) -> None:
    session, other = started(home, "cat"), started(home, "cat")
    message = {"session": session, "text": "hello all"}
    refused = owner.call("sessions_send", message)
    assert refused.status == 403 and refused.json["error"]["code"] == "NO_KEYBOARD"
    body = json.dumps({"session": other}).encode()
    owner.ask("POST", "/keyboard", body, Content_Type="application/json")
    assert owner.call("sessions_send", message).status == 403
    body = json.dumps({"session": session}).encode()
    owner.ask("POST", "/keyboard", body, Content_Type="application/json")
    assert owner.call("sessions_send", message).json["delivered"] is True


def test_a_keyboard_that_nobody_uses_is_taken_back() -> None:
    now = [0.0]
    logins = Logins(clock=lambda: now[0])
    login = logins.exchange(logins.new_token())
    assert login is not None
    logins.give_keyboard(login, "s")
    now[0] += KEYBOARD_SECONDS - 1
    assert logins.may_type(login, "s") and not logins.may_type(login, "other")
    now[0] += KEYBOARD_SECONDS - 1
    assert logins.may_type(login, "s")
    now[0] += KEYBOARD_SECONDS + 1
    assert not logins.may_type(login, "s")


def test_a_token_is_good_for_ten_minutes() -> None:
    now = [0.0]
    logins = Logins(clock=lambda: now[0])
    early, late = logins.new_token(), logins.new_token()
    now[0] += 599
    assert logins.exchange(early) is not None
    now[0] += 2
    assert logins.exchange(late) is None


def test_a_megabyte_is_pasted_whole_and_a_new_size_reaches_the_program(
    home: ScratchHome, owner: Visitor
) -> None:
    session = started(
        home,
        "sh",
        "-c",
        "stty raw -echo; echo go; head -c 1000000 | wc -c; stty sane; stty size; exec cat",
    )
    body = json.dumps({"session": session}).encode()
    owner.ask("POST", "/keyboard", body, Content_Type="application/json")
    with dial(owner, session) as terminal:
        printed(terminal, b"go")
        terminal.send(json.dumps({"resize": [33, 77]}))
        paste = b"x" * 1_000_000
        for at in range(0, len(paste), 32_768):
            terminal.send(paste[at : at + 32_768])
        seen = printed(terminal, b"33 77")
        assert b"1000000" in seen


@pytest.mark.parametrize("session", ["nowhere", "..%2f..%2fetc", "a" * 300, "%00", "%C3%BC" * 99])
def test_a_session_that_is_not_there_is_refused_with_a_sentence(
    owner: Visitor, session: str
) -> None:
    with dial(owner, session) as terminal, pytest.raises(ConnectionClosed) as closed:
        terminal.recv(timeout=20)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4404 and closed.value.rcvd.reason


def test_a_session_of_another_version_is_refused_with_a_sentence(
    home: ScratchHome, owner: Visitor
) -> None:
    session = started(home, "cat")
    listed = json.loads((home.store / "s" / session / "meta.json").read_text())
    here, elsewhere = Path(listed["socket"]), Path(f"{listed['socket']}.moved")
    here.rename(elsewhere)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(here))
        other.listen()
        with dial(owner, session) as terminal:
            holder, _ = other.accept()
            holder.sendall(frame(STATUS, b'{"status": "of tomorrow"}'))
            with pytest.raises(ConnectionClosed) as closed:
                terminal.recv(timeout=20)
            holder.close()
    here.unlink()
    elsewhere.rename(here)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4404 and "version" in closed.value.rcvd.reason


def test_the_end_of_a_program_is_told(home: ScratchHome, owner: Visitor) -> None:
    session = started(home, "sh", "-c", "echo up; read line; exit 7")
    body = json.dumps({"session": session}).encode()
    owner.ask("POST", "/keyboard", body, Content_Type="application/json")
    with dial(owner, session) as terminal:
        printed(terminal, b"up")
        terminal.send(b"\r")
        assert said(terminal, "exit_code") == 7


def test_a_browser_that_does_not_read_holds_up_neither_the_program_nor_the_page(
    home: ScratchHome, owner: Visitor
) -> None:
    session = started(
        home, "sh", "-c", "head -c 10000000 /dev/zero | tr '\\0' 'x'; echo; echo done; exec cat"
    )
    with dial(owner, session) as slow:
        listed = ["session", "wait", session, "--until", "idle", "--timeout", "30"]
        assert home.command(*listed).returncode == 0
        assert owner.call("sessions_list").status == 200
        with dial(owner, session) as quick:
            printed(quick, b"done")
        assert printed(slow, b"done")
