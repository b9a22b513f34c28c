"""Reading weights from a .safetensors file."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from tests.models import write_safetensors

from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder.weights import TensorFile


def test_a_tensor_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    weights = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b": np.array([0.5], dtype=np.float32),
    }
    write_safetensors(path, weights)

    tensors = TensorFile(path)

    assert tensors.names() == {"a", "b"}
    assert np.array_equal(tensors.floats("a"), weights["a"])
    assert np.array_equal(tensors.floats("b"), weights["b"])


def test_half_precision_at_an_odd_byte_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    numbers = np.array([1.5, -2.0], dtype=np.float16)
    header = json.dumps(
        {"x": {"dtype": "F16", "shape": [2], "data_offsets": [1, 5]}}, separators=(",", ":")
    ).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0" + numbers.tobytes())

    assert TensorFile(path).floats("x").tolist() == [1.5, -2.0]


def test_a_tensor_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    write_safetensors(path, {"a": np.zeros(2, dtype=np.float32)})

    with pytest.raises(ModelDamaged, match="lack the tensor 'pooler'"):
        TensorFile(path).floats("pooler")


def test_a_file_that_was_cut_short_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    write_safetensors(path, {"a": np.zeros(64, dtype=np.float32)})
    path.write_bytes(path.read_bytes()[:-10])

    with pytest.raises(ModelDamaged, match=r"'a' .* is cut short"):
        TensorFile(path).floats("a")


@pytest.mark.parametrize(
    "content",
    [b"", b"\x05", b"\xff" * 40, struct.pack("<Q", 2) + b"[]", struct.pack("<Q", 9) + b'{"a":{}}'],
)
def test_some_other_file_is_refused_with_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)

    with pytest.raises(ModelDamaged, match="can not be read"):
        TensorFile(path)
