"""One list of hosts, one value for each: whatever else lists hosts is made from it."""

import subprocess
import sys
from pathlib import Path

import pytest

from iai_mcp import hosts
from iai_mcp.hosts.host import HookEvent, Host
from iai_mcp.hosts.simple_hosts import HOSTS

PACKAGES = [
    path.parent
    for path in Path(hosts.__file__).parent.glob("*/__init__.py")
    if path.parent.name not in ("config_files", "formats")
]
ALL = list(hosts.every())


def test_every_package_and_every_table_entry_is_a_host_of_the_list_under_its_own_name() -> None:
    packages = {path.name.replace("_", "-") for path in PACKAGES}

    assert sorted(host.id for host in ALL) == sorted([*packages, *HOSTS])
    assert all(hosts.find(host.id) is host for host in ALL)


@pytest.mark.parametrize("name", ["nobody", "", "claude_code", "../codex", "config_files", "host"])
def test_nothing_else_is_taken_for_a_host(name: str) -> None:
    assert hosts.find(name) is None


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.id)
def test_a_host_can_be_read_connected_or_launched(host: Host) -> None:
    assert host.title
    assert host.transcript or host.files or host.launch
    assert bool(host.files) != bool(host.not_connected) or host.id == "shell"


@pytest.mark.parametrize("host", [host for host in ALL if host.hooks], ids=lambda host: host.id)
def test_a_host_s_hooks_are_known_by_their_own_names(host: Host) -> None:
    assert host.hooks is not None
    asked = host.hooks.timeouts(launched=True)

    assert all(host.hooks.event_of(name) is not None for name in asked)
    assert host.hooks.event_of("session-start") is HookEvent.START
    assert host.hooks.event_of("nothing of ours") is None


def test_a_program_that_nobody_knows_is_taken_to_speak_like_claude_code() -> None:
    assert hosts.hooks_of("nobody") is hosts.hooks_of("claude-code")


def test_a_host_that_hooks_import_brings_nothing_that_is_slow() -> None:
    slow = "{'json', 're', 'typing', 'enum', 'dataclasses', 'collections', 'importlib.metadata'}"
    probe = (
        "import sys; from iai_mcp import hosts; loaded = list(hosts.readable()); "
        f"print(sorted({slow} & set(sys.modules)), "
        "[name for name in sys.modules if 'config' in name or 'iai_mcp.domain' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", probe],
        env={"PYTHONPATH": str(Path(hosts.__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "[] []\n"


@pytest.mark.parametrize("host", [host for host in ALL if host.files], ids=lambda host: host.id)
def test_people_can_read_what_a_host_gets_and_whether_it_was_seen_working(host: Host) -> None:
    page = (Path(__file__).parents[3] / "docs" / "hosts.md").read_text("utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| `{host.id}` |"))

    assert row.endswith(f"| {host.seen or 'by its documentation'} |")
