"""`iai-mcp capture pause|resume|status`, `--ignore`, `--no-work`: people decide what is kept.

The files are those that hooks and the daemon read at every capture, so a change counts at once.
"""

import os
from datetime import datetime

from iai_mcp import paths
from iai_mcp.capture import consent
from iai_mcp.cli import output
from iai_mcp.domain.errors import InvalidInput, IoFailed, NotFound
from iai_mcp.project import project_of

WISHES = ("pause", "resume", "status")


def decide(wish: str, *, as_json: bool) -> int:
    """Pause, resume, or only show how things stand."""
    try:
        if wish == "pause":
            consent.pause()
        elif wish == "resume":
            consent.resume()
    except OSError as refused:
        raise IoFailed(f"{paths.user_data()} can not be written: {refused.strerror}") from refused
    return _show(as_json=as_json)


def ignore(wanted: str, file: str = consent.NEVER, *, as_json: bool) -> int:
    """From now on nothing is captured below a path, or in projects of a name.

    `file` is the list to put it on: of what is said, or of what is done.
    """
    entries = _entries(wanted)
    lines = _lines(file)
    _write(file, [*lines, *(entry for entry in entries if entry not in lines)])
    return _show(as_json=as_json)


def unignore(wanted: str, file: str = consent.NEVER, *, as_json: bool) -> int:
    """Take a path or name off the list again.

    Raises:
        NotFound: it is not on it.
    """
    gone = {wanted, *_entries(wanted)}
    lines = _lines(file)
    kept = [line for line in lines if line.strip() not in gone]
    if kept == lines:
        raise NotFound(f"{wanted} is not on the list; 'iai-mcp capture status' shows what is")
    _write(file, kept)
    return _show(as_json=as_json)


def _show(*, as_json: bool) -> int:
    cwd = os.getcwd()
    refusal = consent.refusal(cwd, project_of(cwd).key)
    since = consent.paused_since()
    listed = [line.strip() for line in _lines(consent.NEVER) if _speaks(line)]
    no_work = [line.strip() for line in _lines(consent.NEVER_WORK) if _speaks(line)]
    told: dict[str, object] = {
        "paused": since is not None,
        "paused_since": None if since is None else _moment(since),
        "never_captured": listed,
        "work_never_captured": no_work,
        "here": {"cwd": cwd, "captured": refusal is None, "reason": refusal},
    }
    output.emit(told, _told(since, listed, no_work, refusal), as_json=as_json)
    return 0


def _told(since: float | None, listed: list[str], no_work: list[str], refusal: str | None) -> str:
    if since is None:
        lines = [output.paint("capture is on", "green")]
    else:
        paused = f"capture is paused since {_moment(since)}"
        lines = [
            output.paint(paused, "yellow"),
            "what is said until 'iai-mcp capture resume' is not remembered, not even later",
        ]
    if listed:
        lines += ["never captured:", *(f"  {entry}" for entry in listed)]
    if no_work:
        places = [f"  {'anywhere' if one == consent.EVERYWHERE else one}" for one in no_work]
        lines += ["commands and edits are never captured:", *places]
    if refusal is not None and since is None:
        lines.append(f"this directory is not captured: {refusal}")
    return "\n".join(lines)


def _entries(wanted: str) -> list[str]:
    """The lines for a path (as given, and where its links lead) or a name."""
    text = wanted.strip()
    if not text or text.startswith("#") or "\n" in text:
        raise InvalidInput("name a path or a project that is never to be captured")
    if "/" not in text and text not in (".", "..", "~"):
        return [text]
    path = os.path.abspath(os.path.expanduser(text))
    real = os.path.realpath(path)
    return [path] if real == path else [path, real]


def _speaks(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def _lines(file: str) -> list[str]:
    path = paths.in_user_data(file)
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as listed:
            return listed.read().splitlines()
    except FileNotFoundError:
        return []
    except OSError as refused:
        raise IoFailed(f"{path} can not be read: {refused.strerror}") from refused


def _write(file: str, lines: list[str]) -> None:
    path = paths.in_user_data(file)
    fresh = f"{path}.{os.getpid()}"
    try:
        paths.private_dir(paths.user_data())
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as new:
            new.write("".join(f"{line}\n" for line in lines))
            new.flush()
            os.fsync(new.fileno())
        os.replace(fresh, path)
    except OSError as refused:
        raise IoFailed(f"{path} can not be written: {refused.strerror}") from refused
