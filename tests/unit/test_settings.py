"""Settings: the environment wins over the file, and a bad value is named with its place."""

from pathlib import Path

import pytest

from iai_mcp import settings
from iai_mcp.domain.errors import InvalidInput


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path))
    return tmp_path


def test_the_environment_wins_over_the_file_and_that_over_the_default(
    _home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings.load({}).sleep_after == 1800
    (_home / "config.toml").write_text("sleep_after = 60\nlog_level = 'DEBUG'\n")
    assert settings.load({}).sleep_after == 60
    assert settings.load({"IAI_MCP_SLEEP_AFTER": "7"}).sleep_after == 7
    assert settings.load({}).log_level == "DEBUG"


@pytest.mark.parametrize("value", ["soon", "-1", "1.5", ""])
def test_a_value_that_can_not_be_used_is_named(value: str) -> None:
    with pytest.raises(InvalidInput, match="IAI_MCP_WORKERS"):
        settings.load({"IAI_MCP_WORKERS": value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("EMBED_THREADS", "257"), ("SLEEP_AFTER", "9" * 20), ("WORKERS", "9" * 5000)],
)
def test_more_than_any_machine_has_is_refused_with_the_most(name: str, value: str) -> None:
    """It would be taken at its word: as threads, as memory, as a time that no clock can count."""
    with pytest.raises(InvalidInput, match=f"IAI_MCP_{name}.* (at most|whole number)"):
        settings.load({f"IAI_MCP_{name}": value})


def test_a_broken_file_is_named(_home: Path) -> None:
    (_home / "config.toml").write_text("sleep_after = = 3")
    with pytest.raises(InvalidInput, match=r"config\.toml"):
        settings.load({})


@pytest.mark.parametrize("name", ["WORKERS", "CALLS_PER_CONNECTION", "CALLS_IN_ALL", "EMBED_PAGE"])
def test_what_would_keep_the_daemon_from_ever_answering_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=name.lower()):
        settings.load({f"IAI_MCP_{name}": "0"})


def test_a_log_level_is_one_of_those_there_are_in_any_case() -> None:
    assert settings.load({"IAI_MCP_LOG_LEVEL": "debug"}).log_level == "DEBUG"
    with pytest.raises(InvalidInput, match="WARNING"):
        settings.load({"IAI_MCP_LOG_LEVEL": "loud"})


@pytest.mark.parametrize("value", ["ALL", "", "none", "models,all", "x" * 1000])
def test_the_tool_list_is_for_models_or_all(value: str) -> None:
    assert settings.load({}).mcp_tools == "models"
    assert settings.load({"IAI_MCP_MCP_TOOLS": "all"}).mcp_tools == "all"
    with pytest.raises(InvalidInput, match="one of models, all") as refused:
        settings.load({"IAI_MCP_MCP_TOOLS": value})
    assert len(refused.value.message) < 200


def test_a_file_that_is_not_text_is_named(_home: Path) -> None:
    (_home / "config.toml").write_bytes(b"log_level = '\xff'")
    with pytest.raises(InvalidInput, match=r"config\.toml"):
        settings.load({})
