"""The name under which others import `dispatch`, the one function behind every transport.

`python -m iai_mcp.core` serves JSON-RPC lines on stdin and stdout.
"""

from iai_mcp.api.table import UnknownMethodError, dispatch

__all__ = ["UnknownMethodError", "dispatch"]

if __name__ == "__main__":
    from iai_mcp.stdio import main

    raise SystemExit(main())
