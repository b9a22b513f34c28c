"""What hosts install by themselves holds what their documented manifests ask for, and what we install."""

import io
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from iai_mcp import __version__
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.hosts import every, plugins

ROOT = Path(__file__).parents[3]
PACKED = [host for host in every() if host.package is not None]
ADDRESS = "https://github.com/ann/iai-mcp"
PLUGIN = {"claude-code": "plugins/iai-mcp/", "codex": "plugins/iai-mcp/", "gemini": ""}
MANIFEST = {
    "claude-code": ".claude-plugin/plugin.json",
    "codex": ".codex-plugin/plugin.json",
    "gemini": "gemini-extension.json",
}


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    return plugins.everything(ADDRESS)


def read(made: dict[str, bytes], place: str) -> dict[str, Any]:
    said = json.loads(made[place])
    assert isinstance(said, dict)
    return said


@pytest.mark.parametrize("host", PACKED, ids=lambda host: host.id)
def test_a_plugin_has_a_manifest_hooks_the_server_and_a_skill(
    host: Any, made: dict[str, bytes]
) -> None:
    root = f"{host.id}/{PLUGIN[host.id]}"
    manifest = read(made, root + MANIFEST[host.id])
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", manifest["name"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert manifest["version"] == __version__
    servers = manifest if host.id == "gemini" else read(made, f"{root}.mcp.json")
    ((name, server),) = servers["mcpServers"].items()
    assert (name, server["command"], server["args"]) == ("iai-mcp", "iai-mcp", ["mcp"])
    head, _, body = (
        made[f"{root}skills/iai-mcp/SKILL.md"].decode().removeprefix("---\n").partition("---\n")
    )
    fields = dict(line.partition(": ")[::2] for line in head.splitlines())
    assert fields["name"] == "iai-mcp"
    assert len(fields["description"]) <= 1024
    assert "memory_recall" in body


@pytest.mark.parametrize("host", PACKED, ids=lambda host: host.id)
def test_a_plugin_has_the_hooks_that_an_install_writes_and_says_that_it_is_one(
    host: Any, made: dict[str, bytes]
) -> None:
    hooks = read(made, f"{host.id}/{PLUGIN[host.id]}hooks/hooks.json")["hooks"]
    assert set(hooks) == set(host.hooks.installed)
    for name, groups in hooks.items():
        (hook,) = groups[0]["hooks"]
        line = " ".join([hook["command"], *hook.get("args", [])])
        assert (hook["type"], line) == ("command", f"iai-mcp hook --plugin {host.id} {name}")
        assert hook["timeout"] == host.hooks.timeouts()[name]
        assert groups[0].get("matcher") == host.hooks.matchers.get(name)


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ("claude-code", ".claude-plugin/marketplace.json"),
        ("codex", ".agents/plugins/marketplace.json"),
    ],
)
def test_a_marketplace_leads_to_its_plugin(host: str, place: str, made: dict[str, bytes]) -> None:
    market = read(made, f"{host}/{place}")
    (plugin,) = market["plugins"]
    source = plugin["source"]
    path = source if isinstance(source, str) else source["path"]
    assert (market["name"], plugin["name"]) == ("iai-mcp", "iai-mcp")
    assert f"{host}/{path.removeprefix('./')}/{MANIFEST[host]}" in made


def test_the_entry_of_the_registry_has_what_its_schema_asks_for(made: dict[str, bytes]) -> None:
    entry = read(made, "server.json")
    assert entry["$schema"].endswith("/server.schema.json")
    assert entry["name"] == "io.github.ann/iai-mcp"
    assert 1 <= len(entry["description"]) <= 100
    (package,) = entry["packages"]
    assert (package["registryType"], package["identifier"]) == ("pypi", "iai-mcp")
    assert entry["version"] == package["version"] == __version__
    assert package["transport"] == {"type": "stdio"}
    assert [argument["value"] for argument in package["packageArguments"]] == ["mcp"]


def test_a_project_elsewhere_is_named_by_its_domain_and_one_nowhere_is_refused() -> None:
    named = json.loads(plugins.everything("https://code.example.org/iai")["server.json"])["name"]
    assert named == "org.example.code/iai-mcp"
    with pytest.raises(InvalidInput):
        plugins.everything("somewhere")


def test_the_bundle_starts_the_installed_program_or_says_how_to_get_it(
    made: dict[str, bytes], tmp_path: Path
) -> None:
    with zipfile.ZipFile(io.BytesIO(made["iai-mcp.mcpb"])) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        starter = archive.getinfo(manifest["server"]["entry_point"])
        script = tmp_path / "starter"
        script.write_bytes(archive.read(starter))
    assert {"manifest_version", "name", "version", "description", "author", "server"} <= set(
        manifest
    )
    assert starter.external_attr >> 16 & 0o111
    shell = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    without = subprocess.run(
        ["sh", script, "mcp"], env=shell, capture_output=True, text=True, check=False
    )
    assert (without.returncode, "pipx install" in without.stderr) == (1, True)
    program = tmp_path / ".local/bin/iai-mcp"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "started $1"\n')
    program.chmod(0o755)
    found = subprocess.run(
        ["sh", script, "mcp"], env=shell, capture_output=True, text=True, check=False
    )
    assert found.stdout == "started mcp\n"


def test_the_same_packages_are_the_same_bytes_and_the_script_writes_them(tmp_path: Path) -> None:
    script = ROOT / "scripts/host-packages"
    subprocess.run([sys.executable, script, tmp_path], check=True, stdout=subprocess.DEVNULL)
    written = {
        str(path.relative_to(tmp_path)): path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert written == plugins.everything(project["urls"]["Repository"])
