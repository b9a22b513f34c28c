"""What hosts run: `python -I -c 'import iai_mcp.capture.__main__' hook HOST EVENT`."""

import sys

from iai_mcp.capture.hook import main

sys.exit(main(sys.argv[1:]))
