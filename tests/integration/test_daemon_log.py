"""The daemon's log stays small and private, and holds nothing of what people said."""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.support.answers import Json

from iai_mcp.adapters.redactor import FileRedactor
from iai_mcp.daemon import logs
from iai_mcp.daemon.mcp_session import serve_session

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


def test_it_rotates_and_old_files_go(directory: Path) -> None:
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


def test_of_errors_and_of_what_libraries_say_only_the_place_is_kept(directory: Path) -> None:
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


def test_a_tool_that_failed_is_named_with_the_kind_of_its_error_and_its_place(
    directory: Path,
) -> None:
    client = {"name": "test", "version": "1"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    recall = {"name": "memory_recall", "arguments": {"cue": SAID}}
    asked = [{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": recall}]
    answered = asyncio.Event()

    async def receive() -> object:
        if asked:
            return asked.pop()
        await answered.wait()
        return None

    async def send(message: dict[str, object]) -> None:
        if message.get("id") == 2:
            answered.set()

    async def call(method: str, params: dict[str, object], who: Mapping[str, str]) -> Json:
        raise RuntimeError(SAID)

    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    asyncio.run(serve_session(first, receive, send, call))
    text = (directory / "daemon.log").read_text()
    (line,) = [line for line in text.splitlines() if "a tool failed" in line]
    assert "tool='memory_recall' error=RuntimeError" in line
    assert "at=test_daemon_log.py" in line
    assert "birthday" not in text


def test_patterns_that_were_left_out_are_named_by_their_file(
    directory: Path, tmp_path: Path
) -> None:
    file = tmp_path / "redaction.toml"
    file.write_text("[[pattern]]\nregex = '('\n")
    assert FileRedactor(lambda: str(file)).problems
    assert f"path={str(file)!r} count=" in (directory / "daemon.log").read_text()
