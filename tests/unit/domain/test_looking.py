"""Commands that only look are told from those that do something."""

import pytest

from iai_mcp.domain.telling import is_looking, is_reading


@pytest.mark.parametrize(
    "command",
    [
        "sed -n '1,260p' a.py && rg -n 'x|y' src",
        'rg "foo && bar; baz" src',
        "rg -n 'a; b' src | head",
        r"grep -n 'it\|that' a.py; ls",
        r"rg foo\;bar src",
        "git status --short && git diff -- a",
        "git -C /x status",
        "git -c color.ui=never --no-pager log -5",
        "nl -ba f | sed -n '1,40p'",
        "ls missing 2>/dev/null; find . -name '*.py' 2>&1 | head",
        "python --version",
        "command -v rg",
        "printenv PATH",
        "echo 'a > b'",
        "awk '$1 -> 3' f",
    ],
)
def test_a_command_that_only_reads_files_or_state_looks(command: str) -> None:
    assert is_looking(command)


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/a/b/ f",
        "find . -name x -delete",
        "find . -exec rm {} +",
        "cat a | tee b",
        "rg -l foo | xargs sed -i s/a/b/",
        "ls > out.txt",
        "cat <<EOF >> notes\nx\nEOF",
        "rg foo && make",
        "pytest -k 'a or b'",
        "",
    ],
)
def test_a_command_that_changes_or_runs_something_does_not_only_look(command: str) -> None:
    assert is_looking(command) is (command == "")


def test_what_a_reader_prints_is_the_files_also_behind_a_pipe_and_in_quotes() -> None:
    assert is_reading("cat 'a; b' | tee c")
    assert is_reading('sed -n "1,5p" f && rg "a && b"')
    assert not is_reading("make && cat log")


def test_thousands_of_quotes_are_read_at_once() -> None:
    assert is_looking("rg " + "'x' " * 50_000)
    assert is_looking("rg " + "\\" * 99_999)
