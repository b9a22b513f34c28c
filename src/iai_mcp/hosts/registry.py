"""Connects hosts to the memory and disconnects them.

`detected()` lists the hosts on this machine. `install` and `remove` work on one host at a time: they
read and plan all of its files before they write the first one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from iai_mcp.domain.errors import IaiError, NotFound
from iai_mcp.hosts import commands, every, find
from iai_mcp.hosts.config_files import edits, receipts
from iai_mcp.hosts.config_files.edits import Edit
from iai_mcp.hosts.config_files.entries import ConfigFile, OwnFile
from iai_mcp.hosts.host import Host


@dataclass(frozen=True, slots=True)
class Outcome:
    """What changed (or would change) in one host's files. With an `error`, nothing was changed."""

    host: Host
    edits: tuple[Edit, ...] = ()
    error: IaiError | None = None

    @property
    def changes(self) -> bool:
        return any(edit.changes for edit in self.edits)


def hosts() -> tuple[Host, ...]:
    """Every host that can be connected, the most used first."""
    return tuple(host for host in every() if host.files is not None)


def host(name: str) -> Host:
    """The host of that id.

    Raises:
        NotFound: with a sentence that names the ones there are.
    """
    known = find(name)
    if known is not None and known.files is not None:
        return known
    if known is not None and known.not_connected:
        raise NotFound(f"nothing to install for '{name}': {known.not_connected}")
    choices = ", ".join(host.id for host in hosts())
    raise NotFound(f"there is no host '{name}'; choose from {choices}")


def files(host: Host) -> tuple[ConfigFile, ...]:
    """What should stand in the host's files, as this installation would write it."""
    return () if host.files is None else host.files(commands.current())


def detected() -> tuple[Host, ...]:
    """The hosts that are on this machine: their program on PATH, or their folder at home."""
    return tuple(host for host in hosts() if host.location())


def missing() -> tuple[Host, ...]:
    """Detected hosts that are not fully connected: `iai-mcp up` offers them on first use."""
    return tuple(host for host in detected() if status(host) not in ("installed", "plugin"))


def status(host: Host) -> str:
    """ "installed", "outdated" (an older installation of ours), "partly", "absent" or "broken"; "plugin" when
    the host has our own, "twice" when it has both."""
    if host.has_plugin():
        return "twice" if installed_commands(host) else "plugin"
    try:
        states = {edits.state(wanted) for wanted in files(host) if not _is_shared(wanted)}
        shared = {edits.state(wanted) for wanted in files(host) if _is_shared(wanted)}
    except IaiError:
        return "broken"
    if states == {"installed"} and shared - states:
        return "outdated"  # from before there was a skill
    if len(states) == 1:
        return states.pop()
    return "outdated" if "outdated" in states else "partly"


def installed_commands(host: Host) -> list[list[str]]:
    """Our commands in this host's files, each as a list of words; empty if a file can not be read."""
    try:
        return [words for wanted in files(host) for words in edits.commands(wanted)]
    except IaiError:
        return []


def plan_install(host: Host) -> Outcome:
    """What installing would do; nothing is written."""
    return _planned(host, install=True)


def plan_remove(host: Host, chosen: Sequence[Host] = ()) -> Outcome:
    """What removing would do, one after the other where several are `chosen`; nothing is written."""
    return _planned(host, install=False, gone=chosen[: chosen.index(host)] if chosen else ())


def install(chosen: Sequence[Host]) -> list[Outcome]:
    """Connect these hosts. If one fails, its files stay as they are and the others continue."""
    with receipts.lock():
        return [_done(host, install=True) for host in chosen]


def remove(chosen: Sequence[Host]) -> list[Outcome]:
    """Take everything of ours out of these hosts' files again."""
    with receipts.lock():
        return [_done(host, install=False) for host in chosen]


def _needed(host: Host, *, install: bool, gone: Sequence[Host] = ()) -> tuple[ConfigFile, ...]:
    """The host's files; those to remove without what other connected hosts need."""
    if install:
        return files(host)
    others = [other for other in hosts() if other is not host and other not in gone]
    needed = {wanted.path for other in others if _is_connected(other) for wanted in files(other)}
    return tuple(
        wanted for wanted in files(host) if not (_is_shared(wanted) and wanted.path in needed)
    )


def _is_shared(wanted: ConfigFile) -> bool:
    return isinstance(wanted, OwnFile) and wanted.shared


def _is_connected(host: Host) -> bool:
    """Whether anything of ours is in the files that are this host's alone."""
    own = [wanted for wanted in files(host) if not _is_shared(wanted)]
    try:
        return any(edits.state(wanted) != "absent" for wanted in own)
    except IaiError:
        return True


def _planned(host: Host, *, install: bool, gone: Sequence[Host] = ()) -> Outcome:
    if install and host.has_plugin():
        return Outcome(host)  # the plugin does all of it
    plan = edits.plan_install if install else edits.plan_remove
    try:
        return Outcome(host, tuple(map(plan, _needed(host, install=install, gone=gone))))
    except IaiError as error:
        return Outcome(host, error=error)


def _done(host: Host, *, install: bool) -> Outcome:
    planned = _planned(host, install=install)
    if planned.error is not None or not planned.edits:
        return planned
    do = edits.install if install else edits.remove
    wanted_files = _needed(host, install=install)
    done: list[Edit] = []
    try:
        # Backwards when removing: the folders were made for the first file and go with it.
        for wanted in wanted_files if install else reversed(wanted_files):
            done.append(do(wanted))
    except IaiError as error:
        return Outcome(host, tuple(done), error)
    return Outcome(host, tuple(done))
