"""Machines with stores of their own, in one process, and the place where they meet."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.answers import Json

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore


class Machine:
    """One store, and its methods as the wire has them."""

    def __init__(self, directory: Path, name: str) -> None:
        self.directory, self.name = directory, name
        self.store = MemoryStore(directory)

    def call(self, method: str, **params: object) -> Json:
        return dispatch(self.store, method, params)

    def hears(self, *texts: str, project: str = "/home/ann/pond", session: str = "s") -> None:
        """Somebody says this here."""
        events = [{"id": text, "role": "user", "text": text} for text in texts]
        done = self.call("capture_events", session_id=session, project=project, events=events)
        assert done["inserted"] == len(texts), done

    def records(self, **about: object) -> list[dict[str, object]]:
        found = self.call("memory_timeline", **about)["records"]
        assert isinstance(found, list)
        return found

    def texts(self, **about: object) -> list[str]:
        return sorted(str(one["text"]) for one in self.records(**about))

    def now(self) -> dict[str, object]:
        return self.call("share_now")

    def reopen(self) -> None:
        self.store.close()
        self.store = MemoryStore(self.directory)


Machines = Callable[[str], Machine]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    made: list[Machine] = []

    def make(name: str) -> Machine:
        made.append(Machine(tmp_path / f"store-{name}", name))
        return made[-1]

    yield make
    for one in made:
        one.store.close()


@pytest.fixture
def place(tmp_path: Path) -> str:
    (tmp_path / "place").mkdir()
    return str(tmp_path / "place")


@pytest.fixture
def pair(machine: Machines, place: str) -> tuple[Machine, Machine]:
    """Ann's machine and Bob's, in one circle that shares one project of Ann's."""
    ann, bob = machine("ann"), machine("bob")
    ann.call("share_create", name="team", at=place, **{"as": "ann"})
    ann.call("share_project", project="/home/ann/pond", **{"with": "team"})
    join(ann, bob)
    return ann, bob


def join(host: Machine, guest: Machine, name: str = "team") -> None:
    code = host.call("share_invite", name=name)["code"]
    guest.call("share_join", code=code, **{"as": guest.name})
    guest.now()
    host.now()
    guest.now()
