"""What the views of the page show and do, beyond asking and reading."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Page, expect
from tests.support.browsing import HOSTILE, view
from tests.support.daemon import DaemonProcess, until


def test_capture_is_paused_and_resumed_and_every_act_stands_in_the_journal(
    page: Page, daemon: DaemonProcess
) -> None:
    noted = daemon.call("memory_capture", text="the kettle is blue", session_id="acts")
    view(page, "care")
    page.get_by_role("button", name="Pause capture").click()
    expect(page.get_by_text("Capture is paused since")).to_be_visible()
    assert json.loads(daemon.home.command("capture", "status", "--json").stdout)["paused"] is True
    page.get_by_role("button", name="Resume capture").click()
    expect(page.get_by_text("Capture is on")).to_be_visible()
    assert json.loads(daemon.home.command("capture", "status", "--json").stdout)["paused"] is False
    page.get_by_label("retention_days", exact=True).fill("3650")
    page.get_by_role("button", name="Set retention_days").click()
    expect(page.locator("#banner")).to_contain_text("is 3650")
    daemon.call("profile_set", knob="retention_days", value="default")
    daemon.call("memory_pin", id=noted["record_id"])
    daemon.call("project_privacy", project="acts-project", private=True)
    daemon.call("project_privacy", project="acts-project", private=False)
    said = daemon.call("memory_contradict", id=noted["record_id"], new_fact="the kettle is red")
    daemon.call("memory_forget", ids=[said["new_record_id"]])
    page.get_by_role("button", name="Look again").click()
    journal = page.locator("tr.item")
    for kind in (
        "capture_paused",
        "capture_resumed",
        "knob_turned",
        "memory_pinned",
        "project_privacy",
        "memory_superseded",
        "memory_forgotten",
    ):
        expect(journal.filter(has_text=kind).first).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("kettle")


def test_topics_are_a_map_and_what_fades_can_be_held_on_to(
    page: Page, daemon: DaemonProcess
) -> None:
    begin = datetime.now(UTC) - timedelta(days=300)
    turns = [
        {"role": "user", "text": text, "ts": (begin + timedelta(minutes=n)).isoformat()}
        for n, text in enumerate(
            [
                "The heron nests at the pond in April.",
                "At the pond the heron builds its nest early.",
                "A heron was seen nesting at the pond again.",
                "The pond heron nests in the old willow.",
                HOSTILE.replace("staging", "the heron nests at the pond"),
            ]
        )
    ]
    daemon.call("capture_events", session_id="birds", project="pond", events=turns)
    daemon.call("memory_consolidate", wait=True)
    view(page, "time")
    topic = page.locator("a.topic", has_text="heron").first
    expect(topic).to_be_visible()
    assert page.locator("main img, main script").count() == 0
    topic.click()
    expect(page.locator("h1")).to_have_text("Ask")
    found = page.locator("#found .item", has_text="heron").first
    found.get_by_role("button", name="Pin").click()
    expect(page.locator("#banner")).to_contain_text("Pinned")


def test_the_machine_shows_how_fast_and_large_it_was_and_which_programs_are_connected(
    page: Page, daemon: DaemonProcess
) -> None:
    for _ in range(3):
        daemon.call("memory_recall", cue="staging port")
    (daemon.home.path / ".claude").mkdir()
    view(page, "machine")
    pace = page.locator("section.pace")
    expect(pace).to_contain_text("recalls")
    told = daemon.call("pace")["minutes"]
    assert sum(one["recalls"] for one in told) >= 3
    assert all(0 < one["p50_ms"] <= one["p95_ms"] for one in told if one["recalls"])
    assert all(one["store_bytes"] > 0 and one["resident_bytes"] > 0 for one in told)
    expect(page.locator("section.hosts tr", has_text="claude-code")).to_be_visible()
    expect(page.get_by_text("No circle: what is said here stays")).to_be_visible()


def test_a_circle_shows_its_devices_and_recall_can_ask_one_member_or_machine(
    page: Page, daemon: DaemonProcess, tmp_path: Path
) -> None:
    name = "team"
    made = daemon.home.command("share", "create", name, "--at", str(tmp_path), "--as", "me")
    assert made.returncode == 0, made.stderr
    try:
        view(page, "machine")
        circle = page.locator("section.circles")
        expect(circle.locator("h3")).to_have_text(name)
        expect(circle).to_contain_text("waits to be sent")
        expect(circle.locator("tr.item", has_text="me")).to_be_visible()
        view(page, "ask?q=staging&from=me&machine=here")
        expect(page.locator("#found .item").first).to_be_visible()
        page.get_by_label("Machine").fill("elsewhere")
        expect(page.get_by_text("Nothing was said about that.")).to_be_visible()
        page.get_by_label("Machine").fill("")
        page.get_by_label("From").fill("nobody")
        expect(page.get_by_text("Nothing was said about that.")).to_be_visible()
    finally:
        daemon.home.command("share", "leave", name, "--yes")


def test_a_conversation_leads_to_what_was_injected_where_it_was(
    page: Page, daemon: DaemonProcess
) -> None:
    daemon.call("session_start_payload", session_id="told-here", project="demo")
    later = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
    turns = [{"role": "user", "text": "What do we know of it?", "ts": later}]
    daemon.call("capture_events", session_id="told-here", project="demo", events=turns)
    until(lambda: daemon.call("injections", session_id="told-here")["injections"], "it was noted")
    view(page, "conversations/told-here")
    note = page.locator(".transcript a.injected")
    expect(note).to_contain_text("Memory told it")
    expect(page.locator(".transcript > *").first).to_contain_text("Memory told it")
    note.click()
    expect(page.locator("details.injection[open]")).to_be_visible()
