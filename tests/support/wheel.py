"""The wheel as somebody gets it, and an environment of its own that it is installed into."""

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# A port that nobody serves: as without a network.
NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Built:
    wheel: Path
    said: str  # while it was built


def source(place: Path) -> Path:
    """What a clone holds of the program, at `place`; nothing of what this checkout has made since."""
    for name in ("README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "hatch_build.py"):
        place.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, place / name)
    (place / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/page-libraries", place / "scripts")
    made = shutil.ignore_patterns("__pycache__", "libraries")
    shutil.copytree(ROOT / "src", place / "src", ignore=made)
    return place


def build(tree: Path, target: Path) -> Built:
    """The wheel of `tree`, built without a network."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)],
        cwd=tree,
        env={**os.environ, "npm_config_registry": NOWHERE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Built(next(target.glob("*.whl")), done.stdout + done.stderr)


def install(wheel: Path, environment: Path) -> Path:
    """Install it into a fresh environment, which borrows the dependencies of ours; its commands."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    quietly = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*pip, *quietly], check=True)
    ours = sysconfig.get_path("purelib")
    theirs = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    (theirs / "borrowed.pth").write_text(f"{ours}\n")
    return environment / "bin"
