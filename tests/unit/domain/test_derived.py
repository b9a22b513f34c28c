"""What is made of texts and kept: once for each, of few of them, and without their words."""

from iai_mcp.domain.derived import Derived


def test_the_same_text_is_worked_out_once() -> None:
    made: list[str] = []
    kept = Derived[int](8)

    def make(text: str) -> int:
        made.append(text)
        return len(text)

    assert [kept.of("".join(("he", "ron")), make) for _ in range(3)] == [5, 5, 5]
    assert kept.of("stork", make) == 5
    assert made == ["heron", "stork"]


def test_what_is_false_is_kept_as_well() -> None:
    made: list[str] = []
    kept = Derived[bool](8)

    def make(text: str) -> bool:
        made.append(text)
        return False

    assert [kept.of("heron", make) for _ in range(2)] == [False, False]
    assert made == ["heron"]


def test_no_more_are_kept_than_wanted() -> None:
    kept = Derived[int](3)

    for number in range(20):
        assert kept.of(f"text {number}", len) == len(f"text {number}")
        assert len(kept) <= 3


def test_the_words_themselves_are_not_held() -> None:
    kept = Derived[int](3)
    kept.of("the heron is hidden", len)

    assert len(kept) == 1
    assert "heron" not in repr(vars(kept))
