"""One local daemon: shared memory for every coding agent, and a home for each of them.

Nothing is imported here: hooks and bridges start in milliseconds because of it.
"""

__version__ = "1.0.0"
