"""What `doctor` says of tasks inside the daemon that failed."""

from datetime import UTC, datetime, timedelta

import pytest

from iai_mcp.checks import machine
from iai_mcp.client import connection


def failure(ago: timedelta, *, running: bool) -> dict[str, object]:
    at = (datetime.now(UTC) - ago).isoformat()
    return {"failures": 2, "last_failure": at, "error": "BUSY", "running": running}


def test_every_task_that_failed_lately_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {
        "embed": failure(timedelta(minutes=1), running=True),
        "lifecycle": failure(timedelta(minutes=2), running=False),
        "http": failure(timedelta(hours=3), running=True),
    }
    monkeypatch.setattr(connection, "control", lambda _: {"tasks": told})
    check = machine.tasks()
    assert check.status == "WARN"
    assert "'embed' failed 2 times" in check.detail
    assert "'lifecycle' failed 2 times" in check.detail
    assert "http" not in check.detail
