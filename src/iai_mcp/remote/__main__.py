"""What runs over there: `serve MARK HOME MACHINE` answers calls, `dial SOCKET` joins stdin and stdout to a socket.

Run by its path with `-I -S`: nothing of that machine's Python but its standard library is used.
"""

import os
import sys

_ROOT = os.path.abspath(__file__).rsplit("/", 3)[0]


def main() -> None:
    if _ROOT not in sys.path:
        sys.path.insert(0, _ROOT)
    # A far .pth or a project's own `json.py` can not reach us: isolated, and no current directory.
    if sys.argv[1] == "dial":
        from iai_mcp.remote.dialing import join

        join(sys.argv[2], sys.argv[3])
        return
    from iai_mcp.remote.serving import serve

    serve(mark=sys.argv[2], home_id=sys.argv[3], machine=sys.argv[4])


if __name__ == "__main__":
    main()
