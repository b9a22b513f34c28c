"""The page in a real browser: what people see and do there, and what strangers try."""

import http.server
import json
import threading
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.e2e.test_sleep_and_hibernation import QUICKLY, is_dormant
from tests.support.browsing import STRANGER, view
from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome
from tests.support.page import opened


def test_the_login_leaves_the_address_and_every_view_opens(page: Page) -> None:
    assert "token" not in page.url and "k=" not in page.url
    expect(page.locator(".fact").first).to_contain_text("memories")
    expect(page.get_by_text("Gutenberg")).to_be_visible()
    for name in ("ask", "conversations", "injected", "care", "time", "agents", "machine", "now"):
        page.get_by_role("link", name=name.capitalize(), exact=True).click()
        expect(page.locator("h1")).to_have_text(name.capitalize())
        expect(page.locator("nav a[aria-current]")).to_have_text(name.capitalize())


def test_an_address_that_was_cut_short_shows_what_it_can(page: Page) -> None:
    view(page, "conversations/%E0%A4%A")
    expect(page.get_by_text("Nothing of this conversation is stored.")).to_be_visible()


def test_the_calendar_leads_to_what_was_said_on_a_day(page: Page) -> None:
    view(page, "time")
    expect(page.locator(".plot canvas").first).to_be_visible()
    page.locator("a.day").last.click()
    expect(page.locator("h1")).to_have_text("Conversations")
    expect(page.locator(".item").first).to_contain_text("turns")


def test_recall_as_one_types_and_a_hit_opens_in_its_conversation(page: Page) -> None:
    page.keyboard.press("/")
    page.locator("#cue").fill("staging database port")
    hit = page.locator(".item", has_text="Port 5433")
    expect(hit).to_contain_text("words")
    assert page.locator(".item code", has_text="compose.staging.yml").count() == 1
    hit.get_by_role("link", name="In its conversation").click()
    expect(page.locator(".transcript .wanted")).to_contain_text("Port 5433")
    expect(page.locator(".transcript .item")).to_have_count(5)


@pytest.mark.parametrize("name", ["ask?q=staging+onerror", "conversations/talk", "injected", "now"])
def test_what_people_said_is_shown_and_never_obeyed(page: Page, name: str) -> None:
    view(page, name)
    if name == "injected":
        page.locator("details.injection summary").first.click()
    expect(page.locator(".item", has_text="onerror").first).to_be_visible()
    assert page.locator("main img, main script, main svg").count() == 0
    assert page.locator('main a[href^="javascript"]').count() == 0
    # Even code of our own could not make HTML of it.
    refused = "try { document.body.innerHTML = '<b>'; false } catch (e) { true }"
    assert page.evaluate(refused) is True


def test_forgetting_shows_what_goes_and_what_was_forgotten_is_gone(
    page: Page, daemon: DaemonProcess
) -> None:
    view(page, "ask?q=coffee+machine+floor")
    hit = page.locator(".item", has_text="coffee machine")
    hit.get_by_role("button", name="Forget").click()
    expect(page.locator("dialog .preview")).to_contain_text("second floor")
    page.get_by_role("button", name="Cancel").click()
    assert "coffee" in json.dumps(daemon.call("memory_timeline", session_id="talk"))
    hit.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Forget for good").click()
    expect(page.locator("#banner")).to_contain_text("Forgotten: 1")
    assert "coffee" not in json.dumps(daemon.call("memory_timeline", session_id="talk"))


def test_pin_and_supersede_from_where_a_memory_is_shown(page: Page) -> None:
    view(page, "ask?q=printer+called")
    hit = page.locator(".item", has_text="Gutenberg").first
    hit.get_by_role("button", name="Pin").click()
    expect(hit.get_by_role("button", name="Unpin")).to_be_visible()
    hit.get_by_role("button", name="Supersede").click()
    page.locator("dialog textarea").fill("The printer is called Hamlet.")
    page.locator("dialog").get_by_role("button", name="Supersede").click()
    expect(page.locator(".item", has_text="Hamlet")).to_be_visible()
    expect(page.locator(".item", has_text="Gutenberg")).to_contain_text("superseded")


def test_a_terminal_is_watched_at_once_and_typed_into_after_taking_the_keyboard(
    page: Page, daemon: DaemonProcess
) -> None:
    done = daemon.home.command("session", "start", "--detach", "--json", "--", "sh", PS1="$ ")
    session = json.loads(done.stdout)["session"]["id"]
    view(page, f"agents/{session}")
    screen = page.locator(".terminal .xterm")
    expect(screen).to_contain_text("$")
    screen.click()
    page.keyboard.type("echo sneaked-$((1+1))\n")
    page.get_by_role("button", name="Take the keyboard").click()
    expect(page.locator(".terminal .state")).to_have_text("you type")
    page.keyboard.type("echo typed-$((40+2))\n")
    expect(screen).to_contain_text("typed-42")
    expect(screen).not_to_contain_text("sneaked")


