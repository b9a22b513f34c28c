"""How the cost of sharing grows: with what there is to hear, and with how many listen."""

import shutil
import threading
import time
from pathlib import Path
from typing import Any

from bench import sharing_rig as rig
from bench.report import Row, percentile
from bench.scratch import Scratch

_CAPTURED_AT_ONCE = 1000
_CUES = 100


def catching_up(base: Path, turns: int) -> list[Row]:
    """From 1,000 turns to all of them, with vectors inside; what lies between and beyond is a line."""
    sizes = sorted({min(size, turns) for size in (1_000, 10_000, turns)})
    measured = [_caught_up(base / f"many-{size}", size) for size in sizes]
    largest = measured[-1]
    rate = largest["turns"] / largest["seconds"]
    rows = [
        Row(
            f"catching up with {one['turns']:,} turns, vectors inside",
            f"{one['turns'] / one['seconds']:,.0f}/s, {one['turns'] / one['effort']:,.0f} per processor second",
            ">= 3,000/s" if one is largest else "",
            one["turns"] / one["seconds"] >= 3000 if one is largest else None,
        )
        for one in measured
    ]
    return [
        *rows,
        Row("the same for 1,000,000, by the model", f"{1e6 / rate / 60:.1f} min", "", None),
        Row(
            f"sending {largest['turns']:,} turns",
            f"{largest['turns'] / largest['sending']:,.0f}/s",
            "",
            None,
        ),
        Row(
            "vectors to be made again after it",
            str(sum(one["pending"] for one in measured)),
            "0",
            not any(one["pending"] for one in measured),
        ),
        Row(
            "both stores are equal",
            str(all(one["equal"] for one in measured)),
            "True",
            all(one["equal"] for one in measured),
        ),
    ]


def _caught_up(base: Path, turns: int) -> dict[str, Any]:
    place = base / "place"
    place.mkdir(parents=True)
    one, late = rig.Device(base / "one"), rig.Device(base / "late")
    try:
        rig.founded(one, str(place))
        _said(one, turns)
        one.call("embed")
        began = time.monotonic()
        one.call("share_now")
        sending = time.monotonic() - began
        late.call("embed")  # it has the same model
        began, before = time.monotonic(), late.call("effort")["seconds"]
        rig.joined(one, late, "late")
        late.call("share_now")
        return {
            "turns": turns,
            "sending": sending,
            "seconds": time.monotonic() - began,
            "effort": late.call("effort")["seconds"] - before,
            "pending": late.call("effort")["pending"],
            "equal": one.call("state") == late.call("state"),
        }
    finally:
        one.close()
        late.close()
        shutil.rmtree(base / "late")
        shutil.rmtree(base / "one")


def _said(device: rig.Device, turns: int) -> int:
    """So many turns; how many letters they have."""
    letters = 0
    for start in range(0, turns, _CAPTURED_AT_ONCE):
        said = rig.events(start, min(_CAPTURED_AT_ONCE, turns - start), "one")
        letters += sum(len(str(event["text"])) for event in said)
        device.call("capture_events", session_id=f"s{start}", project=rig.PROJECT, events=said)
    return letters


def log_size(base: Path, turns: int) -> list[Row]:
    """Without vectors: the text, sealed, beside itself."""
    place = base / "place"
    place.mkdir(parents=True)
    one = rig.Device(base / "one")
    try:
        rig.founded(one, str(place))
        letters = _said(one, turns)
        one.call("share_now")
    finally:
        one.close()
    share = sum(path.stat().st_size for path in place.rglob("*.rec")) / letters
    return [Row("the log beside the text", f"{share:.2f}x", "<= 0.6x", share <= 0.6)]


def recall_meanwhile(base: Path, turns: int) -> list[Row]:
    """A daemon is asked one thing after another: before it joins, and while it catches up."""
    place = base / "place"
    place.mkdir(parents=True)
    one, late = rig.Device(base / "one"), Scratch()
    try:
        rig.founded(one, str(place))
        _said(one, turns)
        one.call("share_now")
        late.environment.pop("IAI_MCP_EMBED_MODEL", None)
        late.start()
        for start in range(0, turns, _CAPTURED_AT_ONCE):
            said = rig.events(start, _CAPTURED_AT_ONCE, "late")
            late.call("capture_events", session_id=f"l{start}", project="/own", events=said)
        quiet = [_asked(late, number) for number in range(_CUES)]
        code = one.call("share_invite", name="team")["code"]
        late.call("share_join", code=code, **{"as": "late"})
        one.call("share_now")  # which lets it in
        busy = _while_catching_up(late)
    finally:
        one.close()
        late.remove()
    before, during = percentile(quiet, 0.95), percentile(busy, 0.95)
    times = during / before
    return [
        Row(
            f"recall while {turns:,} turns come in",
            f"p95 {during * 1000:.0f} ms, {times:.2f}x ({len(busy)} asked)",
            "<= 1.5x",
            times <= 1.5,
        )
    ]


def _asked(late: Scratch, number: int) -> float:
    began = time.perf_counter()
    late.call("memory_recall", cue=f"sentence {number} about word{number}", k=5)
    return time.perf_counter() - began


def _while_catching_up(late: Scratch) -> list[float]:
    hearing = threading.Thread(target=lambda: late.call("share_now"), daemon=True)
    hearing.start()
    taken: list[float] = []
    while hearing.is_alive() or len(taken) < 5:
        taken.append(_asked(late, len(taken)))
    return taken


def _join_all(host: rig.Device, guests: list[rig.Device]) -> None:
    codes = [host.call("share_invite", name="team")["code"] for _ in guests]
    for number, (guest, code) in enumerate(zip(guests, codes, strict=True), 1):
        guest.order("share_join", code=code, **{"as": f"okapimember{number}"})
    for guest in guests:
        guest.answer()
    host.call("share_now")  # which lets them in
    for guest in guests:
        guest.order("share_now")
    for guest in guests:
        guest.answer()
        guest.order("share_project", project=rig.PROJECT, **{"with": "team"})
    for guest in guests:
        guest.answer()


def crowd(base: Path, url: str, count: int, each: int, counts: bool) -> list[Row]:
    """Everybody says something, and contacts until all have all."""
    devices = [rig.Device(base / f"crowd-{count}-{number}") for number in range(count)]
    try:
        rig.founded(devices[0], url)
        _join_all(devices[0], devices[1:])
        for number, device in enumerate(devices):
            said = rig.events(0, each, f"device{number}")
            device.call("capture_events", session_id=f"s{number}", project=rig.PROJECT, events=said)
        began = time.monotonic()
        connections = rounds = 0
        while True:
            rounds += 1
            for device in devices:
                device.order("share_now")
            done = [device.answer() for device in devices]
            connections = max(connections, rig.connections(url))
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
            f"{rate:,.0f}/s in {rounds} rounds",
            ">= 2,000/s" if counts else "",
            rate >= 2000 if counts else None,
        ),
        Row(f"{count} devices end with the same store", str(equal), "True", equal),
        Row(
            f"{count} devices, database connections",
            str(connections),
            f"<= {count}",
            connections <= count,
        ),
    ]
