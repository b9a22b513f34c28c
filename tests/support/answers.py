"""Answers as tests look into them: as deeply as they like, whoever gave them."""

from typing import Any

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

Json = dict[str, Any]


def ask(store: MemoryStore, method: str, **params: object) -> Json:
    """What a store answers that is open in this process."""
    return dispatch(store, method, params)
