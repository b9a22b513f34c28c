"""Reads a BERT's weights out of the ONNX graph that others exported.

An export keeps the names of biases and tables, but gives the matrix of each product a number;
its name is in the product's own: `/encoder/layer.0/output/dense/MatMul`.
"""

from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from onnx import numpy_helper

from iai_mcp.domain.errors import ModelDamaged


def read_graph(path: Path) -> onnx.GraphProto:
    """
    Raises:
        ModelDamaged: the file is absent or no graph.
    """
    try:
        return onnx.load(str(path)).graph
    except (OSError, DecodeError) as error:
        raise ModelDamaged(f"the weights in {path} can not be read: {error}") from error


class OnnxWeights:
    """The tensors of one graph under the names that the published model gives them."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            ModelDamaged: the file is absent or no graph.
        """
        self._path = path
        graph = read_graph(path)
        self._tensors = {tensor.name: tensor for tensor in graph.initializer}
        # The matrix of a product stands the other way round: inputs first.
        self._turned = {
            f"{node.name.strip('/').removesuffix('/MatMul').replace('/', '.')}.weight": matrix
            for node in graph.node
            if node.op_type == "MatMul"
            for matrix in node.input
            if matrix in self._tensors
        }

    def floats(self, name: str) -> NDArray[np.float32]:
        """The tensor `name` as float32.

        Raises:
            ModelDamaged: it is absent.
        """
        if name in self._tensors:
            return self._array(name)
        if name in self._turned:
            return self._array(self._turned[name]).T
        raise ModelDamaged(f"the weights in {self._path} lack the tensor '{name}'")

    def _array(self, name: str) -> NDArray[np.float32]:
        return np.asarray(numpy_helper.to_array(self._tensors[name]), dtype=np.float32)
