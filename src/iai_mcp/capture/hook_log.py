"""What went wrong in hooks, for whoever asks later: one line each, never what people said."""

import os
import time

from iai_mcp import paths

_LIMIT = 1024 * 1024


def note(problem: str) -> None:
    """Append a line to `<user data>/logs/capture.log`; when it can not be written, so be it."""
    try:
        paths.private_dir(paths.user_data())
        path = os.path.join(paths.private_dir(paths.in_user_data("logs")), "capture.log")
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            # It may name a file, and files have any name: what is no letter is spelt out.
            told = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in problem)
            line = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {told}\n"
            os.write(descriptor, line.encode("utf-8", "replace"))
            if os.fstat(descriptor).st_size > _LIMIT:
                os.replace(path, f"{path}.1")
        finally:
            os.close(descriptor)
    except OSError:
        return  # a full disk must not turn a note into a failure
