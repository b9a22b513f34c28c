"""Secrets that are said to an agent, pasted, or hidden in a name: none of them is to be stored."""

import time
from collections.abc import Iterator, Sequence

from bench.attacks.outcome import Outcome
from bench.planted import innocent, planted
from bench.scratch import Caller, Scratch, scratch
from bench.shapes import Shapes

NAMES = ("speaker", "branch", "host", "agent_id", "agent_name", "role", "session_id", "project")
MOST_OF_THEM = 0.95
HARDLY_ONE = 1 - 1 / 500
# Each is said a hundred thousand letters long. What takes the square of that takes minutes.
HOSTILE = (".", "-", "password ", "\"'`", "token=a/", "|password|x|\n|---|---|\n", "kind: Secret\n")
HOSTILE_LENGTH = 100_000
PATIENCE = 10.0  # seconds


def attacks() -> Iterator[Outcome]:
    with scratch() as home:
        home.environment.pop("IAI_MCP_EMBED_MODEL", None)  # nobody asks for meaning here
        home.start()
        yield _said(home)
        yield _innocent(home)
        yield _named(home)
        yield _delivered_again(home)
        yield _hostile(home)


def _said(home: Scratch) -> Outcome:
    texts = planted()
    stored = _stored(home, "said", [one.text for one in texts])
    held = sum(not one.survivors(kept) for one, kept in zip(texts, stored, strict=True))
    goal = f">= {MOST_OF_THEM:.0%} found"
    return Outcome("secrets in what is said and pasted", held, len(texts), goal, MOST_OF_THEM)


def _innocent(home: Scratch) -> Outcome:
    lines = [line for one in innocent() for line in one.text.splitlines() if line.strip()]
    stored = _stored(home, "innocent", lines)
    held = sum(line == kept for line, kept in zip(lines, stored, strict=True))
    return Outcome("innocent lines stay as they are", held, len(lines), "<= 1 of 500", HARDLY_ONE)


def _stored(home: Scratch, session: str, texts: Sequence[str]) -> list[str]:
    """What is stored of these texts, in their order."""
    events = [{"text": text, "id": str(number)} for number, text in enumerate(texts)]
    with home.dial() as caller:
        caller.call("capture_events", session_id=session, events=events)
        found = _records(caller, session_id=session, limit=len(texts) + 1)
    return [str(record["text"]) for record in found]


def _records(caller: Caller, **filters: object) -> list[dict[str, object]]:
    records = caller.call("memory_timeline", **filters)["records"]
    assert isinstance(records, list)
    return records


def _named(home: Scratch) -> Outcome:
    """A token in each name, of an event and of a memory by hand."""
    held = 0
    with home.dial() as caller:
        for name in NAMES:
            token = Shapes(name).make("github")
            event = {"text": f"about {name}", name: f"x{token}"}
            caller.call("capture_events", session_id=f"named {name}", events=[event])
            caller.call("memory_capture", **{"session_id": f"by hand {name}", **event})
            held += token not in repr(_records(caller, limit=100_000))
    return Outcome("secrets in the names that come with a turn", held, len(NAMES))


def _delivered_again(home: Scratch) -> Outcome:
    session = Shapes("session").make("github")
    event = {"text": "said once"}
    with home.dial() as caller:
        first = caller.call("capture_events", session_id=session, events=[event])
        again = caller.call("capture_events", session_id=session, events=[event])
        found = _records(caller, session_id=session)
    held = first["inserted"] == again["duplicates"] == len(found) == 1
    return Outcome("a turn whose session holds a secret is one, and is found", int(held), 1)


def _hostile(home: Scratch) -> Outcome:
    held = 0
    with home.dial() as caller:
        for piece in HOSTILE:
            text = (piece * (HOSTILE_LENGTH // len(piece) + 1))[:HOSTILE_LENGTH]
            began = time.monotonic()
            caller.call("memory_capture", text=f"x{text}", session_id="hostile")
            held += time.monotonic() - began < PATIENCE
    goal = f"each below {PATIENCE:.0f} s"
    return Outcome("texts made to take long", held, len(HOSTILE), goal)
