"""The documents lead somewhere: every link has a target, every page is reached, every command exists."""

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from iai_mcp.cli.commands import COMMANDS, FOR_PROGRAMS
from iai_mcp.domain.knobs import Knobs

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FRONT = ROOT / "docs" / "README.md"
KNOWN = {*COMMANDS, *(name for name, _ in FOR_PROGRAMS), "COMMAND", "ARGUMENTS"}


def links(document: Path) -> list[tuple[Path, str]]:
    """Every file and anchor of ours that a document leads to."""
    found = re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", document.read_text("utf-8"))
    return [(document.parent / path if path else document, anchor) for path, anchor in found]


def anchors(document: Path) -> set[str]:
    """The headings of a page, as the places that show it name them."""
    text = re.sub(r"```.*?```", "", document.read_text("utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_has_a_target(document: Path) -> None:
    assert [str(path) for path, _ in links(document) if not path.exists()] == []
    to_headings = [(path, anchor) for path, anchor in links(document) if anchor]
    assert [(str(path), a) for path, a in to_headings if a not in anchors(path)] == []


def test_every_page_is_reached_from_the_front_page() -> None:
    reached, following = set[Path](), [FRONT]
    while following:
        place = following.pop().resolve()
        if place in reached or not place.is_relative_to(ROOT):
            continue
        reached.add(place)
        if place.is_dir():  # shown as a list of what is in it
            following += place.glob("*.md")
        elif place.suffix == ".md":
            following += [path for path, _ in links(place)]
    assert [
        str(page) for page in DOCUMENTS if page not in reached and page.name != "README.md"
    ] == []
    assert FRONT in {path.resolve() for path, _ in links(ROOT / "README.md")}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_that_is_named_exists(document: Path) -> None:
    named = re.findall(
        r"iai-mcp ([a-z][a-z-]+)", " ".join(re.findall(r"`[^`\n]*`", document.read_text("utf-8")))
    )
    assert sorted({name for name in named if name not in KNOWN}) == []


def examples(document: Path) -> list[str]:
    """What a page shows as code: between backticks, fenced, or indented."""
    text = document.read_text("utf-8")
    fenced = "\n".join(re.findall(r"```.*?\n(.*?)```", text, re.DOTALL)).splitlines()
    return re.findall(r"`([^`\n]*)`", text) + re.findall(r"^ {4}(.*)$", text, re.MULTILINE) + fenced


def test_every_option_that_is_shown_with_a_command_is_one_of_its_own() -> None:
    reference = (ROOT / "docs" / "commands.md").read_text("utf-8")
    helps = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", reference, re.MULTILINE | re.DOTALL))
    unknown = [
        f"{document.relative_to(ROOT)}: iai-mcp {command} … {option}"
        for document in DOCUMENTS
        for line in examples(document)
        for command, rest in re.findall(r"iai-mcp ([a-z-]+)([^;&|#]*)", line)
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest)
        if command in helps and option not in helps[command]
    ]
    assert unknown == []


def test_every_decision_has_a_number_of_its_own() -> None:
    numbers = [path.name[:4] for path in (ROOT / "docs" / "decisions").glob("*.md")]
    assert sorted(numbers) == sorted(set(numbers))


def test_every_knob_has_its_row_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|", _knobs_page(), re.MULTILINE)
    assert dict(rows) == {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in asdict(Knobs()).items()
    }


def _knobs_page() -> str:
    return (ROOT / "docs" / "knobs.md").read_text("utf-8")
