"""Our JSON agrees with the standard library's, value for value and refusal for refusal."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.protocol import compact_json

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
    for strict in (True, False):
        written = compact_json.dumps(value, strict=strict)
        assert "\n" not in written
        assert compact_json.loads(written, strict=strict) == value == json.loads(written)


@given(VALUES, st.sampled_from(["", " ", "\r", "\t \n"]))
def test_whatever_json_writes_is_read(value: object, blank: str) -> None:
    for strict in (True, False):
        written = blank + json.dumps(value, indent=1) + blank
        assert compact_json.loads(written, strict=strict) == value


def refuses(loads: Callable[[str], object], text: str) -> bool:
    try:
        loads(text)
    except ValueError:
        return True
    return False


def to_the_letter(text: str) -> object:
    return compact_json.loads(text, strict=True)


@given(st.text(alphabet='{}[]",:0123456789.eE+-tfn \\ualrsNI', max_size=12))
def test_both_refuse_the_same_lines(text: str) -> None:
    def strictly(text: str) -> object:
        return json.loads(text, parse_constant=lambda name: int(name, 0))

    assert refuses(to_the_letter, text) == refuses(strictly, text)


@pytest.mark.parametrize("text", ["", " ", "{", "1 2", "NaN", "[Infinity]", '"\n"', "[" * 200_000])
def test_what_is_no_json_is_refused(text: str) -> None:
    assert refuses(to_the_letter, text)


@pytest.mark.parametrize("text", ["", " ", "{", "1 2", "[" * 200_000])
def test_leniently_too(text: str) -> None:
    assert refuses(compact_json.loads, text)


def test_what_people_s_programs_write_is_read_leniently() -> None:
    assert compact_json.loads('["a\nb", Infinity]') == ["a\nb", float("inf")]
    with pytest.raises(ValueError, match="not JSON"):
        compact_json.dumps(float("inf"), strict=True)
