"""What every `ProjectStore` promises."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.projects import FakeProjectStore

from iai_mcp.adapters.files.local import LocalFileSystem
from iai_mcp.adapters.files.user_documents import FileProjectStore
from iai_mcp.domain.errors import NotFound
from iai_mcp.domain.projects.project import Project, ProjectPath, RemoteRef
from iai_mcp.ports.agent_stores import ProjectStore

SHOP = Project("p-1", "Shop", ProjectPath("/home/ann/shop"), 1_700_000_000_000)


@pytest.fixture(params=["fake", "files"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ProjectStore:
    if request.param == "fake":
        return FakeProjectStore()
    return FileProjectStore(LocalFileSystem, lambda: str(tmp_path / "data"))


def test_saved_projects_come_back_in_the_order_they_were_added(store: ProjectStore) -> None:
    far = replace(SHOP, id="p-2", remote=RemoteRef.parse("ssh://ann@host:22"))
    store.save(SHOP)
    store.save(far)
    store.save(replace(SHOP, name="Renamed"))

    assert list(store.list()) == [replace(SHOP, name="Renamed"), far]


def test_a_deleted_project_is_gone(store: ProjectStore) -> None:
    store.save(SHOP)
    store.delete("p-1")

    assert list(store.list()) == []
    with pytest.raises(NotFound):
        store.delete("p-1")


def test_trust_is_unknown_until_somebody_said(store: ProjectStore) -> None:
    assert store.trust(SHOP.path) is None
    store.remember_trust(SHOP.path, True)
    store.remember_trust(ProjectPath("/other"), False)

    assert store.trust(SHOP.path) is True
    assert store.trust(ProjectPath("/other")) is False
