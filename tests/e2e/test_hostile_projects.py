"""A directory that somebody else made must not cost anybody else their memory."""

from collections.abc import Iterator

import pytest
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess, Line
from tests.support.home import ScratchHome
from tests.support.hostile_places import WAITING, below
from tests.support.silent_mount import silent_mount

WORKERS = 8
SAID = [{"text": "the heron nests in the old boathouse", "role": "user"}]


@pytest.fixture
def daemon(home: ScratchHome) -> Iterator[DaemonProcess]:
    running = DaemonProcess(home).start()
    yield running
    if running.started:
        running.kill()


@pytest.mark.parametrize("kind", WAITING)
def test_a_project_full_of_pipes_and_riddles_holds_up_nobody(
    daemon: DaemonProcess, kind: str
) -> None:
    places = [daemon.home.path / f"clone{number}" for number in range(WORKERS + 2)]
    for place in places:
        WAITING[kind](place)

    answers = asked_at_once(
        daemon,
        [
            {"session_id": f"s{number}", "events": SAID, "cwd": below(place)}
            for number, place in enumerate(places)
        ],
    )

    assert all("result" in answer for answer in answers), answers
    assert others_are_served(daemon)
    assert daemon.stop() == 0


def test_a_directory_that_does_not_answer_costs_only_its_own_callers(
    daemon: DaemonProcess,
) -> None:
    try:
        with silent_mount(daemon.home.path / "gone") as place:
            calls = [
                {"session_id": f"s{number}", "events": SAID, "cwd": f"{place}/p{number % 3}"}
                for number in range(2 * WORKERS)
            ]

            answers = asked_at_once(daemon, calls)

            # Not stored, and not lost either: the hook is told, and leaves the turns in the spool.
            codes = {answer["error"]["data"]["code"] for answer in answers}
            assert codes == {"PLACE_SILENT"}
            assert others_are_served(daemon)
            found = daemon.call("memory_recall", cue="heron", cwd=f"{place}/p0")
            assert [hit["text"] for hit in found["hits"]] == ["the port is 5433"]
            assert any("does not answer" in why for why in found["degraded"])
            for method, params in (
                ("agents_list", {"cwd": f"{place}/p0"}),
                ("memory_timeline", {"project": f"{place}/p0"}),
                ("session_start_payload", {"cwd": f"{place}/p0"}),
                ("backup", {"path": f"{place}/p0/b"}),
            ):
                refused = daemon.rpc(method, **params)["error"]
                assert refused["data"]["code"] == "PLACE_SILENT", (method, refused)
            assert daemon.stop() == 0
    except PermissionError as refused:
        pytest.skip(str(refused))


def asked_at_once(daemon: DaemonProcess, calls: list[Json]) -> list[Json]:
    """Each call on a connection of its own, all of them before the first is answered."""
    lines: list[Line] = []
    try:
        for params in calls:
            lines.append(daemon.line())
            request = {"jsonrpc": "2.0", "id": 1, "method": "capture_events", "params": params}
            lines[-1].send(request)
        return [line.receive() for line in lines]
    finally:
        for line in lines:
            line.close()


def others_are_served(daemon: DaemonProcess) -> bool:
    elsewhere = str(daemon.home.path)
    daemon.call("memory_capture", text="the port is 5433", cwd=elsewhere)
    found = daemon.call("memory_recall", cue="port", cwd=elsewhere)["hits"]
    return bool(daemon.ask({"type": "status"})["ok"]) and "5433" in str(found)