def test_without_the_libraries_it_works_and_says_what_is_missing(
    context: BrowserContext, daemon: DaemonProcess
) -> None:
    done = daemon.home.command("session", "start", "--detach", "--json", "--", "echo", "printed")
    session = json.loads(done.stdout)["session"]["id"]
    daemon.home.command("session", "wait", session, "--until", "exited")
    bare = context.new_page()
    bare.route("**/static/libraries/**", lambda route: route.fulfill(status=404))
    try:
        bare.goto(f"{context.pages[0].url.partition('#')[0]}#/agents/{session}")
        expect(bare.locator(".terminal .state")).to_contain_text("not installed")
        expect(bare.locator(".terminal pre")).to_contain_text("printed")
        view(bare, "time")
        expect(bare.get_by_text("Plots are not installed")).to_be_visible()
        expect(bare.locator("a.day").last).to_be_visible()
    finally:
        bare.close()


def test_an_agent_is_made_its_persona_edited_and_what_it_would_be_told_shown(
    page: Page, daemon: DaemonProcess
) -> None:
    project = daemon.home.path / "shop"
    project.mkdir()
    daemon.home.command("project", "add", str(project))
    view(page, "agents")
    page.get_by_role("button", name="New agent").click()
    page.get_by_label("Name").fill("Ann")
    page.get_by_label("Program").select_option("shell")
    page.get_by_label("Persona").fill("You are careful.")
    page.get_by_role("button", name="Make it").click()
    page.get_by_role("button", name="Persona").click()
    page.locator("dialog textarea").fill("You are bold.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#banner")).to_contain_text("Saved")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("dialog")).to_contain_text("You are bold.")
    page.get_by_role("button", name="Good").click()


def test_a_message_reaches_every_agent_that_runs(page: Page, daemon: DaemonProcess) -> None:
    project = daemon.home.path / "team"
    project.mkdir()
    here = ("--project", str(project))
    daemon.home.command("project", "add", str(project))
    for name in ("Bea", "Cal"):
        daemon.home.command("agent", "create", name, "--profile", "shell", *here)
        done = daemon.home.command("agent", "launch", name, "--detach", "--trust", *here)
        assert done.returncode == 0, done.stderr
    view(page, "agents")
    page.get_by_label("Message to the agents").fill("echo team-$((6*7))")
    page.get_by_role("button", name="Send to every agent").click()
    expect(page.locator("dialog")).to_contain_text("Bea")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator("#banner")).to_have_text("Delivered to 2.")

    def told(name: str) -> bool:
        return "team-42" in daemon.home.command("session", "logs", name, *here).stdout

    until(lambda: told("Bea") and told("Cal"), "both were told")


def test_what_was_done_is_folded_between_the_turns(page: Page, daemon: DaemonProcess) -> None:
    now = datetime.now(UTC).isoformat()
    events = [
        {"role": "user", "text": "Please run the tests.", "ts": now},
        {
            "role": "tool",
            "kind": "command",
            "text": "make test",
            "work": {"command": "make test", "exit": 2},
            "ts": now,
        },
    ]
    daemon.call("capture_events", session_id="works", project="demo", events=events)
    view(page, "conversations/works")
    folded = page.locator("details.work")
    expect(folded).to_contain_text("1 commands, 1 failed")
    folded.locator("summary").click()
    expect(folded.locator("li").first).to_contain_text("make test")


def test_a_project_is_made_private_and_opened_again(page: Page, daemon: DaemonProcess) -> None:
    view(page, "care")
    page.get_by_label("Keep to itself").fill("demo")
    page.get_by_role("button", name="Make private").click()
    page.get_by_role("button", name="Open again").click()
    expect(page.get_by_text("None: every project")).to_be_visible()
    assert daemon.call("project_privacy")["private"] == []


def test_a_setting_is_turned_and_one_that_can_not_be_says_why(
    page: Page, daemon: DaemonProcess
) -> None:
    view(page, "machine")
    depth = page.get_by_label("injection_depth", exact=True)
    depth.fill("900")
    page.get_by_role("button", name="Set injection_depth").click()
    expect(page.locator("#banner")).to_contain_text("is 900")
    assert daemon.call("profile_get", knob="injection_depth")["value"] == 900
    depth.fill("a lot")
    depth.press("Enter")
    expect(page.locator("#banner")).to_contain_text("whole number")


def test_the_doctor_looks_when_asked(page: Page) -> None:
    view(page, "machine")
    page.get_by_role("button", name="Examine").click()
    expect(page.locator("tr", has_text="integrity")).to_contain_text("PASS")


