"""What of ours stands in a line before people."""

import pytest

from iai_mcp.domain.shown_text import memories


@pytest.mark.parametrize(("count", "said"), [(0, "0 memories"), (1, "1 memory"), (2, "2 memories")])
def test_one_memory_is_told_as_one(count: int, said: str) -> None:
    assert memories(count) == said
