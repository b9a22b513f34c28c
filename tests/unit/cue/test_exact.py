"""Names that a cue quotes letter by letter."""

import pytest

from iai_mcp.domain.cue.exact import exact_parts


@pytest.mark.parametrize(
    ("cue", "name"),
    [
        ("what does `make lint` run?", "make lint"),
        ("where is parse_header used", "parse_header"),
        ("who calls getUserById()", "getUserById()"),
        ("what is in src/app/main.py?", "src/app/main.py"),
        ("why /etc/hosts.", "/etc/hosts"),
        ("what does --no-cache do", "--no-cache"),
        ("fix std::vector please", "std::vector"),
        ("MAX_RETRIES is what?", "MAX_RETRIES"),
        ("what about PROJ-142?", "PROJ-142"),
        ("which bug came with a1b2c3d", "a1b2c3d"),
        ("upgrade to 2.31.0", "2.31.0"),
        ("ECONNREFUSED again", "ECONNREFUSED"),
        ('what does "connection reset by peer" mean here', "connection reset by peer"),
        (
            "we saw TypeError: cannot unpack non-iterable NoneType object",
            "TypeError: cannot unpack non-iterable NoneType object",
        ),
    ],
)
def test_an_identifier_is_taken_as_written(cue: str, name: str) -> None:
    assert name in exact_parts(cue)


@pytest.mark.parametrize(
    "cue",
    [
        "how should I structure this page?",
        "this and/or that, a well-known thing",
        "review remarks on my February PRs, their IDs and URLs",
        "on 7/22 we met",
        "don't you think so? I'd say 'tis fine",
        "The weather in Paris is nice.",
    ],
)
def test_plain_talk_quotes_nothing(cue: str) -> None:
    assert exact_parts(cue) == ()


def test_the_longest_name_comes_first() -> None:
    found = exact_parts("ModuleNotFoundError: No module named 'yaml'")

    assert found[0] == "ModuleNotFoundError: No module named 'yaml'"
    assert "yaml" in found
