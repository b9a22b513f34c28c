"""One daemon per test module where a test does not need its own."""

from collections.abc import Iterator

import pytest
from tests.support.daemon import DaemonProcess
from tests.support.home import ScratchHome


@pytest.fixture
def home() -> Iterator[ScratchHome]:
    made = ScratchHome()
    yield made
    made.remove()


@pytest.fixture
def fresh_daemon(home: ScratchHome) -> Iterator[DaemonProcess]:
    running = DaemonProcess(home).start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def daemon() -> Iterator[DaemonProcess]:
    home = ScratchHome()
    running = DaemonProcess(home).start()
    yield running
    running.stop()
    home.remove()
