"""Everything that goes wrong between machines, round after round: nothing lost, nothing doubled."""

import argparse
import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from bench import sharing_rig as rig
from bench.report import Row, show
from bench.sharing_places import (
    DatabasePlace,
    Devices,
    DirectoryPlace,
    contact_all,
    database,
)

METHOD = (
    "Three devices, each a process, meet in a directory, then three others in PostgreSQL, one of them behind a network\n"
    "that can be cut. In each round each says a few turns, pins or forgets something now and then, and one thing goes\n"
    "wrong: a device is killed in the middle of a contact (kill -9) or its clock is a day off; files are away, cut,\n"
    "delivered late, twice and in reverse, deleted, from an older copy, or the disk is full; the database is killed,\n"
    "read-only, restored from a backup, or lost a row. At the end all contact until nobody has anything to say: every\n"
    "turn that was acknowledged and not forgotten is in every store exactly once, and the stores are equal."
)
_DAY = 86_400
_SETTLES_WITHIN = 100  # contacts


class Rounds:
    """Three devices and the place between them."""

    def __init__(
        self, base: Path, place: DirectoryPlace | DatabasePlace, chance: random.Random
    ) -> None:
        self.place, self.chance = place, chance
        network = place.network if isinstance(place, DatabasePlace) else None
        prefixes = [[], [], network.prefix if network else []]
        self.devices = [rig.Device(base / f"device{n}", one) for n, one in enumerate(prefixes)]
        self.kinds: dict[str, Callable[[Devices], object]] = {
            "nothing": contact_all,
            "a device is killed": self._kill,
            "a clock is a day off": self._clock,
            **place.faults,
        }
        self.done: Counter[str] = Counter()
        self.said: set[str] = set()
        self.forgotten: set[str] = set()
        self.number = 0
        rig.founded(self.devices[0], place.address)
        rig.joined(self.devices[0], self.devices[1], "member 1")
        far = network.address if network else ""
        rig.joined(self.devices[0], self.devices[2], "member 2", far)
        self.settle()

    def go(self) -> None:
        for who, device in enumerate(self.devices):
            said = rig.events(self.number, 3, f"device{who}")
            done = device.call(
                "capture_events", session_id=f"s{who}", project=rig.PROJECT, events=said
            )
            assert done["inserted"] == 3, done
            self.said |= {str(event["text"]) for event in said}
        self.number += 3
        self._decide()
        kind = self.chance.choice(sorted(self.kinds))
        self.done[kind] += 1
        self.kinds[kind](self.devices)

    def _decide(self) -> None:
        device = self.chance.choice(self.devices)
        records = device.call("memory_timeline", limit=20)["records"]
        one = self.chance.choice(records)
        if self.chance.random() < 0.3:
            device.call("memory_forget", ids=[one["id"]])
            self.forgotten.add(one["text"])
        else:
            device.call("memory_pin", id=one["id"], pinned=self.chance.random() < 0.7)

    def _kill(self, devices: Devices) -> None:
        victim = self.chance.choice(devices)
        victim.order("share_now")
        while self.chance.random() < 0.6:
            os.sched_yield()
        victim.killed()

    def _clock(self, devices: Devices) -> None:
        one = self.chance.choice(devices)
        one.ahead = self.chance.choice([-_DAY, 0, _DAY])
        one.killed()
        contact_all(devices)

    def settle(self) -> None:
        """A place that was away a moment ago may refuse once more."""
        for _ in range(_SETTLES_WITHIN):
            done = contact_all(self.devices)
            if not any("error" in one or one["sent"] + one["heard"] for one in done):
                return
        raise RuntimeError(f"the devices do not come to rest: {done}")

    def rows(self, name: str) -> list[Row]:
        """How it stands after all have told each other everything."""
        self.settle()
        states = {str(device.call("state")) for device in self.devices}
        stored = [_texts(device) for device in self.devices]
        wanted = self.said - self.forgotten
        lost = sum(len(wanted - set(texts)) for texts in stored)
        doubled = sum(len(texts) - len(set(texts)) for texts in stored)
        back = sum(len(self.forgotten & set(texts)) for texts in stored)
        kinds = [Row(f"{name}: {kind}", str(n), "", None) for kind, n in sorted(self.done.items())]
        skipped = [
            Row(f"{name}: {kind}", f"left out: {why}", "", None)
            for kind, why in self.place.skipped.items()
        ]
        return [
            *kinds,
            *skipped,
            Row(f"{name}: rounds", str(sum(self.done.values())), "", None),
            Row(f"{name}: turns said", f"{len(self.said):,}", "", None),
            Row(f"{name}: lost", str(lost), "0", lost == 0),
            Row(f"{name}: doubled", str(doubled), "0", doubled == 0),
            Row(f"{name}: forgotten and there again", str(back), "0", back == 0),
            Row(f"{name}: stores are equal", str(len(states) == 1), "True", len(states) == 1),
        ]

    def close(self) -> None:
        for device in self.devices:
            device.close()
        self.place.close()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench sharing-faults")
    parser.add_argument("--rounds", type=int, default=300, help="half of them in each place")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    chance = random.Random(asked.seed)
    rows: list[Row] = []
    with rig.directory() as base:
        rows += _run(base, DirectoryPlace(base, chance), "directory", asked.rounds // 2)
    with rig.directory() as base, database(base, chance) as place:
        rows += _run(base, place, "PostgreSQL", asked.rounds - asked.rounds // 2)
    return show("sharing-faults", METHOD, rows)


def _run(base: Path, place: DirectoryPlace | DatabasePlace, name: str, count: int) -> list[Row]:
    rounds = Rounds(base, place, place.chance)
    try:
        for _ in range(count):
            rounds.go()
        return rounds.rows(name)
    finally:
        rounds.close()


def _texts(device: rig.Device) -> list[str]:
    found: list[str] = []
    page = device.call("memory_timeline", limit=100_000)
    found += [str(one["text"]) for one in page["records"]]
    while page.get("more"):
        page = device.call("memory_timeline", limit=100_000, cursor=page["more"])
        found += [str(one["text"]) for one in page["records"]]
    return found
