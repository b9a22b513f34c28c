"""The command line of capture-transcript, without its work."""

import pytest

from iai_mcp.capture.command import parse


def test_options_may_stand_anywhere() -> None:
    found = parse(["--session-id", "s-1", "t.jsonl", "--host=codex", "--no-spawn"])

    assert (found.transcript, found.session_id, found.host, found.no_spawn) == (
        "t.jsonl",
        "s-1",
        "codex",
        True,
    )
    assert found.problem is None


@pytest.mark.parametrize(
    "argv",
    [[], ["--session-id"], ["--what", "t.jsonl"], ["a.jsonl", "b.jsonl"], ["--no-spawn"]],
)
def test_what_makes_no_sense_is_said(argv: list[str]) -> None:
    assert parse(argv).problem


def test_json_is_what_it_prints_anyway() -> None:
    found = parse(["--json", "t.jsonl"])

    assert (found.problem, found.transcript) == (None, "t.jsonl")
