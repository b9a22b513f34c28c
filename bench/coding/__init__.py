"""What recall, briefing and injection bring of real coding sessions: `python -m bench coding`."""

from bench.coding.run import main

__all__ = ["main"]
