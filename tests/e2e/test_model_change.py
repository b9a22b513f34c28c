"""From one model to another and back, under a real daemon: what was said is found all along."""

import json
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from bench.quality.datasets import Conversation, own
from tests.models import real_model
from tests.support.daemon import Line, until
from tests.support.home import ScratchHome

from iai_mcp.adapters.embedding import catalogue

ENGLISH, MULTILINGUAL = catalogue.DEFAULT, catalogue.by_name("use-multilingual-v3")
DATA = Path(__file__).parents[2] / "bench" / "data" / "languages"


@pytest.fixture
def running(home: ScratchHome) -> Iterator[ScratchHome]:
    for entry in (ENGLISH, MULTILINGUAL):
        shutil.copytree(real_model(entry), home.store / "models" / entry.model_id)
    assert home.command("up", "--json").returncode == 0
    yield home
    home.command("down")


def test_cues_in_one_language_find_memories_in_another_once_the_model_is_chosen(
    running: ScratchHome,
) -> None:
    (talk,) = [one for one in own(DATA) if one.project == "languages-across"]
    _tell(running, talk)
    _settled(running, ENGLISH.model_id)

    before = _places(running, talk)
    _choose(running, MULTILINGUAL.name)
    _settled(running, MULTILINGUAL.model_id)
    after = _places(running, talk)
    _choose(running, ENGLISH.name)
    _settled(running, ENGLISH.model_id)

    assert sum(place < 5 for place in before) <= 6
    assert all(place < 5 for place in after)
    assert sum(place == 0 for place in after) >= 20
    assert _places(running, talk) == before
    assert _call(running, "topology")["vectors"] == len(talk.turns)


def test_nobody_is_turned_away_while_the_model_changes(running: ScratchHome) -> None:
    _call(running, "capture_events", session_id="s", events=[{"text": "the port is 5433"}])
    enough, texts = threading.Event(), []

    def ask() -> None:
        while not enough.is_set():
            answer = _call(running, "memory_recall", cue="which port?", k=1)
            texts.append(answer["hits"][0]["text"])

    with ThreadPoolExecutor(1) as beside:
        asking = beside.submit(ask)
        said = _choose(running, MULTILINGUAL.name)
        enough.set()
        asking.result(60)

    assert said["daemon"] == "swapped"
    assert set(texts) == {"the port is 5433"}


def test_doctor_finds_a_model_with_a_damaged_byte_that_still_runs(running: ScratchHome) -> None:
    _settled(running, ENGLISH.model_id)
    words = running.store / "models" / ENGLISH.model_id / "words.bin"
    with words.open("r+b") as file:
        file.seek(words.stat().st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 255]))

    said = running.command("doctor").stdout

    (line,) = [line for line in said.splitlines() if line.split()[1:2] == ["model"]]
    assert line.startswith("WARN")
    assert "words.bin is damaged" in line


def test_choosing_the_model_that_is_used_leaves_the_daemon_alone(running: ScratchHome) -> None:
    _settled(running, ENGLISH.model_id)
    pid = _status(running)["pid"]

    said = _choose(running, ENGLISH.name)

    assert said["daemon"] == "unchanged"
    assert _status(running)["pid"] == pid


def test_a_model_that_the_environment_names_goes_first_and_is_told(running: ScratchHome) -> None:
    pid = _status(running)["pid"]

    done = running.command(
        *("model", "install", "--model", MULTILINGUAL.name),
        IAI_MCP_EMBED_MODEL=str(running.store / "models" / ENGLISH.model_id),
    )

    assert "as long as IAI_MCP_EMBED_MODEL names a model" in done.stdout
    assert _status(running)["pid"] == pid


def _choose(home: ScratchHome, name: str) -> dict[str, Any]:
    done = home.command("model", "install", "--model", name, "--json")
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def _tell(home: ScratchHome, talk: Conversation) -> None:
    for turn in talk.turns:
        event = {"id": turn.id, "text": turn.text, "role": turn.role, "meta": {"id": turn.id}}
        _call(home, "capture_events", session_id=turn.session, project=talk.project, events=[event])


def _places(home: ScratchHome, talk: Conversation) -> list[int]:
    """Where the evidence of each question stands, from 0 on; 99 where it is not found."""
    found = []
    for asked in talk.questions:
        answer = _call(home, "memory_recall", cue=asked.cue, project=asked.project, k=20)
        assert answer["degraded"] == []
        names = [hit["meta"].get("id") for hit in answer["hits"]]
        (evidence,) = asked.evidence
        found.append(names.index(evidence) if evidence in names else 99)
    return found


def _settled(home: ScratchHome, model: str) -> None:
    def settled() -> bool:
        status = _status(home)
        return status["model"] == model and not status["vectors_pending"]

    until(settled, f"everything has a vector of {model}", deadline=60)


def _status(home: ScratchHome) -> dict[str, Any]:
    with Line(str(home.socket)) as line:
        return line.ask({"type": "status"})


def _call(home: ScratchHome, method: str, **params: object) -> dict[str, Any]:
    with Line(str(home.socket)) as line:
        answer = line.ask({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    result: dict[str, Any] = answer["result"]
    return result
