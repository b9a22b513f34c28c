"""Whose words agents are told unasked, and which project here is which there."""

import os
import stat
from pathlib import Path

import pytest
from tests.integration.sharing.conftest import Machine, Machines, join

from iai_mcp import project_aliases
from iai_mcp.domain.errors import IaiError

Pair = tuple[Machine, Machine]
WISH = "Always run the linter before you commit."


def briefed(machine: Machine, project: str = "/home/ann/pond") -> str:
    return str(machine.call("session_start_payload", project=project)["text"])


def bobs_pond(bob: Machine) -> str:
    """Under which project Bob has what Ann shares."""
    (record,) = bob.records()
    return str(record["project"])


def test_work_that_is_brought_names_the_member_who_did_it(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("parse_header drops the cookies")
    ann.now()
    bob.now()
    asked = {"prompt": "parse_header drops cookies again", "project": bobs_pond(bob)}
    assert bob.call("prompt_injection", **asked)["text"] == ""
    bob.call("share_trust", name="team", member="ann")
    assert " · ann · " in bob.call("prompt_injection", **asked)["text"]


def test_what_a_member_said_is_told_unasked_only_after_trust(pair: Pair) -> None:
    ann, bob = pair
    ann.hears(WISH)
    ann.now()
    bob.now()
    project = bobs_pond(bob)
    assert WISH not in briefed(bob, project)
    assert bob.call("memory_recall", cue="linter")["hits"]
    bob.call("share_trust", name="team", member="ann")
    assert WISH in briefed(bob, project) and "ann" in briefed(bob, project)
    bob.call("share_untrust", name="team", member="ann")
    assert WISH not in briefed(bob, project)
    with pytest.raises(IaiError, match="nobody called"):
        bob.call("share_trust", name="team", member="carol")


def test_what_one_said_on_another_machine_is_ones_own(machine: Machines, place: str) -> None:
    desk, laptop = machine("ann"), machine("ann-laptop")
    desk.call("share_create", name="mine", at=place, all=True, **{"as": "ann"})
    code = desk.call("share_invite", name="mine")["code"]
    laptop.call("share_join", code=code, **{"as": "ann"})
    desk.hears(WISH)
    desk.now()
    laptop.now()
    project = bobs_pond(laptop)
    assert WISH in briefed(laptop, project)
    assert len(laptop.call("memory_recall", cue="linter", **{"from": "me"})["hits"]) == 1


def test_a_project_that_none_here_is_is_named_until_it_is_mapped(
    machine: Machines, place: str, tmp_path: Path
) -> None:
    ann, bob = machine("ann"), machine("bob")
    ann.call("share_create", name="team", at=place)
    ann.call("share_project", project="/home/ann/pond", **{"with": "team"})
    ann.hears("the heron is grey")
    ann.now()
    join(ann, bob)
    (circle,) = bob.call("share_status")["circles"]
    assert circle["unmatched"] == ["pond@team"]
    (tmp_path / "src").mkdir()
    project_aliases.add("pond@team", str(tmp_path / "src"))
    (circle,) = bob.call("share_status")["circles"]
    assert circle["unmatched"] == []
    (own,) = ann.call("share_status")["circles"]
    assert own["unmatched"] == []


def test_a_machine_of_ones_own_tells_all_it_has_from_the_moment_it_joins(
    machine: Machines, place: str
) -> None:
    desk, laptop = machine("desk"), machine("laptop")
    desk.call("share_create", name="mine", at=place, all=True, **{"as": "ann"})
    laptop.hears("said on the way", project="/home/ann/trip")
    invited = desk.call("share_invite", name="mine", **{"for": "ann"})
    assert (invited["you"], invited["all"]) == ("ann", True)
    joined = laptop.call("share_join", code=invited["code"], all=True)
    assert joined["circle"]["member"] == "ann"
    assert "asked to be let in" in joined["held"]
    for one in (desk, laptop, desk):
        one.now()
    assert desk.texts() == ["said on the way"]
    laptop.hears("and afterwards", project="/home/ann/home", session="t")
    laptop.now()
    desk.now()
    assert desk.texts() == ["and afterwards", "said on the way"]


def test_who_told_it_narrows_a_recall(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("the heron is grey")
    ann.now()
    bob.now()
    bob.hears("the heron is white", session="b")

    def found(who: str) -> list[str]:
        hits = bob.call("memory_recall", cue="heron", **{"from": who})["hits"]
        assert isinstance(hits, list)
        return [str(hit["text"]) for hit in hits]

    assert found("ann") == ["the heron is grey"]
    assert found("me") == ["the heron is white"]
    assert found("carol") == []


def checkout(directory: Path, remote: str) -> str:
    git = directory / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n')
    return str(directory)


def test_a_checkout_of_the_same_repository_is_the_same_project(
    machine: Machines, place: str, tmp_path: Path
) -> None:
    ann, bob = machine("ann"), machine("bob")
    here = checkout(tmp_path / "ann" / "pond", "git@example.org:team/pond.git")
    there = checkout(tmp_path / "bob" / "src" / "pond", "https://example.org/team/pond")
    bob.hears("bob was here before", project=there, session="b")
    ann.call("share_create", name="team", at=place)
    join(ann, bob)
    ann.hears("from ann", project=here)
    ann.call("share_project", project=here, **{"with": "team"})
    ann.now()
    bob.now()
    assert bob.texts(project=there) == ["bob was here before", "from ann"]
    assert ann.texts() == ["from ann"]  # bob shares nothing


def test_a_project_that_is_none_of_this_machine_has_its_circles_name(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("from ann")
    ann.now()
    bob.now()
    assert bobs_pond(bob) == "pond@team"


def test_a_code_whose_time_is_over_is_told(
    machine: Machines, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = machine("ann"), machine("bob")
    ann.call("share_create", name="team", at=place)
    code = ann.call("share_invite", name="team")["code"]
    year = 365 * 86_400_000_000
    now = bob.store.clock.now()
    monkeypatch.setattr(type(bob.store.clock), "now", lambda _: now + year)
    with pytest.raises(IaiError, match="time is over"):
        bob.call("share_join", code=code)
    assert bob.call("share_list") == {"circles": []}


def test_a_clock_that_is_a_year_ahead_does_not_decide_for_good(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    ann, bob = pair
    ann.hears("a rule")
    real = time.time_ns
    with monkeypatch.context() as ahead:
        ahead.setattr(time, "time_ns", lambda: real() + 365 * 86_400 * 10**9)
        ann.call("memory_pin", id=ann.records()[0]["id"])
    ann.now()
    bob.now()
    assert bob.records()[0]["pinned"] is True
    bob.call("memory_pin", id=bob.records()[0]["id"], pinned=False)
    bob.now()
    ann.now()
    assert ann.records()[0]["pinned"] is False


@pytest.mark.skipif(os.geteuid() == 0, reason="needs a user whom permissions hold off")
def test_a_place_that_may_not_be_written_is_told(pair: Pair, place: str) -> None:
    ann, _ = pair
    ann.hears("said")
    for directory, _, _ in os.walk(place):
        os.chmod(directory, stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(IaiError, match="may not be written"):
        ann.now()


def test_a_damaged_record_is_shown_and_heard_when_it_is_whole(pair: Pair, place: str) -> None:
    ann, bob = pair
    ann.hears("one")
    ann.now()
    device = ann.store.sharing.of("team").known.device
    newest = max(Path(place).glob(f"*/{device}/*.rec"), key=lambda path: int(path.stem))
    whole = newest.read_bytes()
    newest.write_bytes(whole[:-20])
    (Path(place) / "stray.txt").write_text("not ours")
    bob.now()
    (circle,) = bob.call("share_status")["circles"]
    assert [one["number"] for one in circle["set_aside"]] == [int(newest.stem)]
    told = {one["name"]: one for one in bob.call("doctor", store_only=True)["checks"]}
    assert told["circles"]["status"] == "WARN" and "set aside" in told["circles"]["detail"]
    newest.write_bytes(whole)
    bob.now()
    assert bob.texts() == ["one"]
    told = {one["name"]: one for one in bob.call("doctor", store_only=True)["checks"]}
    assert told["circles"]["status"] == "PASS"


def test_who_came_is_told_as_an_event(pair: Pair) -> None:
    ann, _ = pair
    events = ann.call("events_query", kind="share_joined")["events"]
    assert isinstance(events, list)
    assert [one["data"]["member"] for one in events] == ["bob"]
    assert events[0]["data"]["fingerprint"]


def test_retention_here_takes_nothing_from_others(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("kept by bob")
    ann.now()
    bob.now()
    key = ann.store.memories.latest()
    ann.store.memories.forget([key], 1, only_here=True)
    ann.now()
    bob.now()
    assert bob.texts() == ["kept by bob"]
