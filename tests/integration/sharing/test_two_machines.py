"""What is said on one machine is known on the other, and only what may be."""

import pytest
from tests.integration.sharing.conftest import Machine, Machines, join

from iai_mcp.domain.errors import IaiError, InvalidInput

Pair = tuple[Machine, Machine]


def test_what_is_said_in_a_shared_project_is_found_on_the_other_machine(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("the heron nests in March")
    ann.now()
    bob.now()
    hits = bob.call("memory_recall", cue="when does the heron nest")["hits"]
    assert isinstance(hits, list)
    assert hits[0]["text"] == "the heron nests in March"
    assert (hits[0]["member"], hits[0]["circle"]) == ("ann", "team")
    assert hits[0]["machine"]
    (record,) = ann.records()
    assert "member" not in record  # one's own words need no name


def test_what_was_said_before_a_project_was_shared_comes_too(machine: Machines, place: str) -> None:
    ann, bob = machine("ann"), machine("bob")
    ann.hears("long ago", "and after")
    ann.call("share_create", name="team", at=place)
    join(ann, bob)
    assert bob.texts() == []
    done = ann.call("share_project", project="/home/ann/pond", **{"with": "team"})
    assert done["turns"] == 2
    ann.now()
    bob.now()
    assert bob.texts() == ["and after", "long ago"]


def test_only_what_was_said_since_a_time_is_shared_where_one_is_given(
    machine: Machines, place: str
) -> None:
    ann, bob = machine("ann"), machine("bob")
    for ts in ("2025-01-01T00:00:00Z", "2026-02-01T00:00:00Z"):
        event = {"id": ts, "role": "user", "text": ts[:4], "ts": ts}
        ann.call("capture_events", session_id="s", project="/home/ann/pond", events=[event])
    ann.call("share_create", name="team", at=place)
    since = {"with": "team", "since": "2026-01-01T00:00:00Z"}
    ann.call("share_project", project="/home/ann/pond", **since)
    join(ann, bob)
    assert bob.texts() == ["2026"]


def test_other_projects_and_private_ones_stay_where_they_are(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("elsewhere", project="/home/ann/other", session="o")
    with pytest.raises(InvalidInput, match="private"):
        ann.call("project_privacy", project="/home/ann/client", private=True)
        ann.call("share_project", project="/home/ann/client", **{"with": "team"})
    ann.hears("before it was private")
    ann.call("project_privacy", project="/home/ann/pond", private=True)
    ann.hears("hidden")
    ann.now()
    bob.now()
    assert bob.texts() == []


def test_a_circle_that_shares_everything_shares_all_but_what_is_private(
    machine: Machines, place: str
) -> None:
    ann, bob = machine("ann"), machine("bob")
    ann.hears("from before", project="/home/ann/first", session="a")
    ann.call("project_privacy", project="/home/ann/client", private=True)
    ann.call("share_create", name="mine", at=place, all=True)
    ann.hears("secret of a client", project="/home/ann/client", session="c")
    ann.hears("new work", project="/home/ann/second", session="b")
    ann.hears("of no project", project="", session="d")
    join(ann, bob, "mine")
    assert bob.texts() == ["from before", "new work", "of no project"]


def test_a_circle_that_shares_everything_is_told_nothing_from_below_a_private_directory(
    machine: Machines, place: str
) -> None:
    ann, bob = machine("ann"), machine("bob")
    ann.hears("captured before", project="/home/ann/notes/repo1", session="a")
    ann.call("project_privacy", project="/home/ann/notes", private=True)
    ann.call("share_create", name="mine", at=place, all=True)
    ann.hears("captured after", project="/home/ann/notes/clients/acme", session="c")
    ann.hears("open", project="/home/ann/pond", session="d")
    with pytest.raises(InvalidInput, match="private"):
        ann.call("share_project", project="/home/ann/notes/repo1", **{"with": "mine"})
    join(ann, bob, "mine")
    assert bob.texts() == ["open"]
    for one in (ann, bob):
        told = repr([one.call("share_list"), one.call("share_status")])
        assert "pond" in told
        assert not any(name in told for name in ("repo1", "acme", "notes"))


def test_what_was_told_before_it_became_private_leaves_the_place(
    machine: Machines, place: str
) -> None:
    ann, bob = machine("ann"), machine("bob")
    ann.call("share_create", name="mine", at=place, all=True)
    ann.hears("told early", project="/home/ann/notes/repo1", session="a")
    ann.hears("open", project="/home/ann/pond", session="d")
    ann.now()
    ann.call("project_privacy", project="/home/ann/notes", private=True)
    ann.now()
    join(ann, bob, "mine")
    assert bob.texts() == ["open"]


def test_what_one_forgets_is_gone_on_the_other_and_stays_away(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("keep this", "secret words")
    ann.now()
    bob.now()
    done = bob.call("memory_forget", query="secret words")
    assert done["forgotten"] == 1
    bob.now()
    ann.now()
    assert ann.texts() == bob.texts() == ["keep this"]
    event = {"id": "secret words", "role": "user", "text": "secret words"}
    again = ann.call("capture_events", session_id="s", project="/home/ann/pond", events=[event])
    assert again["inserted"] == 0
    ann.now()
    bob.now()
    assert bob.texts() == ["keep this"]


def test_pins_and_corrections_travel(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("the port is 5432", "a rule")
    by_text = {str(one["text"]): str(one["id"]) for one in ann.records()}
    ann.call("memory_pin", id=by_text["a rule"])
    ann.call("memory_contradict", id=by_text["the port is 5432"], new_fact="the port is 5433")
    ann.now()
    bob.now()
    told = {str(one["text"]): one for one in bob.records()}
    assert told["a rule"]["pinned"] is True
    assert told["the port is 5432"]["valid_to"] and not told["the port is 5433"]["valid_to"]


def test_the_same_transcript_on_both_machines_is_one_memory(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("said once")
    event = {"id": "said once", "role": "user", "text": "said once"}
    bob.call("capture_events", session_id="s", project="/home/ann/pond", events=[event])
    ann.now()
    bob.now()
    assert bob.texts() == ["said once"]
    done = bob.call("capture_events", session_id="s", project="/home/ann/pond", events=[event])
    assert (done["inserted"], done["duplicates"]) == (0, 1)


def test_a_secret_that_todays_rules_know_does_not_leave(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("the key to the boat house")
    with ann.store.database.writing() as db:  # stored before the rules knew it
        token = "ghp_" + "a1B2" * 9
        db.execute("UPDATE memories SET text = ?", (f"token {token}",))
    preview = ann.call("share_preview", project="/home/ann/pond")
    assert (preview["turns"], preview["redacted"]) == (1, 1)
    assert token not in str(preview["samples"])
    ann.now()
    bob.now()
    (text,) = bob.texts()
    assert text.startswith("token ") and token not in text


def test_what_is_no_longer_shared_does_not_go_out_any_more(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("together")
    ann.now()
    ann.hears("on its way")
    ann.call("share_unshare", project="/home/ann/pond", **{"with": "team"})
    ann.hears("alone again")
    ann.now()
    bob.now()
    assert bob.texts() == ["together"]


def test_who_left_neither_tells_nor_hears(pair: Pair) -> None:
    ann, bob = pair
    bob.call("share_leave", name="team")
    ann.hears("without bob")
    ann.now()
    bob.now()
    assert bob.texts() == []
    assert [one["member"] for one in ann.call("share_members", name="team")["members"]] == ["ann"]


def test_status_says_what_waits_and_who_is_there(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("one", "two")
    (circle,) = ann.call("share_status")["circles"]
    assert (circle["name"], circle["pending_out"], circle["set_aside"]) == ("team", 2, [])
    assert {one["member"] for one in circle["devices"]} == {"ann", "bob"}
    ann.now()
    bob.now()
    (circle,) = bob.call("share_status", name="team")["circles"]
    assert (circle["pending_out"], circle["applied"], circle["behind"]) == (0, 2, 0)
    assert circle["last_contact"]
    with pytest.raises(IaiError, match="no circle"):
        bob.call("share_status", name="other")


def test_a_store_that_was_put_back_to_an_older_copy_loses_nothing(
    pair: Pair, tmp_path_factory: pytest.TempPathFactory
) -> None:
    import shutil

    ann, bob = pair
    ann.hears("before")
    ann.now()
    copy = tmp_path_factory.mktemp("copy") / "store"
    ann.store.close()
    shutil.copytree(ann.directory, copy)
    ann.reopen()
    ann.hears("after")
    ann.now()
    ann.store.close()
    shutil.rmtree(ann.directory)
    shutil.copytree(copy, ann.directory)
    ann.reopen()
    ann.hears("later still")
    ann.now()
    bob.now()
    assert ann.texts() == bob.texts() == ["after", "before", "later still"]


def test_a_place_that_lost_everything_gets_it_back(pair: Pair, place: str) -> None:
    import shutil
    from pathlib import Path

    ann, bob = pair
    ann.hears("precious")
    ann.now()
    for one in Path(place).iterdir():
        shutil.rmtree(one)
    ann.now()
    bob.now()
    assert bob.texts() == ["precious"]


@pytest.mark.parametrize("code", ["", "nonsense", "iai1-AAAA"])
def test_a_wrong_code_is_told_in_a_sentence(machine: Machines, code: str) -> None:
    with pytest.raises(IaiError, match="code"):
        machine("ann").call("share_join", code=code)


def test_a_place_that_is_away_is_told_and_memory_goes_on(pair: Pair, place: str) -> None:
    import os

    ann, _ = pair
    os.rename(place, f"{place}-away")
    ann.hears("said meanwhile")
    with pytest.raises(IaiError, match="is not there"):
        ann.now()
    assert ann.texts() == ["said meanwhile"]
    (circle,) = ann.call("share_status")["circles"]
    assert "is not there" in circle["trouble"] and circle["pending_out"] == 1
    os.rename(f"{place}-away", place)
    assert ann.now()["sent"] == 1
