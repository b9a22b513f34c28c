"""One memory on many machines: how soon, how fast, how large, how many, and what the place learns."""

import argparse
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import psycopg

from bench import sharing_growth as growth
from bench import sharing_rig as rig
from bench.report import Row, percentile, show
from bench.scratch import Scratch

METHOD = (
    "Latency: two daemons without a model; from the acknowledged capture on one to its first hit by recall on the\n"
    "other, one turn after the other. Idle: what the connection of a daemon with nothing to do asks the database within a\n"
    "minute, seen from the database. Catching up: one device says the turns, each with three vectors, another that never\n"
    "heard anything hears them, over a directory. Recall meanwhile: a daemon with as many turns of its own, asked before\n"
    "and while it catches up. Devices: processes without a model against one PostgreSQL on this machine; each says its\n"
    "turns, then all contact in rounds until all have all; counted are the turns stored in all stores, one's own\n"
    "included, over the time of all rounds. Canary: every byte of the directories, of the database's files with its\n"
    "write-ahead log, and of a dump is searched for a word, the project's and the members' names.\n"
    "The model beyond what is measured: hearing is linear in turns (the same statements for each, in transactions of\n"
    "at most a twentieth of a second; indexes grow with the logarithm), so 1M turns take ten times as long as 100k.\n"
    "A contact costs one question per place, and one per 64 records of news: with n devices each hears n-1 streams, so\n"
    "the work of all grows with the turns stored in all, which is what is counted."
)
_PARTS = ("latency", "idle", "size", "catching-up", "recall", "devices", "canary")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench sharing")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--devices", type=int, default=50)
    parser.add_argument("--each", type=int, default=40, help="turns that each device says")
    parser.add_argument("--latencies", type=int, default=20)
    parser.add_argument("--idle", type=float, default=60, help="seconds")
    parser.add_argument("--parts", default=",".join(_PARTS), help="which, with commas between")
    asked = parser.parse_args(arguments)
    with rig.directory() as base, ExitStack() as held:
        (base / "place").mkdir()
        url = held.enter_context(rig.postgres(base / "pg"))
        small = min(asked.turns, 10_000)
        parts: dict[str, Callable[[], list[Row]]] = {
            "latency": lambda: _latencies(base, url, asked.latencies),
            "idle": lambda: _idle(url, asked.idle),
            "size": lambda: growth.log_size(base / "size", small),
            "catching-up": lambda: growth.catching_up(base, asked.turns),
            "recall": lambda: growth.recall_meanwhile(base / "meanwhile", small),
            "devices": lambda: _crowds(base, url, asked.devices, asked.each),
            "canary": lambda: _canary(base, url),
        }
        wanted = asked.parts.split(",")
        rows = [row for name in _PARTS if name in wanted for row in parts[name]()]
    return show("sharing", METHOD, rows)


def _latencies(base: Path, url: str, count: int) -> list[Row]:
    rows = _latency("a directory", str(base / "place"), 3.0, count)
    rows += _latency("PostgreSQL", url, 2.0, count)
    with ExitStack() as held:
        far = rig.far_place(held, base)
        if far is None:
            return [*rows, Row("said here to found there, ssh", "left out: needs sshd", "", None)]
        return rows + _latency("ssh", far, 2.0, count)


def _latency(name: str, place: str, goal: float, count: int) -> list[Row]:
    with ExitStack() as held:
        one, other = _pair(held, place)
        taken = [_found_after(one, other, number) for number in range(count)]
    p50, p95 = percentile(taken, 0.5), percentile(taken, 0.95)
    what = f"said here to found there, {name}"
    return [Row(what, f"p50 {p50:.2f} s, p95 {p95:.2f} s", f"p95 <= {goal:.0f} s", p95 <= goal)]


def _pair(held: ExitStack, place: str) -> tuple[Scratch, Scratch]:
    """Two daemons in one circle."""
    one, other = Scratch(), Scratch()
    for home in (one, other):
        held.callback(home.remove)
        home.environment.pop("IAI_MCP_EMBED_MODEL", None)
        home.start()
    one.call("share_create", name="pair", at=place)
    one.call("share_project", project=rig.PROJECT, **{"with": "pair"})
    code = one.call("share_invite", name="pair")["code"]
    other.call("share_join", code=code)
    return one, other


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


def _idle(url: str, seconds: float) -> list[Row]:
    asked = (
        "SELECT pid, query_start FROM pg_stat_activity WHERE application_name = 'iai-mcp' "
        "AND backend_type = 'client backend'"
    )
    with ExitStack() as held:
        pair = _pair(held, url)
        for one in pair:
            one.call("share_now")
        time.sleep(5)  # what the last contact leads to
        link = held.enter_context(psycopg.connect(url, autocommit=True))
        seen = set(link.execute(asked.encode()).fetchall())
        backends = len({pid for pid, _ in seen})
        known, effort, began = len(seen), _effort(pair), time.monotonic()
        while time.monotonic() - began < seconds:
            seen |= set(link.execute(asked.encode()).fetchall())
            time.sleep(0.02)
        used = _effort(pair) - effort
    polls = (len(seen) - known) / max(backends, 1)
    allowed = seconds / 30 + 1
    return [
        Row(
            f"questions of an idle daemon in {seconds:.0f} s",
            f"{polls:.1f}",
            f"<= {allowed:.0f}",
            polls <= allowed,
        ),
        Row("its processor time meanwhile", f"{used / 2 / seconds:.2%}", "", None),
    ]


def _effort(pair: tuple[Scratch, Scratch]) -> float:
    """Seconds of processor time of both daemons."""
    ticks = 0
    for one in pair:
        assert one.process
        stat = Path(f"/proc/{one.process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(stat[11]) + int(stat[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _crowds(base: Path, url: str, most: int, each: int) -> list[Row]:
    rows: list[Row] = []
    for count in sorted({2, min(10, most), most}):
        rows += growth.crowd(base, url, count, each, count == most)
    return rows


def _canary(base: Path, url: str) -> list[Row]:
    dump = base / "dump.sql"
    own = shutil.which("pg_dump", path=str(rig.database_programs()))
    with dump.open("wb") as file:
        subprocess.run([own or "pg_dump", url], stdout=file, check=True)
    places = [path for path in (base / "place", base / "far", base / "pg", dump) if path.exists()]
    places += sorted(base.glob("*/place"))
    found = []
    for words in (rig.CANARY, "axolotlpond", "zebrafinch", "okapimember"):
        for place in places:
            found += rig.bytes_with(words.encode(), place)
    return [
        Row("files of the places with a word of ours", str(len(found)), "0", not found),
        Row("bytes of the dump that was searched", f"{dump.stat().st_size:,}", "", None),
    ]
