"""Who answers a question of the host, refuses a call or says "yes" is still about what they asked for."""

from collections.abc import Callable
from typing import Any

import pytest

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

SHOP = "/gone/ann/shop"
WHICH, HOW_LONG = "Which token format should the login use?", "How long should a session last?"
PROVIDER = "Which mail provider should the fallback use?"
RETRIES = "The mail sender now retries (1, 2, 4 … s, at most six hours) and has a fallback."


@pytest.fixture
def store(opened: Callable[[], MemoryStore]) -> MemoryStore:
    return opened()


def tell(store: MemoryStore, session: str, *turns: str, day: int = 1) -> None:
    """Turns as "u: text" and "a: text"; "no: text" refuses a call, "re: text" answers the turn before."""
    events: list[dict[str, Any]] = []
    for n, turn in enumerate(turns):
        who, _, text = turn.partition(": ")
        meta = {"no": {"rejected": "pip install x"}, "re": {"answers": turns[n - 1][3:]}}.get(who)
        role = "assistant" if who == "a" else "user"
        at = f"2026-03-{day:02}T10:{n:02}:00Z"
        events.append({"text": text, "role": role, "ts": at, "id": f"{session}{n}"})
        if meta:
            events[-1]["meta"] = meta
    dispatch(store, "capture_events", {"session_id": session, "cwd": SHOP, "events": events})


def others(store: MemoryStore) -> None:
    for n in range(8):
        done = f"a: Renamed module {n}; all tests of the parser pass."
        tell(store, f"filler{n}", f"u: please rename module {n}", "a: Let me look.", done, day=20)


def hits(store: MemoryStore, cue: str) -> list[dict[str, Any]]:
    answer: Any = dispatch(store, "memory_recall", {"cue": cue, "cwd": SHOP})
    return list(answer["hits"])


def start(store: MemoryStore) -> str:
    return str(dispatch(store, "session_start_payload", {"cwd": SHOP})["text"])


def mail(store: MemoryStore) -> None:
    tell(
        store,
        "mail",
        "u: add a retry to the mail sender",
        "a: I'll add tenacity.",
        "no: no new dependencies please, write the retry loop by hand",
        "a: Understood, I'll write it by hand.",
        "a: Now the fallback.",
        f"a: {PROVIDER}",
        "re: Postmark",
        f"a: {RETRIES}",
    )


def login(store: MemoryStore) -> None:
    tell(
        store,
        "login",
        "u: plan the login rework",
        "a: Let me look at the login code.",
        f"a: {WHICH}",
        "re: Opaque",
        f"a: {HOW_LONG}",
        "re: 8h",
        "a: The plan is written to docs/login.md.",
    )


def test_the_conclusion_behind_a_refusal_answers_the_prompt(
    store: MemoryStore,
) -> None:
    others(store)
    mail(store)

    first = hits(store, "how many hours does the mail sender try at most")[0]

    assert first["text"] == RETRIES
    assert first["request"] == "add a retry to the mail sender"


def test_an_answer_to_a_question_of_the_host_is_found_by_it_and_shown_with_it(
    store: MemoryStore,
) -> None:
    others(store)
    login(store)
    mail(store)

    for cue, asked, answer in (
        ("which token format does the login use", WHICH, "Opaque"),
        ("how long does a session last", HOW_LONG, "8h"),
        ("which mail provider is the fallback", PROVIDER, "Postmark"),
    ):
        found = [(hit["text"], hit["meta"].get("answers")) for hit in hits(store, cue)]
        assert (answer, asked) in found, cue


def test_a_session_starts_with_what_came_of_it_all(store: MemoryStore) -> None:
    login(store)
    mail(store)

    told = start(store)

    assert '"plan the login rework" → The plan is written to docs/login.md.' in told
    assert f'"add a retry to the mail sender" → {RETRIES[:40]}' in told
    assert "I'll add tenacity" not in told
    assert HOW_LONG not in told


def test_a_yes_is_told_by_what_came_of_it_not_by_the_offer(store: MemoryStore) -> None:
    dropped = "I dropped `invoices.attachment_blob` in migration 0042."
    tell(
        store,
        "s",
        "u: how should we store the invoice attachments?",
        "a: Let me look.",
        "a: `AttachmentStore` now writes to S3, tests are green.\n\nShall I also delete the old bytea column?",
        "u: yes",
        "a: Let me see.",
        f"a: {dropped}",
    )

    told = start(store)

    assert f'"how should we store the invoice attachments?" → {dropped}' in told
    assert "Shall I" not in told


def tokens(store: MemoryStore, answer: str = "Opaque, it can be revoked") -> None:
    tell(
        store,
        "login",
        f"a: {WHICH}",
        f"re: {answer}",
        "a: Now the sessions.",
        "a: The login issues opaque tokens and checks them against the table of sessions on each call.",
    )


@pytest.mark.parametrize("by", ["words", "id"])
def test_whoever_forgets_a_question_of_the_host_forgets_its_answer(
    store: MemoryStore, by: str
) -> None:
    tokens(store)
    told: Any = dispatch(store, "memory_timeline", {})
    question = next(one["id"] for one in told["records"] if one["text"] == WHICH)
    selection = {"query": "token format"} if by == "words" else {"ids": [question]}
    assert dispatch(store, "memory_forget", {**selection, "dry_run": True})["matches"] == 2
    dispatch(store, "memory_forget", selection)
    left = str(dispatch(store, "memory_timeline", {}))
    assert "token format" not in left
    assert "issues opaque tokens" in left
    assert "token format" not in str(hits(store, "how does the login check tokens"))
