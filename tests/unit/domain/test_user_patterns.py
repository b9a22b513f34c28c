"""Users' own patterns: good ones work, bad ones are named and left out."""

import pytest

from iai_mcp.domain.redaction import redact
from iai_mcp.domain.redaction.user_patterns import parse


def row(name: str, regex: str) -> str:
    return f"[[pattern]]\nname = '{name}'\nregex = '''{regex}'''\n"


def test_patterns_are_read_and_used() -> None:
    user = parse(row("employee", r"EMP-\d{6}") + row("codename", r"codename (\w+)"))
    assert user.problems == ()
    text = redact("EMP-123456, codename bluebird", user.patterns).text
    assert text == "[secret:employee], codename [secret:codename]"


def test_no_file_content_is_no_pattern() -> None:
    assert parse("") == parse("# nothing yet\n")
    assert parse("").patterns == ()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("not toml at all", "not TOML"),
        ("pattern = 3", "[[pattern]]"),
        ("pattern = [3]", "[[pattern]]"),
        (row("Bad Name", "x"), "name"),
        ("[[pattern]]\nname = 'empty'\n", "needs a regex"),
        (row("broken", "(x"), "does not compile"),
        (row("slow", "(a+)+b"), "may never end"),
        (row("slow", r"(?:x(?:[ab]|\d{2,})c)*"), "may never end"),
    ],
)
def test_a_pattern_that_can_not_be_used_is_named_and_the_others_work(
    text: str, complaint: str
) -> None:
    user = parse(text)
    assert user.patterns == ()
    assert complaint in user.problems[0]
    if text.startswith("[["):
        both = parse(text + row("employee", r"EMP-\d{6}"))
        assert [pattern.name for pattern in both.patterns] == ["employee"]


@pytest.mark.parametrize(
    "regex", [r"a+b+", r"(a+)b", r"(ab)+", r"[+*](x)+", r"\(a+\)+", r"(a{1,9})+"]
)
def test_a_harmless_repetition_is_accepted(regex: str) -> None:
    assert parse(row("fine", regex)).problems == ()


@pytest.mark.parametrize("regex", [".+", "[a-z]", r"secret", r"\[(\w+)"])
def test_no_pattern_breaks_a_marker(regex: str) -> None:
    patterns = parse(row("mine", regex)).patterns
    once = redact("say [private] and [secret:jwt] [a", patterns).text
    assert redact(once, patterns).text == once
    assert "[private]" in once and "[secret:jwt]" in once
