"""Watches what agents and sessions leave in their journal, for as long as the daemon runs."""

import asyncio

from iai_mcp.adapters.agent_news import AgentNews

_LOOK_EVERY = 1.0  # seconds: one look at one file; who follows events asks more often


async def follow(news: AgentNews, stop: asyncio.Event) -> None:
    """Take in what is there, then what comes, until `stop` is set."""
    told = asyncio.ensure_future(stop.wait())
    while not stop.is_set():
        if news.waiting():
            await asyncio.to_thread(news.gather)
        await asyncio.wait({told}, timeout=_LOOK_EVERY)
