"""The log of hooks is read on terminals, and names of files stand in it."""

from pathlib import Path

import pytest

from iai_mcp.capture import hook_log


def test_a_note_is_one_line_and_nothing_in_it_is_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path))

    hook_log.note("no transcript: /x/\x1b]0;owned\x07\n2026-01-01 forged\udc9b \u202e é")

    (line,) = (tmp_path / "logs/capture.log").read_text("utf-8").splitlines()
    assert line.isprintable()
    assert line.endswith(r"/x/\x1b]0;owned\x07\n2026-01-01 forged\udc9b \u202e é")
