"""A benchmark that needs a model says so and ends where none is installed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_AT_ONCE = 60  # seconds on a loaded machine; what waits for a model waits without end


def _bench(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("IAI_")}
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments],
        cwd=_ROOT,
        env={**environment, "HOME": str(home), "PYTHONPATH": str(_ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=_AT_ONCE,
        check=False,
    )


@pytest.fixture
def coding(tmp_path: Path) -> Path:
    """A set of one question about one session."""
    directory = tmp_path / "coding"
    (directory / "transcripts").mkdir(parents=True)
    question = {"developer": "ann", "kind": "fact", "cue": "which port?", "gold": [{"quote": "80"}]}
    (directory / "questions.json").write_text(json.dumps({"questions": [question]}))
    (directory / "transcripts" / "one.jsonl").write_text("{}\n")
    return directory


@pytest.fixture
def memorycode(tmp_path: Path) -> Path:
    directory = tmp_path / "memorycode"
    directory.mkdir()
    story = {"context": {"mentor": "Ann"}, "sessions": [], "instructions": []}
    (directory / "dialogue_1.json").write_text(json.dumps(story))
    return directory


@pytest.mark.parametrize(
    "arguments",
    [
        "coding --data {coding}",
        "memorycode {memorycode}",
        "recall --sizes 10",
        "embedding",
        "exact",
        "startup",
    ],
)
def test_says_in_one_sentence_what_is_missing(
    arguments: str, tmp_path: Path, coding: Path, memorycode: Path
) -> None:
    done = _bench(tmp_path, *arguments.format(coding=coding, memorycode=memorycode).split())

    assert done.returncode == 1, done.stderr
    (told,) = done.stderr.splitlines()
    assert "iai-mcp model install" in told
    assert "embedding model" in told


def test_a_damaged_model_is_told_as_well(tmp_path: Path, coding: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.onnx").write_bytes(b"no graph")
    (model / "tokenizer.json").write_text("{}")
    environment = {**os.environ, "HOME": str(tmp_path), "IAI_MCP_EMBED_MODEL": str(model)}
    done = subprocess.run(
        [sys.executable, "-m", "bench", "coding", "--data", str(coding)],
        cwd=_ROOT,
        env={**environment, "PYTHONPATH": str(_ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=_AT_ONCE,
        check=False,
    )

    assert done.returncode == 1
    assert "this benchmark needs a model" in done.stderr.splitlines()[-1]


def test_coding_says_which_data_it_wants(tmp_path: Path) -> None:
    for given in ([], ["--data", str(tmp_path)]):
        done = _bench(tmp_path, "coding", *given)

        assert done.returncode == 2
        assert "questions.json" in done.stderr
        assert "transcripts/" in done.stderr
        assert "python -m bench coding --data" in done.stderr.partition("error:")[2]
        assert "Traceback" not in done.stderr
