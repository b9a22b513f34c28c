"""Installing into real files and taking it out again."""

import json
import os
import stat
from pathlib import Path

import pytest

from iai_mcp.domain.errors import InvalidInput, IoFailed
from iai_mcp.hosts.config_files import edits, receipts
from iai_mcp.hosts.config_files.entries import ConfigFile, Entry, Hooks, JsonFile, OwnFile, TomlFile
from iai_mcp.hosts.config_files.jsonc import Json

BRIDGE: dict[str, Json] = {"command": "/v/python", "args": ["-m", "iai_mcp.bridge"]}
SERVER = Entry(("mcpServers", "iai-mcp"), BRIDGE)
TABLE = Entry(("mcp_servers", "iai-mcp"), BRIDGE)
HOOKS = Hooks(
    ("hooks",),
    {
        event: {
            "hooks": [{"type": "command", "command": f"/v/python -m iai_mcp.cli hook x {event}"}]
        }
        for event in ("SessionStart", "Stop")
    },
)


def install(wanted: ConfigFile) -> edits.Edit:
    with receipts.lock():
        return edits.install(wanted)


def remove(wanted: ConfigFile) -> edits.Edit:
    with receipts.lock():
        return edits.remove(wanted)


def settings(path: Path) -> JsonFile:
    return JsonFile(str(path), entries=(SERVER,), hooks=HOOKS)


ORIGINALS = {
    "plain": b"""{
  "model": "opus",
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {"type": "command", "command": "say done"}
        ]
      }
    ]
  }
}
""",
    "minified": b'{"a":{"b":[1,2,{"c":null}]},"hooks":{}}',
    "comments": b'{\n\t// my rules\n\t"permissions": {"allow": ["Bash"],}, /* end */\n}',
    "empty object": b"{ }\n",
    "empty file": b"",
    "blank file": b"\n\n",
    "windows": b'{\r\n    "x": 1\r\n}\r\n',
    "unicode": '{"name": "Zoë ☃", "mcpServers": { }}'.encode(),
}


@pytest.mark.parametrize("original", ORIGINALS.values(), ids=ORIGINALS.keys())
def test_a_file_is_byte_for_byte_as_before_once_we_are_gone(home: Path, original: bytes) -> None:
    path = home / "settings.json"
    path.write_bytes(original)

    install(settings(path))
    installed = path.read_bytes()
    remove(settings(path))

    assert b"iai_mcp" in installed
    assert path.read_bytes() == original


@pytest.mark.parametrize("original", ORIGINALS.values(), ids=ORIGINALS.keys())
def test_without_the_receipt_only_ours_goes(home: Path, original: bytes) -> None:
    path = home / "settings.json"
    path.write_bytes(original)
    install(settings(path))
    receipts.drop(str(path), with_backup=True)

    remove(settings(path))

    assert b"iai" not in path.read_bytes()
    assert b"hooks" not in path.read_bytes() or b"hooks" in original


def test_installing_twice_changes_nothing_the_second_time(home: Path) -> None:
    path = home / "settings.json"
    path.write_bytes(ORIGINALS["plain"])

    first = install(settings(path))
    seen = path.read_bytes()
    second = install(settings(path))

    assert (first.kind, second.kind) == ("changed", "unchanged")
    assert path.read_bytes() == seen


