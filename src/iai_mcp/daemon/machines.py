"""Contact with the machines of far projects while the daemon runs: a thread for each.

They wait at machines that may never answer, so nobody waits for them.
"""

import asyncio
import threading
from functools import partial

from iai_mcp.adapters import journal_import
from iai_mcp.ports.journal import Journal
from iai_mcp.remote import all_machines

_LOOK_EVERY = 2.0  # seconds, at the list of projects: one small file


async def follow_machines(journal: Journal, stop: asyncio.Event) -> None:
    """Keep a contact for every machine that the person has a project on, until `stop` is set."""
    ended = threading.Event()
    take_news = partial(journal_import.take_from, journal)
    running: dict[object, threading.Thread] = {}
    told = asyncio.ensure_future(stop.wait())
    try:
        while not stop.is_set():
            for remote in await asyncio.to_thread(all_machines.machines):
                if remote not in running:
                    from iai_mcp.remote.contact import Contact

                    contact = Contact(remote, lambda seconds: not ended.wait(seconds), take_news)
                    running[remote] = threading.Thread(target=contact.keep, daemon=True)
                    running[remote].start()
            await asyncio.wait({told}, timeout=_LOOK_EVERY)
    finally:
        ended.set()
