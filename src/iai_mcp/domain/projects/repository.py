"""What tells that two checkouts are of one repository: where they come from, or how they began."""

import hashlib
import re

_SCHEME = re.compile(r"(?:https?|ssh|git|git\+ssh)://(?P<rest>.*)\Z", re.IGNORECASE)
# `git@host:path`: no slash before the colon, and a host of more than a drive's one letter.
_SHORT = re.compile(r"(?:[^/@:\s]+@)?(?P<host>[^/@:\s]{2,}):(?P<path>(?!//).+)\Z")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


def of_remote(url: str) -> str | None:
    """The identity of what a remote's url names, however it is reached; None for a relative path."""
    text = url.strip()
    if text.startswith(("/", "file:///")):
        return of_place(text.removeprefix("file://").rstrip("/").removesuffix("/.git"))
    if (found := _SCHEME.match(text)) is not None:
        place, _, path = found["rest"].partition("/")
        host = place.rpartition("@")[2].partition(":")[0]
    elif (found := _SHORT.match(text)) is not None and "://" not in text:
        host, path = found["host"], found["path"]
    else:
        return None
    path = path.strip("/").removesuffix(".git").strip("/")
    if not host or not path or any(letter.isspace() for letter in host + path):
        return None
    return f"remote:{_digest(f'{host.lower()}/{path}')}"


def of_root(commit: str) -> str | None:
    """The identity of what began with that commit."""
    return f"root:{commit}" if is_sha(commit) else None


def is_sha(text: str) -> bool:
    return _SHA.match(text) is not None


def of_place(root: str) -> str:
    """The identity of what lies, or lay, in that directory: a local clone comes from there."""
    return f"at:{_digest(root)}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
