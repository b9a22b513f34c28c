"""Keeps the traceback of a bug for its finders: in a private file, never on a person's screen.

Only where it happened is kept, not the values: they may be what somebody said.
"""

import os
import time
import traceback

from iai_mcp import paths


def keep(error: Exception) -> str:
    """Append where `error` came from to the log and return the log's path."""
    path = paths.in_user_data("logs", "cli.log")
    frames = traceback.extract_tb(error.__traceback__)
    lines = [
        f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {type(error).__module__}.{type(error).__name__}"
    ]
    lines += [f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    try:
        paths.private_dir(paths.user_data())
        paths.private_dir(os.path.dirname(path))
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8") as log:
            log.write("\n".join(lines) + "\n")
    except OSError as refused:
        return f"nowhere: {path} can not be written ({refused.strerror})"
    return path
