"""The user's `redaction.toml` counts from the moment it changes, and never stops the redactor."""

import os
from pathlib import Path

import pytest

from iai_mcp.adapters.redactor import FileRedactor, user_file

PATTERN = "[[pattern]]\nname = 'employee'\nregex = 'EMP-[0-9]{6}'\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path))
    return Path(user_file())


def test_a_pattern_works_as_soon_as_it_is_written_and_until_it_goes(file: Path) -> None:
    redactor = FileRedactor()
    assert redactor("EMP-123456").text == "EMP-123456"
    file.write_text(PATTERN)
    assert redactor("EMP-123456").text == "[secret:employee]"
    file.unlink()
    assert redactor("EMP-123456").text == "EMP-123456"


def test_a_broken_file_is_reported_and_the_built_in_rules_go_on(file: Path) -> None:
    redactor = FileRedactor()
    file.write_text("[[pattern]]\nname = 'broken'\nregex = '('\n" + PATTERN)
    cleaned = redactor("EMP-123456 and password: hunter2")
    assert cleaned.text == "[secret:employee] and password: [secret:password]"
    (problem,) = redactor.problems
    assert str(file) in problem and "broken" in problem


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_can_not_be_read_is_reported(file: Path) -> None:
    file.write_text(PATTERN)
    file.chmod(0)
    assert "can not be read" in FileRedactor().problems[0]


def test_a_file_that_is_no_text_is_reported(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00")
    assert "can not be read" in FileRedactor().problems[0]
