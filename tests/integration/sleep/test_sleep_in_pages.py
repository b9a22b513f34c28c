"""Sleep works in pages: it stops between any two, and killed it goes on where it was."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.support.answers import Json, ask

from iai_mcp.domain.errors import DiskFull
from iai_mcp.memory.sleep.courtesy import Courtesy
from iai_mcp.memory.sleep.sleep import Sleep
from iai_mcp.ports.sleep import Enough, Page, Step, never
from iai_mcp.store import MemoryStore

# Sleeps page by page and dies, as by kill -9, after so many.
DIES = """
import os, sys
from iai_mcp.domain.errors import NotInstalled
from iai_mcp.store import MemoryStore

def no_model():
    raise NotInstalled("no model here")

store = MemoryStore(load_embedder=no_model)
store.sleep.begin()
for _ in range(int(sys.argv[1])):
    if store.sleep.step():
        os._exit(9)
os._exit(7)
"""


def fill(store: MemoryStore, sessions: int = 30) -> None:
    for n in range(sessions):
        subject = ("the heron counter", "the staging database", "the invoice renderer")[n % 3]
        texts = (
            f"Work on {subject} went on: part {n} of it needs the bastion and the pond table.",
            f"I looked at {subject} again; number {n} is done and the tests are green.",
            "yes, go on",
        )
        events = [{"text": text, "role": "user"} for text in texts]
        ask(store, "capture_events", session_id=f"s{n}", events=events, project="/p")


def outcome(store: MemoryStore) -> dict[str, list[tuple[Any, ...]]]:
    """All that sleep wrote, without the moments of writing and the numbers of rows."""
    queries = {
        "folds": "SELECT key, digest, fold FROM folds",
        "members": "SELECT key, window, topic, ties FROM topic_members",
        "windows": "SELECT id, state FROM windows",
    }
    with store.database.reading() as db:
        return {name: db.execute(sql).fetchall() for name, sql in queries.items()}


def test_killed_after_any_page_it_ends_as_if_it_had_slept_through(
    store: MemoryStore, tmp_path: Path
) -> None:
    fill(store)
    store.close()
    nights = 0
    code = 7
    while code == 7:
        nights += 1
        assert nights < 60
        done = subprocess.run(
            [sys.executable, "-c", DIES, str(1 + 5 * nights % 13)],
            cwd=Path(__file__).parents[3] / "src",
        )
        code = done.returncode
    assert code == 9
    assert nights > 3
    again = MemoryStore()
    after_kills = outcome(again)
    report = ask(again, "sleep_report")
    assert report["state"] == "done"
    with again.database.writing() as db:  # as on the first night
        for table in ("folds", "topic_members", "windows", "sleep_steps"):
            db.execute(f"DELETE FROM {table}")
    whole = again.sleep.run()
    assert outcome(again) == after_kills
    assert whole["folded"] == report["folded"] == 29
    again.close()


def test_between_two_pages_everything_can_be_asked_and_changed(store: MemoryStore) -> None:
    fill(store, 12)
    store.sleep.begin()
    pages = 0
    while not store.sleep.step():
        pages += 1
        assert ask(store, "memory_recall", cue="staging database")["hits"]
        if pages == 4:
            ask(store, "memory_capture", text="A new thing about the staging database.")
        if pages % 5 == 0:
            newest = ask(store, "memory_timeline", limit=1)["records"][0]
            ask(store, "memory_forget", ids=[newest["id"]])
    assert pages > 10
    assert ask(store, "sleep_report")["state"] == "done"
    with store.database.reading() as db:
        broken = "SELECT count(*) FROM topic_members WHERE key NOT IN (SELECT key FROM memories)"
        assert db.execute(broken).fetchone() == (0,)


def test_however_short_the_pages_are_the_outcome_is_the_same(store: MemoryStore) -> None:
    fill(store)
    whole: Json = store.sleep.run()
    expected = outcome(store)
    with store.database.writing() as db:  # as on the first night
        for table in ("folds", "topic_members", "windows", "sleep_steps"):
            db.execute(f"DELETE FROM {table}")
    busy = Courtesy(patience=0)
    slept = Sleep(store.sleep.steps, store.sleep.ledger, store.memories, store.clock, busy)
    with busy.answering():  # so that every page breaks off as soon as it can
        brief: Json = slept.run()
    assert brief["pages"] > whole["pages"] * 1.3
    assert outcome(store) == expected
    assert brief["folded"] == whole["folded"]


def test_a_page_waits_while_somebody_is_answered(store: MemoryStore) -> None:
    fill(store, 3)
    store.sleep.begin()
    stepped = threading.Event()

    def step() -> None:
        store.sleep.step()
        stepped.set()

    with store.courtesy.answering():
        thread = threading.Thread(target=step)
        thread.start()
        assert not stepped.wait(0.05)
        assert store.sleep.report()["pages"] == 0
    assert stepped.wait(5)
    thread.join()
    assert store.sleep.report()["pages"] == 1


def test_under_a_load_that_never_ends_sleep_gets_done_all_the_same(store: MemoryStore) -> None:
    fill(store, 3)
    store.sleep.begin()
    with store.courtesy.answering():
        store.sleep.step()
    assert store.sleep.report()["pages"] == 1


def test_a_new_sleep_begins_only_when_the_last_one_is_done(store: MemoryStore) -> None:
    fill(store, 12)
    store.sleep.begin()
    for _ in range(5):
        assert not store.sleep.step()
    before = store.sleep.report()
    store.sleep.begin()
    assert store.sleep.report() == before
    report: Json = store.sleep.run()
    assert report["started"] == before["started"]
    later: Json = store.sleep.run()
    assert later["started"] > report["started"]


def test_a_step_that_fails_is_reported_and_the_others_go_on(store: MemoryStore) -> None:
    class Breaks:
        name = "breaks"

        def start(self, cursor: str) -> str:
            return "here"

        def page(self, cursor: str, enough: Enough = never) -> Page:
            raise DiskFull("the disk is full")

    class Works:
        name = "works"

        def start(self, cursor: str) -> str:
            return ""

        def page(self, cursor: str, enough: Enough = never) -> Page:
            return Page(done=True, counts={"changed": 1})

    steps: tuple[Step, ...] = (Breaks(), Works())
    report: Json = Sleep(steps, store.sleep.ledger, store.memories, store.clock).run()
    assert report["state"] == "done"
    broken, works = report["steps"]
    assert broken["failed"] == "DISK_FULL"
    assert works["changed"] == 1


def test_backups_are_made_beside_the_store_and_only_three_are_kept(
    store: MemoryStore, tmp_path: Path
) -> None:
    folder = tmp_path / "data/backups"
    ask(store, "memory_capture", text="worth keeping")
    store.sleep.run()
    (made,) = folder.iterdir()
    assert made.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert b"worth keeping" not in made.read_bytes()
    store.sleep.run()
    assert list(folder.iterdir()) == [made]  # a young one is enough
    for n in range(5):
        path = folder / f"sleep-2020010{n}T000000Z.backup"
        path.write_bytes(b"old")
        os.utime(path, (n, n))
    os.utime(made, (10, 10))
    ask(store, "memory_capture", text="something new")
    store.sleep.run()
    kept = sorted(path.name for path in folder.iterdir())
    assert len(kept) == 3
    assert kept[0] >= "sleep-20200103"  # the oldest went
