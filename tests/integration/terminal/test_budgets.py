"""What sessions may cost: gates on imports and memory, which creep when nobody looks."""

import subprocess
import sys

import pytest
from tests.terminal_kit import SOURCE, Desk, eventually

HEAVY = {
    "asyncio",
    "collections",
    "ctypes",
    "dataclasses",
    "enum",
    "json",
    "logging",
    "pathlib",
    "re",
    "signal",
    "socket",
    "struct",
    "subprocess",
    "typing",
}


def loaded(code: str, *flags: str) -> set[str]:
    show = "import sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, *flags, "-c", f"import sys; sys.path.append({SOURCE!r})\n{code}\n{show}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(done.stdout.split())


def test_a_holder_imports_nothing_heavy() -> None:
    modules = loaded("import iai_mcp.terminal.holder.loop", "-I", "-S")

    assert modules & HEAVY == set()


def test_a_list_imports_neither_dataclasses_nor_an_emulator() -> None:
    modules = loaded("import iai_mcp.cli.session")

    unwanted = {"dataclasses", "hashlib", "subprocess", "iai_mcp.terminal.screen"}
    assert modules & unwanted == set()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_holder_has_less_than_five_megabytes_of_its_own(desk: Desk) -> None:
    session = desk.start("cat")
    holder = eventually(lambda: desk.record(session).holder)

    with open(f"/proc/{holder}/smaps_rollup", encoding="ascii") as source:
        private = sum(int(line.split()[1]) for line in source if line.startswith("Private"))

    assert private < 5 * 1024