def test_keys_themes_and_a_phone(page: Page) -> None:
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page.locator("h1")).to_have_text("Conversations")
    expect(page.locator(".item").first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Conversation")
    background = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(background)
    page.keyboard.press("t")
    assert page.evaluate(background) != before
    page.set_viewport_size({"width": 400, "height": 800})
    for name in ("now", "ask?q=staging", "conversations/talk", "injected", "care", "machine"):
        view(page, name)
        expect(page.locator("h1")).to_be_visible()
        expect(page.locator("main .item, main details").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, name


def test_it_says_that_memory_is_off_and_comes_back_by_itself(
    daemon: DaemonProcess, page: Page
) -> None:
    view(page, "ask?q=staging")
    expect(page.locator(".item").first).to_be_visible()
    daemon.stop()
    page.locator("#cue").fill("staging port")
    expect(page.locator("#banner")).to_contain_text("iai-mcp up")
    daemon.start()
    expect(page.locator("#banner")).to_contain_text("Memory is back")
    expect(page.locator(".item").first).to_be_visible()


@pytest.mark.parametrize("left", ["in the background", "open, and nobody is there"])
def test_a_page_that_was_left_open_lets_memory_sleep(
    browser: Browser, home: ScratchHome, left: str
) -> None:
    sleepy = DaemonProcess(home, **QUICKLY).start()
    tab = browser.new_page()
    try:
        if left != "in the background":
            tab.clock.install()
        tab.goto(opened(home))
        expect(tab.locator(".fact").first).to_contain_text("memories")
        if left == "in the background":
            tab.evaluate("Object.defineProperty(document, 'hidden', { get: () => true })")
        else:
            tab.clock.run_for(121_000)
        assert sleepy.process is not None
        pid = sleepy.process.pid
        until(lambda: is_dormant(pid), "memory lies down", deadline=40)
    finally:
        tab.close()
        home.command("page", "--close")
        sleepy.stop()


ATTACKS = """async ([target, session]) => {
  const told = {};
  const change = JSON.stringify({ query: 'staging' });
  const tried = async (name, work) => { try { told[name] = await work(); } catch (e) { told[name] = 'refused'; } };
  await tried('fetch', async () => (await fetch(target + '/api/memory_forget', { method: 'POST', credentials: 'include', body: change })).status);
  await tried('blind fetch', async () => (await fetch(target + '/api/memory_forget', { method: 'POST', mode: 'no-cors', credentials: 'include', body: change })).type);
  await tried('read', async () => (await fetch(target + '/', { credentials: 'include' })).status);
  await tried('script', () => new Promise((done) => { const s = document.createElement('script'); s.src = target + '/static/app.js'; s.onload = () => done('loaded'); s.onerror = () => done('refused'); document.head.append(s); }));
  await tried('frame', () => new Promise((done) => { const f = document.createElement('iframe'); f.src = target + '/'; f.onload = () => { try { done(f.contentDocument ? 'own' : 'refused'); } catch { done('refused'); } }; document.body.append(f); setTimeout(() => done('refused'), 3000); }));
  await tried('terminal', () => new Promise((done) => { const w = new WebSocket(target.replace('http', 'ws') + '/terminal/' + session); w.onopen = () => done('open'); w.onerror = () => done('refused'); }));
  return told;
}"""


@pytest.mark.parametrize("where", ["a strangers page", "another port of this machine"])
def test_another_page_in_the_same_browser_reads_and_changes_nothing(
    context: BrowserContext, page: Page, daemon: DaemonProcess, where: str
) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Empty)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    target = page.url.partition("/#")[0]
    host = STRANGER if where == "a strangers page" else "127.0.0.1"
    stranger = context.new_page()
    try:
        stranger.goto(f"http://{host}:{server.server_port}/")
        told = stranger.evaluate(ATTACKS, [target, "any"])
        # A blind request goes out and comes back unreadable; what counts is that nothing was done.
        assert told.pop("blind fetch") in ("opaque", "refused")
        assert set(told.values()) == {"refused"}, told
        framed = [frame for frame in stranger.frames if frame.url.startswith(target)]
        assert framed == []
    finally:
        stranger.close()
        server.shutdown()
        server.server_close()
    assert "staging" in json.dumps(daemon.call("memory_timeline", session_id="talk"))


def test_a_name_that_was_rebound_to_this_machine_shows_nothing(
    context: BrowserContext, page: Page
) -> None:
    port = page.evaluate("location.port")
    stranger = context.new_page()
    try:
        answer = stranger.goto(f"http://{STRANGER}:{port}/")
        assert answer is not None and answer.status == 421
    finally:
        stranger.close()


class _Empty(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<!doctype html><title>stranger</title><body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return
