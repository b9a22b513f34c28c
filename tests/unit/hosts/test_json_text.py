"""Putting values into JSON text and taking them out: every other byte stays."""

import json

import pytest

from iai_mcp.hosts.config_files.json_text import append, put, take_out
from iai_mcp.hosts.config_files.jsonc import Json, NotJson, parse

ENTRY: Json = {"command": "/usr/bin/python", "args": ["-m", "iai_mcp.bridge"]}
PATH = ("mcpServers", "iai-mcp")

FILES = {
    "two spaces": """{
  "theme": "dark",
  "mcpServers": {
    "other": {
      "command": "x"
    }
  }
}
""",
    "tabs": '{\n\t"mcpServers": {\n\t\t"other": {}\n\t}\n}',
    "four spaces, no final newline": '{\n    "mcpServers": {\n        "other": [1, 2]\n    }\n}',
    "one line": '{"a": 1, "mcpServers": {"other": {"command": "x"}}}',
    "one line, tight": '{"a":1,"mcpServers":{"other":{"command":"x"}}}\n',
    "windows line ends": '{\r\n  "mcpServers": {\r\n    "other": {}\r\n  }\r\n}\r\n',
    "comments": """// mine
{
  /* all */ "mcpServers": {
    "other": {} // last, not least
    // end
  } // done
}
""",
    "trailing commas": '{\n  "mcpServers": {\n    "other": {},\n  },\n}\n',
    "comment after trailing comma": '{\n  "mcpServers": {\n    "other": {}, // why\n  },\n}\n',
    "byte order mark": '\ufeff{\n  "mcpServers": {\n    "other": "é ☃ \\u00e9"\n  }\n}\n',
    "slashes in a value": '{"u": "https://a//b", "mcpServers": {"other": "//"}}',
    "odd spacing": '{ "mcpServers" :{ "other" :\n{ } } , "z":[ ] }',
}


def servers(text: str) -> dict[str, Json]:
    data = parse(text).data
    assert isinstance(data, dict)
    found = data["mcpServers"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("text", FILES.values(), ids=FILES.keys())
def test_what_was_put_in_is_taken_out_to_the_byte(text: str) -> None:
    with_ours = put(text, PATH, ENTRY)

    assert servers(with_ours)["iai-mcp"] == ENTRY
    assert servers(with_ours)["other"] == servers(text)["other"]
    assert take_out(with_ours, PATH) == text


@pytest.mark.parametrize("text", FILES.values(), ids=FILES.keys())
def test_every_line_that_was_there_stays(text: str) -> None:
    with_ours = put(text, PATH, ENTRY)

    remaining = iter(with_ours)
    assert all(character in remaining for character in text)


def test_a_new_entry_is_written_like_its_neighbours() -> None:
    text = put(FILES["two spaces"], PATH, ENTRY)

    assert '\n    "iai-mcp": {\n      "command": "/usr/bin/python",\n' in text


def test_objects_on_the_way_are_made() -> None:
    text = put("{}\n", PATH, {"command": "x"})

    assert text == '{\n  "mcpServers": {\n    "iai-mcp": {\n      "command": "x"\n    }\n  }\n}\n'


def test_an_array_grows_at_its_end_and_is_made_when_absent() -> None:
    text = append('{"hooks": {}}', ("hooks", "Stop"), {"a": 1})
    text = append(text, ("hooks", "Stop"), {"b": 2})

    assert json.loads(text) == {"hooks": {"Stop": [{"a": 1}, {"b": 2}]}}
    assert "\n" not in text


def test_an_item_can_be_taken_out_of_the_middle() -> None:
    text = '{\n  "a": [\n    1,\n    2, // two\n    3\n  ]\n}\n'

    assert json.loads(take_out(take_out(text, ("a", 0)), ("a", 1)).replace("// two", "")) == {
        "a": [2]
    }


def test_a_comment_never_swallows_what_follows() -> None:
    text = '{\n  "keep": 1, // why\n  "ours": 2, "next": 3 }\n'

    assert parse(take_out(text, ("ours",))).data == {"keep": 1, "next": 3}


def test_an_equal_value_changes_nothing() -> None:
    text = FILES["odd spacing"]

    assert put(text, ("mcpServers", "other"), {}) == text


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3),
        ('{"a": }', 1, 7),
        ('{"a": 1', 1, 8),
        ("[1] 2", 1, 5),
        ("{'a': 1}", 1, 2),
        ("/* open", 1, 1),
        ("[" * 300, 1, 202),
        ("", 1, 1),
    ],
)
def test_a_broken_file_is_told_by_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(NotJson) as caught:
        parse(text)

    assert (caught.value.line, caught.value.column) == (line, column)
