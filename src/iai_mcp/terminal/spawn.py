"""Starts the holder of a new session and waits until its program was really executed."""

import contextlib
import errno
import json
import os
import secrets
import select
import shutil
import sys
import time
from collections.abc import Mapping, Sequence

from iai_mcp import paths
from iai_mcp.boot_clock import boot_id
from iai_mcp.child_environment import without_secrets
from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import SessionLabel, TerminalSize
from iai_mcp.domain.errors import (
    AlreadyExists,
    DiskFull,
    IaiError,
    InvalidInput,
    NotInstalled,
    PtyFailed,
)
from iai_mcp.terminal import layout

RING_SIZE = 4 * 1024 * 1024
_SMALLEST_RING = 65_536
_DEADLINE = 15.0  # seconds for an interpreter and an exec, on a machine that swaps
_HOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "holder", "__main__.py")


def start(
    spec: SpawnSpec,
    size: TerminalSize,
    *,
    session_id: str | None,
    label: SessionLabel,
    tethered: bool = False,
) -> tuple[str, int]:
    """Start a session: its id, and the descriptor that holds it (-1 unless `tethered`)."""
    with contextlib.suppress(FileNotFoundError):
        layout.bound_tails()  # another launch may be at it too
    session_id = session_id or secrets.token_hex(6)
    directory = layout.session_dir(session_id)
    socket_path = layout.socket_path(session_id)
    _make_directory(directory, session_id)
    try:
        _write_meta(directory, session_id, socket_path, spec, size, label)
        order = _order(spec, size, session_id, socket_path, tethered=tethered)
        return session_id, _run_holder(order, spec, tethered=tethered)
    except IaiError:
        discard(session_id, socket_path)
        raise
    except OSError as failed:
        discard(session_id, socket_path)
        raise _no_terminal(failed.errno or 0) from failed


def discard(session_id: str, socket_path: str) -> None:
    """Remove every file of a session that is no more."""
    directory = layout.session_dir(session_id)
    for name in _names_in(directory):
        _remove(os.path.join(directory, name))
    with contextlib.suppress(FileNotFoundError):
        os.rmdir(directory)
    _remove(socket_path)
    tail = layout.tail_path(session_id)
    directory = os.path.dirname(tail)
    if layout.is_ours(directory):
        _remove(tail)
        with contextlib.suppress(OSError):
            os.rmdir(directory)  # not while it holds the tail of another session


