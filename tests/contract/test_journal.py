"""What every journal promises, on the fake and on the encrypted file alike."""

import pytest
from tests.fakes.journal import FakeJournal

from iai_mcp.adapters.sqlite.journal import SqliteJournal
from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.ports.journal import Event, Journal


@pytest.fixture(params=["fake", "sqlite"])
def journal(request: pytest.FixtureRequest) -> Journal:
    if request.param == "fake":
        return FakeJournal()
    database = request.getfixturevalue("database")
    SqliteMemories(database)  # makes the tables
    return SqliteJournal(database)


def test_events_come_back_oldest_first_by_kind_and_from_a_moment_on(journal: Journal) -> None:
    for number, kind in enumerate(("slept", "woke", "slept", "slept")):
        journal.record_event(kind, {"number": number}, number * 1_000_000)
    assert [event["kind"] for event in journal.events("", None, 2)] == ["slept", "slept"]
    told = journal.events("slept", 1_000_000, 10)
    assert [event["data"] for event in told] == [{"number": 2}, {"number": 3}]
    assert str(told[0]["ts"]).startswith("1970-01-01T00:00:02")


def test_a_setting_stays_until_it_is_set_again(journal: Journal) -> None:
    assert (journal.setting("mood"), journal.settings()) == (None, {})
    journal.set_setting("mood", "good")
    assert journal.settings() == {"mood": "good"}
    journal.set_setting("mood", "better")
    assert (journal.setting("mood"), journal.settings()) == ("better", {"mood": "better"})


def test_events_of_others_come_with_how_far_they_were_read(journal: Journal) -> None:
    journal.record_events([Event("launched", {"agent": "a"}, 5)], "read_to", "17")
    journal.record_events([], "read_to", "18")
    assert [event["kind"] for event in journal.events("launched", None, 10)] == ["launched"]
    assert journal.setting("read_to") == "18"
    journal.record_events([Event("met", {}, 6), Event("met", {}, 7)])
    assert len(journal.events("met", None, 10)) == 2 and list(journal.settings()) == ["read_to"]
