"""What the program imports stands in pyproject.toml: nothing is there only because others need it."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

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
    return {_normal(re.split(r"[\[<>=!~; ]", wanted)[0]) for wanted in project["dependencies"]}


def _imported(source: Path) -> Iterator[str]:
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            for name in _modules(node):
                top = name.partition(".")[0]
                if top not in sys.stdlib_module_names and top != source.name:
                    yield top


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        return [node.module]
    return []


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
