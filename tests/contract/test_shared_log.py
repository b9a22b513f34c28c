"""What every `SharedLog` promises."""

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.fakes.shared_log import FakeSharedLog
from tests.support.sshd import Sshd

from iai_mcp.adapters.file_log import FileLog, LocalFiles
from iai_mcp.adapters.sftp_files import FarPlace, SftpFiles
from iai_mcp.domain.errors import AlreadyExists, NotFound
from iai_mcp.ports.shared_log import SharedLog

ONE, OTHER = "a" * 32, "b" * 32


@pytest.fixture(params=["fake", "directory", "ssh", "postgres"])
def reached(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], SharedLog]]:
    """Reaches one circle's place, each time as another device would."""
    circle = secrets.token_hex(16)
    made: list[SharedLog] = []
    if request.param == "fake":
        fake = FakeSharedLog()
        yield lambda: fake
    elif request.param == "directory":
        yield lambda: FileLog(LocalFiles(str(tmp_path), largest=1 << 20), circle)
    elif request.param == "ssh":
        far: Sshd = request.getfixturevalue("far_machine")
        place = FarPlace.read(f"ssh://far{tmp_path}")

        def reach_far() -> SharedLog:
            files = SftpFiles(place, largest=1 << 20, ssh=("ssh", "-F", str(far.config)))
            made.append(FileLog(files, circle))
            return made[-1]

        yield reach_far
    else:
        from iai_mcp.adapters.postgres_log import PostgresLog

        url = request.getfixturevalue("postgres_url")

        def reach() -> SharedLog:
            log = PostgresLog(url, circle)
            log.prepare()
            made.append(log)
            return log

        yield reach
    for one in made:
        one.close()


@pytest.fixture
def log(reached: Callable[[], SharedLog]) -> SharedLog:
    return reached()


def _numbers(log: SharedLog, device: str = ONE, after: int = 0, limit: int = 100) -> list[int]:
    return [one.number for one in log.read(device, after, limit)]


def test_an_empty_place_has_no_streams(log: SharedLog) -> None:
    assert log.heads() == {}
    assert log.read(ONE, 0, 10) == []
    assert log.oddities() == []


def test_records_come_back_in_order_behind_the_cursor(log: SharedLog) -> None:
    for number in range(1, 13):
        log.append(ONE, number, f"record {number}".encode())
    assert _numbers(log) == list(range(1, 13))
    assert _numbers(log, after=9) == [10, 11, 12]
    assert _numbers(log, after=3, limit=2) == [4, 5]
    assert log.read(ONE, 6, 1)[0].sealed == b"record 7"


def test_each_device_has_a_stream_of_its_own(log: SharedLog) -> None:
    log.append(ONE, 1, b"one")
    log.append(OTHER, 1, b"other")
    log.append(OTHER, 2, b"more")
    assert log.heads() == {ONE: 1, OTHER: 2}
    assert _numbers(log, ONE) == [1]


def test_several_streams_are_read_at_once_each_behind_its_cursor(log: SharedLog) -> None:
    for number in (1, 2, 3):
        log.append(ONE, number, f"one {number}".encode())
        log.append(OTHER, number, f"other {number}".encode())
    found = log.read_all({ONE: 1, OTHER: 2, "c" * 32: 0}, 100)
    assert {device: [one.number for one in entries] for device, entries in found.items()} == {
        ONE: [2, 3],
        OTHER: [3],
    }
    assert found[OTHER][0].sealed == b"other 3"
    assert sum(map(len, log.read_all({ONE: 0, OTHER: 0}, 4).values())) == 4
    first = log.read_all({ONE: 0, OTHER: 0}, 4, each=1)
    assert [[one.number for one in entries] for entries in first.values()] == [[1], [1]]
    assert log.read_all({ONE: 3}, 4) == {}


def test_a_number_that_is_taken_is_not_written_over(log: SharedLog) -> None:
    log.append(ONE, 1, b"first")
    log.append(ONE, 2, b"second")
    for taken in (1, 2):
        with pytest.raises(AlreadyExists):
            log.append(ONE, taken, b"another")
    assert [one.sealed for one in log.read(ONE, 0, 10)] == [b"first", b"second"]


def test_several_records_become_one_at_the_last_number(log: SharedLog) -> None:
    for number in range(1, 6):
        log.append(ONE, number, b"small")
    log.replace(ONE, 2, 4, b"rolled")
    assert [(one.number, one.sealed) for one in log.read(ONE, 0, 10)] == [
        (1, b"small"),
        (4, b"rolled"),
        (5, b"small"),
    ]
    assert log.heads() == {ONE: 5}
    assert log.numbers(ONE) == [1, 4, 5]
    assert log.numbers(OTHER) == []


def test_a_record_is_replaced_where_it_stands(log: SharedLog) -> None:
    log.append(ONE, 1, b"with a secret")
    log.replace(ONE, 1, 1, b"without")
    assert [one.sealed for one in log.read(ONE, 0, 10)] == [b"without"]


def test_what_is_offered_is_taken_once(log: SharedLog) -> None:
    log.offer("welcome", b"sealed")
    assert log.take("welcome") == b"sealed"
    with pytest.raises(NotFound):
        log.take("welcome")


def test_what_is_withdrawn_is_gone(log: SharedLog) -> None:
    log.offer("welcome", b"sealed")
    log.withdraw("welcome")
    log.withdraw("welcome")
    with pytest.raises(NotFound):
        log.take("welcome")


def test_of_many_who_take_at_once_one_gets_it(reached: Callable[[], SharedLog]) -> None:
    reached().offer("welcome", b"sealed")
    got: list[bytes] = []
    ready = threading.Barrier(4)

    def take(log: SharedLog) -> None:
        log.heads()  # connected
        ready.wait()
        with suppress(NotFound):
            got.append(log.take("welcome"))

    takers = [threading.Thread(target=take, args=(reached(),)) for _ in range(4)]
    for one in takers:
        one.start()
    for one in takers:
        one.join()
    assert got == [b"sealed"]


def test_an_offer_is_no_stream(log: SharedLog) -> None:
    log.offer("welcome", b"sealed")
    assert log.heads() == {}
    assert log.oddities() == []


def test_who_waits_hears_of_a_record(reached: Callable[[], SharedLog]) -> None:
    waiting, writing = reached(), reached()
    waiting.wait(0)
    writer = threading.Timer(0.05, lambda: writing.append(OTHER, 1, b"news"))
    writer.start()
    try:
        assert waiting.wait(30)
    finally:
        writer.join()
    assert waiting.wait(0) is False
    assert waiting.heads() == {OTHER: 1}


def test_who_waits_can_be_woken_before_and_meanwhile(log: SharedLog) -> None:
    log.wait(0)
    log.wake()
    assert log.wait(30) is False
    waker = threading.Timer(0.05, log.wake)
    waker.start()
    try:
        assert log.wait(30) is False
    finally:
        waker.join()


def test_two_threads_may_ask_at_once(log: SharedLog) -> None:
    failed: list[Exception] = []

    def work(device: str) -> None:
        try:
            for number in range(1, 9):
                log.append(device, number, f"{device} {number}".encode() * 500)
                assert (
                    log.read(device, number - 1, 1)[0].sealed[:34].decode() == f"{device} {number}"
                )
                assert log.heads()[device] == number
        except Exception as error:  # noqa: BLE001 - told by the thread that looks
            failed.append(error)

    threads = [threading.Thread(target=work, args=(device,)) for device in (ONE, OTHER)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    assert _numbers(log, ONE) == _numbers(log, OTHER) == list(range(1, 9))
