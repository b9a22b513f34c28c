"""Short ids of records: one candidate is taken, several are listed."""

from collections.abc import Callable

import pytest
from tests.fakes.memories import said

from iai_mcp.core import dispatch
from iai_mcp.domain.errors import InvalidInput, NotFound
from iai_mcp.store import MemoryStore


def test_an_ambiguous_prefix_is_refused_with_its_candidates(
    opened: Callable[[], MemoryStore],
) -> None:
    store = opened()
    ids = [bytes.fromhex(f"abcdef{last:02x}" + "00" * 12) for last in (1, 2)]
    store.memories.add([said(f"note {n}", identity=one) for n, one in enumerate(ids)])
    with pytest.raises(InvalidInput) as several:
        dispatch(store, "memory_show", {"id": "abcdef"})
    assert all(one.hex()[:8] in str(several.value) for one in ids)
    shown = dispatch(store, "memory_show", {"id": "[ABCDEF02]"})["record"]
    assert isinstance(shown, dict)
    assert shown["text"] == "note 1"
    with pytest.raises(NotFound):
        dispatch(store, "memory_show", {"id": "abcde"})
