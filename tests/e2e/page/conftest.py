"""One browser, one daemon and one login for all tests of the page."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from tests.support import browsing
from tests.support.daemon import DaemonProcess
from tests.support.home import ScratchHome
from tests.support.page import opened

expect.set_options(timeout=15_000)  # the machine may be busy with other tests


@pytest.fixture(scope="package")
def daemon() -> Iterator[DaemonProcess]:
    home = ScratchHome()
    running = DaemonProcess(home).start()
    now = datetime.now(UTC).isoformat()
    events = [
        {"role": "user", "text": "Which port does the **staging** database use?", "ts": now},
        {"role": "assistant", "text": "Port 5433, in `compose.staging.yml`.", "ts": now},
        {"role": "user", "text": browsing.HOSTILE, "ts": now},
        {"role": "user", "text": "The coffee machine is on the second floor.", "ts": now},
        {"role": "user", "text": "The printer is called Gutenberg.", "ts": now},
    ]
    running.call("capture_events", session_id="talk", project="demo", events=events)
    running.call("session_start_payload", session_id="told", project="demo")
    yield running
    home.command("page", "--close")
    for one in json.loads(home.command("session", "list", "--json").stdout)["sessions"]:
        home.command("session", "kill", one["id"])
    running.stop()
    home.remove()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if not browsing.CHROMIUM.exists():
        pytest.skip("no /usr/bin/chromium: install Debian's package 'chromium'")
    # Root has no sandbox to put a browser into; names of strangers lead here, as a rebound one would.
    rules = f"--host-resolver-rules=MAP {browsing.STRANGER} 127.0.0.1"
    with sync_playwright() as play:
        started = play.chromium.launch(
            executable_path=str(browsing.CHROMIUM), args=["--no-sandbox", rules, "--disable-gpu"]
        )
        yield started
        started.close()


@pytest.fixture(scope="package")
def context(browser: Browser, daemon: DaemonProcess) -> Iterator[BrowserContext]:
    """A browser that is logged in."""
    made = browser.new_context(viewport={"width": 1100, "height": 800})
    made.set_default_timeout(15_000)
    first = made.new_page()
    first.goto(opened(daemon.home))
    first.wait_for_url("**/#/now")
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, daemon: DaemonProcess) -> Iterator[Page]:
    """One more tab, and watched: nothing may break or be blocked while a test runs."""
    made = context.new_page()
    troubles: list[str] = []
    made.on("pageerror", lambda error: troubles.append(str(error)))
    made.on("console", lambda said: troubles.append(said.text) if said.type == "error" else None)
    made.goto(context.pages[0].url)
    expect(made.locator("h1")).to_have_text("Now")
    yield made
    hacked = made.evaluate("window.hacked")
    made.close()
    assert hacked is None
    # Memory was off, a login ended, something was refused, a test tried to.
    expected = ("status of 503", "status of 401", "status of 400", "status of 422", "TrustedHTML")
    assert [one for one in troubles if not any(word in one for word in expected)] == []
