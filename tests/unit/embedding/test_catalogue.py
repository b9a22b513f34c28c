"""What can be installed."""

import pytest

from iai_mcp.adapters.embedding import catalogue
from iai_mcp.domain.errors import NotFound


def test_every_entry_knows_the_digest_of_each_file_it_needs() -> None:
    for entry in catalogue.MODELS:
        needed = {entry.weights, entry.config, entry.tokenizer} - {""}
        assert needed == entry.files.keys()
        assert len(needed) == (3 if entry.shape == "bert" else 1)
        assert all(len(digest) == 64 for digest in entry.files.values())


def test_the_default_is_the_published_minilm() -> None:
    entry = catalogue.DEFAULT

    assert entry.files[entry.weights] == (
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    )
    assert entry.model_id.endswith(".53aa51172d14")


def test_an_entry_is_found_by_its_name_or_its_id() -> None:
    assert catalogue.by_name("all-minilm-l6-v2") is catalogue.DEFAULT
    assert catalogue.by_name(catalogue.DEFAULT.model_id) is catalogue.DEFAULT


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(NotFound, match="it has: all-minilm-l6-v2"):
        catalogue.by_name("gpt-9")
