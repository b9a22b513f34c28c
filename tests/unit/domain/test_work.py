"""When two commands or two errors are the same, what mended a failure, and what a cue asks for."""

import pytest

from iai_mcp.domain.commands import errors_in, has_failed, is_variant, same_command, same_error
from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import Provenance
from iai_mcp.domain.mendings import Step, mendings
from iai_mcp.domain.practice import practice
from iai_mcp.domain.telling import cut_command, rough, telling
from iai_mcp.domain.work import Command, Done, Edit, Looked, Record, within_project


@pytest.mark.parametrize(
    "command",
    [
        "go test ./cart",
        "cd /home/ann/shop && go test ./cart",
        "cd '/a b' ; go test ./cart 2>&1 | tail -30",
        "CI=1 DEBUG='a b' go test ./cart",
        "export CI=1 && timeout 60 go test   ./cart",
        "time go test ./cart > /dev/null 2>&1 || true",
        "go test ./cart 2>&1; echo done",
        "# try it\ngo test ./cart",
    ],
)
def test_what_stands_around_a_command_makes_it_no_other(command: str) -> None:
    assert same_command(command) == "go test ./cart"


@pytest.mark.parametrize("other", ["go test ./bank", "go build ./cart", "go test ./cart -v"])
def test_another_argument_makes_another_command(other: str) -> None:
    assert same_command(other) != same_command("go test ./cart")


def test_commands_are_variants_that_do_the_same_or_apply_to_the_same() -> None:
    assert is_variant("lint run --out-format=x", "lint run")
    assert is_variant("go build -tags e2e ./cmd/e2e/...", "go test -c ./cmd/e2e/...")
    assert not is_variant("go build ./...", "go test ./...")
    assert not is_variant("git add a/b.py", "cat a/b.py")


def test_an_error_is_the_same_at_another_line_time_and_place() -> None:
    first = same_error("/home/ann/shop/src/cart.go:12:3: undefined: total (0.31s) at 0x7f3a")
    again = same_error("/Users/ben/shop/src/cart.go:99:1: undefined: total (1.20s) at 0x11bc")
    assert first == again
    assert same_error("cart.go:12:3: undefined: total") != same_error(
        "cart.go:12:3: undefined: sum"
    )


def test_lines_that_every_failure_ends_with_name_none() -> None:
    printed = "FAIL\nexit status 1\n[lint] ERROR task failed\n=== RUN TestMissing\n2 failed in 3s"
    assert errors_in(printed) == []
    assert errors_in(f"cart.py:3: undefined name total_of\n{printed}") == [
        "cart.py:<line>: undefined name total_of"
    ]


def test_a_pipe_that_hides_the_exit_does_not_hide_the_failure() -> None:
    assert has_failed("go test | tail -5", 0, "--- FAIL: TestCart\nFAIL")
    assert not has_failed("go test", 0, "--- FAIL: is what it prints elsewhere")
    assert not has_failed("pytest | tail -5", 0, "3 passed, 0 failed")
    assert has_failed("go test", 2, "")


def ran(command: str, output: str = "", *, failed: bool = False) -> Command:
    return Command(command, int(failed), output=output, failed=failed)


def mended(*done: Done) -> list[tuple[int, tuple[int, ...]]]:
    steps = [Step(n, n * 1_000_000, one) for n, one in enumerate(done)]
    return [(one.failure, one.steps) for one in mendings(steps)]


TOTAL = "cart.py:3: undefined name total_of"
PRICE = "cart.py:9: undefined name price_of"


def test_what_came_between_a_failure_and_the_same_commands_success_mended_it() -> None:
    assert mended(
        ran("pytest", TOTAL, failed=True),
        Looked(("cart.py",)),
        Edit("cart.py"),
        ran("cat cart.py"),
        ran("pytest 2>&1 | tail -3"),
    ) == [(0, (2,))]


def test_each_error_was_mended_by_what_made_it_go_away() -> None:
    assert mended(
        ran("pytest", f"{TOTAL}\n{PRICE}", failed=True),
        Edit("cart.py"),
        ran("pytest", PRICE, failed=True),
        Edit("price.py"),
        ran("pytest"),
    ) == [(0, (3,)), (2, (3,))]


def test_a_command_that_should_have_read_otherwise_is_mended_by_the_one_that_did() -> None:
    assert mended(ran("lint run --old", "unknown flag: --old", failed=True), ran("lint run")) == [
        (0, (1,))
    ]


def test_nothing_mended_what_never_succeeded_or_only_ran_again() -> None:
    assert mended(ran("pytest", TOTAL, failed=True), Edit("cart.py"), ran("mypy")) == []
    assert mended(ran("pytest", TOTAL, failed=True), Edit("cart.py"), ran("pytest", TOTAL, failed=True)) == []  # fmt: skip


def test_of_an_output_errors_and_the_end_stay_and_of_what_was_read_nothing() -> None:
    noise = "\n".join(f"compiling part {n}" for n in range(400))
    printed = f"{noise}\nerror: no such module\n{noise}\n3 failed"
    kept = telling(rough(printed, "make", failed=True), "make", failed=True).split("\n")
    assert kept[:1] == ["error: no such module"]
    assert kept[-1] == "3 failed"
    assert len(kept) <= 4
    assert rough(printed, "cd x && cat log | head", failed=False) == ""


def test_colours_and_redrawn_lines_are_read_as_on_a_screen() -> None:
    assert telling("\x1b[31mred\x1b[0m\r\n10%\r50%\rdone", "make", failed=False) == "red\ndone"


def test_no_word_is_cut_in_a_command_that_is_too_long() -> None:
    words = " ".join(f"word{n}" for n in range(1000))
    assert set(cut_command(words).replace("…", "").split()) <= set(words.split())


@pytest.mark.parametrize(
    ("path", "root", "project", "seen"),
    [
        ("/shop/src/a.py", "", "/shop", "src/a.py"),
        ("a.py", "/shop/src", "/shop", "src/a.py"),
        ("src/a.py", "/shop", "/shop/src", "src/a.py"),
        ("/etc/hosts", "", "/shop", "/etc/hosts"),
        ("/shop/../etc/x", "", "/shop", "/shop/../etc/x"),
        ("a.py", "", "", "a.py"),
    ],
)
def test_files_are_named_as_seen_from_the_project(
    path: str, root: str, project: str, seen: str
) -> None:
    placed = within_project(Edit(path, root=root), "/cwd", project)
    assert isinstance(placed, Edit)
    assert placed.path == seen


def test_a_project_is_worked_with_what_was_used_most_and_worked() -> None:
    def run(key: int, done: Command) -> Record:
        return Record(key=key, id=str(key), at=from_micros(key), done=done, provenance=Provenance())

    lines = ["make test"] * 3 + [
        "pytest -k one",
        "make lint",
        "make lint",
        "git status",
        "git status",
    ]
    runs = [run(n, ran(line)) for n, line in enumerate(lines)]
    runs += [run(99, ran("make build", failed=True)), run(98, ran("make build", failed=True))]

    assert [(one.purpose, one.command, one.uses) for one in practice(runs)] == [
        ("test", "make test", 3),
        ("lint", "make lint", 2),
    ]
