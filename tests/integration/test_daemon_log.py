"""The daemon's log stays small and private, and holds nothing of what people said."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from iai_mcp.daemon import logs

SAID = "my mother's birthday is in april"


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    monkeypatch.setattr(logging, "raiseExceptions", logging.raiseExceptions)
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    logs.start("INFO")
    yield tmp_path / "store/logs"
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = before
    root.setLevel(level)


def test_it_rotates_and_old_files_go(directory):
    log = logging.getLogger("iai_mcp.test")
    for _ in range(60_000):
        log.info("something_happened", extra={"reason": "x" * 60})
    files = sorted(directory.iterdir())
    assert [file.name for file in files] == [
        "daemon.log",
        *(f"daemon.log.{n}" for n in range(1, 4)),
    ]
    assert all(file.stat().st_size <= 1_000_000 for file in files)
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)


def test_of_errors_and_of_what_libraries_say_only_the_place_is_kept(directory):
    try:
        int(SAID)
    except ValueError:
        logging.getLogger("iai_mcp.test").exception("call_failed")
    logging.getLogger("asyncio").error(f"Task exception was never retrieved: {SAID}")  # noqa: G004 - as libraries do
    logging.getLogger("some.library").warning("received %s", SAID)
    text = (directory / "daemon.log").read_text()
    assert "call_failed error=ValueError at=test_daemon_log.py" in text
    assert "asyncio at=test_daemon_log.py" in text
    assert "some.library" in text
    assert "birthday" not in text
