"""Everything that goes wrong between machines, round after round: nothing lost, nothing doubled."""

import argparse
import os
import random
import shutil
from pathlib import Path

from bench import sharing_rig as rig
from bench.report import Row, show

METHOD = (
    "Three devices, each a process, meet in a directory. In each round each of them says a few turns, pins or forgets\n"
    "something now and then, and one thing goes wrong: a device is killed in the middle of a contact (kill -9), the\n"
    "place is away, records are cut, delivered twice, late or in reverse, deleted, or the place goes back to an older\n"
    "copy. At the end all contact until nobody has anything to say: every turn that was\n"
    "acknowledged and not forgotten is in every store exactly once, and the stores are equal."
)
_KINDS = ("kill", "away", "cut", "late", "deleted", "older place", "nothing")


class Round:
    """Three devices and the place between them."""

    def __init__(self, base: Path, chance: random.Random) -> None:
        self.base, self.chance = base, chance
        self.place = base / "place"
        self.place.mkdir()
        self.devices = [rig.Device(base / f"device{number}") for number in range(3)]
        self.said: set[str] = set()
        self.forgotten: set[str] = set()
        self.number = 0
        rig.founded(self.devices[0], str(self.place))
        for number, device in enumerate(self.devices[1:], 1):
            rig.joined(self.devices[0], device, f"member {number}")
        self.settle()

    def go(self, kind: str) -> None:
        for who, device in enumerate(self.devices):
            said = rig.events(self.number, 3, f"device{who}")
            done = device.call(
                "capture_events", session_id=f"s{who}", project=rig.PROJECT, events=said
            )
            assert done["inserted"] == 3, done
            self.said |= {str(event["text"]) for event in said}
        self.number += 3
        self._decide()
        getattr(self, f"_{kind.replace(' ', '_')}")()

    def _decide(self) -> None:
        device = self.chance.choice(self.devices)
        records = device.call("memory_timeline", limit=20)["records"]
        one = self.chance.choice(records)
        if self.chance.random() < 0.3:
            device.call("memory_forget", ids=[one["id"]])
            self.forgotten.add(one["text"])
        else:
            device.call("memory_pin", id=one["id"], pinned=self.chance.random() < 0.7)

    def _nothing(self) -> None:
        for device in self.devices:
            device.call("share_now")

    def _kill(self) -> None:
        victim = self.chance.choice(self.devices)
        victim.order("share_now")
        while self.chance.random() < 0.6:
            os.sched_yield()
        victim.killed()

    def _away(self) -> None:
        away = self.place.with_name("away")
        self.place.rename(away)
        for device in self.devices:
            device.order("share_now")
            assert "error" in device.answer()
        away.rename(self.place)

    def _cut(self) -> None:
        self._nothing()
        record = self._record()
        whole = record.read_bytes()
        record.write_bytes(whole[: self.chance.randrange(len(whole))])
        self.devices[1].call("share_now")
        record.write_bytes(whole)

    def _late(self) -> None:
        """Newest first, and each twice."""
        held = self.base / "held"
        held.mkdir()
        stream = self._record().parent
        records = sorted(stream.glob("*.rec"), key=lambda path: int(path.stem))[-4:]
        for record in records:
            shutil.move(record, held / record.name)
        for record in reversed(records):
            shutil.copy(held / record.name, record)
            self.devices[2].call("share_now")
            shutil.copy(held / record.name, record)
        shutil.rmtree(held)

    def _deleted(self) -> None:
        self._record().unlink()

    def _older_place(self) -> None:
        copy = self.base / "copy"
        shutil.copytree(self.place, copy)
        self._nothing()
        shutil.rmtree(self.place)
        copy.rename(self.place)

    def _record(self) -> Path:
        return self.chance.choice(sorted(self.place.glob("*/*/*.rec")))

    def settle(self) -> None:
        while any(
            (done := device.call("share_now"))["sent"] + done["heard"] for device in self.devices
        ):
            pass

    def close(self) -> None:
        for device in self.devices:
            device.close()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench sharing-faults")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    chance = random.Random(asked.seed)
    with rig.directory() as base:
        rounds = Round(base, chance)
        try:
            for _ in range(asked.rounds):
                rounds.go(chance.choice(_KINDS))
            rounds.settle()
            states = {str(device.call("state")) for device in rounds.devices}
            stored = [_texts(device) for device in rounds.devices]
        finally:
            rounds.close()
    wanted = rounds.said - rounds.forgotten
    lost = sum(len(wanted - set(texts)) for texts in stored)
    doubled = sum(len(texts) - len(set(texts)) for texts in stored)
    back = sum(len(rounds.forgotten & set(texts)) for texts in stored)
    return show(
        "sharing-faults",
        METHOD,
        [
            Row("rounds", str(asked.rounds), "300", None),
            Row("turns said", f"{len(rounds.said):,}", "", None),
            Row("lost", str(lost), "0", lost == 0),
            Row("doubled", str(doubled), "0", doubled == 0),
            Row("forgotten and there again", str(back), "0", back == 0),
            Row("stores are equal", str(len(states) == 1), "True", len(states) == 1),
        ],
    )


def _texts(device: rig.Device) -> list[str]:
    found: list[str] = []
    page = device.call("memory_timeline", limit=100_000)
    found += [str(one["text"]) for one in page["records"]]
    while page.get("more"):
        page = device.call("memory_timeline", limit=100_000, cursor=page["more"])
        found += [str(one["text"]) for one in page["records"]]
    return found
