"""The one rule by which a reference names an agent.

Exact id, or a prefix of at least six hex digits that only one id has; else exact slug; else exact
name. Nothing is guessed: another spelling of a name is no match.
"""

import re
from collections.abc import Sequence
from typing import Protocol, TypeVar

from iai_mcp.domain.errors import InvalidInput, NotFound

_ID_PREFIX = re.compile(r"[0-9a-f]{6}[0-9a-f-]*\Z")


class Named(Protocol):
    """What an agent can be named by."""

    @property
    def id(self) -> str: ...
    @property
    def slug(self) -> str: ...
    @property
    def name(self) -> str: ...


_A = TypeVar("_A", bound=Named)


def is_id_prefix(reference: str) -> bool:
    """Whether it may stand for an id that begins with it: at least six hex digits."""
    return _ID_PREFIX.match(reference) is not None


def matching(reference: str, agents: Sequence[_A]) -> list[_A]:
    """The agents that `reference` names; more than one: it is ambiguous."""
    exact = [agent for agent in agents if agent.id == reference]
    if exact:
        return exact
    begun = [a for a in agents if is_id_prefix(reference) and a.id.startswith(reference)]
    if len({agent.id for agent in begun}) == 1:
        return begun
    by_slug = [agent for agent in agents if agent.slug == reference]
    return by_slug or [a for a in agents if _has_name(a, reference)] or begun


def look_up(reference: str, agents: Sequence[_A]) -> _A:
    """
    Raises:
        NotFound: no agent has this id, slug or name.
        InvalidInput: several have; the message lists them.
    """
    matches = matching(reference, agents)
    if not matches:
        similar = [a for a in agents if a.name.casefold() == reference.casefold()]
        hint = f". Similar: {listed(similar)}" if similar else ""
        raise NotFound(
            f"there is no agent '{reference}' in this project: 'iai-mcp agent list' shows them{hint}"
        )
    if len(matches) > 1:
        raise InvalidInput(
            f"'{reference}' names {len(matches)} agents; say which by its id: {listed(matches)}"
        )
    return matches[0]


def listed(agents: Sequence[Named]) -> str:
    return ", ".join(
        f"{a.name} ({a.slug}) {a.id}" if a.slug else f"{a.name} {a.id}" for a in agents
    )


def _has_name(agent: Named, reference: str) -> bool:
    """Not where the slug is the reference and a number.

    Then another agent had the slug when this one was made. Once that one is deleted, its slug must
    not name the next: a second delete would remove an agent that nobody meant.
    """
    numbered = re.fullmatch(re.escape(reference) + r"-[0-9]+", agent.slug)
    return agent.name == reference and numbered is None
