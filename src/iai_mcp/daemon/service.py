"""What runs while the daemon runs: the socket, the loading of heavy things, the drain."""

import asyncio
import logging
import signal

from iai_mcp.concurrency import ProcessLock
from iai_mcp.core import dispatch
from iai_mcp.daemon import http_service, mcp_session
from iai_mcp.daemon.drain import SpoolDrain
from iai_mcp.socket_server import SocketServer
from iai_mcp.store import MemoryStore

_log = logging.getLogger(__name__)


async def run(lock: ProcessLock) -> None:
    """Serve until a signal asks to stop; then finish, close, and return."""
    store = MemoryStore()
    state: dict[str, object] = {"fsm_state": "WAKE", "scheduler_paused": False, "requests": []}
    server = SocketServer(store, lock=lock, state=state)
    drain = SpoolDrain(
        lambda header, events: dispatch(store, "capture_events", {**header, "events": events})
    )
    server.more_facts = lambda: {"spool": drain.counts()}
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, server.shutdown_event.set)
    background = [
        asyncio.ensure_future(_warm(store, server.shutdown_event)),
        asyncio.ensure_future(drain.run(server.shutdown_event)),
    ]
    try:
        background += http_service.start(server)
        await server.serve()
    finally:
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        await asyncio.get_running_loop().run_in_executor(None, store.close)


async def _warm(store: MemoryStore, stopping: asyncio.Event) -> None:
    """The model first, because recall needs it; then the MCP library."""
    loop = asyncio.get_running_loop()
    store.start_background()
    while not store.embedder.settled and not stopping.is_set():
        await asyncio.sleep(0.02)
    if not stopping.is_set():
        await loop.run_in_executor(None, mcp_session.load)
