"""Settings: the environment wins over the file, and a bad value is named with its place."""

import pytest

from iai_mcp import settings
from iai_mcp.domain.errors import InvalidInput


@pytest.fixture(autouse=True)
def _home(monkeypatch, tmp_path):
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path))
    return tmp_path


def test_the_environment_wins_over_the_file_and_that_over_the_default(_home, monkeypatch):
    assert settings.load({}).sleep_after == 1800
    (_home / "config.toml").write_text("sleep_after = 60\nlog_level = 'DEBUG'\n")
    assert settings.load({}).sleep_after == 60
    assert settings.load({"IAI_MCP_SLEEP_AFTER": "7"}).sleep_after == 7
    assert settings.load({}).log_level == "DEBUG"


@pytest.mark.parametrize("value", ["soon", "-1", "1.5", ""])
def test_a_value_that_can_not_be_used_is_named(value):
    with pytest.raises(InvalidInput, match="IAI_MCP_WORKERS"):
        settings.load({"IAI_MCP_WORKERS": value})


def test_a_broken_file_is_named(_home):
    (_home / "config.toml").write_text("sleep_after = = 3")
    with pytest.raises(InvalidInput, match=r"config\.toml"):
        settings.load({})
