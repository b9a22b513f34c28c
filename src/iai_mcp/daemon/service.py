"""What runs while the daemon runs: the socket, the loading of heavy things, the drain, the lifecycle."""

import asyncio
import logging
import signal
from collections.abc import Callable
from dataclasses import dataclass

from iai_mcp.adapters.journal_import import AgentNews
from iai_mcp.concurrency import ProcessLock
from iai_mcp.core import dispatch
from iai_mcp.daemon import control, http_service, mcp_session
from iai_mcp.daemon.background_tasks import SpoolDrain, follow_circles, follow_machines
from iai_mcp.daemon.handover import Estate, Heir
from iai_mcp.daemon.hibernation import (
    hear_signals,
    http_listening,
    is_managed,
    is_woken,
    note_stops,
    remote_listening,
)
from iai_mcp.daemon.lifecycle_loop import LifecycleLoop
from iai_mcp.daemon.socket_server import SocketServer
from iai_mcp.domain import pieces
from iai_mcp.domain.errors import IaiError, IoFailed
from iai_mcp.domain.lifecycle import Thresholds
from iai_mcp.memory.scoping import Caller
from iai_mcp.memory.session_start import NewSession
from iai_mcp.ports.embedder import Embedder
from iai_mcp.remote.machine import end_older_connections
from iai_mcp.settings import Settings
from iai_mcp.store import MemoryStore
from iai_mcp.terminal.session_loss import LossWatch

_log = logging.getLogger(__name__)

# Seconds: one look at one file and at the locks of the sessions that run. A lost session is news within
# a second; who follows events asks more often.
_LOOK_AT_NEWS_EVERY = 0.5
_ASKED_BY_THEN = 0.1  # seconds after the model is ready: by whoever waited for it


@dataclass(frozen=True, slots=True)
class Leaving:
    """The daemon serves no more, and its place on the socket goes on: to `heir`, or to us later."""

    listening: int
    http: int | None
    remote: int | None
    heir: Heir | None
    hear_after: int  # seconds until other machines are to be heard; 0 where there are none


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
    server = SocketServer(store, lock=lock, state={"fsm_state": "WAKE", "scheduler_paused": False})
    store.on_failure = server.tasks.note
    server.may_be_succeeded = server.hears_remote = True
    pieces.breathe = server.pool.let_pass
    if estate is not None:
        server.inherited, server.inherited_remote = estate.listening, estate.remote
        estate.opened()
    else:
        server.inherited_remote = remote_listening()
    for control_socket in end_older_connections():
        _log.warning("older_ssh_connection_left", extra={"path": control_socket})
    drain = SpoolDrain(
        lambda header, events: dispatch(store, "capture_events", {**header, "events": events})
    )
    server.more_facts = lambda: {"spool": drain.counts()}
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, server.shutdown_event.set)
    note_stops()
    hear_signals()
    server.warm = False  # the lifecycle decides when the model is loaded
    lifecycle = _lifecycle(server, store, loop, dormant=is_woken())
    server.on_activity = server.on_request = lifecycle.nudge

    def ask_to_sleep() -> None:
        server.requests.put(control.Rem())
        loop.call_soon_threadsafe(lifecycle.nudge)

    store.nights.ask = ask_to_sleep
    _keep(server, store, drain, lifecycle)
    try:
        kept = estate.http if estate else http_listening()
        server.other_doors = http_service.start(server, kept)
        await server.serve()
    finally:
        server.shutdown_event.set()  # also when it never came to serving
        await server.tasks.ended()
        shares = not store.database.closed and store.shares
        await loop.run_in_executor(None, store.close)
    if server.tasks.gave_up:
        raise IoFailed(server.tasks.gave_up)
    if server.handed_over is None:
        return None
    hear_after = store.settings.hear_after if shares else 0
    return Leaving(
        server.handed_over, server.http_kept, server.remote_kept, server.heir, hear_after
    )


def _keep(
    server: SocketServer, store: MemoryStore, drain: SpoolDrain, lifecycle: LifecycleLoop
) -> None:
    """Give every task of the daemon its owner."""
    tasks, stopping = server.tasks, server.shutdown_event
    # Without it whoever waits for a sleep would hold up the end for as long as that takes.
    tasks.keep("ending", lambda: _end_with(stopping, store), again=False)
    tasks.keep("drain", lambda: drain.run(stopping))
    tasks.keep("lifecycle", lambda: lifecycle.run(stopping), end=lifecycle.end)
    tasks.keep("circles", lambda: follow_circles(store, tasks, stopping))
    tasks.keep("machines", lambda: follow_machines(store.journal, stopping))
    tasks.keep("agent news", lambda: follow_agent_news(store.agent_news, stopping))
    tasks.keep("warm", lambda: _warm(server, store))


def _lifecycle(
    server: SocketServer,
    store: MemoryStore,
    loop: asyncio.AbstractEventLoop,
    *,
    dormant: bool,
) -> LifecycleLoop:
    def warm() -> None:
        loop.call_soon_threadsafe(server.tasks.keep, "warm", lambda: _warm(server, store))

    def hibernate() -> None:
        # A service manager starts us again at the next connection; without one we wait ourselves.
        server.keep_listening = not is_managed()
        loop.call_soon_threadsafe(server.shutdown_event.set)

    def session_opened(cwd: str) -> None:
        if cwd:
            try:
                store.session_start(NewSession(caller=Caller(cwd=cwd)))
            except IaiError as failed:
                _log.info("prewarm_failed", extra={"reason": failed.code})

    assert server.state is not None  # noqa: S101 - the daemon's is wired
    return LifecycleLoop(
        server.state,
        server.requests,
        server,
        store.journal,
        store.nights,
        thresholds=_thresholds(store.settings),
        warm=warm,
        session_opened=session_opened,
        hibernate=hibernate,
        step_aside=store.courtesy.step_aside,
        dormant=dormant,
    )


def _thresholds(settings: Settings) -> Thresholds:
    return Thresholds(
        settings.drowsy_after, settings.sleep_after, settings.hibernate_after, settings.resume_after
    )


async def _end_with(stopping: asyncio.Event, store: MemoryStore) -> None:
    """Whoever waits for a sleep to end gets its report now: the others wait for the daemon's end."""
    await stopping.wait()
    store.end_calls()


async def _warm(server: SocketServer, store: MemoryStore) -> None:
    """The model first, because recall needs it; then, when who waited for that was answered, the MCP
    library. A session that is opened before loads it itself.
    """
    store.start_background()
    stopping = server.shutdown_event
    while not store.embedder.settled and not stopping.is_set():
        await asyncio.sleep(0.02)
    if not stopping.is_set():
        await asyncio.sleep(_ASKED_BY_THEN)

        def load_mcp() -> None:
            store.courtesy.wait_for_calm()
            mcp_session.load()

        # A thread that nobody waits for: a stop must not take as long as an import.
        server.tasks.in_a_thread("load-mcp", load_mcp)


async def follow_agent_news(news: AgentNews, stop: asyncio.Event) -> None:
    """Take in what agents and sessions leave in their journal, then what comes, until `stop` is set."""
    told = asyncio.ensure_future(stop.wait())
    losses = LossWatch()
    while not stop.is_set():
        await asyncio.to_thread(losses.look)
        if news.waiting():
            await asyncio.to_thread(news.gather)
        await asyncio.wait({told}, timeout=_LOOK_AT_NEWS_EVERY)