def _names_in(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except FileNotFoundError:
        return []


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def _make_directory(directory: str, session_id: str) -> None:
    paths.private_dir(paths.user_data())
    paths.private_dir(layout.sessions_dir())
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        raise AlreadyExists(
            f"there is a session '{session_id}' already: see iai-mcp session list"
        ) from None


def _write_meta(
    directory: str,
    session_id: str,
    socket_path: str,
    spec: SpawnSpec,
    size: TerminalSize,
    label: SessionLabel,
) -> None:
    """What never changes. Arguments and environment are left out: they may hold what was said."""
    meta = {
        "version": 1,
        "id": session_id,
        "agent_id": label.agent_id,
        "agent_name": label.agent_name,
        "profile": label.profile_id,
        "host": label.host,
        "project": label.project,
        "command": os.path.basename(spec.command),
        "cwd": spec.cwd,
        "rows": size.rows,
        "cols": size.cols,
        "started": int(time.time() * 1000),
        "boot": boot_id(),
        "socket": socket_path,
    }
    path = os.path.join(directory, "meta.json")
    descriptor = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        json.dump(meta, out, ensure_ascii=False)
        out.flush()
        os.fsync(out.fileno())
    os.rename(path + ".new", path)


def _order(
    spec: SpawnSpec, size: TerminalSize, session_id: str, socket_path: str, *, tethered: bool
) -> bytes:
    environment = _environment(spec, session_id)
    umask = os.umask(0o077)
    os.umask(umask)
    fields: list[bytes] = [
        os.fsencode(layout.session_dir(session_id)),
        os.fsencode(socket_path),
        os.fsencode(layout.tail_path(session_id)),
        os.fsencode(spec.cwd),
        *(str(n).encode() for n in (size.rows, size.cols, _ring_size(), umask, int(tethered))),
        *_counted([os.fsencode(part) for part in (spec.command, *spec.args)]),
        *_counted([os.fsencode(part) for part in _notify_command()]),
        *_counted([os.fsencode(f"{name}={value}") for name, value in environment.items()]),
    ]
    order = b"\0".join(fields)
    return str(len(order)).encode() + b"\n" + order


def _counted(fields: Sequence[bytes]) -> list[bytes]:
    return [str(len(fields)).encode(), *fields]


def _environment(spec: SpawnSpec, session_id: str) -> Mapping[str, str]:
    """The launcher's own without secrets, what the spec adds, and where hooks report the session's status."""
    environment = dict(os.environ)
    for name in ("COLUMNS", "LINES", "IAI_MCP_SESSION_ID", "IAI_MCP_PROMPTED"):
        environment.pop(name, None)
    if environment.get("TERM", "dumb") == "dumb":
        environment["TERM"] = "xterm-256color"
    environment["IAI_MCP_SESSION_ID"] = session_id
    environment.update(spec.env)
    environment["IAI_MCP_SESSION_DIR"] = layout.session_dir(session_id)
    return without_secrets(environment)


def _ring_size() -> int:
    """`IAI_MCP_SESSION_RING` in bytes, rounded up to whole pages."""
    named = os.environ.get("IAI_MCP_SESSION_RING")
    if not named:
        return RING_SIZE
    if not named.isdigit() or int(named) < _SMALLEST_RING:
        raise InvalidInput(
            f"IAI_MCP_SESSION_RING is a number of bytes, at least {_SMALLEST_RING}, not '{named}'"
        )
    return -(-int(named) // 4096) * 4096


def _notify_command() -> list[str]:
    named = os.environ.get("IAI_MCP_NOTIFY")
    if not named:
        return []
    import shlex

    return shlex.split(named)


def _run_holder(order: bytes, spec: SpawnSpec, *, tethered: bool) -> int:
    """Start the process, hand it the order, wait for its word."""
    command = [sys.executable, "-I", "-S", "-X", "utf8", _HOLDER]
    in_scope = _in_scope(command)
    answer, tether = _exchange(in_scope or command, order)
    if in_scope and not answer:
        # The user manager would not have it (a container, a stale socket): go without.
        os.close(tether)
        answer, tether = _exchange(command, order)
    runs = answer.startswith("running ")
    if runs and tethered:
        return tether
    os.close(tether)
    if runs:
        return -1
    raise _refusal(answer, spec)


def _in_scope(command: Sequence[str]) -> list[str] | None:
    """`command` in a cgroup of its own; None where no systemd user manager can give one.

    Then one session that is killed for want of memory does not take the others along.
    """
    if os.environ.get("IAI_MCP_SESSION_SCOPE") == "0":
        return None
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if not runtime or not os.path.exists(os.path.join(runtime, "systemd", "private")):
        return None
    systemd_run = shutil.which("systemd-run")
    if systemd_run is None:
        return None
    return [systemd_run, "--user", "--scope", "--quiet", "--collect", "--", *command]


def _exchange(command: list[str], order: bytes) -> tuple[str, int]:
    """The holder's one line of answer (empty if it has none), and the descriptor it reads from."""
    order_read, order_write = os.pipe()
    answer_read, answer_write = os.pipe()
    actions = [
        (os.POSIX_SPAWN_DUP2, order_read, 0),
        (os.POSIX_SPAWN_DUP2, answer_write, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    # No setting of the person's Python may reach the holder, and its environment is on show.
    kept = ("PATH", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    try:
        pid = os.posix_spawnp(command[0], command, environment, file_actions=actions, setsigmask=[])
    finally:
        os.close(order_read)
        os.close(answer_write)
    try:
        # If it ended before it read, its silence says so below.
        with contextlib.suppress(BrokenPipeError):
            _write_all(order_write, order)
        answer = _read_line(answer_read)
    finally:
        os.close(answer_read)
    os.waitpid(pid, 0)
    return answer, order_write


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _read_line(descriptor: int) -> str:
    deadline = time.monotonic() + _DEADLINE
    line = b""
    while not line.endswith(b"\n"):
        waiting = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]
        part = os.read(descriptor, 256) if waiting else b""
        if not part:
            break
        line += part
    return line.decode("ascii", "replace").strip()


def _refusal(answer: str, spec: SpawnSpec) -> IaiError:
    """The holder's "refused STEP ERRNO" as an error for people."""
    parts = answer.split()
    if len(parts) != 3 or not parts[2].isdigit():
        return PtyFailed("the session's holder did not start: run iai-mcp doctor")
    step, number = parts[1], int(parts[2])
    reason = os.strerror(number)
    if step == "program" and number in (errno.ENOENT, errno.ENOTDIR):
        return NotInstalled(f"there is no program '{spec.command}': install it, or mend your PATH")
    if step == "program":
        return PtyFailed(f"'{spec.command}' can not be executed ({reason})")
    if step == "directory":
        return PtyFailed(f"'{spec.cwd}' can not be entered ({reason})")
    return _no_terminal(number)


def _no_terminal(number: int) -> IaiError:
    if number in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull("the disk is full: free some space and try again; nothing was started")
    return PtyFailed(f"no terminal could be had ({os.strerror(number)})")
