"""The way into the page: its owner gets in with a URL that works once, and nobody else does."""

import http.client
import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from bench.strangers import UID
from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome
from tests.support.page import Visitor, opened
from tests.support.strangers import needs_root

from iai_mcp.concurrency import ProcessLock

FACT = "the staging database listens on port 6543"
CHANGE = ("memory_forget", {"query": "staging"})


@pytest.fixture(scope="module")
def home() -> Iterator[ScratchHome]:
    made = ScratchHome()
    daemon = DaemonProcess(made).start()
    daemon.call("memory_capture", text=FACT, session_id="s1", project="demo")
    yield made
    made.command("page", "--close")
    daemon.stop()
    made.remove()


@pytest.fixture(scope="module")
def owner(home: ScratchHome) -> Visitor:
    return Visitor.of(opened(home))


def stored(owner: Visitor) -> bool:
    return FACT in owner.call("memory_recall", {"cue": "staging port"}).body.decode()


def test_the_url_lets_its_owner_in_once_and_tells_a_browser_to_forget_it(home: ScratchHome) -> None:
    url = opened(home)
    visitor = Visitor(int(url.rpartition(":")[2].partition("/")[0]))
    answer = visitor.log_in(url)
    cookie = answer.headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; ")), cookie
    assert "token" not in answer.headers["Location"]
    assert visitor.call("memory_recall", {"cue": "staging"}).status == 200
    again = Visitor(visitor.port).log_in(url)
    assert again.status == 401 and "iai-mcp page" in again.body.decode()
    assert again.headers["Set-Cookie"] is None


def test_a_second_url_opens_the_same_page_and_the_first_login_stays(
    home: ScratchHome, owner: Visitor
) -> None:
    second = Visitor.of(opened(home))
    assert second.port == owner.port
    assert second.cookie != owner.cookie
    assert stored(second) and stored(owner)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Cookie": None}, 401),
        ({"Cookie": "iai_page=made-up"}, 401),
        ({"X_IAI_CSRF": None}, 403),
        ({"X_IAI_CSRF": "guessed"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:{port}"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Content_Type": "text/plain"}, 415),
    ],
)
def test_a_strangers_page_and_a_rebound_name_change_nothing(
    owner: Visitor, headers: dict[str, str | None], status: int
) -> None:
    filled = {n: v and v.format(port=owner.port) for n, v in headers.items()}
    for method, params in (CHANGE, ("memory_recall", {"cue": "staging"})):
        answer = owner.call(method, params, **filled)
        assert answer.status == status, answer.body
        assert FACT.encode() not in answer.body
    assert stored(owner)


@pytest.mark.parametrize("other", ['odd={"a": [1, 2]}', "é=ü", "=;;;", "a" * 5000])
def test_a_cookie_of_something_else_on_this_machine_locks_nobody_out(
    owner: Visitor, other: str
) -> None:
    cookies = f"{other}; {owner.cookie}; {other}".encode().decode("latin-1")
    assert owner.call("memory_recall", {"cue": "staging"}, Cookie=cookies).status == 200


def test_the_login_of_one_is_of_no_use_with_the_secret_of_another(
    home: ScratchHome, owner: Visitor
) -> None:
    other = Visitor.of(opened(home))
    mixed = Visitor(owner.port, cookie=owner.cookie, secret=other.secret)
    assert mixed.call(*CHANGE).status == 403


def test_a_cookie_alone_which_other_ports_of_this_machine_see_opens_nothing(owner: Visitor) -> None:
    thief = Visitor(owner.port, cookie=owner.cookie)
    assert thief.call("memory_recall", {"cue": "staging"}).status == 403
    assert thief.ask("GET", "/events").status == 403
    shell = thief.ask("GET", "/")
    assert shell.status == 200 and owner.secret.encode() not in shell.body


def test_every_answer_keeps_browsers_from_storing_framing_and_sharing_it(owner: Visitor) -> None:
    asked = [
        owner.ask("GET", "/"),
        owner.ask("GET", "/static/app.js"),
        owner.call("memory_recall", {"cue": "staging"}),
        owner.call("no_such_method"),
        owner.ask("GET", "/?token=wrong"),
        owner.ask("GET", "/nowhere"),
        owner.ask("GET", "/", Host="evil.example"),
    ]
    for answer in asked:
        policy = answer.headers["Content-Security-Policy"] or ""
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy.partition("script-src")[2].partition(";")[0]
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_a_preflight_of_another_origin_is_not_answered_with_leave(owner: Visitor) -> None:
    answer = owner.ask(
        "OPTIONS",
        "/api/memory_forget",
        Origin="http://evil.example",
        Access_Control_Request_Method="POST",
    )
    assert answer.status == 403


