"""Whose shell does not know `iai-mcp` is told what works, and how the name becomes known."""

import os
import sys
from pathlib import Path

import pytest

from iai_mcp.cli import calling


@pytest.fixture
def unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home in which the command is installed and not on the PATH."""
    script = tmp_path / "env" / "bin" / "iai-mcp"
    script.parent.mkdir(parents=True)
    script.touch(0o755)
    monkeypatch.setattr(sys, "executable", str(script.with_name("python")))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", os.devnull)
    return tmp_path


def test_a_command_that_no_directory_on_the_path_has_is_linked_there(unknown: Path) -> None:
    assert f"ln -s {unknown}/env/bin/iai-mcp ~/.local/bin/" in calling.advice()


def test_a_link_that_an_installer_made_is_not_made_again(unknown: Path) -> None:
    link = unknown / ".local" / "bin" / "iai-mcp"
    link.parent.mkdir(parents=True)
    link.symlink_to(unknown / "env" / "bin" / "iai-mcp")
    assert "put ~/.local/bin on your PATH" in calling.advice()
    assert "ln -s" not in calling.advice()
