"""The page in the system's Chromium: first view, recall as one types, its weight, a flood in a terminal."""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from bench.corpus import Corpus
from bench.report import Row, percentile, show
from bench.scratch import Scratch, resident, scratch

METHOD = (
    "Chromium without a window, real daemon and page. First view: from going to the address until memory's "
    "answer is shown, five new browsers. Recall: from asking until the answer is read, in the browser, one cue "
    "after the other. Flood: a program prints 5 MB a second and echoes each key; from the key until the terminal "
    "has taken in its echo. RSS of the page's process."
)
CHROMIUM = "/usr/bin/chromium"
STATIC = Path(__file__).parents[1] / "src/iai_mcp/web/static"
VIEWS = ("ask", "conversations", "injected", "care", "time", "agents", "machine", "now")

FLOOD = """
import os, sys, threading, time, tty
tty.setraw(0)
line = (b"%07d " + b"x" * 70 + b"\\r\\n")
def echo():
    while key := os.read(0, 1):
        os.write(1, b"<<" + key + b">>")
threading.Thread(target=echo, daemon=True).start()
began, sent = time.monotonic(), 0
while time.monotonic() - began < 60:
    due = int((time.monotonic() - began) * 5_000_000)
    while sent < due:
        piece = b"".join(line % (sent // 80 + n) for n in range(100))
        os.write(1, piece)
        sent += len(piece)
    time.sleep(0.005)
"""

# The page tells how much it drew after each message: so it is known when an echo was taken in.
WATCHED = """
window.echoes = []; window.received = 0;
const own = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'onmessage');
const send = WebSocket.prototype.send;
let arrived = 0, drawn = 0, wanted = null, awaited = 0;
Object.defineProperty(WebSocket.prototype, 'onmessage', { set(heard) {
  own.set.call(this, (event) => {
    if (typeof event.data !== 'string') {
      arrived += 1;
      window.received += event.data.byteLength;
      if (wanted && !awaited && new TextDecoder('latin1').decode(event.data).includes(`<<${wanted.key}>>`)) awaited = arrived;
    }
    heard(event);
  });
} });
WebSocket.prototype.send = function (data) {
  if (typeof data !== 'string') wanted = { key: new TextDecoder().decode(data), at: performance.now() };
  else if (data.startsWith('{"read"')) {
    drawn += 1;
    if (awaited && drawn >= awaited) { window.echoes.push(performance.now() - wanted.at); wanted = null; awaited = 0; }
  }
  send.call(this, data);
};
"""

RECALLS = """async (cues) => {
  const { call } = await import('/static/api.js');
  const took = [];
  for (const cue of cues) {
    const began = performance.now();
    await call('memory_recall', { cue, k: 20, budget_tokens: 8000 });
    took.push(performance.now() - began);
  }
  return took;
}"""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench page")
    parser.add_argument("--size", type=int, default=10_000, help="memories")
    size = parser.parse_args(arguments).size
    corpus = Corpus()
    with scratch() as home, sync_playwright() as play:
        home.fill(size, corpus)
        home.start()
        home.wait_warm()
        options = ["--no-sandbox", "--disable-gpu"]
        browser = play.chromium.launch(executable_path=CHROMIUM, args=options)
        try:
            rows = _measured(home, browser, corpus, size)
        finally:
            browser.close()
            _command(home, "page", "--close")
    return show("page", METHOD, rows)


def _measured(home: Scratch, browser: Browser, corpus: Corpus, size: int) -> list[Row]:
    _open(home, browser)[0].context.close()  # the first one starts the process
    pid = _pid(home)
    opened = resident(pid)
    firsts = []
    for _ in range(5):
        page, took = _open(home, browser)
        firsts.append(took)
        page.context.close()
    page, _ = _open(home, browser)
    took = page.evaluate(RECALLS, [corpus.cue() for _ in range(200)])
    for view in VIEWS:
        page.evaluate("view => { location.hash = '#/' + view }", view)
        page.locator("h1", has_text=view.capitalize()).wait_for()
        page.wait_for_timeout(400)
    used = resident(pid)
    page.context.close()
    echoes, speed = _flooded(home, browser)
    weight = sum(file.stat().st_size for file in STATIC.rglob("*") if file.is_file()) / 1000
    first, quick = max(firsts), percentile(took, 0.95)
    echo = percentile(echoes, 0.95)
    return [
        Row("first view, the slowest of 5", f"{first:.0f} ms", "<= 300 ms", first <= 300),
        Row(f"recall at {size:,}, p95", f"{quick:.0f} ms", "<= 100 ms", quick <= 100),
        Row("all it can load", f"{weight:.0f} KB", "<= 700 KB", weight <= 700),
        Row("flood that is drawn", f"{speed:.1f} MB/s", ">= 4.9 MB/s", speed >= 4.9),
        Row("echo in that flood, p50", f"{percentile(echoes, 0.5):.0f} ms", "", None),
        Row("echo in that flood, p95", f"{echo:.0f} ms", "<= 100 ms", echo <= 100),
        Row("echoes that came", f"{len(echoes)} of 50", "50", len(echoes) == 50),
        Row("RSS when opened", f"{opened:.1f} MB", "", None),
        Row("RSS after every view", f"{used:.1f} MB", "<= 35 MB", used <= 35),
        Row("RSS after the flood", f"{resident(pid):.1f} MB", "", None),
    ]


def _open(home: Scratch, browser: Browser, script: str = "") -> tuple[Page, float]:
    """A new browser that is let in; milliseconds until memory's answer is shown."""
    told = json.loads(_command(home, "page", "--no-open", "--json"))
    page = browser.new_context().new_page()
    if script:
        page.add_init_script(script)
    began = time.perf_counter()
    page.goto(told["url"], wait_until="commit")
    page.locator(".fact").first.wait_for()
    return page, (time.perf_counter() - began) * 1000


def _flooded(home: Scratch, browser: Browser) -> tuple[list[float], float]:
    """How long each of fifty keys waited for its echo, and megabytes a second that were drawn."""
    started = _command(
        home, "session", "start", "--detach", "--json", "--", sys.executable, "-c", FLOOD
    )
    session = json.loads(started)["session"]["id"]
    page, _ = _open(home, browser, WATCHED)
    page.evaluate("id => { location.hash = '#/agents/' + id }", session)
    page.get_by_role("button", name="Take the keyboard").click()
    page.locator(".state", has_text="you type").wait_for()
    page.wait_for_timeout(2000)
    began, before = time.monotonic(), page.evaluate("window.received")
    for n in range(50):
        page.keyboard.type(chr(97 + n % 26))
        patience = time.monotonic() + 5
        while page.evaluate("window.echoes.length") <= n and time.monotonic() < patience:
            page.wait_for_timeout(50)
    speed = (page.evaluate("window.received") - before) / (time.monotonic() - began) / 1e6
    echoes = list(page.evaluate("window.echoes"))
    page.context.close()
    _command(home, "session", "kill", session)
    return echoes, speed


def _pid(home: Scratch) -> int:
    with open(f"{home.socket}.page.lock", encoding="ascii") as lock:
        return int(lock.read().split()[0])


def _command(home: Scratch, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "iai_mcp.cli", *arguments],
        env={**os.environ, **home.environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
