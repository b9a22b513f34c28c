"""The bridge's JSON agrees with the standard library's, value for value and refusal for refusal."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.bridge import quick_json

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_reads_back_and_json_reads_the_same(value: object) -> None:
    written = quick_json.dumps(value)
    assert "\n" not in written
    assert quick_json.loads(written) == value == json.loads(written)


@given(VALUES, st.sampled_from(["", " ", "\r", "\t \n"]))
def test_whatever_json_writes_is_read(value: object, blank: str) -> None:
    assert quick_json.loads(blank + json.dumps(value, indent=1) + blank) == value


def refuses(loads: object, text: str) -> bool:
    try:
        loads(text)
    except (ValueError, RecursionError):
        return True
    return False


@given(st.text(alphabet='{}[]",:0123456789.eE+-tfn \\ualrsNI', max_size=12))
def test_both_refuse_the_same_lines(text: str) -> None:
    def strict(text: str) -> object:
        return json.loads(text, parse_constant=lambda name: int(name, 0))

    assert refuses(quick_json.loads, text) == refuses(strict, text)


@pytest.mark.parametrize("text", ["", " ", "{", "1 2", "NaN", "[Infinity]", '"\n"', "[" * 200_000])
def test_what_is_no_json_is_refused(text: str) -> None:
    assert refuses(quick_json.loads, text)
