"""Members and places that want to harm, at each kind of place: nobody fails inside, nobody goes deaf."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.integration.sharing.conftest import Machine, Machines, join
from tests.support.raw_places import DatabasePlace, DirectoryPlace, RawPlace, ssh_with

from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.event_chain import folded, linked
from iai_mcp.domain.shared_events import Event, Removed, Said, lines_of
from iai_mcp.sharing import records
from iai_mcp.sharing.circle import Circle
from iai_mcp.sharing.records import Content, Header

POND = "/home/ann/pond"


@pytest.fixture(params=["directory", "ssh", "postgres"])
def raw(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RawPlace]:
    if request.param == "postgres":
        database = DatabasePlace(request.getfixturevalue("postgres_url"))
        database.clear()
        yield database
        database.clear()
        return
    path = tmp_path / "place"
    path.mkdir()
    url = str(path)
    if request.param == "ssh":
        far = request.getfixturevalue("far_machine")
        monkeypatch.setenv("PATH", ssh_with(far.config, tmp_path / "bin"))
        url = f"ssh://far{path}"
    yield DirectoryPlace(url, path)


Team = Callable[..., list[Machine]]


@pytest.fixture
def team(machine: Machines, raw: RawPlace) -> Team:
    """Machines of one circle: the first founded it and shares its project, as the others do."""

    def make(*names: str) -> list[Machine]:
        host, *guests = (machine(name) for name in names)
        host.call("share_create", name="team", at=raw.url, **{"as": host.name})
        host.call("share_project", project=POND, **{"with": "team"})
        for guest in guests:
            join(host, guest)
            guest.call("share_project", project="pond@team", **{"with": "team"})
        settle(host, *guests)
        return [host, *guests]

    return make


def settle(*machines: Machine) -> None:
    for _ in range(3):
        for one in machines:
            one.now()


def device(machine: Machine) -> str:
    return circle_of(machine).keys.device


def circle_of(machine: Machine) -> Circle:
    return machine.store.sharing.of("team").as_stored()


def status(machine: Machine) -> dict[str, Any]:
    circles: Any = machine.call("share_status")["circles"]
    (circle,) = circles
    assert isinstance(circle, dict)
    return circle


def forged(
    machine: Machine, raw: RawPlace, lines: Sequence[bytes], number: int = 0
) -> dict[int, bytes]:
    """A record that a member signs, with these lines in it, at the end of the stream or in place of
    another record."""
    circle = circle_of(machine)
    own = circle.keys.device
    stream = raw.streams()[own]
    number = number or max(stream) + 1
    before = bytes.fromhex(records.header_of(stream[number - 1]).digest)
    links = [linked(line) for line in lines]
    epoch = circle.roster.epoch()
    header = Header(
        circle=circle.id,
        device=own,
        number=number,
        first=number,
        epoch=epoch,
        previous=before.hex(),
        digest=folded(before, [one.leaf for one in links]).hex(),
    )
    with pytest.MonkeyPatch.context() as patch:
        entries = records._body(Content((), links)).split(b"\n")[0]
        patch.setattr(records, "_body", lambda _: b"\n".join([entries, *lines]))
        key = circle.ledger.epoch_keys()[epoch]
        return {number: records.seal(Content((), links), header, key, circle.keys)}


def works(machine: Machine, others: Sequence[Machine], text: str) -> None:
    """What is said on one machine is heard on the others."""
    project = POND if machine.name == "ann" else "pond@team"
    machine.hears(text, project=project, session=text)
    settle(machine, *others)
    assert all(text in one.texts() for one in others)


def test_who_joins_while_somebody_is_removed_elsewhere_waits_for_the_key(
    team: Team, machine: Machines, raw: RawPlace
) -> None:
    ann, bob, carol = team("ann", "bob", "carol")
    dave = machine("dave")
    kept = raw.streams()
    bob.call("share_remove", name="team", member="carol")
    late = {n: one for n, one in raw.streams()[device(bob)].items() if n not in kept[device(bob)]}
    for number in late:
        raw.drop(device(bob), number)  # ann's and dave's copy of the place is late
    join(ann, dave)
    dave.call("share_project", project="pond@team", **{"with": "team"})
    raw.put(device(bob), late)
    dave.hears("said while the key is missing", project="pond@team")
    dave.now()
    told = status(dave)
    assert "held until" in str(told["held"]) and told["pending_out"]
    assert "held until" in str(dave.call("doctor")["checks"])
    settle(ann, bob, dave)
    assert status(dave)["held"] is None
    assert "said while the key is missing" in ann.texts() and "said while" in str(bob.texts())
    carol.now()
    assert carol.texts() == []
    dave.call("share_leave", name="team")
    settle(ann, bob)
    assert {one["member"] for one in status(ann)["devices"]} == {"ann", "bob"}


def test_a_machine_without_the_key_can_leave(team: Team, machine: Machines, raw: RawPlace) -> None:
    ann, bob, _ = team("ann", "bob", "carol")
    dave = machine("dave")
    known = raw.streams()[device(bob)]
    bob.call("share_remove", name="team", member="carol")
    late = {n: one for n, one in raw.streams()[device(bob)].items() if n not in known}
    for number in late:
        raw.drop(device(bob), number)
    join(ann, dave)
    raw.put(device(bob), late)
    dave.call("share_project", project="pond@team", **{"with": "team"})
    dave.hears("never sent", project="pond@team")
    dave.now()
    assert status(dave)["held"]
    assert dave.call("share_leave", name="team")["told"] is True
    settle(ann, bob)
    assert {one["member"] for one in status(bob)["devices"]} == {"ann", "bob"}


@pytest.mark.parametrize("number", [900_000_000, 0])
def test_a_junk_file_in_a_stream_stops_nobody(team: Team, raw: RawPlace, number: int) -> None:
    ann, bob = team("ann", "bob")
    own = circle_of(ann).ledger.last_sent()
    raw.put(device(ann), {number or own + 1: b"junk"})
    bob.now()
    aside = status(bob)["set_aside"]
    assert aside == [
        {
            "device": device(ann),
            "number": number or own + 1,
            "why": "it is too short for a record: it is cut off, or not a record",
        }
    ]
    works(ann, [bob], "said beside junk")
    works(bob, [ann], "said to who has junk")
    if number:
        assert status(bob)["behind"] == 1
        raw.drop(device(ann), number)
    works(ann, [bob], "said after it")
    assert (status(bob)["set_aside"], status(bob)["behind"]) == ([], 0)


HOSTILE = {
    "a key of the year 60000 for nobody": b'{"type":"epoch","epoch":"'
    + b"e" * 32
    + b'","began":1830000000000000000}',
    "a key for nobody": b'{"type":"epoch","epoch":"' + b"e" * 32 + b'","began":5}',
    "half a character": b'{"type":"said","identity":"AAAAAAAAAAAAAAAAAAAAAA==","project":"",'
    b'"session_id":"s","role":"user","text":"\\ud800","at":5}',
    "a time beyond all numbers": b'{"type":"said","identity":"AAAAAAAAAAAAAAAAAAAAAA==",'
    b'"project":"","session_id":"s","role":"user","text":"x","at":' + b"9" * 40 + b"}",
    "a removal at a number beyond all": b'{"type":"removed","device":"'
    + b"a" * 32
    + b'","last":99999999999999999999999,"at":5}',
    "a name of half a character": b'{"type":"project","project":"p","name":"\\udfff"}',
    "a kind of a newer version": b'{"type":"tomorrow"}',
    "no object": b"[[[[]]]]",
    "too deep": b"[" * 100_000,
    "no name": b'{"type":"hello","member":"","machine":"m","signing_key":"","sealing_key":""}',
    "a digest of nothing": b'{"type":"seen","heads":{"x":"AAAA"}}',
}


def test_a_record_that_can_not_be_applied_is_set_aside_and_named(team: Team, raw: RawPlace) -> None:
    ann, bob, mallory = team("ann", "bob", "mallory")
    mallory_device = device(mallory)
    for line in HOSTILE.values():
        raw.put(mallory_device, forged(mallory, raw, [line]))
        ann.now()
        bob.now()
    for one in (ann, bob):
        named = [bad["device"] for bad in status(one)["set_aside"]]
        assert named == [mallory_device] * len(HOSTILE)
    works(ann, [bob], "said beside it")
    ann.call("share_invite", name="team")
    ann.call("share_remove", name="team", member="mallory")
    bob.call("share_leave", name="team")
    ann.now()
    assert {one["member"] for one in status(ann)["devices"]} == {"ann"}


def test_removing_and_leaving_need_no_contact(team: Team, raw: RawPlace) -> None:
    ann, bob, carol = team("ann", "bob", "carol")
    with pytest.MonkeyPatch.context() as patch:

        def away(*_: object, **__: object) -> object:
            raise IaiError("the place is away")

        for name in ("heads", "read", "read_all", "append", "replace"):
            patch.setattr(type(ann.store.sharing.of("team").log), name, away)
        assert ann.call("share_remove", name="team", member="carol")["told"] is False
        assert {one["member"] for one in status(ann)["devices"]} == {"ann", "bob"}
        assert bob.call("share_leave", name="team")["told"] is False
        assert bob.call("share_list") == {"circles": []}
    ann.hears("without carol")
    settle(ann)
    carol.now()
    assert carol.texts() == [] and status(carol)["removed"] is True


def test_who_was_removed_can_not_rewrite_what_they_said(
    team: Team, machine: Machines, raw: RawPlace
) -> None:
    ann, bob, mallory = team("ann", "bob", "mallory")
    mallory.hears("what mallory said", project="pond@team", session="m")
    settle(mallory, ann, bob)
    ann.call("share_remove", name="team", member="mallory")
    settle(ann, bob)
    honest = raw.streams()[device(mallory)]
    new = Said(identity=b"n" * 16, project="", session_id="n", role="user", text="new words", at=5)
    owner = Removed(device=device(ann), last=0, at=5)
    events: list[Event] = [new, owner]
    lines = [lines_of(event)[0] for event in events]
    last = max(honest)
    for number in range(2, last + 2):
        raw.put(device(mallory), honest | forged(mallory, raw, lines, number))
        guest = machine(f"guest-{number}")
        join(bob, guest)
        settle(ann, bob, guest)
        assert "new words" not in guest.texts() + ann.texts() + bob.texts()
        members = {one["member"] for one in status(guest)["devices"]}
        assert {"ann", "bob", guest.name} <= members
        if number <= last:
            assert "since" not in str(status(guest)["set_aside"])
            assert "was removed" in str(status(guest)["set_aside"])
    raw.put(device(mallory), honest)
    raw.drop(device(mallory), last + 1)
    late = machine("late")
    join(ann, late)
    assert late.texts() == ["what mallory said"]


def test_a_used_code_opens_nothing_also_with_an_older_copy_of_the_place(
    team: Team, machine: Machines, raw: RawPlace
) -> None:
    (ann,) = team("ann")
    ann.hears("a secret of before")
    ann.now()
    bob, thief = machine("bob"), machine("thief")
    code = ann.call("share_invite", name="team")["code"]
    offers = raw.offers()
    bob.call("share_join", code=code, **{"as": "bob"})
    settle(ann, bob)
    ann.hears("a secret of after")
    settle(ann, bob)
    assert bob.texts() == ["a secret of after", "a secret of before"]
    for name, sealed in offers.items():
        raw.offer(name, sealed)
    thief.call("share_join", code=code, **{"as": "bob"})
    settle(thief, ann, bob, thief)
    assert thief.texts() == []
    assert circle_of(thief).ledger.epoch_keys() == {}
    assert {one["member"] for one in status(ann)["devices"]} == {"ann", "bob"}
    assert status(ann)["strangers"] == [device(thief)]
    ann.hears("and later")
    settle(ann, bob, thief)
    assert (thief.texts(), "and later" in bob.texts()) == ([], True)


def test_much_that_is_no_record_costs_no_contact_much(team: Team, raw: RawPlace) -> None:
    ann, bob = team("ann", "bob")
    last = circle_of(ann).ledger.last_sent()
    raw.put(device(ann), {last + 10 + n: b"x" for n in range(4000)})
    began = time.monotonic()
    for one in (bob, ann):
        one.now()
    took = time.monotonic() - began
    works(ann, [bob], "said among four thousand files")
    assert took < 5


def test_many_strangers_cost_no_contact_much(team: Team, raw: RawPlace) -> None:
    ann, bob = team("ann", "bob")
    for number in range(500):
        raw.put(f"{number:032x}", {1: b"x"})
    began = time.monotonic()
    bob.now()
    took = time.monotonic() - began
    works(ann, [bob], "said among strangers")
    assert took < 5


def test_a_small_record_that_unpacks_to_much_is_refused(team: Team, raw: RawPlace) -> None:
    ann, mallory = team("ann", "mallory")
    bomb = forged(mallory, raw, [b'{"type":"forgot","identity":"' + b"A" * (300 << 20) + b'"}'])
    assert len(next(iter(bomb.values()))) < 100_000
    raw.put(device(mallory), bomb)
    began = time.monotonic()
    ann.now()
    assert time.monotonic() - began < 5
    assert "larger" in str(status(ann)["set_aside"])


def test_a_place_that_shows_two_machines_different_records_is_found_out(
    team: Team, raw: RawPlace
) -> None:
    ann, bob, mallory = team("ann", "bob", "mallory")
    text = Said(identity=b"f" * 16, project="", session_id="n", role="user", text="to ann", at=5)
    other = Said(identity=b"g" * 16, project="", session_id="n", role="user", text="to bob", at=5)
    one_way = forged(mallory, raw, [lines_of(text)[0]])
    other_way = forged(mallory, raw, [lines_of(other)[0]])
    raw.put(device(mallory), one_way)
    ann.now()
    raw.put(device(mallory), other_way)
    bob.now()
    settle(ann, bob)
    for one, witness in ((ann, "bob"), (bob, "ann")):
        (fork,) = status(one)["differences"]
        assert fork["kind"] == "fork"
        assert (fork["witness"]["member"], fork["device"]["member"]) == (witness, "mallory")
        assert "different records" in str(one.call("doctor")["checks"])


def test_a_stream_that_is_cut_off_for_one_machine_is_found_out(team: Team, raw: RawPlace) -> None:
    ann, bob, carol = team("ann", "bob", "carol")
    carol.hears("kept from bob", project="pond@team", session="c")
    carol.now()
    ann.now()
    last = max(raw.streams()[device(carol)])
    sealed = raw.streams()[device(carol)][last]
    raw.drop(device(carol), last)
    bob.now()
    (cut,) = status(bob)["differences"]
    assert (cut["kind"], cut["witness"]["member"], cut["device"]["member"]) == (
        "cut",
        "ann",
        "carol",
    )
    assert "others heard more" in str(bob.call("doctor")["checks"])
    raw.put(device(carol), {last: sealed})
    bob.now()
    assert status(bob)["differences"] == []
