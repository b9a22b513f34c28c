"""Checks that need no store: daemon, socket, lock, permissions, key, spool, disk, units, processes,
hosts."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

from iai_mcp import __version__, paths, project_aliases
from iai_mcp.adapters import original_store as original
from iai_mcp.adapters.keys import custody, loss
from iai_mcp.checks.result import Check, failed, passed, warned
from iai_mcp.client import connection
from iai_mcp.concurrency import ProcessLock
from iai_mcp.domain.errors import DaemonNotOurs, DaemonUnreachable

_NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs"}
_LITTLE_ROOM = 500_000_000
_RECENT_SECONDS = 3600.0


def daemon() -> Check:
    try:
        status = connection.control("status")
    except DaemonNotOurs as stranger:
        return failed("daemon", stranger.message, paths.ELSEWHERE)
    except DaemonUnreachable as down:
        return warned("daemon", down.message, "iai-mcp up")
    return passed("daemon", f"pid {status['pid']}, {str(status['state']).lower()}")


def original_store() -> Check:
    """Memories that the original iai-mcp left in the same directory."""
    found = original.notice()
    if found:
        return warned("original store", found, original.COMMAND)
    return passed("original store", "nothing of the original iai-mcp is left to import")


def tasks() -> Check:
    """What goes on inside the daemon beside the answers: sleep, the spool, HTTP, vectors."""
    try:
        told = connection.control("status").get("tasks")
    except DaemonUnreachable:
        return passed("tasks", "no daemon to ask")
    failed_ones = told if isinstance(told, dict) else {}
    lately = [
        f"'{name}' failed {one['failures']} times, last at {one['last_failure']} ({one['error']}); "
        + ("it runs again" if one["running"] else "it is tried again in a minute at most")
        for name, one in failed_ones.items()
        if not one["running"] or _age(str(one["last_failure"])) < _RECENT_SECONDS
    ]
    if lately:
        log = paths.in_user_data("logs/daemon.log")
        where = f"{log} says where; if it stays: iai-mcp down, iai-mcp up"
        return warned("tasks", "; ".join(lately), where)
    return passed("tasks", f"all run; {len(failed_ones)} failed more than an hour ago")


def versions() -> Check:
    try:
        running = connection.control("status").get("version")
    except DaemonUnreachable:
        return passed("versions", f"iai-mcp {__version__}; no daemon to compare with")
    if running != __version__:
        detail = f"the daemon runs version {running}, this is {__version__}"
        return warned("versions", detail, "iai-mcp up (it swaps the daemon)")
    return passed("versions", f"{__version__} everywhere")


def socket() -> Check:
    path = paths.socket_path()
    problem = paths.socket_path_problem(path)
    if problem:
        return failed("socket", problem, "set IAI_DAEMON_SOCKET_PATH to a shorter path")
    if not os.path.exists(path):
        return passed("socket", "no socket file, as it should be while the daemon is down")
    owner = paths.stranger(path)
    if owner is not None:
        return failed("socket", f"{path} belongs to another user (uid {owner})", paths.ELSEWHERE)
    if not connection.is_up():
        return warned("socket", f"{path} was left behind", "iai-mcp up (it is replaced)")
    mode = os.stat(path).st_mode & 0o777
    if mode & 0o077:
        return failed("socket", f"{path} has mode {mode:o}", f"chmod 600 {path}")
    return passed("socket", path)


def lock() -> Check:
    held = ProcessLock()
    if not held.path.exists():
        return passed("lock", "free")
    try:
        if held.try_acquire_exclusive():
            held.release()
            return passed("lock", "free")
    finally:
        held.close()
    if connection.is_up():
        return passed("lock", f"held by the daemon (pid {held.holder()})")
    detail = f"held by pid {held.holder()}, which does not answer on the socket"
    return failed("lock", detail, "wait for that process, or end it and run: iai-mcp up")


def permissions() -> Check:
    root = Path(paths.user_data())
    if not root.exists():
        return passed("permissions", "nothing is stored yet")
    paths.is_loose(str(root))  # raises where it is not ours
    loose = [p for p in (root, *root.rglob("*")) if not p.is_symlink() and p.stat().st_mode & 0o077]
    private = [p for p in loose if "models" not in p.parts]
    if private:
        detail = f"{len(private)} of your files can be read by others, such as {private[0]}"
        return warned("permissions", detail, "iai-mcp doctor --fix")
    return passed("permissions", "only you can read your files")


def key() -> Check:
    found = custody.status(Path(paths.user_data()))
    if not found["initialized"]:
        return passed("key", "none yet: the first memory makes one")
    if found["rotation_unfinished"]:
        return warned("key", "a rotation was interrupted", "iai-mcp up (the next start settles it)")
    return passed("key", f"from {found['source']}")


def store() -> Check:
    lost = loss.loss(Path(paths.user_data()))
    if lost is not None:
        return failed("store", lost.what, lost.remedy)
    return passed("store", "in its place")


def spool() -> Check:
    directory = Path(paths.spool_dir())
    waiting = list(directory.glob("*.jsonl")) if directory.exists() else []
    aside = [p for p in directory.glob("failed/*") if p.suffix != ".reason"]
    if aside:
        detail = f"{len(aside)} files could not be read and were set aside"
        return warned("spool", detail, f"each has its reason beside it in {directory / 'failed'}")
    if waiting and not connection.is_up():
        return warned("spool", f"{len(waiting)} captures wait", "iai-mcp up (it takes them in)")
    return passed("spool", f"{len(waiting)} waiting")


def disk() -> Check:
    root = paths.user_data()
    place = root if os.path.exists(root) else paths.home()
    free = shutil.disk_usage(place).free
    used = (
        sum(p.stat().st_size for p in Path(root).rglob("*") if p.is_file()) if place == root else 0
    )
    detail = f"{used / 1e6:.0f} MB used, {free / 1e9:.1f} GB free"
    if free < _LITTLE_ROOM:
        return warned(
            "disk", detail, "free some space: captures wait in the spool when the disk is full"
        )
    return passed("disk", detail)


def file_system() -> Check:
    kind = _file_system_of(paths.user_data())
    if kind in _NETWORK_FILE_SYSTEMS:
        detail = f"the store lies on a network file system ({kind}), where locks can not be trusted"
        return warned("file system", detail, "set IAI_MCP_STORE to a directory on a local disk")
    return passed("file system", kind or "local")


def aliases() -> Check:
    problem = project_aliases.problem()
    if problem:
        return warned("projects", problem, f"correct or remove {project_aliases.file_path()}")
    return passed("projects", "aliases can be read")


def service() -> Check:
    from iai_mcp.adapters import service_units

    present = [unit for unit in service_units.units() if os.path.exists(unit.path)]
    if not present:
        return passed("service", "not installed ('iai-mcp up --service' would)")
    changed = [unit for unit in present if Path(unit.path).read_text("utf-8") != unit.text]
    if changed:
        return warned(
            "service", f"{changed[0].path} is from another installation", "iai-mcp up --service"
        )
    problem = service_units.problem()
    if problem:
        return warned("service", problem.splitlines()[0], "iai-mcp up --service")
    return passed("service", f"{len(present)} units installed")


def processes() -> Check:
    """Daemons beside the one that answers, for the same store; another home's are its own affair."""
    try:
        known = connection.control("status").get("pid")
    except DaemonUnreachable:
        known = None
    here = [pid for pid, store in _daemons() if store == os.path.abspath(paths.user_data())]
    strays = [pid for pid in here if pid != known]
    if strays:
        return warned(
            "processes",
            f"a second daemon runs for this store: pid {strays[0]}",
            f"kill {strays[0]}",
        )
    return passed("processes", "no daemon but the one that answers" if here else "no daemon")


