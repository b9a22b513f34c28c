"""What goes on inside the daemon outlives a failure, and people can see that there was one."""

import contextlib
from collections.abc import Iterator

import pytest
from tests.e2e.test_taking_over import free_port, over_http
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome

from iai_mcp.adapters.keys import custody


@contextlib.contextmanager
def another_writer(home: ScratchHome, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another process holds the store's one place for writing."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    database = custody.open_database(home.store)
    try:
        with database.writing():
            yield
    finally:
        database.close()


def trouble(daemon: DaemonProcess, task: str) -> Json | None:
    found: Json | None = daemon.ask({"type": "status"})["tasks"].get(task)
    return found


def test_a_store_that_was_busy_for_a_while_costs_no_sleep(
    home: ScratchHome, fresh_daemon: DaemonProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh_daemon.call("memory_capture", text="something to sleep on", session_id="s")
    assert fresh_daemon.ask({"type": "status"})["tasks"] == {}
    with another_writer(home, monkeypatch):
        answer = fresh_daemon.ask({"type": "force_rem", "ts": "2026-01-01T00:00:00Z"})
        assert answer["reason"] == "rem_queued"
        failed = until(lambda: trouble(fresh_daemon, "lifecycle"), "the failure is told")
        assert failed["failures"] >= 1
        assert failed["error"] == "BUSY"
    until(lambda: fresh_daemon.ask({"type": "status"})["last_sleep"], "it sleeps as it was asked")
    known = trouble(fresh_daemon, "lifecycle")
    assert known is not None
    assert known["running"] is True
    log = (home.store / "logs/daemon.log").read_text()
    assert "task_failed task='lifecycle' reason='BUSY'" in log
    checks = {check["name"]: check for check in fresh_daemon.call("doctor")["checks"]}
    assert checks["tasks"]["status"] == "WARN"
    assert "'lifecycle' failed" in checks["tasks"]["detail"]
    assert "BUSY" in checks["tasks"]["detail"]
    assert "lifecycle failed" in home.command("status").stdout


def test_http_is_served_as_soon_as_what_was_in_its_way_is_gone(home: ScratchHome) -> None:
    in_the_way = home.store / "http-token"
    in_the_way.mkdir(parents=True, mode=0o700)
    port = free_port()
    daemon = DaemonProcess(home, IAI_MCP_HTTP=f"127.0.0.1:{port}").start()
    try:
        failed = until(lambda: trouble(daemon, "http"), "the failure is told")
        assert failed["error"] == "IsADirectoryError"
        in_the_way.rmdir()
        until(in_the_way.is_file, "HTTP is served")
        over_http(home, port)("the heron nests in april")
        assert len(daemon.call("memory_timeline", session_id="s")["records"]) == 1
    finally:
        assert daemon.stop() == 0
