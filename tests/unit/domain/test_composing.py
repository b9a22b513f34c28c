"""The document an agent reads first."""

from typing import Any

import pytest

from iai_mcp.domain.agents.context_document import Composition, Skill, compose, typed_persona
from iai_mcp.domain.errors import InvalidInput

PERSONA = "# Ada\r\n\r\nYou like proofs.  \n\n"


def composed(**more: Any) -> str:
    return compose(
        Composition("Ada", "/home/ann/shop", "/home/ann/shop/.ideai/run/a", PERSONA, **more)
    )


def test_the_persona_stands_unchanged_at_the_end() -> None:
    assert composed(skills=[Skill("git", "Rebase.")]).endswith(f"\n{PERSONA}")


def test_the_header_names_the_project_and_says_that_the_agent_is_not_in_it() -> None:
    header = composed().removesuffix(PERSONA)

    assert "/home/ann/shop`" in header
    assert "not the project" in header
    assert "memory_recall" in header


def test_skills_come_in_the_order_of_their_names_before_the_persona() -> None:
    one = composed(skills=[Skill("b", "second"), Skill("a", "first")])
    other = composed(skills=[Skill("a", "first"), Skill("b", "second")])

    assert one == other
    assert one.index("first") < one.index("second") < one.index("# Ada")


def test_what_was_remembered_comes_before_the_skills_and_only_if_there_is_any() -> None:
    document = composed(remembered="the port is 5433", skills=[Skill("a", "snippet")])

    assert document.index("5433") < document.index("snippet")
    assert "shared memory holds" not in composed(remembered="  ")


def test_a_line_too_long_for_a_terminal_is_refused_with_its_number() -> None:
    assert typed_persona("é" * 2047 + "\n") == ("é" * 2047 + "\n").encode()
    with pytest.raises(InvalidInput, match="line 2 of the persona has 4096 bytes"):
        typed_persona("short\n" + "é" * 2048 + "\n")


@pytest.mark.parametrize("key", ["\x03", "\x04", "\x1b[A", "\x1a", "\x7f", "\0"])
def test_a_persona_with_keys_that_a_terminal_obeys_is_not_typed(key: str) -> None:
    with pytest.raises(InvalidInput, match="line 2"):
        typed_persona(f"fine\tso far\r\nand {key} then\n")


def test_a_project_is_given_as_a_shell_would_take_it() -> None:
    document = compose(Composition("Ada", "/home/ann/a; rm -rf x", "/run", PERSONA))

    assert "`cd '/home/ann/a; rm -rf x'`" in document
