"""What runs while the daemon runs: the socket, the loading of heavy things, the drain, the lifecycle."""

import asyncio
import logging
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass

from iai_mcp.concurrency import ProcessLock
from iai_mcp.core import dispatch
from iai_mcp.daemon import agent_news, control, http_service, mcp_session
from iai_mcp.daemon.drain import SpoolDrain
from iai_mcp.daemon.hibernation import hear_signals, http_listening, is_managed, is_woken
from iai_mcp.daemon.lifecycle_loop import LifecycleLoop
from iai_mcp.daemon.socket_server import SocketServer
from iai_mcp.daemon.succession import Estate, Heir
from iai_mcp.domain import pieces
from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.lifecycle import Thresholds
from iai_mcp.ports.embedder import Embedder
from iai_mcp.settings import Settings
from iai_mcp.store import MemoryStore

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Leaving:
    """The daemon serves no more, and its place on the socket goes on: to `heir`, or to us later."""

    listening: int
    http: int | None
    heir: Heir | None


async def run(
    lock: ProcessLock,
    estate: Estate | None = None,
    load_embedder: Callable[[], Embedder] | None = None,
) -> Leaving | None:
    """Serve until a signal asks to stop, until it is time to hibernate, or until another takes over.

    Returns:
        None after a stop.
    """
    store = MemoryStore(load_embedder=load_embedder)
    state: dict[str, object] = {"fsm_state": "WAKE", "scheduler_paused": False, "requests": []}
    server = SocketServer(store, lock=lock, state=state)
    server.may_be_succeeded = True
    pieces.breathe = server.pool.let_pass
    if estate is not None:
        server.inherited = estate.listening
        estate.opened()
    drain = SpoolDrain(
        lambda header, events: dispatch(store, "capture_events", {**header, "events": events})
    )
    server.more_facts = lambda: {"spool": drain.counts()}
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, server.shutdown_event.set)
    hear_signals()
    server.warm = False  # the lifecycle decides when the model is loaded
    lifecycle = _lifecycle(server, store, state, loop, dormant=is_woken())
    server.on_activity = server.on_request = lifecycle.nudge

    def ask_to_sleep() -> None:
        loop.call_soon_threadsafe(_ask_to_sleep, state, lifecycle)

    store.sleep_wanted = ask_to_sleep
    background = [
        asyncio.ensure_future(_end_with(server.shutdown_event, store)),
        asyncio.ensure_future(drain.run(server.shutdown_event)),
        asyncio.ensure_future(lifecycle.run(server.shutdown_event)),
        asyncio.ensure_future(agent_news.follow(store.agent_news, server.shutdown_event)),
        asyncio.ensure_future(_warm(store, server.shutdown_event)),
    ]
    try:
        kept = estate.http if estate else http_listening()
        server.other_doors = http_service.start(server, kept)
        background += server.other_doors
        await server.serve()
    finally:
        server.shutdown_event.set()  # also when it never came to serving
        await asyncio.gather(*background, return_exceptions=True)
        await loop.run_in_executor(None, store.close)
    if server.handed_over is None:
        return None
    return Leaving(server.handed_over, server.http_kept, server.heir)


def _lifecycle(
    server: SocketServer,
    store: MemoryStore,
    state: dict[str, object],
    loop: asyncio.AbstractEventLoop,
    *,
    dormant: bool,
) -> LifecycleLoop:
    def warm() -> None:
        loop.call_soon_threadsafe(
            lambda: asyncio.ensure_future(_warm(store, server.shutdown_event))
        )

    def hibernate() -> None:
        # A service manager starts us again at the next connection; without one we wait ourselves.
        server.keep_listening = not is_managed()
        loop.call_soon_threadsafe(server.shutdown_event.set)

    def session_opened(cwd: str) -> None:
        if cwd:
            try:
                dispatch(store, "session_start_payload", {"cwd": cwd})
            except IaiError as failed:
                _log.info("prewarm_failed", extra={"reason": failed.code})

    return LifecycleLoop(
        state,
        server,
        store.journal,
        store.sleeper,
        thresholds=_thresholds(store.settings),
        warm=warm,
        session_opened=session_opened,
        hibernate=hibernate,
        step_aside=store.courtesy.step_aside,
        dormant=dormant,
    )


def _ask_to_sleep(state: dict[str, object], lifecycle: LifecycleLoop) -> None:
    control.answer({"type": "force_rem", "ts": ""}, state, dict)
    lifecycle.nudge()


def _thresholds(settings: Settings) -> Thresholds:
    return Thresholds(
        settings.drowsy_after, settings.sleep_after, settings.hibernate_after, settings.resume_after
    )


async def _end_with(stopping: asyncio.Event, store: MemoryStore) -> None:
    """Whoever waits for a sleep to end gets its report now: the others wait for the daemon's end."""
    await stopping.wait()
    store.ending.set()


async def _warm(store: MemoryStore, stopping: asyncio.Event) -> None:
    """The model first, because recall needs it; then the MCP library."""
    store.start_background()
    while not store.embedder.settled and not stopping.is_set():
        await asyncio.sleep(0.02)
    if not stopping.is_set():
        # A thread that nobody waits for: a stop must not take as long as an import.
        threading.Thread(target=mcp_session.load, name="load-mcp", daemon=True).start()