@pytest.mark.parametrize(
    "path",
    [
        "/static/../logins.py",
        "/static/%2e%2e/logins.py",
        "/static//etc/passwd",
        "/static/app.js%00",
        "/static/",
    ],
)
def test_only_the_pages_own_files_are_served(owner: Visitor, path: str) -> None:
    assert owner.ask("GET", path).status == 404


@pytest.mark.parametrize(
    "method", ["capture_events", "backup", "export", "sessions_write", "memory_capture"]
)
def test_what_is_not_for_pages_can_not_be_called_from_one(owner: Visitor, method: str) -> None:
    answer = owner.call(method, {"path": "/tmp/x"})
    assert answer.status == 404 and answer.json["error"]["code"] == "UNKNOWN_METHOD"


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b"\xff\xfe", b'{"a":' * 5000])
def test_a_body_that_is_no_object_is_refused_with_a_sentence(owner: Visitor, body: bytes) -> None:
    answer = owner.ask("POST", "/api/memory_recall", body, Content_Type="application/json")
    assert answer.status == 400 and answer.json["error"]["message"]


def test_a_body_without_end_is_not_kept(owner: Visitor) -> None:
    answer = owner.call("memory_recall", {"cue": "x" * (9 << 20)})
    assert answer.status == 413


@needs_root
def test_another_user_of_this_machine_gets_nothing_even_with_a_stolen_url_and_cookie(
    home: ScratchHome, owner: Visitor
) -> None:
    url = opened(home)
    script = (
        "import encodings.idna, http.client, os, sys\n"
        "os.setgroups([]); os.setgid(int(sys.argv[4])); os.setuid(int(sys.argv[4]))\n"
        "c = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]), timeout=10)\n"
        "try:\n"
        "    c.request('GET', sys.argv[2], headers={'Cookie': sys.argv[3]})\n"
        "    print(c.getresponse().status)\n"
        "except OSError as refused:\n"
        "    print(type(refused).__name__)\n"
    )

    def answered(uid: int, path: str) -> str:
        words = [str(owner.port), path, owner.cookie, str(uid)]
        command = [sys.executable, "-c", script, *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    assert answered(os.getuid(), "/") == "200"
    for path in ("/", url[url.index("/?") :]):
        assert answered(UID, path) in ("ConnectionResetError", "RemoteDisconnected")
    assert Visitor(owner.port).log_in(url).status == 303, "the thief must not have used it up"


def test_only_loopback_is_listened_on(owner: Visitor) -> None:
    with open("/proc/net/tcp") as table:
        lines = [line.split() for line in table]
    listening = [f[1] for f in lines[1:] if f[3] == "0A" and int(f[1][-4:], 16) == owner.port]
    assert listening == [f"0100007F:{owner.port:04X}"]


def test_its_files_are_private_and_hold_no_secret(home: ScratchHome, owner: Visitor) -> None:
    for directory, _, names in os.walk(home.path):
        for name in names:
            path = os.path.join(directory, name)
            if "page" not in name:
                continue
            assert stat.S_IMODE(os.lstat(path).st_mode) & 0o077 == 0, path
            if os.path.isfile(path):
                with open(path, errors="replace") as file:
                    said = file.read()
                assert owner.secret not in said and owner.cookie not in said


def test_closing_ends_the_page_and_every_login() -> None:
    made = ScratchHome()
    daemon = DaemonProcess(made).start()
    try:
        visitor = Visitor.of(opened(made))
        closed = made.command("page", "--close", "--json")
        assert json.loads(closed.stdout)["closed"] is True
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", visitor.port), timeout=5)
        again = json.loads(made.command("page", "--close", "--json").stdout)
        assert again["closed"] is False
        url = opened(made, "--port", str(visitor.port))
        assert visitor.call("memory_recall", {"cue": "x"}).status == 401, "an old login"
        assert Visitor.of(url).call("memory_recall", {"cue": "x"}).status == 200
    finally:
        made.command("page", "--close")
        daemon.stop()
        made.remove()


def test_without_a_daemon_the_command_says_what_to_do(tmp_path: object) -> None:
    made = ScratchHome()
    try:
        done = made.command("page", "--no-open")
        assert done.returncode == 1 and "iai-mcp up" in done.stderr
    finally:
        made.remove()


def test_a_path_that_is_too_long_for_a_socket_is_told_with_what_to_do() -> None:
    made = ScratchHome()
    try:
        long = f"{made.path}/{'x' * (104 - len(str(made.path)))}"
        done = made.command("page", "--close", IAI_DAEMON_SOCKET_PATH=long)
        assert done.returncode == 1 and "IAI_DAEMON_SOCKET_PATH" in done.stderr
    finally:
        made.remove()


def test_a_port_that_is_taken_is_named(home: ScratchHome) -> None:
    made = ScratchHome()
    daemon = DaemonProcess(made).start()
    try:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            done = made.command("page", "--no-open", "--port", port)
        assert done.returncode == 1 and port in done.stderr and "--port" in done.stderr
    finally:
        daemon.stop()
        made.remove()


def test_an_unused_page_is_gone_and_a_home_that_is_removed_takes_it_along() -> None:
    made = ScratchHome()
    daemon = DaemonProcess(made).start()
    try:
        for ending in ("unused", "removed"):
            more: dict[str, Any] = {"IAI_MCP_PAGE_IDLE": "4"} if ending == "unused" else {}
            done = made.command("page", "--no-open", "--json", **more)
            port = json.loads(done.stdout)["port"]
            if ending == "removed":
                os.unlink(f"{made.socket}.page")
            until(partial(_refuses, port), f"the page is gone ({ending})")
    finally:
        made.command("page", "--close")
        daemon.stop()
        made.remove()


def test_a_page_opens_as_soon_as_another_that_is_ending_has_ended() -> None:
    made = ScratchHome()
    daemon = DaemonProcess(made).start()
    lock = ProcessLock(f"{made.socket}.page.lock")
    assert lock.try_acquire_exclusive()
    release = threading.Timer(1.0, lock.release)
    release.start()
    try:
        done = made.command("page", "--no-open", "--json")
        assert "port" in json.loads(done.stdout), done.stdout
    finally:
        release.join()
        made.command("page", "--close")
        daemon.stop()
        made.remove()
        lock.close()


def test_changes_are_told_to_who_listens_and_a_page_that_somebody_has_open_stays() -> None:
    made = ScratchHome()
    daemon = DaemonProcess(made).start()
    listening = None
    try:
        done = made.command("page", "--no-open", "--json", IAI_MCP_PAGE_IDLE="1")
        visitor = Visitor.of(json.loads(done.stdout)["url"])
        listening = http.client.HTTPConnection("127.0.0.1", visitor.port, timeout=20)
        headers = {"Cookie": visitor.cookie, "X-IAI-CSRF": visitor.secret}
        listening.request("GET", "/events", headers=headers)
        stream = listening.getresponse()
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        assert b"hello" in stream.readline()
        daemon.call("memory_capture", text="something new", session_id="s", project="p")
        assert b"memory" in next(line for line in stream if b"memory" in line)
        began = time.monotonic()
        until(lambda: time.monotonic() - began > 2, "it would be unused")
        assert not _refuses(visitor.port)
        listening.close()
        stream.close()
        until(partial(_refuses, visitor.port), "the page is gone after its last browser")
    finally:
        if listening is not None:
            listening.close()
        made.command("page", "--close")
        daemon.stop()
        made.remove()


def test_the_demonstration_shows_a_page_and_leaves_nothing_behind() -> None:
    made = ScratchHome()
    try:
        demo = subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.cli", "demo", "--page", "--json"],
            env=made.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert demo.stdout is not None
        visitor = Visitor.of(json.loads(demo.stdout.readline())["url"])
        assert "5433" in visitor.call("memory_recall", {"cue": "staging port"}).body.decode()
        assert len(visitor.call("sessions_list").json["sessions"]) == 1
        assert visitor.call("injections").json["injections"]
        demo.communicate("\n", timeout=30)
        assert demo.returncode == 0
        assert _refuses(visitor.port)
        assert not list(made.path.iterdir())
    finally:
        made.remove()


def _refuses(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return True
    return False
