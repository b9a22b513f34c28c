"""`python -m iai_mcp.cli`: the same as the installed command."""

import sys

from iai_mcp.cli import main

sys.exit(main())
