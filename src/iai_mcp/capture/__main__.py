"""The file that hosts run by its path: `python -I …/iai_mcp/capture/__main__.py hook HOST EVENT`.

By path and isolated, because `-m` costs five milliseconds and puts the project's directory, in
which hooks run, before the standard library.
"""

import sys


def _start() -> int:
    try:
        from iai_mcp.capture.hook import main
    except ModuleNotFoundError as missing:
        if missing.name != "iai_mcp":
            raise
        # A source tree that is on PYTHONPATH, which an isolated interpreter does not read.
        sys.path.append(__file__.rsplit("/", 3)[0])
        from iai_mcp.capture.hook import main
    return main(sys.argv[1:])


sys.exit(_start())
