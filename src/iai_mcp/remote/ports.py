"""`FileSystem`, `AgentRuntime` and `Worktrees` of another machine: each call is made over there."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from iai_mcp.adapters.agent_runtime import LocalRuntime
from iai_mcp.domain.agents.profile import AgentProfile, Detection
from iai_mcp.domain.agents.worktrees import CheckoutState, Difference, MergeResult
from iai_mcp.domain.errors import RemoteFailed, TimedOut
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.remote import serialization
from iai_mcp.remote.json_fields import Fields, data_text
from iai_mcp.remote.machine import Machine
from iai_mcp.remote.wire import Json


@dataclass(frozen=True, slots=True)
class RemoteFiles:
    """`FileSystem` below `root` over there; see `LocalFileSystem` for `own`."""

    machine: Machine
    root: str
    own: bool = False

    def read(self, path: str) -> bytes:
        return Fields({"data": self._call("read", path=path)}).data("data")

    def write(self, path: str, data: bytes, *, private: bool = True) -> None:
        from iai_mcp.adapters.files.local import LocalFileSystem

        LocalFileSystem(self.root).require_bounds(
            data, path
        )  # nobody carries it there to refuse it
        self._call("write", path=path, data=data_text(data), private=private)

    def exists(self, path: str) -> bool:
        return self._call("exists", path=path) is True

    def create_dir_all(self, path: str, *, private: bool = True) -> None:
        self._call("create_dir_all", path=path, private=private)

    def list(self, path: str) -> Sequence[str]:
        return list(Fields({"names": self._call("list", path=path)}).texts("names"))

    def require_plain(self, path: str) -> None:
        self._call("require_plain", path=path)

    def remove(self, path: str) -> None:
        self._call("remove", path=path)

    @contextmanager
    def locked(self, path: str) -> Iterator[None]:
        """Held by our process over there: it is let go of when the connection ends."""
        lock = self._call("lock", path=path)
        try:
            yield
        finally:
            with suppress(RemoteFailed, TimedOut):  # it went with the connection
                self.machine.call("files.unlock", lock=lock)

    def _call(self, method: str, **params: object) -> object:
        asked: Json = {"root": self.root, "own": self.own, **params}
        return self.machine.call(f"files.{method}", None, **asked)


class RemoteRuntime(LocalRuntime):
    """What is pure stays here; programs are found over there, as the person's login shell would."""

    def __init__(self, machine: Machine) -> None:
        super().__init__({})
        self._machine = machine

    def find(self, profile: AgentProfile) -> str | None:
        found = self._machine.call("runtime.find", profile=serialization.profile_json(profile))
        return found if isinstance(found, str) else None

    def detect(self, profiles: Sequence[AgentProfile]) -> Sequence[Detection]:
        asked = [serialization.profile_json(profile) for profile in profiles]
        found = self._machine.call("runtime.detect", profiles=asked)
        told = [
            serialization.detection_of(each) for each in Fields({"found": found}).objects("found")
        ]
        wanted = {profile.id for profile in profiles}
        return [each for each in told if each.profile_id in wanted]

    def record_trust(self, profile: AgentProfile, project: str) -> None:
        asked = serialization.profile_json(profile)
        self._machine.call("runtime.record_trust", profile=asked, project=project)


@dataclass(frozen=True, slots=True)
class RemoteWorktrees:
    machine: Machine

    def workplace(self, project: ProjectPath, path: str) -> str:
        return Fields({"place": self._call("workplace", project, path=path)}).text("place")

    def prepare(self, project: ProjectPath, path: str, branch: str) -> bool:
        return self._call("prepare", project, path=path, branch=branch) is True

    def standing(self, project: ProjectPath, path: str, branch: str | None) -> CheckoutState:
        return serialization.standing_of(self._value("standing", project, path=path, branch=branch))

    def difference(self, project: ProjectPath, path: str, into: str | None) -> Difference:
        return serialization.difference_of(self._value("difference", project, path=path, into=into))

    def merge(self, project: ProjectPath, path: str, branch: str, into: str | None) -> MergeResult:
        found = self._value("merge", project, path=path, branch=branch, into=into)
        return serialization.merged_of(found)

    def remove(self, project: ProjectPath, path: str, branch: str | None) -> None:
        self._call("remove", project, path=path, branch=branch)

    def _call(self, method: str, project: ProjectPath, **params: object) -> object:
        return self.machine.call(f"worktrees.{method}", None, project=project.text, **params)

    def _value(self, method: str, project: ProjectPath, **params: object) -> Fields:
        return Fields({"value": self._call(method, project, **params)}).below("value")
