"""The redactor as the daemon uses it: the built-in rules and the user's `redaction.toml`."""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from iai_mcp import paths
from iai_mcp.domain.redaction import Redacted, redact
from iai_mcp.domain.redaction.user_patterns import UserPatterns, parse

_log = logging.getLogger(__name__)


def user_file() -> str:
    return paths.in_user_data("redaction.toml")


class FileRedactor:
    """Redacts with the rules of the moment: a changed file counts from the next text on.

    A broken pattern, or a file that can not be read, is reported in `problems` and in the log;
    everything else goes on working.
    """

    def __init__(self, path: Callable[[], str] = user_file) -> None:
        self._path = path
        self._lock = Lock()
        self._seen: tuple[str, int, int] | None = None
        self._user = UserPatterns()

    def __call__(self, text: str) -> Redacted:
        return redact(text, self._current().patterns)

    @property
    def problems(self) -> tuple[str, ...]:
        return self._current().problems

    def _current(self) -> UserPatterns:
        path = self._path()
        try:
            found = os.stat(path)  # on every text: a Path object would cost more than the look
            seen = (path, found.st_mtime_ns, found.st_size)
        except OSError:
            seen = None
        with self._lock:
            if seen != self._seen:
                self._seen = seen
                self._user = UserPatterns() if seen is None else _read(path)
                if self._user.problems:
                    _log.warning(
                        "patterns of the user were left out",
                        extra={"path": path, "count": len(self._user.problems)},
                    )
            return self._user


def _read(path: str) -> UserPatterns:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as refused:
        return UserPatterns(problems=(f"{path} can not be read ({refused})",))
    user = parse(text)
    return UserPatterns(user.patterns, tuple(f"{path}: {problem}" for problem in user.problems))
