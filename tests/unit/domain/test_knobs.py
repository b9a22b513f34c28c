"""The knobs: what each takes, and what becomes of anything else."""

import pytest

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.knobs import KNOBS, Knobs, from_stored, knob_named, read_value


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("injection_depth", 300, 300),
        ("injection_depth", "300", 300),
        ("injection_depth", 300.0, 300),
        ("retention_days", 0, 0),
        ("retention_mb", "512", 512),
        ("recency_weight", "0.25", 0.25),
        ("recency_weight", 1, 1.0),
        ("prompt_injection", "OFF", "off"),
        ("learning", False, "off"),
    ],
)
def test_a_value_is_read_as_the_knob_means_it(name: str, given: object, value: object) -> None:
    assert read_value(knob_named(name), given) == value


@pytest.mark.parametrize(
    ("name", "given", "choice"),
    [
        ("injection_depth", -1, "0 to 8000"),
        ("injection_depth", 1.5, "whole number"),
        ("injection_depth", True, "whole number"),
        ("recency_weight", "nan", "0 to 1"),
        ("recency_weight", 2, "0 to 1"),
        ("verbosity", "loud", "long | short"),
        ("prompt_injection", ["on"], "off | on | auto"),
        ("retention_days", "10**400", "whole number"),
    ],
)
def test_any_other_value_is_refused_and_the_choices_are_named(
    name: str, given: object, choice: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_value(knob_named(name), given)
    assert name in refused.value.message
    assert choice in refused.value.message


@pytest.mark.parametrize("name", ["volume", "fading", "consolidated_hits"])
def test_an_unknown_knob_is_refused_and_the_knobs_are_named(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        knob_named(name)
    assert all(name in refused.value.message for name in KNOBS)


def test_what_was_stored_is_read_back_and_what_can_not_be_used_is_as_if_not_set() -> None:
    stored = {"injection_depth": "70", "verbosity": "loud", "lifecycle": "{}", "fading": "1"}
    assert from_stored(stored) == Knobs(injection_depth=70)
