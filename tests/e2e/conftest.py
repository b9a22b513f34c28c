"""One daemon per test module where a test does not need its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.daemon import DaemonProcess
from tests.support.home import ScratchHome
from tests.support.older import older_source


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


@pytest.fixture
def old_daemon(home: ScratchHome, tmp_path: Path) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(home, PYTHONPATH=str(older_source(tmp_path))).start()
    yield daemon
    home.command("down")
    daemon.stop()
