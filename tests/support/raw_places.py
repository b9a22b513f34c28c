"""Places as whoever runs or breaks into them handles them: bytes by device and number."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psycopg

Streams = dict[str, dict[int, bytes]]


class RawPlace(Protocol):
    url: str

    def streams(self) -> Streams: ...

    def offers(self) -> dict[str, bytes]: ...

    def put(self, device: str, records: Mapping[int, bytes]) -> None: ...

    def drop(self, device: str, number: int) -> None: ...

    def offer(self, name: str, sealed: bytes) -> None: ...


@dataclass
class DirectoryPlace:
    """A directory, or one behind ssh; of one circle."""

    url: str
    path: Path

    @property
    def _circle(self) -> Path:
        (circle,) = self.path.iterdir()
        return circle

    def streams(self) -> Streams:
        return {
            device.name: {int(path.stem): path.read_bytes() for path in device.glob("*.rec")}
            for device in self._circle.iterdir()
            if device.name != "invites"
        }

    def offers(self) -> dict[str, bytes]:
        return {path.stem: path.read_bytes() for path in self._circle.glob("invites/*.rec")}

    def put(self, device: str, records: Mapping[int, bytes]) -> None:
        stream = self._circle / device
        stream.mkdir(exist_ok=True)
        for number, sealed in records.items():
            (stream / f"{number}.rec").write_bytes(sealed)

    def drop(self, device: str, number: int) -> None:
        (self._circle / device / f"{number}.rec").unlink()

    def offer(self, name: str, sealed: bytes) -> None:
        (self._circle / "invites" / f"{name}.rec").write_bytes(sealed)


@dataclass
class DatabasePlace:
    """A database; of one circle."""

    url: str

    def streams(self) -> Streams:
        found: Streams = {}
        with psycopg.connect(self.url) as link:
            for device, number, sealed in link.execute(
                "SELECT device, number, sealed FROM iai_share.records"
            ):
                found.setdefault(device, {})[int(number)] = bytes(sealed)
        return found

    def offers(self) -> dict[str, bytes]:
        with psycopg.connect(self.url) as link:
            rows = link.execute("SELECT name, sealed FROM iai_share.offers").fetchall()
        return {name: bytes(sealed) for name, sealed in rows}

    def put(self, device: str, records: Mapping[int, bytes]) -> None:
        with psycopg.connect(self.url) as link:
            link.cursor().executemany(
                "INSERT INTO iai_share.records (circle, device, number, sealed)"
                " VALUES (%s, %s, %s, %s)"
                " ON CONFLICT (circle, device, number) DO UPDATE SET sealed = excluded.sealed",
                [
                    (self._circle(link), device, number, sealed)
                    for number, sealed in records.items()
                ],
            )

    def drop(self, device: str, number: int) -> None:
        with psycopg.connect(self.url) as link:
            link.execute(
                "DELETE FROM iai_share.records WHERE device = %s AND number = %s", (device, number)
            )

    def offer(self, name: str, sealed: bytes) -> None:
        with psycopg.connect(self.url) as link:
            link.execute(
                "INSERT INTO iai_share.offers VALUES (%s, %s, %s)"
                " ON CONFLICT (circle, name) DO UPDATE SET sealed = excluded.sealed",
                (self._circle(link), name, sealed),
            )

    def _circle(self, link: psycopg.Connection[tuple[object, ...]]) -> str:
        ((circle,),) = link.execute("SELECT DISTINCT circle FROM iai_share.records").fetchall()
        return str(circle)

    def clear(self) -> None:
        with psycopg.connect(self.url) as link:
            link.execute("DROP SCHEMA IF EXISTS iai_share CASCADE")


def ssh_with(config: Path, directory: Path) -> str:
    """A directory for PATH whose `ssh` knows the far machine."""
    directory.mkdir()
    program = directory / "ssh"
    program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F "{config}" "$@"\n')
    program.chmod(0o755)
    return f"{directory}{os.pathsep}{os.environ['PATH']}"
