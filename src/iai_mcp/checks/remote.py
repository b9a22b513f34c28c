"""Checks of another machine: is it reachable, can our program run there, does memory come back."""

from collections.abc import Callable

from iai_mcp.checks.result import Check, examined, failed, passed, warned
from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.projects.project import RemoteRef
from iai_mcp.hosts.catalogue import PROFILES
from iai_mcp.remote import archive
from iai_mcp.remote.json_fields import Fields
from iai_mcp.remote.machine import Machine

_FEW = 16 * 1024 * 1024  # bytes: the archive, some run directories and a spool need no more


class _Examination:
    def __init__(self, machine: Machine, path: str) -> None:
        self.machine = machine
        self.path = path
        self._found: Fields | None = None

    def connection(self) -> Check:
        there = self.machine.hello()
        return passed("connection", f"{self.machine.name} answers with {there.text('python')}")

    def archive(self) -> Check:
        if self._there().text("digest") == archive.current().digest:
            return passed("archive", f"what runs there is whole ({archive.current().digest[:12]})")
        home = self.machine.hello().text("home")
        return failed(
            "archive",
            "what runs there is not what was put there",
            f"remove {home}/.iai-mcp/far/{archive.current().digest} over there: it is put there anew",
        )

    def project(self) -> Check:
        found = self.machine.call("project", path=self.path or "~")
        return passed("project", f"{found} is there")

    def memory(self) -> Check:
        if self._there().flag("memory"):
            return passed("memory", "hooks and bridges there reach this machine's daemon")
        return failed(
            "memory",
            "nothing there reaches this machine's daemon: what is said is kept there until it does",
            "run iai-mcp up; if it is up, sshd there has to allow AllowStreamLocalForwarding",
        )

    def spool(self) -> Check:
        waiting = self._there().number("spooled")
        if not waiting:
            return passed("spool", "nothing waits there")
        return warned("spool", f"{waiting} captures wait there", "run iai-mcp up: it takes them")

    def disk(self) -> Check:
        free = self._there().number("free")
        if free > _FEW:
            return passed("disk", f"{free >> 20} MB are free there")
        return warned("disk", f"only {free >> 20} MB are free there", "free some space over there")

    def programs(self) -> Check:
        from iai_mcp.remote.ports import RemoteRuntime

        found = [p.name for p in PROFILES if RemoteRuntime(self.machine).find(p) is not None]
        if found:
            return passed("programs", f"found by the login shell there: {', '.join(found)}")
        return warned("programs", "no agent program is on the PATH of the login shell there",
                      "install one there; 'iai-mcp profile list' names them")  # fmt: skip

    def _there(self) -> Fields:
        if self._found is None:
            found = self.machine.call("examine")
            self._found = Fields({"found": found}).below("found")
        return self._found


def of_project(address: str) -> list[Check]:
    """The machine and the directory of `ssh://…`, in the order people read it."""
    remote, path = RemoteRef.split(address)
    examination = _Examination(Machine.of(remote), path)
    looks: tuple[Callable[[], Check], ...] = (
        examination.connection,
        examination.archive,
        examination.project,
        examination.memory,
        examination.spool,
        examination.disk,
        examination.programs,
    )
    try:
        examination.machine.hello()
    except IaiError as away:
        return [failed("connection", away.message, f"try: ssh {remote.machine} true")]
    return [examined(look.__name__, look) for look in looks]
