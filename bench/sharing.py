"""One memory on many machines: how soon, how fast, how large, how many, and what the place learns."""

import argparse
import time
from contextlib import ExitStack
from pathlib import Path

from bench import sharing_rig as rig
from bench.report import Row, percentile, show
from bench.scratch import Scratch

METHOD = (
    "Latency: two daemons without a model; from the acknowledged capture on one to its first hit by recall on the\n"
    "other, one turn after the other. Catching up: one device says the turns, another that never heard anything hears\n"
    "them, over a directory. Devices: processes without a model against one PostgreSQL on this machine; each says its\n"
    "turns, then all contact in turns until all have all; counted are the turns applied in all stores. Canary: every\n"
    "byte of the directory and of the database's files, its log included, is searched for a word, the project's and\n"
    "the members' names. Beyond what is measured: hearing is linear in turns (each costs the same statements), a\n"
    "contact costs one question per place and one per device with news; so 1M turns take ten times as long as 100k."
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench sharing")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--devices", type=int, default=50)
    parser.add_argument("--each", type=int, default=40, help="turns that each device says")
    parser.add_argument("--latencies", type=int, default=40)
    asked = parser.parse_args(arguments)
    rows: list[Row] = []
    with rig.directory() as base, ExitStack() as held:
        (base / "place").mkdir()
        url = held.enter_context(rig.postgres(base / "pg"))
        rows += _latency("a directory", str(base / "place"), 3.0, asked.latencies)
        rows += _latency("PostgreSQL", url, 2.0, asked.latencies)
        rows += _catching_up(base, asked.turns)
        for devices in sorted({2, 10, asked.devices}):
            rows += _crowd(base, url, devices, asked.each, devices == asked.devices)
        rows += _canary(base)
    return show("sharing", METHOD, rows)


def _latency(name: str, place: str, goal: float, count: int) -> list[Row]:
    one, other = Scratch(), Scratch()
    try:
        for home in (one, other):
            home.environment.pop("IAI_MCP_EMBED_MODEL", None)
            home.start()
        one.call("share_create", name="pair", at=place)
        one.call("share_project", project=rig.PROJECT, **{"with": "pair"})
        code = one.call("share_invite", name="pair")["code"]
        other.call("share_join", code=code)
        taken = [_found_after(one, other, number) for number in range(count)]
    finally:
        one.remove()
        other.remove()
    p50, p95 = percentile(taken, 0.5), percentile(taken, 0.95)
    what = f"said here to found there, {name}"
    return [Row(what, f"p50 {p50:.2f} s, p95 {p95:.2f} s", f"p95 <= {goal:.0f} s", p95 <= goal)]


def _found_after(one: Scratch, other: Scratch, number: int) -> float:
    (event,) = rig.events(number, 1, "early")
    one.call("capture_events", session_id="s", project=rig.PROJECT, events=[event])
    began = time.monotonic()
    while time.monotonic() - began < 60:
        hits = other.call("memory_recall", cue=f"sentence {number}", k=20)["hits"]
        assert isinstance(hits, list)
        if any(hit["text"] == event["text"] for hit in hits):
            return time.monotonic() - began
        time.sleep(0.01)
    return 60.0


def _catching_up(base: Path, turns: int) -> list[Row]:
    place = base / "many"
    place.mkdir()
    one, late = rig.Device(base / "one"), rig.Device(base / "late")
    try:
        rig.founded(one, str(place))
        letters = 0
        for start in range(0, turns, 1000):
            said = rig.events(start, min(1000, turns - start), "one")
            letters += sum(len(str(event["text"])) for event in said)
            one.call("capture_events", session_id=f"s{start}", project=rig.PROJECT, events=said)
        began = time.monotonic()
        one.call("share_now")
        sending = turns / (time.monotonic() - began)
        size = sum(path.stat().st_size for path in place.rglob("*.rec"))
        began, before = time.monotonic(), late.call("effort")["seconds"]
        rig.joined(one, late, "late")
        late.call("share_now")
        hearing = turns / (time.monotonic() - began)
        alone = turns / (late.call("effort")["seconds"] - before)
        same = one.call("state") == late.call("state")
    finally:
        one.close()
        late.close()
    share = size / letters
    return [
        Row(f"sending {turns:,} turns", f"{sending:,.0f}/s", "", None),
        Row(
            f"catching up with {turns:,} turns", f"{hearing:,.0f}/s", ">= 3,000/s", hearing >= 3000
        ),
        Row("the same per second of processor time", f"{alone:,.0f}/s", "", None),
        Row("the log beside the text", f"{share:.2f}x", "<= 0.6x", share <= 0.6),
        Row("both stores are equal", str(same), "True", same),
    ]


def _crowd(base: Path, url: str, count: int, each: int, counts: bool) -> list[Row]:
    devices = [rig.Device(base / f"crowd-{count}-{number}") for number in range(count)]
    try:
        rig.founded(devices[0], url)
        for number, device in enumerate(devices[1:], 1):
            rig.joined(devices[0], device, f"okapimember{number}")
        for number, device in enumerate(devices):
            said = rig.events(0, each, f"device{number}")
            device.call("capture_events", session_id=f"s{number}", project=rig.PROJECT, events=said)
        began = time.monotonic()
        connections = 0
        while True:
            for device in devices:
                device.order("share_now")
            done = [device.answer() for device in devices]
            connections = max(connections, _connections(url))
            if not any(one.get("sent") or one.get("heard") for one in done):
                break
        rate = count * count * each / (time.monotonic() - began)
        states = {str(device.call("state")) for device in devices}
        full = devices[0].call("state")["count"] == count * each
    finally:
        for device in devices:
            device.close()
    equal = len(states) == 1 and full
    return [
        Row(
            f"{count} devices, turns applied in all",
            f"{rate:,.0f}/s",
            ">= 2,000/s" if counts else "",
            rate >= 2000 if counts else None,
        ),
        Row(f"{count} devices end with the same store", str(equal), "True", equal),
        Row(
            f"{count} devices, database connections",
            str(connections),
            f"<= {count + 2}",
            connections <= count + 2,
        ),
    ]


def _connections(url: str) -> int:
    import psycopg

    with psycopg.connect(url) as link:
        row = link.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        ).fetchone()
    return int(row[0]) - 1 if row else 0


def _canary(base: Path) -> list[Row]:
    found = []
    for words in (rig.CANARY, "axolotlpond", "zebrafinch", "okapimember"):
        for place in ("place", "many", "pg"):
            found += rig.bytes_with(words.encode(), base / place)
    return [Row("files of the places with a word of ours", str(len(found)), "0", not found)]
