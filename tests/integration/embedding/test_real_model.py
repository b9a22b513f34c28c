"""The model that people get: close to the published one, and small in memory."""

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from tests.models import real_model, real_weights

from iai_mcp.adapters.embedding import catalogue, location
from iai_mcp.adapters.embedding.runtime import OnnxEmbedder
from iai_mcp.adapters.embedding.tokens import Tokens
from iai_mcp.model_builder.bert import Architecture, read_encoder, sentence_encoder
from iai_mcp.model_builder.quantization import Exact
from iai_mcp.model_builder.weights import TensorFile

ROOT = Path(__file__).parents[3]

WHO = ("My sister", "The customer", "Our build server", "The new intern", "Dr. Okafor")
DID = (
    "moved the billing service to",
    "still argues about",
    "found a bug in",
    "bought tickets for",
    "never wants to hear again of",
    "wrote 3,000 lines about",
    "asked me to rename",
    "will present",
)
WHAT = (
    "the Postgres replica on port 5433.",
    "a violin concert in Vienna next March!",
    "`parse_header()` in src/http/frames.py, which fails with IndexError",
    "grandmother's lemon cake, without sugar this time",
    "that old monolith; remember the outage of 14 June?",
)
SENTENCES = [f"{who} {did} {what}" for who, did, what in product(WHO, DID, WHAT)]

# Run by a process of its own: loads the model, works, and says how much memory it holds.
WORK = """
import json
from iai_mcp.adapters.embedding.runtime import load_configured
embedder = load_configured()
for number in range(20):
    embedder.embed([f"which port does database {number} use?"])
embedder.embed(["a long story about many different words and things " * 40] * 12)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({key: int(status[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM")}))
"""


def test_int8_vectors_point_where_float32_vectors_point() -> None:
    directory = real_model()
    published = real_weights()
    config = json.loads((published / "config.json").read_bytes())
    tensors = TensorFile(published / "model.safetensors")
    exact = sentence_encoder(
        read_encoder(tensors, Architecture.parse(config), 256), Exact(), "mean"
    ).serialize()
    session = onnxruntime.InferenceSession(exact, providers=["CPUExecutionProvider"])
    tokens = Tokens(directory / "tokenizer.json", 256)

    found = OnnxEmbedder(location.own(directory)).embed(SENTENCES)

    expected = [session.run(None, {"input_ids": np.array([tokens.ids(s)])})[0] for s in SENTENCES]
    cosines = (found * np.concatenate(expected)).sum(axis=1)
    assert len(SENTENCES) == 200
    assert cosines.mean() >= 0.99
    assert cosines.min() >= 0.97


def test_meaning_counts_more_than_words() -> None:
    embedder = OnnxEmbedder(location.own(real_model()))

    cue, near, far = embedder.embed(
        [
            "How should I structure this page?",
            "always use semantic HTML5 tags for headings and sections",
            "the structure of this bridge was weakened by the storm",
        ]
    )

    assert cue @ near > cue @ far


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("name", "held_at_most", "at_its_highest"),
    # MB; measured 85 and 98, 88 and 111
    [("all-minilm-l6-v2", 100, 120), ("use-multilingual-v3", 110, 140)],
)
def test_a_process_with_the_model_stays_small(
    name: str, held_at_most: int, at_its_highest: int
) -> None:
    environment = {
        **os.environ,
        "IAI_MCP_EMBED_MODEL": str(real_model(catalogue.by_name(name))),
        "PYTHONPATH": str(ROOT / "src"),
        "OPENBLAS_NUM_THREADS": "1",
    }

    done = subprocess.run(
        [sys.executable, "-c", WORK], env=environment, capture_output=True, text=True, check=True
    )

    held = json.loads(done.stdout)
    assert held["VmRSS"] < held_at_most
    assert held["VmHWM"] < at_its_highest
