"""The name under which others import `dispatch`, the one function behind every transport."""

from iai_mcp.api.table import UnknownMethodError, dispatch

__all__ = ["UnknownMethodError", "dispatch"]
