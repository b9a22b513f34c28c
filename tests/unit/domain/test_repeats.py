"""What counts as the same thing said again, and what never does."""

import pytest

from iai_mcp.domain.repeats import bands, fold_digest, repeats, wording

LONG = (
    "The release train leaves every second Tuesday after the smoke tests are green, and the "
    "person on call writes the notes, tags the commit and tells the support channel about it"
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the staging db listens on port 5433", "The staging DB listens on port 5433!"),
        ("Staging db: listens on the port 5433.", "staging DB listens on port 5433"),
        ("yes", "Yes."),
        ("deploy   with `make ship`", "Deploy with make ship"),
        ("数据库在5433端口", "数据库在5433端口。"),
        (LONG, LONG.replace("channel", "chanel")),
        (LONG, f"Please remember: {LONG}!"),
    ],
)
def test_the_same_thing_in_nearly_the_same_words_is_a_repeat(one: str, other: str) -> None:
    assert repeats(wording(one), wording(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the staging db listens on port 5433", "the staging db listens on port 5432"),
        ("use tabs here", "do not use tabs here"),
        ("never deploy on fridays", "deploy on fridays"),
        ("the db is on 5433", "is the db on 5433?"),
        ("retry if a == b", "retry if a != b"),
        ("run it with --force", "run it with --dry-run"),
        ("rename parse_header", "rename parseHeader"),
        ("we use postgres", "we use sqlite"),
        (LONG, LONG.replace("second", "3rd")),
        (LONG, LONG.replace("Tuesday", "Thursday")),
        (LONG, LONG[:100]),
        (LONG, LONG.replace("are green", "are not green")),
        ("x" * 30_000, "x" * 30_001),
    ],
)
def test_what_differs_in_a_number_a_name_or_a_no_is_another_memory(one: str, other: str) -> None:
    assert not repeats(wording(one), wording(other))


def test_short_repeats_meet_by_digest_and_long_ones_by_a_band() -> None:
    short, again = wording("the staging db is on 5433"), wording("Staging DB is on 5433.")
    assert fold_digest("p", "user", short) == fold_digest("p", "user", again)
    one, other = wording(LONG), wording(LONG.replace("channel", "chanel"))
    assert set(bands("p", "user", one)) & set(bands("p", "user", other))
    assert bands("p", "user", short) == ()


def test_another_project_or_role_is_another_place() -> None:
    said = wording(LONG)
    assert len({fold_digest(p, r, said) for p in "pq" for r in ("user", "assistant")}) == 4
    assert not set(bands("p", "user", said)) & set(bands("q", "user", said))
