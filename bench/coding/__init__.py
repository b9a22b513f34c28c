"""What a model reads when it asks about real coding sessions: `python -m bench coding`."""

from bench.coding.run import main

__all__ = ["main"]
