"""The page's own files, and the libraries for terminals and plots where they are installed.

Only what lies there when the page starts is served, by its name: no path leads anywhere else.
"""

import os
from dataclasses import dataclass

_STATIC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")
_KINDS = {
    "": "text/plain; charset=utf-8",  # a licence
    ".mjs": "text/javascript; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
FRONT = "index.html"


@dataclass(frozen=True, slots=True)
class File:
    path: str
    kind: str

    def content(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.read()


def served() -> dict[str, File]:
    """Every file by the name under which it can be had."""
    found: dict[str, File] = {}
    for directory, _, names in os.walk(_STATIC):
        for name in names:
            path = os.path.join(directory, name)
            kind = _KINDS.get(os.path.splitext(name)[1])
            if kind is not None:
                found[os.path.relpath(path, _STATIC)] = File(path, kind)
    return found
