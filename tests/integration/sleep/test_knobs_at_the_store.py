"""Every knob changes what the memory does, and stays turned."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.support.answers import ask
from tests.support.home import ScratchHome

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.store import MemoryStore


def turn(store: MemoryStore, knob: str, value: object) -> None:
    ask(store, "profile_set", knob=knob, value=value)


def say(store: MemoryStore, text: str, *, days_ago: float = 0, **more: object) -> str:
    ts = (datetime.now(UTC) - timedelta(days=days_ago)).isoformat()
    return str(ask(store, "memory_capture", text=text, ts=ts, **more)["record_id"])


def first(store: MemoryStore, cue: str, **more: object) -> str:
    return str(ask(store, "memory_recall", cue=cue, **more)["hits"][0]["id"])


def test_without_a_name_all_values_come_and_with_one_its_own(store: MemoryStore) -> None:
    everything = ask(store, "profile_get", knob=None)["values"]
    assert everything["prompt_injection"] == "auto"
    assert everything["retention_days"] == 0
    one = ask(store, "profile_get", knob="recency_weight")
    assert (one["knob"], one["value"]) == ("recency_weight", 0.0)


def test_what_was_turned_is_still_so_after_the_store_is_opened_again(store: MemoryStore) -> None:
    answer = ask(store, "profile_set", knob="injection_depth", value=42)
    assert (answer["before"], answer["value"]) == (900, 42)
    store.close()
    again = MemoryStore()
    assert ask(again, "profile_get", knob="injection_depth")["value"] == 42
    turn(again, "injection_depth", "default")
    assert ask(again, "profile_get", knob="injection_depth")["value"] == 900
    again.close()


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"knob": "volume", "value": 1}, "injection_depth"),
        ({"knob": "verbosity", "value": "loud"}, "long | short"),
        ({"knob": "verbosity"}, "missing required param: 'value'"),
        ({"value": 1}, "missing required param: 'knob'"),
    ],
)
def test_what_can_not_be_is_refused_with_the_choices(
    store: MemoryStore, params: dict[str, object], named: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        ask(store, "profile_set", **params)
    assert named in refused.value.message


def test_injection_depth_is_how_much_a_session_is_told(store: MemoryStore, shop: str) -> None:
    for n in range(12):
        say(store, f"We decided number {n}: " + "word " * 40, session_id=f"s{n}", project=shop)
    deep = ask(store, "session_start_payload", cwd=shop)
    turn(store, "injection_depth", 150)
    shallow = ask(store, "session_start_payload", cwd=shop)
    assert 0 < shallow["tokens"] <= 150 < deep["tokens"]
    turn(store, "injection_depth", 0)
    assert ask(store, "session_start_payload", cwd=shop)["text"] == ""


def test_prompt_injection_off_is_off(store: MemoryStore, shop: str) -> None:
    say(store, "parse_header drops empty cookies", session_id="s", project=shop)
    asked = {"prompt": "does parse_header drop cookies?", "cwd": shop}
    assert "parse_header" in ask(store, "prompt_injection", **asked)["text"]
    turn(store, "prompt_injection", "off")
    assert ask(store, "prompt_injection", **asked)["text"] == ""


def test_recency_weight_brings_up_what_was_said_lately(store: MemoryStore) -> None:
    old = say(store, "the heron nests at the north pond, the heron said", days_ago=400)
    new = say(store, "the heron nests at the quarry these days", days_ago=0)
    assert first(store, "heron heron north pond nests") == old
    turn(store, "recency_weight", 1.0)
    assert first(store, "heron heron north pond nests") == new


def test_project_preference_brings_up_the_project_one_is_in(store: MemoryStore, shop: str) -> None:
    elsewhere = say(store, "the deploy script wants a signed tag, said Ann", project="/else/zoo")
    here = say(store, "the deploy script wants a signed tag, said Ben", project=shop)
    turn(store, "project_preference", 0)
    assert first(store, "deploy script signed tag Ann", cwd=shop) == elsewhere
    turn(store, "project_preference", 1)
    assert first(store, "deploy script signed tag Ann", cwd=shop) == here
    assert first(store, "deploy script signed tag Ann", cwd="/else/zoo") == elsewhere


def test_verbosity_is_how_much_a_reason_says(store: MemoryStore) -> None:
    ask(store, "memory_capture", text="the heron nests in april", session_id="birds")
    cue = "which heron nests today?"
    long = ask(store, "memory_recall", cue=cue)["hits"][0]["reason"]
    turn(store, "verbosity", "short")
    short = ask(store, "memory_recall", cue=cue)["hits"][0]["reason"]
    assert long.partition(", ") == (short, ", ", long.partition(", ")[2])
    assert short


def test_people_turn_knobs_from_the_command_line() -> None:
    home = ScratchHome()
    try:
        shown = home.command("knobs")
        assert shown.returncode == 0, shown.stderr
        assert "retention_days" in shown.stdout
        assert "keeps everything" in shown.stdout
        assert "(was long)" in home.command("knobs", "verbosity", "short").stdout
        assert '"value": "short"' in home.command("knobs", "verbosity", "--json").stdout
        refused = home.command("knobs", "verbosity", "loud")
        assert refused.returncode == 1
        assert "long | short" in refused.stderr
    finally:
        home.remove()
