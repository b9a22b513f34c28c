"""`python -m iai_mcp.daemon`: the one process that owns the store and the socket."""

import logging
import os
import sys

from iai_mcp.daemon.startup import main

code = main()
logging.shutdown()
sys.stderr.flush()
# The store is closed: what is left are libraries that may still be loading in the background.
os._exit(code)
