"""A mark for tests that need a second user on this machine."""

import pytest
from bench.strangers import can_be_played

needs_root = pytest.mark.skipif(
    not can_be_played(), reason="only root can play a second user on this machine"
)
