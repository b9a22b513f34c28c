"""A tool's arguments at the door."""

import pytest
from tests.support.answers import Json

from iai_mcp.api.tools import checked, method_and_params
from iai_mcp.domain.errors import InvalidInput, MissingParam
from iai_mcp.protocol.tools import DEFINITIONS, NAMES


def taken(tool: str) -> set[str]:
    definitions: tuple[Json, ...] = DEFINITIONS
    (schema,) = (one["inputSchema"] for one in definitions if one["name"] == tool)
    return set(schema["properties"])


def test_nulls_count_as_absent() -> None:
    given = {"cue": "x", "k": None, "cwd": None}
    assert checked("memory_recall", given) == {"cue": "x"}


@pytest.mark.parametrize("name", ["cwd", "visitor", "explain", "show", "agent_id", "x" * 10_000])
@pytest.mark.parametrize("tool", sorted(NAMES))
def test_a_name_that_no_host_was_shown_is_refused(tool: str, name: str) -> None:
    needed = {"cue": "x", "text": "x", "id": "x", "new_fact": "x", "ids": ["x"]}
    given = {key: value for key, value in needed.items() if key in taken(tool)}
    assert checked(tool, given) == given
    with pytest.raises(InvalidInput, match=f"{tool} has no argument '{name[:40]}': it takes "):
        checked(tool, given | {name: True})


def test_a_whole_number_written_as_a_fraction_is_one() -> None:
    assert checked("memory_recall", {"cue": "x", "k": 5.0}) == {"cue": "x", "k": 5}
    with pytest.raises(InvalidInput, match="k must be a whole number"):
        checked("memory_recall", {"cue": "x", "k": 5.5})


def test_no_arguments_are_enough_where_nothing_is_required() -> None:
    assert checked("topology", None) == {}


def test_the_first_missing_one_is_named() -> None:
    with pytest.raises(MissingParam, match="missing required param: 'new_fact'"):
        checked("memory_contradict", {"id": "1"})


@pytest.mark.parametrize("value", [0, False, "", []])
def test_a_falsy_value_is_a_value_to_set(value: object) -> None:
    arguments = {"knob": "a", "value": value}
    assert method_and_params("profile_get_set", arguments) == ("profile_set", arguments)


def test_the_operation_says_whether_a_setting_is_read_or_set() -> None:
    given = {"knob": "a", "value": 1}
    reading = method_and_params("profile_get_set", {**given, "operation": "get"})
    setting = method_and_params("profile_get_set", {**given, "operation": "set"})
    assert reading == ("profile_get", {"knob": "a"})
    assert setting == ("profile_set", given)
    with pytest.raises(MissingParam, match="'value'"):
        method_and_params("profile_get_set", {"operation": "set", "knob": "a"})
    with pytest.raises(InvalidInput, match="get or set"):
        method_and_params("profile_get_set", {"operation": "turn"})
    assert checked("profile_get_set", {"operation": "get"}) == {"operation": "get"}
