"""The daemon's log: rotating, private, and without a word of what people said."""

import logging
import logging.handlers
import os
from pathlib import Path

from iai_mcp import paths

_BYTES = 1_000_000
_KEPT = 3
# What a record may carry besides its message. Nothing here ever holds what somebody said.
_EXTRA = (
    "task",
    "tool",
    "method",
    "error",
    "reason",
    "path",
    "file",
    "files",
    "inserted",
    "count",
    "seconds",
    "uid",
    "pid",
    "state",
    "module_name",
)


class _Formatter(logging.Formatter):
    """One line per record; of an exception only its type and where it came from.

    Messages of exceptions may quote values, and values may be what somebody said. So may the messages
    of libraries: of those only the place is kept.
    """

    def format(self, record: logging.LogRecord) -> str:
        ours = record.name.partition(".")[0] == "iai_mcp"
        said = str(record.msg) if ours else f"at={record.filename}:{record.lineno}"
        parts = [self.formatTime(record), record.levelname, record.name, said]
        parts += [f"{k}={getattr(record, k)!r}" for k in _EXTRA if hasattr(record, k)]
        if record.exc_info and record.exc_info[0] is not None:
            parts.append(f"error={record.exc_info[0].__name__}")
            trace = record.exc_info[2]
            while trace is not None:
                code = trace.tb_frame.f_code
                parts.append(f"at={Path(code.co_filename).name}:{trace.tb_lineno}:{code.co_name}")
                trace = trace.tb_next
        return " ".join(parts)


class _PrivateRotatingFile(logging.handlers.RotatingFileHandler):
    def _open(self) -> object:  # type: ignore[override] # logging types this as its own stream
        os.close(os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        return super()._open()


def start(level: str = "INFO") -> None:
    """Send the log of this process to `<user data>/logs/daemon.log`."""
    directory = paths.private_dir(os.path.join(paths.private_dir(paths.user_data()), "logs"))
    handler = _PrivateRotatingFile(
        os.path.join(directory, "daemon.log"), maxBytes=_BYTES, backupCount=_KEPT, encoding="utf-8"
    )
    handler.setFormatter(_Formatter())
    logging.raiseExceptions = False  # on a full disk a record is lost, not told elsewhere
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for chatty in ("mcp", "asyncio", "anyio", "httpx"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
