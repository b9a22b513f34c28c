"""What every embedder promises, the fake as much as the real one."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.fakes.embedder import FakeEmbedder
from tests.models import built_tiny_model, real_model

from iai_mcp.adapters.embedding.location import own
from iai_mcp.adapters.embedding.runtime import OnnxEmbedder
from iai_mcp.ports.embedder import Embedder


@pytest.fixture(scope="module", params=["fake", "tiny", "real"])
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    match request.param:
        case "fake":
            return FakeEmbedder()
        case "tiny":
            return OnnxEmbedder(own(built_tiny_model(tmp_path_factory.mktemp("tiny"))))
        case _:
            return OnnxEmbedder(own(real_model()))


def test_every_text_gets_one_row_of_length_one(embedder: Embedder) -> None:
    vectors = embedder.embed(["the port is 5433", "the cake was lemon", "ok"])

    assert vectors.shape == (3, embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_a_blank_text_has_a_usable_vector(embedder: Embedder) -> None:
    vectors = embedder.embed(["", "   \n"])

    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_the_rows_keep_the_order_of_the_texts_whatever_their_lengths(embedder: Embedder) -> None:
    texts = ["word " * n + f"marker{n}" for n in (40, 1, 90, 3, 3, 200)]

    together = embedder.embed(texts)

    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert np.all((together * alone).sum(axis=1) > 0.99)


def test_the_same_text_has_the_same_vector(embedder: Embedder) -> None:
    first, second = embedder.embed(["deploy on friday"]), embedder.embed(["deploy on friday"])

    assert np.array_equal(first, second)


def test_a_related_text_is_closer_than_an_unrelated_one(embedder: Embedder) -> None:
    cue, near, far = embedder.embed(
        ["which port does postgres use", "postgres uses port 5433", "the lemon cake tasted great"]
    )

    assert cue @ near > cue @ far


def test_text_beyond_any_limit_is_embedded_too(embedder: Embedder) -> None:
    vectors = embedder.embed(["a very long story " * 5000])

    assert np.isclose(np.linalg.norm(vectors[0]), 1.0, atol=1e-5)


def test_odd_characters_are_only_text(embedder: Embedder) -> None:
    vectors = embedder.embed(
        ["\x00\ud7ff", "🦙" * 50, "مرحبا", "\u202e", "[SEP] [CLS] [MASK]", "\ud83d"]
    )

    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_tokens_are_counted_uncut(embedder: Embedder) -> None:
    assert embedder.count_tokens("") == 0
    assert embedder.count_tokens("hello") >= 1
    assert embedder.count_tokens("hello " * 3000) >= 3000
    assert 1_900_000 < embedder.count_tokens("hello " * 2_000_000) < 2_100_000


def test_several_threads_get_their_own_answers(embedder: Embedder) -> None:
    texts = [f"thread number {n} talks about subject {n * 7}" for n in range(16)]
    expected = [embedder.embed([text]) for text in texts]

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda text: embedder.embed([text]), texts))

    assert all(np.array_equal(a, b) for a, b in zip(answers, expected, strict=True))


def test_the_model_has_a_name(embedder: Embedder) -> None:
    assert embedder.model_id
    assert embedder.dimensions > 0
