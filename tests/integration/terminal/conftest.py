"""Every test here gets a desk of its own."""

from tests.terminal_kit import desk

__all__ = ["desk"]
