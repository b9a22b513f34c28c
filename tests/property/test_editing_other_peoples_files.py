"""Whatever a person's settings look like, ours come and go and the rest stays as it was."""

import json
from typing import Any

import tomlkit
from hypothesis import given
from hypothesis import settings as run_with
from hypothesis import strategies as st

from iai_mcp.hosts.config_files import json_file, toml_file
from iai_mcp.hosts.config_files.entries import Entry, Hooks, JsonFile, TomlFile
from iai_mcp.hosts.config_files.jsonc import NotJson, parse

BRIDGE: dict[str, Any] = {"command": "/v/python", "args": ["-I", "-m", "iai_mcp.bridge"]}
OURS = JsonFile(
    "settings.json",
    entries=(Entry(("mcpServers", "iai-mcp"), BRIDGE),),
    hooks=Hooks(
        ("hooks",),
        {
            event: {
                "hooks": [{"type": "command", "command": f"/v/iai-mcp hook claude-code {event}"}]
            }
            for event in ("SessionStart", "Stop")
        },
    ),
)
TABLE = TomlFile("config.toml", entries=(Entry(("mcp_servers", "iai-mcp"), BRIDGE),))

names = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
theirs = st.lists(st.fixed_dictionaries({"hooks": st.lists(values, max_size=2)}), max_size=2)
settings = st.builds(
    lambda rest, known: {**rest, **known},
    st.dictionaries(
        names.filter(lambda name: name not in ("hooks", "mcpServers")), values, max_size=4
    ),
    st.fixed_dictionaries(
        {},
        optional={
            "hooks": st.dictionaries(st.sampled_from(["Stop", "PreToolUse"]), theirs, max_size=2),
            "mcpServers": st.dictionaries(names, values, max_size=2),
        },
    ),
)
layouts: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 4},
        {"indent": "\t"},
        {"separators": (",", ":")},
        {"separators": (", ", ": ")},
    ]
)
ends = st.sampled_from(["", "\n", "\n\n"])


@run_with(deadline=None)
@given(settings, layouts, ends, st.booleans())
def test_ours_come_and_go_and_every_byte_of_theirs_stays(
    data: dict[str, Any], layout: dict[str, Any], end: str, windows: bool
) -> None:
    text = json.dumps(data, ensure_ascii=False, **layout) + end
    if windows:
        text = text.replace("\n", "\r\n")

    with_us = json_file.installed(text, OURS)
    without = json_file.removed(with_us, OURS, data)

    installed: Any = parse(with_us).data
    assert installed["mcpServers"]["iai-mcp"] == BRIDGE
    assert json_file.installed(with_us, OURS) == with_us
    assert json_file.agree(text, with_us, OURS)
    assert json_file.data_of(without) == data
    assert without == text


@run_with(deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        found = parse(text)
    except NotJson as broken:
        assert broken.line >= 1
        assert broken.column >= 1
    else:
        assert 0 <= found.start < found.end <= len(text)


plain = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=6)
scalars = st.booleans() | st.integers(-99, 99) | plain
tables = st.dictionaries(plain, scalars | st.dictionaries(plain, scalars, max_size=3), max_size=4)


@run_with(deadline=None)
@given(tables, st.dictionaries(plain, tables, max_size=2), ends)
def test_our_table_comes_and_goes_in_toml(
    rest: dict[str, Any], servers: dict[str, Any], end: str
) -> None:
    data = {**rest, "mcp_servers": servers} if servers else rest
    text = tomlkit.dumps(data).rstrip("\n") + ("\n" if data else "") + end.lstrip("\n")

    with_us = toml_file.installed(text, TABLE)
    without = toml_file.removed(with_us, TABLE, data)

    installed: Any = toml_file.data_of(with_us)
    assert installed["mcp_servers"]["iai-mcp"] == BRIDGE
    assert toml_file.data_of(without) == data
    assert without == text