def test_what_others_changed_meanwhile_stays(home: Path) -> None:
    path = home / "settings.json"
    path.write_bytes(ORIGINALS["plain"])
    install(settings(path))
    data = json.loads(path.read_text())
    data["model"] = "sonnet"
    data["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "later"}]})
    data["mcpServers"]["another"] = {"command": "x"}
    path.write_text(json.dumps(data, indent=2))

    remove(settings(path))

    assert json.loads(path.read_text()) == {
        "model": "sonnet",
        "hooks": {
            "Stop": [
                {"hooks": [{"type": "command", "command": "say done"}]},
                {"hooks": [{"type": "command", "command": "later"}]},
            ]
        },
        "mcpServers": {"another": {"command": "x"}},
    }


def test_an_edit_elsewhere_in_the_file_keeps_its_formatting_when_we_go(home: Path) -> None:
    path = home / "settings.json"
    path.write_bytes(ORIGINALS["plain"])
    install(settings(path))
    path.write_text(path.read_text().replace('"opus"', '"haiku"'))

    remove(settings(path))

    assert path.read_bytes() == ORIGINALS["plain"].replace(b"opus", b"haiku")


def test_a_file_and_folders_that_were_not_there_are_gone_again(home: Path) -> None:
    path = home / "deep" / "er" / "settings.json"

    created = install(settings(path))
    mode = stat.S_IMODE(path.stat().st_mode)
    remove(settings(path))

    assert created.kind == "created"
    assert mode == 0o600
    assert list(home.iterdir()) == []


def test_a_folder_somebody_else_moved_into_stays(home: Path) -> None:
    path = home / "host" / "settings.json"
    install(settings(path))
    (home / "host" / "history").write_text("theirs")

    remove(settings(path))

    assert [entry.name for entry in (home / "host").iterdir()] == ["history"]


def test_a_file_we_made_that_the_host_wrote_to_keeps_what_the_host_wrote(home: Path) -> None:
    path = home / "settings.json"
    install(settings(path))
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "startups": 3}))

    remove(settings(path))

    assert json.loads(path.read_text()) == {"startups": 3}


def test_a_symlink_stays_one_and_its_target_keeps_its_mode(home: Path) -> None:
    target = home / "dotfiles" / "settings.json"
    target.parent.mkdir()
    target.write_bytes(ORIGINALS["plain"])
    target.chmod(0o640)
    link = home / "settings.json"
    link.symlink_to("dotfiles/settings.json")

    install(settings(link))

    assert link.is_symlink()
    assert b"iai_mcp" in target.read_bytes()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    remove(settings(link))
    assert target.read_bytes() == ORIGINALS["plain"]


def test_the_backup_is_private_and_made_once(home: Path) -> None:
    path = home / "settings.json"
    path.write_bytes(ORIGINALS["plain"])
    install(settings(path))
    moved = JsonFile(str(path), (Entry(SERVER.path, {"command": "/new/python"}),), HOOKS)
    install(moved)

    backup = Path(receipts.backup_path(str(path)))

    assert backup.read_bytes() == ORIGINALS["plain"]
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert stat.S_IMODE(backup.parent.stat().st_mode) == 0o700
    remove(moved)
    assert path.read_bytes() == ORIGINALS["plain"]


def test_an_update_replaces_our_hooks_and_keeps_what_a_person_added_to_our_entry(
    home: Path,
) -> None:
    path = home / "settings.json"
    old = Hooks(
        ("hooks",), {"Gone": {"hooks": [{"command": "/old/python -m iai_mcp.cli hook x Gone"}]}}
    )
    install(JsonFile(str(path), (SERVER,), old))
    data = json.loads(path.read_text())
    data["mcpServers"]["iai-mcp"]["trust"] = True
    path.write_text(json.dumps(data))

    install(JsonFile(str(path), (Entry(SERVER.path, {"command": "/new"}),), HOOKS))

    now = json.loads(path.read_text())
    assert list(now["hooks"]) == ["SessionStart", "Stop"]
    assert now["mcpServers"]["iai-mcp"]["command"] == "/new"
    assert now["mcpServers"]["iai-mcp"]["trust"] is True


def test_an_entry_of_our_name_that_was_there_before_comes_back(home: Path) -> None:
    path = home / "settings.json"
    path.write_text('{"mcpServers": {"iai-mcp": {"command": "mine"}}}')
    install(settings(path))
    path.write_text(path.read_text().replace('"mcpServers"', '"other": 1, "mcpServers"', 1))

    remove(settings(path))

    assert json.loads(path.read_text()) == {
        "other": 1,
        "mcpServers": {"iai-mcp": {"command": "mine"}},
    }


