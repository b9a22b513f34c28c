"""Reading weights out of a graph that others exported."""

from pathlib import Path

import numpy as np
import pytest
from tests.models import tiny_tensors, write_onnx_export

from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder.weights import OnnxWeights


def test_every_tensor_has_its_published_name_and_shape(tmp_path: Path) -> None:
    published = tiny_tensors()
    write_onnx_export(tmp_path / "model.onnx", published)

    weights = OnnxWeights(tmp_path / "model.onnx")

    assert all(np.array_equal(weights.floats(name), tensor) for name, tensor in published.items())


def test_a_tensor_that_is_not_there_is_named(tmp_path: Path) -> None:
    write_onnx_export(tmp_path / "model.onnx", tiny_tensors())

    with pytest.raises(ModelDamaged, match=r"lack the tensor 'pooler\.weight'"):
        OnnxWeights(tmp_path / "model.onnx").floats("pooler.weight")


def test_some_other_file_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"<html>not here</html>")

    with pytest.raises(ModelDamaged, match="can not be read"):
        OnnxWeights(tmp_path / "model.onnx")
