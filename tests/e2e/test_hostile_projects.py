"""A directory that somebody else made must not cost anybody else their memory."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.daemon import DaemonProcess, Line
from tests.support.home import ScratchHome
from tests.support.silent_mount import silent_mount

WORKERS = 8
SAID = [{"text": "the heron nests in the old boathouse", "role": "user"}]


@pytest.fixture
def daemon(home: ScratchHome) -> Iterator[DaemonProcess]:
    running = DaemonProcess(home).start()
    yield running
    if running.process is not None:
        running.kill()


def bare_with(name: str) -> Callable[[Path], None]:
    """What looks like a bare repository, with a pipe where git has a file."""

    def make(place: Path) -> None:
        (place / "refs").mkdir(parents=True)
        (place / "HEAD").write_text("ref: refs/heads/main\n")
        os.mkfifo(place / name)

    return make


def pointer_to_a_pipe(place: Path) -> None:
    inner = place / "main/.git/worktrees/feature"
    inner.mkdir(parents=True)
    (place / ".git").write_text(f"gitdir: {inner}\n")
    os.mkfifo(inner / "commondir")


def backlink_that_is_a_pipe(place: Path) -> None:
    inner = place / "main/.git/worktrees/feature"
    inner.mkdir(parents=True)
    (place / ".git").write_text(f"gitdir: {inner}\n")
    (inner / "commondir").write_text("../..\n")
    os.mkfifo(inner / "gitdir")


def ignore_file_that_is_a_pipe(place: Path) -> None:
    place.mkdir(parents=True)
    os.mkfifo(place / ".iai-ignore")


def ignore_file_that_is_a_terminal(place: Path) -> None:
    place.mkdir(parents=True)
    # A link can be cloned, and this device waits for whoever reads it.
    (place / ".iai-ignore").symlink_to("/dev/ptmx")


def ignore_file_that_takes_for_ever(place: Path) -> None:
    place.mkdir(parents=True)
    (place / ".iai-ignore").write_text("**/" * 24 + "no-such-name\n")


def deep(place: Path) -> str:
    return str(place / "/".join("abcdefghijklmnopqrstuvwxyz"))


@pytest.mark.parametrize(
    "make",
    [
        bare_with("commondir"),
        bare_with("config"),
        pointer_to_a_pipe,
        backlink_that_is_a_pipe,
        ignore_file_that_is_a_pipe,
        ignore_file_that_is_a_terminal,
        ignore_file_that_takes_for_ever,
    ],
)
def test_a_project_full_of_pipes_and_riddles_holds_up_nobody(
    daemon: DaemonProcess, make: Callable[[Path], None]
) -> None:
    places = [daemon.home.path / f"clone{number}" for number in range(WORKERS + 2)]
    for place in places:
        make(place)

    answers = asked_at_once(
        daemon,
        [
            {"session_id": f"s{number}", "events": SAID, "cwd": deep(place)}
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
            assert daemon.stop() == 0
    except PermissionError as refused:
        pytest.skip(str(refused))


def asked_at_once(daemon: DaemonProcess, calls: list[dict[str, object]]) -> list[dict]:
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
