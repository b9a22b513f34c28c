"""What every `AgentContextStore` promises."""

import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.fakes.agent_contexts import FakeAgentContextStore

from iai_mcp.adapters.files.agent_contexts import FileAgentContextStore
from iai_mcp.adapters.files.local import LocalFileSystem
from iai_mcp.domain.agents.agent import Agent, AgentManifest, FromTemplate
from iai_mcp.domain.errors import NotFound
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.ports.agent_stores import AgentContextStore
from iai_mcp.remote.ports import RemoteFiles

ADA = Agent("a-1", "Ada", "agents/ada.md", "codex", skills=("testing",), extra={"colour": "red"})


@pytest.fixture(params=["fake", "files", "far"])
def store(request: pytest.FixtureRequest) -> AgentContextStore:
    if request.param == "far":
        return FileAgentContextStore(partial(RemoteFiles, request.getfixturevalue("far")))
    if request.param == "fake":
        return FakeAgentContextStore()
    return FileAgentContextStore(LocalFileSystem)


@pytest.fixture
def project(tmp_path: Path) -> ProjectPath:
    return ProjectPath(str(tmp_path))


def test_a_new_project_has_no_agents(store: AgentContextStore, project: ProjectPath) -> None:
    assert store.load_manifest(project) == AgentManifest()
    assert store.context_slugs(project) == frozenset()


def test_a_saved_manifest_is_loaded_with_what_others_put_there(
    store: AgentContextStore, project: ProjectPath
) -> None:
    grown = replace(
        ADA, id="a-2", context_path="agents/b.md", origin=FromTemplate("t", 3), synchronized=True
    )
    manifest = AgentManifest((ADA, grown), extra={"team": {"name": "x"}})
    with store.exclusive(project):
        store.save_manifest(project, manifest)

    assert store.load_manifest(project) == manifest


def test_a_context_is_kept_to_the_byte(store: AgentContextStore, project: ProjectPath) -> None:
    text = "﻿Zeile\r\n\tzwei ✓\n\n"
    with store.exclusive(project):
        store.write_context(project, "agents/ada.md", text)

    assert store.read_context(project, "agents/ada.md") == text
    assert store.context_slugs(project) == frozenset({"ada"})


def test_a_context_that_is_gone_is_not_found(
    store: AgentContextStore, project: ProjectPath
) -> None:
    with store.exclusive(project):
        store.write_context(project, "agents/ada.md", "x")
        store.remove_context(project, "agents/ada.md")
        store.remove_context(project, "agents/ada.md")

    with pytest.raises(NotFound):
        store.read_context(project, "agents/ada.md")


def test_changes_made_at_once_all_land(store: AgentContextStore, project: ProjectPath) -> None:
    def add(number: int) -> None:
        with store.exclusive(project):
            manifest = store.load_manifest(project)
            agent = replace(ADA, id=f"a-{number}", context_path=f"agents/a{number}.md")
            store.save_manifest(project, manifest.with_agent(agent))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {a.id for a in store.load_manifest(project).entries} == {f"a-{n}" for n in range(8)}
