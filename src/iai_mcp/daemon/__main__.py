"""`python -m iai_mcp.daemon`: the one process that owns the store and the socket."""

import sys

from iai_mcp.daemon.startup import main

sys.exit(main())
