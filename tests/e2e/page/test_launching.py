"""Agents start from the page as they start from the command line: as the person who opened it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.support.browsing import view
from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome
from tests.support.page import Visitor, opened

FAKE_CLAUDE = "#!/bin/sh\necho umask-$(umask) arenas-${MALLOC_ARENA_MAX:-none}\nexec cat\n"


@pytest.fixture(scope="module")
def shop(daemon: DaemonProcess) -> Iterator[str]:
    """A project with one agent, Dan, that is a shell."""
    project = daemon.home.path / "launching"
    project.mkdir()
    daemon.home.command("project", "add", str(project))
    here = ("--project", str(project))
    daemon.home.command("agent", "create", "Dan", "--profile", "shell", *here)
    yield str(project)
    daemon.home.command("session", "kill", "Dan", *here)
    daemon.home.command("project", "remove", str(project))


def test_nothing_is_launched_without_both_secrets(daemon: DaemonProcess, shop: str) -> None:
    owner = Visitor.of(opened(daemon.home))
    thief = Visitor(owner.port, cookie=owner.cookie)
    wanted = {"project": shop, "agent": "Dan", "trust": True}
    assert thief.call("agents_launch", wanted).status == 403
    assert shop not in json.dumps(owner.call("sessions_list").json)


def test_an_agent_is_launched_and_its_terminal_is_there(page: Page, shop: str) -> None:
    view(page, "agents")
    row = page.locator(".item", has_text="agent launch dan")
    row.get_by_role("button", name="Launch").click()
    expect(page.locator("section.terminal")).to_have_attribute("aria-label", "Terminal of Dan")
    expect(page.locator(".sessions .item", has_text="Dan")).to_be_visible()
    row.get_by_role("button", name="Launch").click()
    expect(page.locator("#banner")).to_contain_text("runs already")


@pytest.fixture
def own_home(tmp_path: Path) -> Iterator[ScratchHome]:
    made = ScratchHome()
    daemon = DaemonProcess(made).start()
    (made.path / "bin").mkdir()
    fake = made.path / "bin" / "claude"
    fake.write_text(FAKE_CLAUDE)
    fake.chmod(0o755)
    yield made
    made.command("page", "--close")
    for one in json.loads(made.command("session", "list", "--json").stdout)["sessions"]:
        made.command("session", "kill", one["id"])
    daemon.stop()
    made.remove()


def test_a_program_that_asks_for_trust_starts_when_the_person_gave_it(
    own_home: ScratchHome,
) -> None:
    project = own_home.path / "shop"
    project.mkdir()
    path = f"{own_home.path}/bin:{os.environ['PATH']}"
    here = ("--project", str(project))
    made = own_home.command("agent", "create", "Eva", "--profile", "claude-code", *here)
    assert made.returncode == 0, made.stderr
    before = os.umask(0o022)
    try:
        done = own_home.command("page", "--no-open", "--json", PATH=path)
    finally:
        os.umask(before)
    visitor = Visitor.of(json.loads(done.stdout)["url"])
    wanted: dict[str, object] = {"project": str(project), "agent": "Eva"}
    refused = visitor.call("agents_launch", wanted)
    assert refused.json["error"]["code"] == "TRUST_NEEDED"
    assert str(project) in refused.json["error"]["message"]
    assert visitor.call("sessions_list").json["sessions"] == []
    answer = visitor.call("agents_launch", {**wanted, "trust": True})
    assert answer.status == 200, answer.body
    session = answer.json["session"]["id"]

    def told() -> str:
        return str(visitor.call("sessions_logs", {"session": session}).json["text"])

    # As the person's own terminal would have started it: nothing of the page's own settings.
    until(lambda: "umask-0022 arenas-none" in told(), "it runs as the person's own")
    events = own_home.command("events", "--json", "--kind", "AgentLaunched").stdout
    assert session in events
