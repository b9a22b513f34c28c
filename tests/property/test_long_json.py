"""JSON that is read in pieces is what it is when it is read at once."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iai_mcp.protocol import long_json, messages

values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=12),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=25,
)  # fmt: skip
layouts = st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}])
ANYTHING = settings(max_examples=500, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _at_once(text: str) -> object:
    try:
        return json.loads(text, parse_constant=messages._refuse, parse_float=messages._finite)
    except ValueError:
        return ValueError


def _in_pieces(text: str) -> object:
    try:
        return long_json.load(text, messages._scan)
    except ValueError:
        return ValueError


@ANYTHING
@given(value=values, layout=layouts, size=st.integers(1, 40))
def test_every_value_is_read_alike(
    monkeypatch: pytest.MonkeyPatch, value: object, layout: dict[str, object], size: int
) -> None:
    monkeypatch.setattr(long_json, "AT_ONCE", size)
    text = json.dumps(value, **layout)  # type: ignore[arg-type] # each is an option of it
    assert _in_pieces(text) == value


@ANYTHING
@given(value=values, layout=layouts, size=st.integers(1, 40), data=st.data())
def test_what_is_damaged_is_refused_alike(
    monkeypatch: pytest.MonkeyPatch,
    value: object,
    layout: dict[str, object],
    size: int,
    data: st.DataObject,
) -> None:
    monkeypatch.setattr(long_json, "AT_ONCE", size)
    text = json.dumps(value, **layout)  # type: ignore[arg-type] # each is an option of it
    at = data.draw(st.integers(0, len(text)))
    until = data.draw(st.integers(at, len(text)))
    put = data.draw(
        st.sampled_from(["", ",", "]", "}", '"', "{", "[", "1e999", "NaN", "\\", "x", " "])
    )
    damaged = text[:at] + put + text[until:]
    assert _in_pieces(damaged) == _at_once(damaged)


@pytest.mark.parametrize(
    "line",
    [
        b"[" + b"{}," * 2_000_000 + b"1]",
        b"[" + b"1," * 2_000_000 + b"1]",
        b"[" * 300_000,
        b'[{"a":' * 100_000,
        b'["' + b"x" * 300_000,
        b'{"a": "' + b"x" * 300_000 + b'", "a"}',
        b"7" * 300_000,
    ],
    ids=["objects", "numbers", "brackets", "nested", "open string", "no value", "digits"],
)
def test_what_is_beyond_reason_is_not_json(line: bytes) -> None:
    with pytest.raises(messages.InvalidJson):
        messages.parse(line)


def test_a_long_line_is_read_whole() -> None:
    events = [{"text": f"turn {n} " + "é\n" * n, "role": "user", "n": [n, 1.5]} for n in range(900)]
    line = messages.encode({"jsonrpc": "2.0", "id": 1, "params": {"events": events}})
    assert len(line) > 1 << 20
    assert messages.parse(line) == {"jsonrpc": "2.0", "id": 1, "params": {"events": events}}