@pytest.mark.parametrize(
    ("name", "broken", "where"),
    [
        ("settings.json", '{\n  "a": 1\n  "b": 2\n}', "line 3"),
        ("settings.json", '{"hooks": {"Stop": "no"}}', "hooks.Stop"),
        ("settings.json", '{"mcpServers": []}', "mcpServers"),
        ("config.toml", 'a = 1\nb = "open\n', "line 2"),
    ],
)
def test_a_broken_file_gets_a_sentence_and_is_left_alone(
    home: Path, name: str, broken: str, where: str
) -> None:
    path = home / name
    path.write_text(broken)
    wanted: ConfigFile = (
        settings(path) if name.endswith("json") else TomlFile(str(path), entries=(TABLE,))
    )

    with pytest.raises(InvalidInput, match="left alone") as caught:
        install(wanted)

    assert where in caught.value.message
    assert path.read_text() == broken


def test_a_file_that_is_not_text_is_left_alone(home: Path) -> None:
    path = home / "settings.json"
    path.write_bytes(b"\xff\xfe{}")

    with pytest.raises(IoFailed, match="UTF-8"):
        install(settings(path))

    assert path.read_bytes() == b"\xff\xfe{}"


TOMLS = {
    "absent": None,
    "plain": '# mine\nmodel = "gpt"\n\n[mcp_servers.other]\ncommand = "x" # why\n',
    "no final newline": 'model = "gpt"',
    "inline": 'mcp_servers = { other = { command = "x" } }\n[projects."/a b"]\ntrust = 1\n',
    "windows": 'model = "gpt"\r\n\r\n[tui]\r\nx = 1\r\n',
    "empty": "",
}


@pytest.mark.parametrize("original", TOMLS.values(), ids=TOMLS.keys())
def test_a_toml_file_is_restored_to_the_byte(home: Path, original: str | None) -> None:
    path = home / ".codex" / "config.toml"
    if original is not None:
        path.parent.mkdir()
        path.write_bytes(original.encode())
    wanted = TomlFile(str(path), entries=(TABLE,))

    install(wanted)
    installed = path.read_text()
    assert install(wanted).kind == "unchanged"
    remove(wanted)

    assert "iai-mcp" in installed
    assert (path.read_bytes().decode() if path.exists() else None) == original
    assert path.parent.exists() is (original is not None)


@pytest.mark.parametrize(
    "original", [t for t in TOMLS.values() if t], ids=[k for k, t in TOMLS.items() if t]
)
def test_only_our_table_goes_when_the_host_has_written_to_the_toml_file(
    home: Path, original: str
) -> None:
    path = home / "config.toml"
    path.write_bytes(original.encode())
    wanted = TomlFile(str(path), entries=(Entry(TABLE.path, {**TABLE.value, "env": {"A": "1"}}),))
    install(wanted)
    newline = "\r\n" if "\r\n" in original else "\n"
    addition = f"# about trust{newline}[projects.later]{newline}level = 1{newline}"
    path.write_bytes(path.read_bytes() + addition.encode())

    remove(wanted)

    expected = original if original.endswith("\n") else original + "\n"
    assert path.read_bytes().decode() == expected + addition


def test_a_file_of_our_own_comes_and_goes(home: Path) -> None:
    wanted = OwnFile(str(home / "plugins" / "iai-mcp.js"), "export const X = 1\n")

    install(wanted)
    content = Path(wanted.path).read_text()
    remove(wanted)

    assert content == wanted.text
    assert list(home.iterdir()) == []


def test_the_diff_shows_what_would_change_and_changes_nothing(home: Path) -> None:
    path = home / "settings.json"
    path.write_bytes(ORIGINALS["plain"])

    diff = edits.plan_install(settings(path)).diff()

    assert f"--- {path}" in diff
    assert "+++" in diff
    assert "iai-mcp" in diff
    assert path.read_bytes() == ORIGINALS["plain"]


def test_installations_at_the_same_time_do_not_undo_each_other(home: Path) -> None:
    path = home / "settings.json"
    path.write_bytes(ORIGINALS["plain"])
    children = []
    for number in range(6):
        child = os.fork()
        if child == 0:
            entry = Entry(("mcpServers", f"server-{number}"), {"command": str(number)})
            try:
                install(JsonFile(str(path), (entry,)))
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)

    codes = [os.waitpid(child, 0)[1] for child in children]

    assert codes == [0] * 6
    assert len(json.loads(path.read_text())["mcpServers"]) == 6
