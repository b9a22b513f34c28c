"""Agents and their manifest as values."""

from typing import Any

import pytest

from iai_mcp.domain.agents.agent import (
    Agent,
    AgentManifest,
    FromTemplate,
    Scratch,
    free_slug,
    slug_of,
)
from iai_mcp.domain.errors import AlreadyExists, InvalidInput, NotFound

ADA = Agent("a-1", "Ada", "agents/ada.md", "codex")
BEN = Agent("b-2", "Ben", "agents/ben.md", "codex")


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Backend Dev", "backend-dev"),
        ("  --Ünïcode  Größe!  ", "ünïcode-grösse"),
        ("バックエンド", "バックエンド"),
        ("../../etc/passwd", "etc-passwd"),
        ("!!!", "agent"),
        ("A" * 200, "a" * 48),
    ],
)
def test_a_name_becomes_a_slug(name: str, slug: str) -> None:
    assert slug_of(name) == slug


def test_a_taken_slug_gets_the_next_number() -> None:
    assert free_slug("Backend Dev", {"backend-dev", "backend-dev-2"}) == "backend-dev-3"


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": ""},
        {"id": "../x"},
        {"id": "a/b"},
        {"name": "  "},
        {"name": "two\nlines"},
        {"profile_id": " "},
        {"context_path": "ada.md"},
        {"context_path": "agents/../../ada.md"},
        {"context_path": "agents/ada.txt"},
        {"context_path": "/agents/ada.md"},
        {"synchronized": True},
    ],
)
def test_an_invalid_agent_can_not_be_made(wrong: dict[str, object]) -> None:
    fields: dict[str, Any] = {
        "id": "a-1",
        "name": "Ada",
        "context_path": "agents/ada.md",
        "profile_id": "codex",
        "origin": Scratch(),
    }
    with pytest.raises(InvalidInput):
        Agent(**(fields | wrong))


def test_a_template_has_an_id_and_a_version() -> None:
    with pytest.raises(InvalidInput):
        FromTemplate("", 1)
    with pytest.raises(InvalidInput):
        FromTemplate("reviewer", 0)


def test_two_agents_can_not_share_an_id_or_a_context() -> None:
    with pytest.raises(AlreadyExists, match="same id"):
        AgentManifest((ADA, Agent("a-1", "Other", "agents/other.md", "codex")))
    with pytest.raises(AlreadyExists, match="same context"):
        AgentManifest((ADA, Agent("c-3", "Other", "agents/ada.md", "codex")))


def test_a_manifest_of_another_version_can_not_be_made() -> None:
    with pytest.raises(InvalidInput, match="update iai-mcp"):
        AgentManifest(version=2)


@pytest.mark.parametrize("reference", ["a-1", "ada", "Ada"])
def test_an_agent_is_named_by_id_slug_or_name(reference: str) -> None:
    assert AgentManifest((ADA, BEN)).named(reference) is ADA


def test_a_unique_prefix_of_an_id_names_an_agent() -> None:
    first, second = (
        Agent(f"0123456{last}-aa", f"Agent {last}", f"agents/agent-{last}.md", "codex")
        for last in "ab"
    )
    manifest = AgentManifest((first, second))
    assert manifest.named("0123456a") is first
    with pytest.raises(InvalidInput, match=r"0123456a-aa.*0123456b-aa"):
        manifest.named("0123456")
    with pytest.raises(NotFound):
        manifest.named("01234")


def test_a_name_that_two_agents_have_is_refused_with_their_ids() -> None:
    twin = Agent("c-3", "Ada", "agents/ada-2.md", "codex")
    with pytest.raises(InvalidInput, match=r"a-1.*c-3"):
        AgentManifest((ADA, twin)).named("Ada")


def test_an_exact_slug_wins_over_a_name() -> None:
    tricky = Agent("c-3", "ada", "agents/ada-2.md", "codex")
    assert AgentManifest((ADA, tricky)).named("ada") is ADA


def test_the_slug_of_a_deleted_agent_does_not_name_the_next_one() -> None:
    next_one = Agent("c-3", "ada", "agents/ada-2.md", "codex")
    with pytest.raises(NotFound, match=r"ada-2.*c-3"):
        AgentManifest((next_one,)).named("ada")


def test_another_spelling_of_a_name_is_not_found_but_shown() -> None:
    with pytest.raises(NotFound, match=r"Ada \(ada\) a-1"):
        AgentManifest((ADA,)).named("ADA")


def test_an_unknown_agent_is_not_found() -> None:
    with pytest.raises(NotFound, match="agent list"):
        AgentManifest((ADA,)).named("ghost")
    with pytest.raises(NotFound):
        AgentManifest((ADA,)).without("ghost")
