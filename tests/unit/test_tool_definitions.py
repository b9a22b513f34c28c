"""What hosts are shown: the tools, few words, and hints that tell the truth."""

import json
import os
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator
from tests.support.answers import Json
from tests.support.home import SOURCE

from iai_mcp.protocol.mcp import INSTRUCTIONS
from iai_mcp.protocol.tools import DEFINITIONS, FOR_MODELS, NAMES, TEXT_TOOLS, listed

TOOLS: dict[str, Json] = {str(tool["name"]): tool for tool in DEFINITIONS}

# About four characters a token: every session of every host pays for these words.
MOST_CHARACTERS = 6_500
MOST_OF_INSTRUCTIONS = 2_048


def test_exactly_the_agreed_tools_are_offered() -> None:
    agreed = {
        "memory_recall",
        "memory_show",
        "memory_work",
        "memory_capture",
        "memory_contradict",
        "memory_reinforce",
        "memory_forget",
        "memory_timeline",
        "memory_consolidate",
        "profile_get_set",
        "events_query",
        "topology",
    }
    assert agreed == NAMES
    assert len(DEFINITIONS) == len(agreed)


def test_seven_tools_are_listed_for_models_and_all_with_the_setting() -> None:
    for_models = "recall show work capture contradict forget timeline"
    names = {str(tool["name"]) for tool in listed("models")}
    assert names == {f"memory_{name}" for name in for_models.split()}
    assert listed("all") == DEFINITIONS


def test_what_a_model_reads_stays_short() -> None:
    read = [{key: tool[key] for key in tool if key != "_meta"} for tool in FOR_MODELS]
    assert len(json.dumps({"tools": read}, ensure_ascii=False)) <= MOST_CHARACTERS
    assert len(INSTRUCTIONS.encode()) <= MOST_OF_INSTRUCTIONS


def test_a_search_hint_holds_words_that_the_name_and_the_title_do_not() -> None:
    for name, tool in TOOLS.items():
        hint = tool["_meta"]["anthropic/searchHint"]
        assert len(hint) <= 160, name
        known = {*name.split("_"), *tool["title"].lower().split()}
        assert len(set(hint.replace(",", "").split()) - known) >= 4, name


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_tool_has_title_description_hints_and_valid_schemas(name: str) -> None:
    tool = TOOLS[name]
    assert tool["title"]
    assert tool["description"]
    assert tool["annotations"]["openWorldHint"] is False
    assert ("outputSchema" not in tool) == (name in TEXT_TOOLS)
    for schema in (tool["inputSchema"], tool.get("outputSchema", {"type": "object"})):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
    assert set(tool["inputSchema"].get("required", ())) <= set(tool["inputSchema"]["properties"])


def test_only_forgetting_is_called_destructive() -> None:
    def destroys(tool: Json) -> bool:
        hints = tool["annotations"]
        return not hints.get("readOnlyHint", False) and hints.get("destructiveHint", True)

    assert {name for name, tool in TOOLS.items() if destroys(tool)} == {"memory_forget"}


def test_the_tools_that_read_say_so() -> None:
    reads = {name for name, tool in TOOLS.items() if tool["annotations"].get("readOnlyHint")}
    assert reads == {
        *TEXT_TOOLS,
        "profile_get_set",
        "events_query",
        "topology",
    }


def test_the_search_tools_take_the_same_filters() -> None:
    shared = {"project", "since", "until", "session_id", "agent", "host", "budget_tokens", "format"}
    for name in ("memory_recall", "memory_work"):
        assert shared <= set(TOOLS[name]["inputSchema"]["properties"]), name


def test_recall_offers_every_agreed_parameter_and_asks_only_for_the_cue() -> None:
    schema = TOOLS["memory_recall"]["inputSchema"]
    agreed = "cue budget_tokens k session_id project agent host role since until context group_by wordings"
    assert set(schema["properties"]) >= {
        *agreed.split(),
        "as_of",
        "now",
        "language",
        "cue_embedding",
    }
    assert schema["required"] == ["cue"]


def test_importing_the_definitions_costs_no_other_module() -> None:
    probe = (
        "import sys; before = set(sys.modules); import iai_mcp.protocol.tools; "
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith('iai_mcp')))"
    )
    seen = subprocess.run(
        [sys.executable, "-c", probe],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert seen.stdout.strip() == "[]"
