"""The wheel holds all that the program needs, and works in an empty home with no clone around."""

import json
import os
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import wheel
from tests.support.home import ScratchHome
from tests.support.wheel import Built

from iai_mcp import __version__

PACKAGE = wheel.ROOT / "src/iai_mcp"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    place = tmp_path_factory.mktemp("wheel")
    return wheel.build(wheel.source(place / "clone"), place / "dist")


@pytest.fixture(scope="module")
def commands(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel.install(built.wheel, tmp_path_factory.mktemp("installed") / "venv")


class Newcomer:
    """Somebody with an empty home and nothing of ours but the installed command."""

    def __init__(self, home: ScratchHome, commands: Path) -> None:
        self.home = home
        self.commands = commands

    def runs(self, *words: str) -> "subprocess.CompletedProcess[str]":
        kept = {"NO_COLOR", "HOME", "PYTHON_KEYRING_BACKEND", "LANG"}
        environment = {k: v for k, v in self.home.environment.items() if k in kept}
        return subprocess.run(
            ["iai-mcp", *words],
            env={**environment, "PATH": f"{self.commands}:{os.defpath}"},
            cwd=self.home.path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )


@pytest.fixture
def newcomer(commands: Path) -> Iterator[Newcomer]:
    home = ScratchHome()
    there = Newcomer(home, commands)
    yield there
    there.runs("down")
    home.remove()


def test_the_wheel_holds_every_file_of_the_program_and_nothing_else(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    made = {"__pycache__", "libraries"}
    files = {
        str(path.relative_to(PACKAGE.parent))
        for path in PACKAGE.rglob("*")
        if path.is_file() and not made.intersection(path.parts)
    }
    assert {"iai_mcp/py.typed", "iai_mcp/cli/demo_conversation.jsonl"} <= held
    assert held == files


def test_a_wheel_that_is_made_without_a_network_says_what_it_lacks(built: Built) -> None:
    assert "The page will lack a library" in built.said


def test_what_the_page_draws_with_is_in_a_wheel_that_is_made_where_it_lies(tmp_path: Path) -> None:
    tree = wheel.source(tmp_path / "clone")
    drawn = tree / "src/iai_mcp/web/static/libraries"
    for name in ("xterm", "addon-fit", "uplot"):
        (drawn / name).mkdir(parents=True)
        (drawn / name / "LICENSE").write_text("as published\n")
    made = wheel.build(tree, tmp_path / "dist")
    with zipfile.ZipFile(made.wheel) as archive:
        assert "iai_mcp/web/static/libraries/xterm/LICENSE" in archive.namelist()
    assert "will lack" not in made.said


def test_the_installed_command_works_in_an_empty_home(newcomer: Newcomer) -> None:
    assert newcomer.runs("--version").stdout == f"iai-mcp {__version__}\n"
    started = newcomer.runs("up")
    assert started.returncode == 0, started.stderr
    assert "memory is on: started" in started.stdout
    assert newcomer.runs("capture", "Heron's database listens on 5433.").returncode == 0
    hits = json.loads(newcomer.runs("recall", "heron database", "--json").stdout)["hits"]
    assert "5433" in hits[0]["text"]
    examined = newcomer.runs("doctor")
    assert examined.returncode == 0, examined.stdout


def test_the_installed_command_shows_itself_in_a_demonstration(newcomer: Newcomer) -> None:
    shown = newcomer.runs("demo")
    assert shown.returncode == 0, shown.stdout + shown.stderr


def test_what_agent_programs_start_names_neither_the_clone_nor_a_version_of_python(
    newcomer: Newcomer, built: Built
) -> None:
    for name in (".claude", ".codex", ".gemini"):
        (newcomer.home.path / name).mkdir()
    connected = newcomer.runs("hosts", "install", "--yes")
    assert connected.returncode == 0, connected.stderr
    written = [path for path in newcomer.home.path.glob(".*/*.*") if path.is_file()]
    texts = "".join(path.read_text() for path in written if ".iai-mcp" not in path.parts)
    assert str(newcomer.commands / "python") in texts
    assert "site-packages" not in texts
    assert "removed" not in connected.stderr, "an installed one lasts"
    told = json.loads(newcomer.runs("upgrade", "--json").stdout)
    assert (told["way"], told["origin"], told["lasts"]) == ("pip", str(built.wheel), True)
