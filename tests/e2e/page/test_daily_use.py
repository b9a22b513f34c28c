"""What people do with the page on a working day: much at once, for long, from afar, on paper."""

import hashlib
import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.support import sshd
from tests.support.browsing import view
from tests.support.daemon import DaemonProcess, until
from tests.support.page import Visitor

TURNS = 450


def started(daemon: DaemonProcess, *command: str) -> str:
    done = daemon.home.command("session", "start", "--detach", "--json", "--", *command)
    return str(json.loads(done.stdout)["session"]["id"])


@contextmanager
def sessions(daemon: DaemonProcess, *commands: tuple[str, ...]) -> Iterator[list[str]]:
    made = [started(daemon, *command) for command in commands]
    try:
        yield made
    finally:
        for one in made:
            daemon.home.command("session", "kill", one)


def test_ten_terminals_at_once_each_show_their_own(page: Page, daemon: DaemonProcess) -> None:
    commands = [("sh", "-c", f"echo i-am-{n}-of-ten; exec cat") for n in range(10)]
    with sessions(daemon, *commands) as made:
        view(page, "agents")
        for one in made:
            row = page.locator(".sessions .item", has_text=one[:6])
            row.get_by_role("button", name="Terminal").click()
        terminals = page.locator("section.terminal")
        for n in range(10):
            terminals.nth(n).scroll_into_view_if_needed()  # what nobody sees is not drawn
            expect(terminals.nth(n).locator(".xterm")).to_contain_text(f"i-am-{n}-of-ten")
        fourth = terminals.nth(3)
        fourth.get_by_role("button", name="Take the keyboard").click()
        expect(fourth.locator(".state")).to_have_text("you type")
        page.keyboard.type("only here\n")
        expect(page.locator("section.terminal", has_text="only here")).to_have_count(1)
        expect(fourth.locator(".xterm")).to_contain_text("only here")


PASTE = """(text) => {
  const pasted = new DataTransfer();
  pasted.setData('text/plain', text);
  const into = document.querySelector('.terminal textarea');
  into.dispatchEvent(new ClipboardEvent('paste', { clipboardData: pasted, bubbles: true, cancelable: true }));
}"""


