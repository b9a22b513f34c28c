"""What is private stays so by every way that leads from one memory to another."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.answers import ask
from tests.support.git import git, repository

from iai_mcp import project_aliases
from iai_mcp.core import dispatch
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.store import MemoryStore

SECRET = "the vault of the old mill opens with the word nightjar"


@pytest.fixture
def store(opened: Callable[[], MemoryStore]) -> MemoryStore:
    return opened()


def tell(store: MemoryStore, text: str, where: Path | str, session: str = "s") -> str:
    place = {"cwd": str(where)} if "/" in str(where) else {"project": str(where)}
    said = dispatch(store, "memory_capture", {"text": text, "session_id": session, **place})
    return str(said["record_id"])


def close(store: MemoryStore, project: Path | str, private: bool = True) -> object:
    params = {"project": str(project), "private": private}
    return dispatch(store, "project_privacy", params)["private"]


def seen(store: MemoryStore, method: str, **params: object) -> bool:
    """Whether the answer has a word of what is private."""
    needed = {"memory_recall": {"cue": "vault word"}, "prompt_injection": {"prompt": SECRET}}
    return "nightjar" in repr(dispatch(store, method, {**needed.get(method, {}), **params}))


def test_turns_around_a_hit_end_where_a_private_project_begins(
    store: MemoryStore, tmp_path: Path
) -> None:
    events = [
        {"text": text, "role": "user", "id": str(number), "cwd": str(tmp_path / place)}
        for number, (text, place) in enumerate(
            [("we begin", "open"), (SECRET, "closed"), ("the heron nests here", "open")]
        )
    ]
    dispatch(store, "capture_events", {"session_id": "s", "events": events})
    asked = {"cue": "heron nests", "context": 5, "k": 1}
    assert seen(store, "memory_recall", **asked)

    close(store, tmp_path / "closed")

    for where in ({}, {"cwd": str(tmp_path / "open")}, {"visitor": True}):
        assert not seen(store, "memory_recall", **asked, **where)
    (hit,) = ask(store, "memory_recall", **asked)["hits"]
    assert [turn["text"] for turn in hit["before"]] == ["we begin"]


def test_what_supersedes_a_memory_from_a_private_project_is_not_told_instead(
    store: MemoryStore, tmp_path: Path
) -> None:
    old = tell(store, "the vault word is wren", tmp_path / "open")
    new = {
        "id": "0f8fad5b-d9cb-469f-a165-70867728950e",
        "text": SECRET,
        "project": str(tmp_path / "closed"),
        "supersedes": [old],
    }
    dispatch(store, "import_records", {"records": [new]})
    assert seen(store, "memory_recall", project=str(tmp_path / "open"))

    close(store, tmp_path / "closed")

    assert not seen(store, "memory_recall", project=str(tmp_path / "open"))
    assert not seen(store, "memory_recall", visitor=True)


def test_a_private_checkout_that_moved_is_private_where_it_is_now(
    store: MemoryStore, tmp_path: Path
) -> None:
    before, after = repository(tmp_path / "before"), tmp_path / "after"
    tell(store, "said before the move", before)
    close(store, before)
    before.rename(after)
    project_aliases.add(str(before), str(after))
    tell(store, SECRET, after)

    assert seen(store, "memory_recall", cwd=str(after), visitor=True)
    told = ask(store, "memory_timeline", cwd=str(after), visitor=True)["records"]
    assert len(told) == 2
    for where in ({}, {"cwd": str(tmp_path)}, {"project": str(after), "visitor": True}):
        assert not seen(store, "memory_timeline", **where)
        assert "before the move" not in repr(dispatch(store, "memory_timeline", where))


def test_a_name_closes_every_project_of_that_name(store: MemoryStore, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    tell(store, SECRET, diary)
    assert seen(store, "memory_recall")

    assert close(store, "diary") == [str(diary), "diary"]

    assert not seen(store, "memory_recall")
    assert seen(store, "memory_recall", cwd=str(diary))
    assert close(store, "diary", private=False) == []
    assert seen(store, "memory_recall")


@pytest.mark.parametrize("method", ["session_start_payload", "prompt_injection", "memory_recall"])
def test_a_directory_that_is_called_like_a_private_project_is_not_told_of_it(
    store: MemoryStore, tmp_path: Path, method: str
) -> None:
    tell(store, SECRET, "diary", session="t")
    namesake = {"cwd": str(tmp_path / "clones/diary")}
    close(store, "diary")

    assert not seen(store, method, **namesake)
    assert not seen(store, method, cwd="diary", project="diary")
    assert not seen(store, method, **namesake, project="diary")


def test_a_worktree_whose_checkout_is_gone_adds_to_it_and_is_told_nothing_private(
    store: MemoryStore, tmp_path: Path
) -> None:
    """Any directory can claim to belong to a checkout that is not there to deny it."""
    shop = repository(tmp_path / "shop")
    git("worktree", "add", "-q", "../feature", cwd=shop)
    feature = str(tmp_path / "feature")
    tell(store, SECRET, shop)
    close(store, shop)
    assert seen(store, "memory_recall", cwd=feature)

    shop.rename(tmp_path / "elsewhere")

    for method in ("memory_recall", "memory_timeline", "session_start_payload"):
        assert not seen(store, method, cwd=feature)
    tell(store, "one more thing", feature)
    (record,) = ask(store, "memory_timeline", project=feature, limit=1)["records"]
    assert record["project"] == str(shop)


def test_events_of_a_private_project_are_for_its_owner(
    opened: Callable[[], MemoryStore], tmp_path: Path
) -> None:
    first, closed = opened(), tmp_path / "closed"
    tell(first, SECRET, closed)
    close(first, closed)
    dispatch(first, "session_start_payload", {"cwd": str(closed), "session_id": "new"})
    first.close()  # what it still had to note is noted
    store = opened()

    def told(**params: object) -> str:
        return repr(dispatch(store, "events_query", {"kind": "injection", **params}))

    assert str(closed) in told()
    assert str(closed) in told(visitor=True, cwd=str(closed))
    assert str(closed) not in told(visitor=True)


def test_whether_a_caller_visits_is_yes_or_no(store: MemoryStore) -> None:
    with pytest.raises(InvalidInput, match="visitor must be true or false"):
        dispatch(store, "memory_forget", {"query": "x", "visitor": "perhaps"})


def test_a_prompt_is_not_told_how_work_in_a_private_project_went_on(
    store: MemoryStore, tmp_path: Path
) -> None:
    said = [
        ("user", "parse_header drops empty cookies, keep it so", "open"),
        ("assistant", f"Now in the other repository: {SECRET}", "closed"),
    ]
    events = [
        {"text": text, "role": role, "id": str(number), "cwd": str(tmp_path / place)}
        for number, (role, text, place) in enumerate(said)
    ]
    project = repository(tmp_path / "closed")
    dispatch(store, "capture_events", {"session_id": "s", "events": events})
    close(store, project)
    asked = {"prompt": "does parse_header drop empty cookies?", "cwd": str(tmp_path / "open")}

    told = str(dispatch(store, "prompt_injection", asked)["text"])
    assert "parse_header drops empty cookies" in told
    assert "nightjar" not in told


def test_a_visitor_is_told_no_work_of_a_private_project(store: MemoryStore, tmp_path: Path) -> None:
    project = repository(tmp_path / "closed")
    tell(store, "always end method names with '_otter', as otter_names does", project)
    close(store, project)
    asked = {"prompt": "what does otter_names do?", "project": str(project)}

    assert "_otter" in str(dispatch(store, "prompt_injection", asked)["text"])
    assert "_otter" in str(dispatch(store, "session_start_payload", asked)["text"])
    visiting = {**asked, "visitor": True}
    assert "_otter" not in str(dispatch(store, "prompt_injection", visiting)["text"])
    assert "_otter" not in str(dispatch(store, "session_start_payload", visiting)["text"])


def test_a_visitor_from_nowhere_gets_nothing_into_a_prompt_by_naming_a_private_project(
    store: MemoryStore, tmp_path: Path
) -> None:
    project = repository(tmp_path / "closed")
    tell(store, f"remember that {SECRET}", project)
    close(store, project)

    assert seen(store, "prompt_injection", project=str(project))
    assert not seen(store, "prompt_injection", project=str(project), visitor=True)
