"""What a daemon gets ready after its start, and for whom it waits with it."""

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from iai_mcp.daemon import mcp_session, service


def test_the_mcp_library_is_loaded_after_who_waited_for_the_model_was_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    happened: list[str] = []
    loaded = threading.Event()

    def load() -> None:
        happened.append("loaded")
        loaded.set()

    def in_a_thread(_name: str, work: Any) -> None:
        threading.Thread(target=work).start()

    def wait_for_calm() -> bool:
        happened.append("calm")
        return True

    monkeypatch.setattr(mcp_session, "load", load)
    monkeypatch.setattr(service, "_ASKED_BY_THEN", 0.0)
    store: Any = SimpleNamespace(
        start_background=lambda: happened.append("started"),
        embedder=SimpleNamespace(settled=True),
        courtesy=SimpleNamespace(wait_for_calm=wait_for_calm),
    )
    server: Any = SimpleNamespace(
        shutdown_event=asyncio.Event(), tasks=SimpleNamespace(in_a_thread=in_a_thread)
    )
    asyncio.run(service._warm(server, store))
    assert loaded.wait(5)
    assert happened == ["started", "calm", "loaded"]


def test_nothing_is_loaded_for_a_daemon_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_ASKED_BY_THEN", 0.0)
    store: Any = SimpleNamespace(
        start_background=lambda: None, embedder=SimpleNamespace(settled=False)
    )
    server: Any = SimpleNamespace(shutdown_event=asyncio.Event(), tasks=None)
    server.shutdown_event.set()
    asyncio.run(service._warm(server, store))
