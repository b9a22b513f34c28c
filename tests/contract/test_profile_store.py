"""What every `ProfileStore` promises."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.profiles import FakeProfileStore

from iai_mcp.adapters.files.local import LocalFileSystem
from iai_mcp.adapters.files.user_documents import FileProfileStore
from iai_mcp.domain.agents.profile import AgentProfile, ConventionFile, EnvVariable, Flag, Stdin
from iai_mcp.domain.errors import NotFound
from iai_mcp.ports.agent_stores import ProfileStore

OPUS = AgentProfile(
    id="opus",
    name="Claude, Opus",
    command="claude",
    injection=ConventionFile("CLAUDE.md"),
    args=("--model", "opus"),
    detect="claude --version",
    host="claude-code",
)


@pytest.fixture(params=["fake", "files"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ProfileStore:
    if request.param == "fake":
        return FakeProfileStore()
    return FileProfileStore(LocalFileSystem, lambda: str(tmp_path / "data"))


def test_there_are_no_profiles_at_first(store: ProfileStore) -> None:
    assert list(store.list()) == []


@pytest.mark.parametrize(
    "injection", [ConventionFile("A.md"), Flag("--read"), EnvVariable("CTX"), Stdin()]
)
def test_a_saved_profile_comes_back_whole(
    store: ProfileStore, injection: ConventionFile | Flag | EnvVariable | Stdin
) -> None:
    profile = replace(OPUS, injection=injection)
    store.save(profile)

    assert list(store.list()) == [profile]


def test_saving_again_replaces_and_keeps_the_order(store: ProfileStore) -> None:
    store.save(OPUS)
    store.save(replace(OPUS, id="other"))
    store.save(replace(OPUS, name="Renamed"))

    assert [(p.id, p.name) for p in store.list()] == [
        ("opus", "Renamed"),
        ("other", "Claude, Opus"),
    ]


def test_a_deleted_profile_is_gone_and_can_not_be_deleted_again(store: ProfileStore) -> None:
    store.save(OPUS)
    store.delete("opus")

    assert list(store.list()) == []
    with pytest.raises(NotFound):
        store.delete("opus")


def test_the_first_use_walk_is_done_once(store: ProfileStore) -> None:
    assert not store.is_configured()
    store.mark_configured()

    assert store.is_configured()
    assert store.default_profile() is None


def test_a_default_stays_until_another_is_chosen(store: ProfileStore) -> None:
    store.mark_configured("opus")
    store.mark_configured()
    assert store.default_profile() == "opus"

    store.mark_configured("codex")
    assert store.default_profile() == "codex"
