"""Where people changed a rule, recall shows the latest first and names the old one as old."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

OLD = "End all function names with '_y'."
NEW = "From now on, end all function names with '_x'."
CUE = "how do function names end?"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryStore]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    opened = MemoryStore(tmp_path / "data")
    yield opened
    opened.close()


def say(store: MemoryStore, day: int, *texts: str, project: str = "/p") -> None:
    at = f"2026-01-{day:02}T09:00:00Z"
    events = [{"text": text, "role": "user", "ts": at} for text in texts]
    call = {"session_id": f"{project}{day}", "events": events, "project": project}
    dispatch(store, "capture_events", call)


def ask(store: MemoryStore, **more: object) -> tuple[list[str], dict[str, str | None]]:
    """The texts of the hits, and those of the anti-hits with the end of their validity."""
    told = dispatch(store, "memory_recall", {"cue": CUE, "project": "/p", **more})
    hits, anti = told["hits"], told["anti_hits"]
    assert isinstance(hits, list)
    assert isinstance(anti, list)
    return [hit["text"] for hit in hits], {hit["text"]: hit["valid_to"] for hit in anti}


def test_the_latest_ruling_answers_and_the_old_one_is_named_as_old(store: MemoryStore) -> None:
    say(store, 1, OLD)
    say(store, 2, NEW)
    say(store, 3, "End all argument names with '_z'.")

    hits, anti = ask(store)

    assert hits[0] == NEW
    assert OLD not in hits
    assert str(anti[OLD]).startswith("2026-01-02")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("always prefix method names with m_", "method names: not m_, k_"),
        ("end all method names with _x", "end all method names with _y from now on"),
        ("method names must be in German", "from now on method names must be in English"),
    ],
)
def test_values_that_nobody_quotes_are_replaced_too(store: MemoryStore, old: str, new: str) -> None:
    say(store, 1, old)
    say(store, 2, new)

    hits, anti = ask(store, cue="method names")

    assert (hits, list(anti)) == ([new], [old])


def test_what_replaces_a_part_of_a_turn_comes_before_it_and_both_stay(store: MemoryStore) -> None:
    both = f"{OLD} Always use docstrings in methods."
    say(store, 1, both)
    say(store, 2, NEW)

    hits, anti = ask(store)

    assert hits.index(NEW) < hits.index(both)
    assert anti == {}


def test_at_the_time_of_the_old_ruling_it_was_the_answer(store: MemoryStore) -> None:
    say(store, 1, OLD)
    say(store, 5, NEW)

    hits, anti = ask(store, as_of="2026-01-03T00:00:00Z")

    assert (hits, anti) == ([OLD], {})


def test_who_asks_for_one_session_gets_what_was_said_there(store: MemoryStore) -> None:
    say(store, 1, OLD)
    say(store, 2, NEW)

    assert ask(store, session_id="/p1") == ([OLD], {})
    assert ask(store, until="2026-01-02T00:00:00Z") == ([OLD], {})


def test_a_ruling_of_another_project_replaces_nothing(store: MemoryStore) -> None:
    say(store, 1, OLD)
    say(store, 2, NEW, project="/q")

    assert ask(store) == ([OLD], {})


def test_when_the_later_ruling_is_forgotten_the_earlier_one_holds_again(store: MemoryStore) -> None:
    say(store, 1, OLD)
    say(store, 2, NEW)
    assert ask(store)[0][0] == NEW
    dispatch(store, "memory_forget", {"query": "From now on"})

    assert ask(store) == ([OLD], {})


def test_what_was_only_nodded_to_an_outdated_rule_does_not_answer(store: MemoryStore) -> None:
    for day, rule, nod in ((1, OLD, "Will do."), (2, NEW, "Changed.")):
        said = (("user", rule), ("assistant", "Let me look."), ("assistant", nod))
        events = [
            {"text": text, "role": role, "ts": f"2026-01-{day:02}T09:0{n}:00Z"}
            for n, (role, text) in enumerate(said)
        ]
        call = {"session_id": f"work {day}", "events": events, "project": "/p"}
        dispatch(store, "capture_events", call)

    hits, anti = ask(store)

    assert hits[0] == NEW
    assert "Will do." not in hits
    assert list(anti) == [OLD]
