"""A page of lines keeps its budget in tokens, characters and bytes."""

import pytest

from iai_mcp.domain.injected_text import LONGEST_TEXT, IndexLine, IndexPage, Source, joined, section


def count(text: str) -> int:
    return len(text) // 4 + 1


def lines(*texts: str) -> list[IndexLine]:
    return [IndexLine(text, (Source(text[:4], "why"),)) for text in texts]


def test_lines_that_do_not_fit_are_passed_over() -> None:
    page = section("Heading:", lines("a" * 20, "b" * 400, "c" * 20), 20, count)
    assert page.lines == ["Heading:", "a" * 20, "c" * 20]
    assert [one.id for one in page.sources] == ["aaaa", "cccc"]
    assert page.tokens <= 20


def test_a_heading_does_not_stand_alone() -> None:
    assert section("Heading:", lines("b" * 400), 20, count).lines == []
    assert section("Heading:", [], 20, count).lines == []


def test_at_most_so_many_lines() -> None:
    assert len(section("H:", lines(*"abcdef"), 900, count, most=3).lines) == 1 + 3


@pytest.mark.parametrize("letter", ["x", "\u4e2d", "\ud800"])
def test_bytes_count_where_the_counter_is_generous(letter: str) -> None:
    page = IndexPage(100, lambda _: 1)
    for line in lines(*[letter * 30] * 50):
        page.add(line)
    text = page.made().text
    assert len(text.encode("utf-8", "surrogatepass")) <= 400


def test_no_budget_passes_what_hosts_take() -> None:
    page = IndexPage(100_000, count)
    for line in lines(*["x" * 100] * 200):
        page.add(line)
    assert len(page.made().text) <= LONGEST_TEXT


def test_pages_stand_one_below_the_other() -> None:
    made = joined([section("A:", lines("one"), 99, count), section("B:", [], 99, count)])
    assert (made.text, [one.id for one in made.sources]) == ("A:\none", ["one"])
