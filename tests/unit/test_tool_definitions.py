"""What hosts are shown: the tools, few words, and hints that tell the truth."""

import json
import os
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator
from tests.support.answers import Json
from tests.support.home import SOURCE

from iai_mcp.protocol.tools import DEFINITIONS, NAMES, TEXT_TOOLS

TOOLS: dict[str, Json] = {str(tool["name"]): tool for tool in DEFINITIONS}

# About four characters a token: every session of every host pays for these words.
MOST_CHARACTERS = 7_600


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


def test_all_definitions_together_stay_short() -> None:
    assert len(json.dumps({"tools": DEFINITIONS}, ensure_ascii=False)) <= MOST_CHARACTERS


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
