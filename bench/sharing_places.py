"""Places where devices meet, and what goes wrong with each."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from bench import cut_network
from bench import sharing_rig as rig
from bench.sharing_network import Network

Devices = list[rig.Device]
# It may be lost while a contact is under way: who is told so tries again later.
_RESTART_SECONDS = 60


def contact_all(devices: Devices) -> list[dict[str, Any]]:
    """Everybody at once, and whatever comes of it."""
    for device in devices:
        device.order("share_now")
    return [device.answer() for device in devices]


class DirectoryPlace:
    """A directory that files are delivered to late, twice and in any order."""

    def __init__(self, base: Path, chance: random.Random) -> None:
        self.base, self.chance = base, chance
        self.path = base / "place"
        self.path.mkdir()
        self.address = str(self.path)
        self.skipped: dict[str, str] = {}
        self._small = self._mounted()
        self.faults: dict[str, Callable[[Devices], object]] = {
            "the place is away": self._away,
            "a record is cut": self._cut,
            "late, twice, newest first": self._late,
            "a record is deleted": self._deleted,
            "an older place": self._older,
        }
        if self._small:
            self.faults["the disk is full"] = self._full
        else:
            self.skipped["the disk is full"] = "needs root and mount"

    def _mounted(self) -> bool:
        """A file system of its own, small enough to fill."""
        command = ["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", str(self.path)]
        return (
            not os.geteuid()
            and not subprocess.run(command, capture_output=True, check=False).returncode
        )

    def _full(self, devices: Devices) -> None:
        filler = self.path / "filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(1 << 20))
        with filler.open("ab", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(512))
        contact_all(devices)
        filler.unlink()

    def _away(self, devices: Devices) -> None:
        (circle,) = self.path.glob("?" * 32)
        held = self.base / "held"
        shutil.move(circle, held)
        if not self._small:
            away = self.path.with_name("away")
            self.path.rename(away)
        devices[0].order("share_now")
        devices[0].answer()
        if not self._small:
            away.rename(self.path)
        shutil.rmtree(circle, ignore_errors=True)
        shutil.move(held, circle)

    def _cut(self, devices: Devices) -> None:
        contact_all(devices)
        record = self._record()
        whole = record.read_bytes()
        record.write_bytes(whole[: self.chance.randrange(len(whole))])
        contact_all(devices[1:2])
        record.write_bytes(whole)

    def _late(self, devices: Devices) -> None:
        held = self.base / "held"
        held.mkdir()
        stream = self._record().parent
        records = sorted(stream.glob("*.rec"), key=lambda path: int(path.stem))[-4:]
        for record in records:
            shutil.move(record, held / record.name)
        for record in reversed(records):
            shutil.copy(held / record.name, record)
            contact_all(devices[2:])
            shutil.copy(held / record.name, record)
        shutil.rmtree(held)

    def _deleted(self, devices: Devices) -> None:
        self._record().unlink()

    def _older(self, devices: Devices) -> None:
        (circle,) = self.path.glob("?" * 32)
        copy = self.base / "copy"
        shutil.copytree(circle, copy)
        contact_all(devices)
        shutil.rmtree(circle)
        shutil.move(copy, circle)

    def _record(self) -> Path:
        return self.chance.choice(sorted(self.path.glob("*/*/[0-9]*.rec")))

    def close(self) -> None:
        if self._small:
            subprocess.run(["umount", "-l", str(self.path)], check=False)


class DatabasePlace:
    """A real PostgreSQL that is killed, cut off, emptied and restored."""

    def __init__(self, server: Any, network: Network | None, chance: random.Random) -> None:
        self.server, self.chance = server, chance
        self.address, self.network = str(server.get_uri()), network
        self.skipped: dict[str, str] = {}
        self.faults: dict[str, Callable[[Devices], object]] = {
            "the database is killed": self._killed,
            "a row is deleted": self._deleted,
            "restored from a backup": self._restored,
            "read-only for a while": self._read_only,
        }
        if network is None:
            self.skipped["the network is cut"] = cut_network.NEEDED
        else:
            self.faults["the network is cut"] = self._cut

    def _killed(self, devices: Devices) -> None:
        for device in devices:
            device.order("share_now")
        time.sleep(self.chance.random() * 0.05)  # anywhere in the middle of the contacts
        os.kill(self.server.get_pid(), signal.SIGKILL)
        for device in devices:
            device.answer()
        self._start()

    def _start(self) -> None:
        """It refuses while the processes of the one before still end."""
        until = time.monotonic() + _RESTART_SECONDS
        while True:
            try:
                self.server.ensure_postgres_running()
                with psycopg.connect(self.address):
                    return
            except Exception:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def _cut(self, devices: Devices) -> None:
        """The far device is cut off in the middle of its contact."""
        assert self.network is not None
        devices[-1].order("share_now")
        time.sleep(self.chance.random() * 0.05)
        with self.network.cut():
            contact_all(devices[:-1])
        devices[-1].answer()

    def _deleted(self, devices: Devices) -> None:
        self._run(
            "DELETE FROM iai_share.records WHERE ctid = "
            "(SELECT ctid FROM iai_share.records ORDER BY random() LIMIT 1)"
        )

    def _restored(self, devices: Devices) -> None:
        self._run("CREATE TABLE backup AS SELECT * FROM iai_share.records")
        contact_all(devices)
        self._run(
            "DELETE FROM iai_share.records; INSERT INTO iai_share.records SELECT * FROM backup; "
            "DROP TABLE backup"
        )

    def _read_only(self, devices: Devices) -> None:
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'iai-mcp'"
        self._run("ALTER DATABASE postgres SET default_transaction_read_only = on")
        self._run(ended)
        contact_all(devices)
        with psycopg.connect(
            self.address, autocommit=True, options="-c default_transaction_read_only=off"
        ) as link:
            link.execute("ALTER DATABASE postgres RESET default_transaction_read_only")
            link.execute(ended.encode())

    def _run(self, sql: str) -> None:
        with psycopg.connect(self.address, autocommit=True) as link:
            link.execute(sql.encode())

    def close(self) -> None:
        return None


@contextmanager
def database(base: Path, chance: random.Random) -> Iterator[DatabasePlace]:
    with rig.server(base / "pg") as server, Network.made(base, str(server.pgdata)) as network:
        yield DatabasePlace(server, network, chance)
