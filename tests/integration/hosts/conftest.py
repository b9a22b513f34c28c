"""A home of its own for every test: nothing of the person who runs them is read or written."""

from pathlib import Path

import pytest

# Variables through which a host's files could end up outside the test's home.
ELSEWHERE = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "OPENCODE_CONFIG_DIR",
    "QWEN_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "IAI_DAEMON_SOCKET_PATH",
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    return folder
