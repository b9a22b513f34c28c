"""A place that is full, slow, read-only, older than it was, foreign or damaged: a sentence, and memory
goes on as if nothing were there."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from tests.integration.sharing.conftest import Machine, Machines, join

from iai_mcp.adapters import postgres_log
from iai_mcp.domain.errors import IaiError

Admin = psycopg.Connection[tuple[object, ...]]
YEAR = 365 * 86_400_000_000


@pytest.fixture
def admin(postgres_url: str) -> Iterator[Admin]:
    with psycopg.connect(postgres_url, autocommit=True) as link:
        yield link
        link.execute("ALTER DATABASE postgres RESET default_transaction_read_only")
        link.execute("DROP TRIGGER IF EXISTS trouble ON iai_share.records")
        link.execute("DELETE FROM iai_share.records")


@pytest.fixture
def ann(machine: Machines, postgres_url: str, admin: Admin) -> Machine:
    made = machine("ann")
    made.call("share_create", name="team", at=postgres_url, **{"as": "ann"})
    made.call("share_project", project="/home/ann/pond", **{"with": "team"})
    return made


def trouble(admin: Admin, statement: str) -> None:
    """What the database does whenever something is to be written."""
    admin.execute(
        "CREATE OR REPLACE FUNCTION iai_share.trouble() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN {statement}; RETURN NEW; END $$".encode()
    )
    admin.execute(
        "CREATE OR REPLACE TRIGGER trouble BEFORE INSERT ON iai_share.records "
        "FOR EACH ROW EXECUTE FUNCTION iai_share.trouble()"
    )


def goes_on(machine: Machine, sentence: str) -> None:
    """What is said is kept and found; what could not be sent waits, and the status says why."""
    machine.hears("said meanwhile")
    with pytest.raises(IaiError, match=sentence):
        machine.now()
    assert "said meanwhile" in machine.texts()
    assert machine.call("memory_recall", cue="said meanwhile")["hits"]
    (circle,) = machine.call("share_status")["circles"]
    assert circle["pending_out"] >= 1
    assert sentence in circle["trouble"]
    assert sentence in str(machine.call("doctor")["checks"])


def test_a_database_whose_disk_is_full_is_told_and_waited_for(ann: Machine, admin: Admin) -> None:
    trouble(admin, "RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'")
    goes_on(ann, "disk is full")
    admin.execute("DROP TRIGGER trouble ON iai_share.records")
    assert ann.now()["sent"]


def test_a_database_that_answers_too_slowly_is_told(
    machine: Machines, postgres_url: str, admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_log, "_STATEMENT_MS", 300)
    ann = machine("ann")
    ann.call("share_create", name="team", at=postgres_url, **{"as": "ann"})
    ann.call("share_project", project="/home/ann/pond", **{"with": "team"})
    trouble(admin, "PERFORM pg_sleep(60)")
    goes_on(ann, "takes too long")


def test_a_database_that_does_not_answer_at_all_is_told(
    machine: Machines, postgres_url: str, admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_log, "_ANSWER_SECONDS", 0.5)
    ann = machine("ann")
    ann.call("share_create", name="team", at=postgres_url, **{"as": "ann"})
    ann.call("share_project", project="/home/ann/pond", **{"with": "team"})
    trouble(admin, "PERFORM pg_sleep(60)")
    goes_on(ann, "takes too long")
    admin.execute("DROP TRIGGER trouble ON iai_share.records")
    monkeypatch.setattr(postgres_log, "_ANSWER_SECONDS", 30)
    assert ann.now()["sent"]


def test_a_database_that_is_read_only_is_told(ann: Machine, admin: Admin) -> None:
    admin.execute("ALTER DATABASE postgres SET default_transaction_read_only = on")
    admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'iai-mcp'"
    )
    ann.hears("lost connection")
    with pytest.raises(IaiError):
        ann.now()
    goes_on(ann, "read-only")


def test_a_database_from_last_weeks_backup_gets_back_what_it_lacks(
    ann: Machine, machine: Machines, admin: Admin
) -> None:
    bob, carol = machine("bob"), machine("carol")
    join(ann, bob)
    bob.call("share_project", project=bobs(bob), **{"with": "team"})
    ann.hears("before the backup")
    ann.now()
    admin.execute("CREATE TABLE backup AS SELECT * FROM iai_share.records")
    ann.hears("after the backup")
    bob.hears("bob, after the backup", project=bobs(bob), session="b")
    for one in (ann, bob, ann, bob):
        one.now()
    admin.execute("DELETE FROM iai_share.records")
    admin.execute("INSERT INTO iai_share.records SELECT * FROM backup")
    admin.execute("DROP TABLE backup")
    ann.hears("since then")
    for one in (ann, bob, ann, bob):
        one.now()
    join(ann, carol)
    every = ["after the backup", "before the backup", "bob, after the backup", "since then"]
    assert ann.texts() == bob.texts() == carol.texts() == every
    kinds = [one["kind"] for one in ann.call("events_query", limit=100)["events"]]
    assert "share_place_repaired" in kinds


def bobs(bob: Machine) -> str:
    return "pond@team"


def test_a_directory_that_is_full_is_told_and_waited_for(machine: Machines, tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(mounted, capture_output=True, check=False).returncode:
        pytest.skip("needs root and mount: a file system of its own that fills up")
    try:
        ann = machine("ann")
        ann.call("share_create", name="team", at=str(place), **{"as": "ann"})
        ann.call("share_project", project="/home/ann/pond", **{"with": "team"})
        filler = place / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(bytes(4096))
        goes_on(ann, "is full")
        filler.unlink()
        assert ann.now()["sent"]
    finally:
        subprocess.run(["umount", str(place)], check=True)


@dataclass
class Shifted:
    """A clock that is off."""

    clock: object
    by: int

    def now(self) -> int:
        return int(self.clock.now()) + self.by  # type: ignore[attr-defined]  # the store's own


def set_clock(machine: Machine, by: int) -> None:
    machine.store.sharing.clock = Shifted(machine.store.clock, by)


def test_a_code_whose_time_is_over_is_refused_and_is_gone_from_the_place(
    machine: Machines, place: str
) -> None:
    ann, bob = machine("ann"), machine("bob")
    ann.call("share_create", name="team", at=place)
    code = ann.call("share_invite", name="team")["code"]
    set_clock(bob, 2 * 86_400_000_000)
    with pytest.raises(IaiError, match="time is over"):
        bob.call("share_join", code=code)
    assert bob.call("share_list") == {"circles": []}
    ann.call("share_invite", name="team")
    assert len(list(Path(place).glob("*/invites/*"))) == 1
    ann.reopen()
    set_clock(ann, 2 * 86_400_000_000)
    ann.now()
    assert list(Path(place).glob("*/invites/*")) == []


def test_a_clock_that_is_a_year_off_is_named_as_what_may_be_wrong(
    machine: Machines, place: str
) -> None:
    ann, bob = machine("ann"), machine("bob")
    ann.store.sharing.clock = Shifted(ann.store.clock, -YEAR)
    ann.call("share_create", name="team", at=place, **{"as": "ann"})
    ann.call("share_project", project="/home/ann/pond", **{"with": "team"})
    code = ann.call("share_invite", name="team")["code"]
    with pytest.raises(IaiError, match="clock"):
        bob.call("share_join", code=code)


def test_machines_with_clocks_a_year_apart_share_all_the_same(
    machine: Machines, place: str
) -> None:
    ann, bob = machine("ann"), machine("bob")
    set_clock(ann, YEAR)
    ann.call("share_create", name="team", at=place, **{"as": "ann"})
    ann.call("share_project", project="/home/ann/pond", **{"with": "team"})
    join(ann, bob)
    ann.hears("from the future")
    ann.now()
    bob.now()
    assert bob.texts() == ["from the future"]
    ann.call("share_remove", name="team", member="bob")
    ann.hears("without bob")
    ann.now()
    bob.now()
    assert bob.texts() == ["from the future"]


def test_a_code_that_was_used_or_leads_elsewhere_is_told(
    machine: Machines, place: str, tmp_path: Path
) -> None:
    ann, bob, carol = machine("ann"), machine("bob"), machine("carol")
    ann.call("share_create", name="team", at=place, **{"as": "ann"})
    code = ann.call("share_invite", name="team")["code"]
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(IaiError, match="another place"):
        bob.call("share_join", code=code, at=str(tmp_path / "elsewhere"))
    with pytest.raises(IaiError, match="is not there"):
        bob.call("share_join", code=code, at=str(tmp_path / "absent"))
    bob.call("share_join", code=code, **{"as": "bob"})
    with pytest.raises(IaiError, match="was used"):
        carol.call("share_join", code=code)


def test_what_lies_damaged_or_foreign_in_the_place_is_told_and_the_rest_is_heard(
    pair: tuple[Machine, Machine], place: str
) -> None:
    ann, bob = pair
    ann.hears("one")
    ann.now()
    stream = next(Path(place).glob("*/*/3.rec")).parent
    last = max(int(path.stem) for path in stream.glob("*.rec"))
    os.mkfifo(stream / f"{last + 1}.rec")
    (stream / "notes.txt").write_text("mine")
    shutil.copytree(
        stream,
        stream.with_name("f" * 32),
        ignore=shutil.ignore_patterns("*.txt", f"{last + 1}.rec"),
    )
    bob.now()
    assert bob.texts() == ["one"]
    (circle,) = bob.call("share_status")["circles"]
    assert [bad["number"] for bad in circle["set_aside"]] == [last + 1]
    assert circle["strangers"] == ["f" * 32]
    assert [odd["where"].endswith("notes.txt") for odd in circle["oddities"]] == [True]
    told = str(bob.call("doctor")["checks"])
    assert "can not be read" in told
