"""What the program imports stands in pyproject.toml, and every Python that stands there can have it."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import (
    PackageMetadata,
    PackageNotFoundError,
    distribution,
    packages_distributions,
)
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]


def test_every_package_that_the_program_imports_is_a_declared_dependency() -> None:
    carriers = packages_distributions()
    undeclared = {
        name: sorted(carriers.get(name, ["nobody"]))
        for name in sorted(set(_imported(ROOT / "src/iai_mcp")))
        if not _declared().intersection(map(_normal, carriers.get(name, ())))
    }
    assert undeclared == {}


def _declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = list(project["dependencies"])
    for names in project["optional-dependencies"].values():
        wanted += names
    return {_normal(re.split(r"[\[<>=!~; ]", name)[0]) for name in wanted}


def _imported(source: Path) -> Iterator[str]:
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            for name in _modules(node):
                top = name.partition(".")[0]
                if top not in {*sys.stdlib_module_names, "compression", source.name}:  # since 3.14
                    yield top


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        return [node.module]
    return []


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_python_that_is_promised_can_install_what_is_pinned() -> None:
    """A pinned package that refuses a version of Python takes the whole program with it there.

    Known of the packages of this environment alone: those that another version gets are left out.
    """
    promised = [f"{version}.0" for version in _promised()]
    assert promised, "pyproject.toml promises no version of Python"
    refused = {
        f"{pinned.name} on Python {version}"
        for pinned in _pinned()
        for version in promised
        if pinned.marker is None or pinned.marker.evaluate(_linux(version))
        if (here := _installed(pinned)) is not None and "Requires-Python" in here
        if version not in SpecifierSet(here["Requires-Python"])
    }
    assert refused == set()


def _promised() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return re.findall(
        r"Programming Language :: Python :: (3\.\d+)", "\n".join(project["classifiers"])
    )


def _pinned() -> Iterator[Requirement]:
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        if re.match(r"[\w-]+==|[\w-]+\[", line):
            yield Requirement(line.removesuffix("\\").strip())


def _linux(version: str) -> dict[str, str]:
    short = version.rpartition(".")[0]
    return {"python_version": short, "python_full_version": version, "sys_platform": "linux"}


def _installed(pinned: Requirement) -> PackageMetadata | None:
    try:
        found = distribution(pinned.name)
    except PackageNotFoundError:
        return None
    return found.metadata if found.version in pinned.specifier else None
