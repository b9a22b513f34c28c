"""The table of hosts that can be wired to the memory, and the doing of it.

`detected()` is which of them are on this machine; `install` and `remove` do one host at a time:
all of its files are read and planned before the first one is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from iai_mcp.domain.errors import IaiError, NotFound
from iai_mcp.hosts import every, find, wiring
from iai_mcp.hosts.editing import edits, receipts
from iai_mcp.hosts.editing.edits import Edit
from iai_mcp.hosts.editing.wanted import WantedFile
from iai_mcp.hosts.host import Host


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened (or would happen) to one host's files; `error` if it was left alone."""

    host: Host
    edits: tuple[Edit, ...] = ()
    error: IaiError | None = None

    @property
    def changes(self) -> bool:
        return any(edit.changes for edit in self.edits)


def hosts() -> tuple[Host, ...]:
    """Every host that can be wired, the most used first."""
    return tuple(host for host in every() if host.files is not None)


def host(name: str) -> Host:
    """The host of that id.

    Raises:
        NotFound: with a sentence that names the ones there are.
    """
    found = find(name)
    if found is not None and found.files is not None:
        return found
    if found is not None and found.unwired:
        raise NotFound(f"nothing to install for '{name}': {found.unwired}")
    known = ", ".join(host.id for host in hosts())
    raise NotFound(f"there is no host '{name}'; choose from {known}")


def files(host: Host) -> tuple[WantedFile, ...]:
    """What should stand in the host's files, as this installation would write it."""
    return () if host.files is None else host.files(wiring.current())


def detected() -> tuple[Host, ...]:
    """The hosts that are on this machine: their program on PATH, or their folder at home."""
    return tuple(host for host in hosts() if host.found())


def missing() -> tuple[Host, ...]:
    """Detected hosts that are not fully wired: what `iai-mcp up` offers on first use."""
    return tuple(host for host in detected() if status(host) not in ("installed", "plugin"))


def status(host: Host) -> str:
    """ "installed", "outdated" (an older installation of ours), "partly", "absent" or "broken"; "plugin" when
    the host has our own, "twice" when it has both."""
    if host.has_plugin():
        return "twice" if commands(host) else "plugin"
    try:
        states = {edits.state(wanted) for wanted in files(host)}
    except IaiError:
        return "broken"
    if len(states) == 1:
        return states.pop()
    return "outdated" if "outdated" in states else "partly"


def commands(host: Host) -> list[list[str]]:
    """What this host's files start of ours, each as its words; nothing of files that can not be read."""
    try:
        return [words for wanted in files(host) for words in edits.commands(wanted)]
    except IaiError:
        return []


def plan_install(host: Host) -> Outcome:
    """What installing would do; nothing is written."""
    return _planned(host, install=True)


def plan_remove(host: Host) -> Outcome:
    """What removing would do; nothing is written."""
    return _planned(host, install=False)


def install(chosen: Sequence[Host]) -> list[Outcome]:
    """Wire these hosts. One that can not be wired keeps its files and its error; the rest go on."""
    with receipts.turnstile():
        return [_done(host, install=True) for host in chosen]


def remove(chosen: Sequence[Host]) -> list[Outcome]:
    """Take everything of ours out of these hosts' files again."""
    with receipts.turnstile():
        return [_done(host, install=False) for host in chosen]


def _planned(host: Host, *, install: bool) -> Outcome:
    if install and host.has_plugin():
        return Outcome(host)  # the plugin does all of it
    plan = edits.plan_install if install else edits.plan_remove
    try:
        return Outcome(host, tuple(plan(wanted) for wanted in files(host)))
    except IaiError as error:
        return Outcome(host, error=error)


def _done(host: Host, *, install: bool) -> Outcome:
    planned = _planned(host, install=install)
    if planned.error is not None or not planned.edits:
        return planned
    do = edits.install if install else edits.remove
    wanted_files = files(host)
    done: list[Edit] = []
    try:
        # Backwards when removing: the folders were made for the first file and go with it.
        for wanted in wanted_files if install else reversed(wanted_files):
            done.append(do(wanted))
    except IaiError as error:
        return Outcome(host, tuple(done), error)
    return Outcome(host, tuple(done))
