"""A transcript holds an announced answer only where the answer itself stands, whatever else repeats its words."""

import json
from collections.abc import Mapping

import pytest

from iai_mcp.capture.delivery import _is_answered

WANTED = b"Done."
ASKED = {"type": "user", "message": {"role": "user", "content": "go on"}}
ANSWERED = {"type": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}}
MEASURED = {"type": "system", "subtype": "ui_telemetry", "systemPayload": {"text": "Done."}}
ECHOED = {"type": "user", "message": {"role": "user", "content": "Done."}}
# Codex and Gemini call neither side as Claude Code and Qwen do.
OF_CODEX = {"type": "response_item", "payload": {"role": "assistant", "content": "Done."}}
OF_GEMINI = {"id": "2", "type": "gemini", "content": "Done."}


def lines(*records: Mapping[str, object]) -> bytes:
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in records)


@pytest.mark.parametrize(
    "records",
    [
        (ASKED, ANSWERED),
        (ASKED, MEASURED, ANSWERED),
        (ASKED, ANSWERED, MEASURED),
        (ECHOED, ANSWERED),
        (ASKED, OF_GEMINI),
        (OF_CODEX,),
    ],
)
def test_the_answer_is_there(records: tuple[Mapping[str, object], ...]) -> None:
    assert _is_answered(lines(*records), WANTED)


@pytest.mark.parametrize(
    "records",
    [
        (),
        (ASKED,),
        (ECHOED,),
        (ASKED, MEASURED),
        (ASKED, ANSWERED, ASKED),
        (ASKED, ANSWERED, ASKED, MEASURED),
        (ASKED, ANSWERED, ECHOED),
    ],
)
def test_the_answer_is_yet_to_come(records: tuple[Mapping[str, object], ...]) -> None:
    assert not _is_answered(lines(*records), WANTED)


def test_an_answer_of_which_the_end_alone_was_read_is_there() -> None:
    assert _is_answered(lines(ASKED, ANSWERED)[-30:], WANTED)
