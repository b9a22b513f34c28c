"""The documents lead somewhere: every link has a target, every command named in them exists."""

import re
from pathlib import Path

import pytest

from iai_mcp.cli.commands import COMMANDS, FOR_PROGRAMS

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
KNOWN = {*COMMANDS, *(name for name, _ in FOR_PROGRAMS), "COMMAND", "ARGUMENTS"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_to_a_file_has_a_target(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", document.read_text("utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_that_is_named_exists(document: Path) -> None:
    named = re.findall(
        r"iai-mcp ([a-z][a-z-]+)", " ".join(re.findall(r"`[^`\n]*`", document.read_text("utf-8")))
    )
    assert sorted({name for name in named if name not in KNOWN}) == []