def sessions() -> Check:
    from iai_mcp.terminal.cleanup import strays

    found = strays()
    if found:
        return warned(
            "sessions", f"{len(found)} terminal sessions without an owner", "iai-mcp session prune"
        )
    return passed("sessions", "no strays")


def _age(moment: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()


def _file_system_of(path: str) -> str:
    """The kind of file system a path lies on, where the system tells (Linux)."""
    best, kind = "", ""
    try:
        with open("/proc/self/mounts", encoding="utf-8") as mounts:
            for line in mounts:
                _, point, found, *_ = line.split(" ")
                inside = path == point or path.startswith(point.rstrip("/") + "/")
                if inside and len(point) >= len(best):
                    best, kind = point, found
    except OSError:
        return ""
    return kind


def _daemons() -> list[tuple[int, str]]:
    """(pid, user-data directory) of this user's daemons, where /proc tells."""
    found: list[tuple[int, str]] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if entry.stat().st_uid != os.getuid():
                continue
            command = (entry / "cmdline").read_bytes().split(b"\0")
            if b"iai_mcp.daemon" not in command:
                continue
            pairs = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it ended while we looked
        environment = dict(pair.decode(errors="replace").partition("=")[::2] for pair in pairs)
        store = environment.get("IAI_MCP_STORE") or os.path.join(
            environment.get("HOME", ""), ".iai-mcp"
        )
        found.append((int(entry.name), os.path.abspath(store)))
    return found