def test_a_megabyte_that_is_pasted_arrives_whole(page: Page, daemon: DaemonProcess) -> None:
    text = "".join(f"{n:07d}" for n in range(150_000))  # 1.05 MB, every piece another
    reads = f"stty raw -echo; echo ready; head -c {len(text)} | sha256sum; exec cat"
    with sessions(daemon, ("sh", "-c", reads)) as (session,):
        view(page, f"agents/{session}")
        terminal = page.locator("section.terminal")
        expect(terminal.locator(".xterm")).to_contain_text("ready")
        terminal.get_by_role("button", name="Take the keyboard").click()
        expect(terminal.locator(".state")).to_have_text("you type")
        page.evaluate(PASTE, text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        expect(terminal.locator(".xterm")).to_contain_text(digest[:40])


def test_asking_goes_on_while_much_is_taken_in(page: Page, daemon: DaemonProcess) -> None:
    stop = threading.Event()

    def take_in() -> None:
        for batch in range(1_000):
            turns = [{"role": "user", "text": f"note {batch} {n} of a flood"} for n in range(200)]
            daemon.call("capture_events", session_id=f"flood{batch}", project="f", events=turns)
            if stop.is_set():
                return

    flood = threading.Thread(target=take_in)
    flood.start()
    try:
        page.keyboard.press("/")
        for cue in ("staging port", "staging database port", "which port does staging use"):
            page.locator("#cue").fill(cue)
            expect(page.locator(".note")).to_contain_text("found by")
            expect(page.locator("#found .item", has_text="Port 5433").first).to_be_visible()
    finally:
        stop.set()
        flood.join()
        daemon.call("memory_forget", project="f")


def test_a_tab_in_the_background_asks_for_nothing_however_much_happens(
    page: Page, daemon: DaemonProcess
) -> None:
    view(page, "now")
    expect(page.locator(".fact").first).to_be_visible()
    page.clock.install()
    page.evaluate(
        "Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })"
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for n in range(3):
        daemon.call("memory_capture", text=f"while nobody looked, {n}", session_id="unseen")
        page.clock.run_for(600_000)
    assert asked == []
    page.evaluate("Object.defineProperty(document, 'hidden', { get: () => false })")
    page.clock.run_for(3_000)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator(".item", has_text="while nobody looked, 2")).to_be_visible()


@pytest.fixture(scope="module")
def long_talk(daemon: DaemonProcess) -> str:
    begin = datetime.now(UTC) - timedelta(days=2)
    turns = [
        {
            "role": ("user", "assistant")[n % 2],
            "text": f"turn {n} of a long talk",
            "ts": (begin + timedelta(seconds=n)).isoformat(),
        }
        for n in range(TURNS)
    ]
    daemon.call("capture_events", session_id="long", project="demo", events=turns)
    return "conversations/long"


def test_a_long_conversation_comes_in_pages(page: Page, long_talk: str) -> None:
    view(page, long_talk)
    turns = page.locator(".transcript .item")
    expect(turns).to_have_count(200)
    page.get_by_role("button", name="Older").click()
    expect(turns.filter(has_text="turn 100 of")).to_be_visible()
    assert turns.count() <= 400


def test_a_conversation_is_printed_whole_and_without_the_page_around_it(
    page: Page, long_talk: str
) -> None:
    view(page, long_talk)
    expect(page.locator(".transcript .item")).to_have_count(200)
    count = "window.printed = document.querySelectorAll('.item').length"
    page.evaluate(f"() => {{ window.print = () => {{ {count} }} }}")
    page.get_by_role("button", name="Print").click()
    until(lambda: page.evaluate("window.printed"), "it is printed")
    assert page.evaluate("window.printed") == TURNS
    page.emulate_media(media="print")
    for away in ("header", "#banner", "button"):
        expect(page.locator(away).first).to_be_hidden()
    expect(page.locator(".transcript .item").first).to_contain_text("turn 0 of")
    colours = (
        "getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).color"
    )
    assert page.evaluate(colours) == "rgb(255, 255, 255)rgb(0, 0, 0)"
    assert len(page.pdf()) > 20_000
    page.emulate_media(media="screen")


def test_through_a_tunnel_that_ends_at_another_port(
    browser: Browser, daemon: DaemonProcess, far_machine: sshd.Sshd
) -> None:
    near = sshd.free_port()
    told = daemon.home.command("page", "--no-open", "--json", "--tunnel", str(near))
    assert told.returncode == 0, told.stderr
    answer = json.loads(told.stdout)
    assert urlsplit(answer["url"]).port == near != answer["port"]
    forward = f"{near}:127.0.0.1:{answer['port']}"
    command = ["ssh", "-F", str(far_machine.config), "-N", "-L", forward, "far"]
    tunnel = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    tab = browser.new_page()
    try:
        until(lambda: _answers(near), "the tunnel is there")
        with sessions(daemon, ("sh", "-c", "echo from afar; exec cat")) as (session,):
            tab.goto(answer["url"])
            expect(tab.locator(".fact").first).to_contain_text("memories")
            view(tab, f"agents/{session}")
            expect(tab.locator(".xterm")).to_contain_text("from afar")
        # The other port was named by the owner; a third one was not.
        assert Visitor(near).ask("GET", "/", Host=f"127.0.0.1:{near + 1}").status == 421
        assert Visitor(near).ask("GET", "/", Host=f"evil.example:{near}").status == 421
    finally:
        tab.close()
        tunnel.terminate()
        tunnel.wait()


def _answers(port: int) -> bool:
    try:
        return Visitor(port).ask("GET", "/").status > 0
    except OSError:
        return False
