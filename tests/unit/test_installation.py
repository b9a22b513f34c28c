"""How it was installed is told from what the installers leave behind, with the command that upgrades it."""

import json
from pathlib import Path

import pytest

from iai_mcp import installation

LIBRARY = ("lib", "python3.11", "site-packages")


def installed(prefix: Path, origin: dict[str, object] | None = None) -> installation.Installation:
    """An environment at `prefix` that holds the package, as `origin` (PEP 610) came to it."""
    library = prefix.joinpath(*LIBRARY)
    kept = library / "iai_mcp-0.1.0.dist-info"
    kept.mkdir(parents=True)
    (kept / "METADATA").write_text("Metadata-Version: 2.1\nName: iai-mcp\nVersion: 0.1.0\n")
    if origin is not None:
        (kept / "direct_url.json").write_text(json.dumps(origin))
    return installation.of(str(prefix), str(library / "iai_mcp"))


def test_what_came_from_an_index_is_upgraded_by_its_name(tmp_path: Path) -> None:
    pipx, uv, pip = (tmp_path / way for way in ("pipx", "uv", "pip"))
    for place in (pipx, uv, pip):
        place.mkdir()
    (pipx / "pipx_metadata.json").write_text("{}")
    (uv / "uv-receipt.toml").write_text("")

    found = [installed(place) for place in (pipx, uv, pip)]

    assert [one.way for one in found] == ["pipx", "uv tool", "pip"]
    assert [one.commands[0] for one in found] == [
        "pipx upgrade iai-mcp",
        "uv tool upgrade iai-mcp",
        f"{pip}/bin/python -m pip install --upgrade iai-mcp",
    ]
    assert {one.commands[-1] for one in found} == {"iai-mcp up"}
    assert [one.removal for one in found] == [
        "pipx uninstall iai-mcp",
        "uv tool uninstall iai-mcp",
        f"{pip}/bin/python -m pip uninstall iai-mcp",
    ]


def test_what_was_installed_from_a_clone_is_installed_from_it_again(tmp_path: Path) -> None:
    clone = tmp_path / "my clone"
    (clone / ".git").mkdir(parents=True)
    prefix = tmp_path / "venv"
    prefix.mkdir()
    (prefix / "pipx_metadata.json").write_text("{}")

    found = installed(prefix, {"url": clone.as_uri(), "dir_info": {}})

    assert found.commands == (
        f"git -C '{clone}' pull",
        f"pipx install --force '{clone}'",
        "iai-mcp up",
    )


def test_a_clone_that_is_gone_is_named_and_first_made_anew(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    found = installed(tmp_path / "venv", {"url": gone.as_uri(), "dir_info": {}})
    assert str(gone) in found.missing
    assert found.commands[0] == f"git clone REPOSITORY {gone}"
    assert found.commands[1].endswith(f" {gone}")


def test_a_wheel_that_is_gone_is_not_cloned(tmp_path: Path) -> None:
    gone = tmp_path / "iai_mcp-1.whl"
    found = installed(tmp_path / "venv", {"url": gone.as_uri(), "archive_info": {}})
    assert str(gone) in found.missing
    assert not any("git" in command for command in found.commands)


def test_the_environment_of_a_clone_lasts_no_longer_than_the_clone(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / ".git").mkdir(parents=True)
    (clone / "scripts").mkdir()
    (clone / "scripts/environment").touch()

    found = installation.of(str(clone / ".venv"), str(clone / "src" / "iai_mcp"))

    assert (found.way, found.place, found.lasts) == ("clone", str(clone), False)
    assert found.commands == (f"git -C {clone} pull", f"{clone}/scripts/environment", "iai-mcp up")
    assert found.removal == f"rm -r {clone}/.venv"


@pytest.mark.parametrize("said", ["", "[]", '{"url": 7}', "{", '{"url": "file://[bad"}'])
def test_a_damaged_note_of_the_origin_is_none(tmp_path: Path, said: str) -> None:
    installed(tmp_path)
    library = tmp_path.joinpath(*LIBRARY)
    (library / "iai_mcp-0.1.0.dist-info/direct_url.json").write_text(said)
    assert installation.of(str(tmp_path), str(library / "iai_mcp")).origin == ""
