"""The version stands in one place with a date in the changelog, and `scripts/release` tags what it checked."""

import datetime
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from iai_mcp import __version__

ROOT = Path(__file__).parents[2]
# Building, checking and installing take minutes and are CI's: this stands in for the python that does them.
BUILDER = f"""#!/bin/sh
case "$*" in
"-m hatchling"*) mkdir -p dist; touch dist/iai_mcp.whl dist/iai_mcp.tar.gz;;
"-m twine"*|scripts/*) ;;
"-m venv"*)
  mkdir -p "$3/bin"
  printf '#!/bin/sh\\n' > "$3/bin/pip"
  printf '#!/bin/sh\\n[ "$1" != --version ] || echo "iai-mcp 1.2.3"\\n' > "$3/bin/iai-mcp"
  chmod +x "$3/bin/pip" "$3/bin/iai-mcp";;
*) exec {sys.executable} "$@";;
esac
"""


def test_the_version_is_the_newest_of_the_changelog_and_has_a_date() -> None:
    headings = re.findall(r"^## (\d.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    newest, _, date = headings[0].partition(" — ")
    assert newest == __version__
    assert datetime.date.fromisoformat(date)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository of this shape, at a version before 1.2.3."""
    place = tmp_path / "checkout"
    for folder in ("scripts", "src/iai_mcp", ".venv/bin"):
        (place / folder).mkdir(parents=True)
    shutil.copy(ROOT / "scripts/release", place / "scripts")
    for name, text in (("scripts/environment", "#!/bin/sh\n"), (".venv/bin/python", BUILDER)):
        (place / name).write_text(text)
        (place / name).chmod(0o755)
    (place / ".gitignore").write_text(".venv\ndist\n")
    (place / "pyproject.toml").write_text("")
    (place / "src/iai_mcp/__init__.py").write_text('__version__ = "1.2.2"\n')
    (place / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- New.\n")
    git(place, "init", "-q")
    git(place, "add", ".")
    git(place, "commit", "-qm", "Begin")
    return place


def git(place: Path, *words: str) -> str:
    names = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    told = subprocess.run(
        ["git", *names, *words], cwd=place, capture_output=True, text=True, timeout=30, check=True
    )
    return told.stdout.strip()


def release(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The script, with a person who says yes."""
    people = {
        f"GIT_{who}_{what}": "ann" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    return subprocess.run(
        ["scripts/release", *words], cwd=place, input="y\n", capture_output=True, text=True,
        timeout=60, check=False, env={**os.environ, **people},
    )  # fmt: skip


def test_a_release_writes_version_and_date_and_tags_them(checkout: Path) -> None:
    done = release(checkout, "1.2.3")

    assert done.returncode == 0, done.stderr
    assert git(checkout, "show", "v1.2.3:src/iai_mcp/__init__.py") == '__version__ = "1.2.3"'
    heading = git(checkout, "show", "v1.2.3:CHANGELOG.md").splitlines()[2]
    assert re.fullmatch(r"## 1\.2\.3 — \d{4}-\d\d-\d\d", heading)


def test_a_version_that_was_committed_with_its_date_is_tagged_as_it_is(checkout: Path) -> None:
    (checkout / "src/iai_mcp/__init__.py").write_text('__version__ = "1.2.3"\n')
    (checkout / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3 — 2026-01-02\n\n- New.\n")
    git(checkout, "commit", "-qam", "Say what 1.2.3 is")

    done = release(checkout, "1.2.3")

    assert done.returncode == 0, done.stderr
    assert git(checkout, "rev-parse", "v1.2.3^{commit}") == git(checkout, "rev-parse", "HEAD")
    assert git(checkout, "log", "-1", "--format=%s") == "Say what 1.2.3 is"


@pytest.mark.parametrize("named", ["1.2", "v1.2.3", "--chek"])
def test_what_is_no_version_is_refused_and_changes_nothing(checkout: Path, named: str) -> None:
    done = release(checkout, named)

    assert done.returncode != 0
    assert f"'{named}' is no version" in done.stderr
    assert git(checkout, "status", "--porcelain") == ""
