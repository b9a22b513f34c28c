"""Checks that the installed agent programs are connected, and that their hooks start and run."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime

from iai_mcp.capture import hook_times
from iai_mcp.checks.result import Check, examined, failed, passed, warned
from iai_mcp.hosts import histories, registry
from iai_mcp.hosts.config_files import receipts
from iai_mcp.hosts.host import Host

# A long turn writes its transcript for as long, and no hook runs meanwhile.
_WITHOUT_A_HOOK = 2 * 3600.0


def hosts() -> list[Check]:
    """One check per agent program that is here, or whose files start something that is not. An absent
    one is nobody's fault."""
    found = [
        host
        for host in registry.hosts()
        if host.location() or startup_problem(registry.installed_commands(host))
    ]
    if not found:
        return [passed("hosts", "no agent program was found")]
    return [_examined(host) for host in found]


def _examined(host: Host) -> Check:
    return examined(f"host {host.id}", lambda: _host(host, registry.status(host)))


def _host(host: Host, status: str) -> Check:
    label = f"host {host.id}"
    by_plugin = [["iai-mcp"]] if host.has_plugin() else []
    problem = startup_problem([*registry.installed_commands(host), *by_plugin])
    if problem:
        fix = (
            "pipx ensurepath, or uv tool update-shell"
            if by_plugin
            else f"iai-mcp hosts install {host.id}"
        )
        return failed(label, f"its files start {problem}", fix)
    if status == "broken":
        return warned(label, "its configuration can not be read", f"iai-mcp hosts status {host.id}")
    if status == "twice":
        told = "connected twice, by our plugin and in its settings: its tools stand there twice"
        return warned(label, told, f"iai-mcp hosts remove {host.id}, or: {host.drops_plugin}")
    if status not in ("installed", "plugin"):
        return warned(label, f"not connected ({status})", f"iai-mcp hosts install {host.id}")
    if host.hooks is None:
        return passed(label, "memory tools installed")
    events = dict.fromkeys(event for event, _ in host.hooks.installed.values())
    seen = {event.name: hook_times.last(host.id, event) for event in events}
    told = f"hooks and memory tools installed; last seen: {_told(seen)}"
    known = [moment for moment in seen.values() if moment is not None]
    silent_since = max(known) + _WITHOUT_A_HOOK if known else _installed(host)
    used = _used(host)
    if used is None or silent_since is None or used <= silent_since:
        return passed(label, told)
    since = "that" if known else "it was connected"
    return warned(
        label, f"{told}; used since {since}, and no hook came ({_moment(used)})", _fix(host)
    )


def _told(seen: Mapping[str, float | None]) -> str:
    named = [f"{name} {_moment(moment)}" for name, moment in seen.items() if moment is not None]
    never = [name for name, moment in seen.items() if moment is None]
    if not named:
        return "none of them yet"
    return ", ".join(named) + (f"; never: {', '.join(never)}" if never else "")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def _installed(host: Host) -> float | None:
    """When it was connected: our receipts tell."""
    moments: list[float] = []
    for wanted in registry.files(host):
        try:
            moments.append(os.stat(f"{receipts.backup_path(wanted.path)}.receipt").st_mtime)
        except OSError:
            continue
    return max(moments, default=None)


def _used(host: Host) -> float | None:
    """When it last wrote into a transcript."""
    kept = histories.on_this_machine([host.id])
    return kept[-1].modified if kept else None


def _fix(host: Host) -> str:
    files = ", ".join(wanted.path for wanted in registry.files(host))
    reads = f"see that {host.title} reads {files} and has hooks turned on, then start a new session"
    return f"{host.note} Else {reads}" if host.note else reads


_PATIENCE_SECONDS = 10.0


def startup_problem(commands: Sequence[Sequence[str]]) -> str:
    """The first of them that starts nothing, and why; empty if all of them do."""
    # A host has many hooks, and all of them start the same: each is looked at once.
    distinct = dict.fromkeys(tuple(words[:3]) for words in commands)
    return next(filter(None, map(_problem, distinct)), "")


def _problem(words: tuple[str, ...]) -> str:
    program = os.path.expandvars(
        os.path.expanduser(words[0])
    )  # somebody may have written it by hand
    if os.path.dirname(program) and not os.path.isabs(program):
        # Never run here: whose directory we are called in may be somebody else's.
        return f"{program}, which is another one in every directory"
    if shutil.which(program) is None:
        missing = "which is gone" if os.path.isabs(program) else "which is not on PATH"
        return f"{program}, {missing}"
    script = next((word for word in words[1:] if word.endswith(".py")), None)
    if script is not None and not os.path.exists(script):
        return f"{script}, which is gone"
    if "-I" in words[1:2] and program != sys.executable and not _has_us(program):
        return f"{program}, where iai-mcp is not installed"
    return ""


def _has_us(python: str) -> bool:
    try:
        asked = subprocess.run(
            [python, "-I", "-c", "import iai_mcp"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0
