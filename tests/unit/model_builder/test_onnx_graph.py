"""Reading and writing ONNX graphs: checked against the package `onnx`, which users do not have."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder.onnx_graph import FLOAT, INT64, Graph, OnnxNode, Value, read_graph

ARRAYS: list[NDArray[np.generic]] = [
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.array([[-1, 127, -128]], dtype=np.int8),
    np.array([0, 255], dtype=np.uint8),
    np.array([-1, 1 << 40], dtype=np.int64),
    np.array(2.5, dtype=np.float32),
    np.array([], dtype=np.float32),
    np.array([1.5, -2.0], dtype=np.float16),
    np.array([True, False]),
]


def _example() -> Graph:
    attributes: dict[str, int | float | bytes] = {"axis": -1, "epsilon": 0.5, "model": b"\x00\xff"}
    return Graph(
        nodes=[OnnxNode("Split", "split", ("ids", ""), ("a", "b"), "com.microsoft", attributes)],
        tensors={str(number): array for number, array in enumerate(ARRAYS)},
        inputs=[Value("ids", INT64, ("batch", 7))],
        outputs=[Value("a", FLOAT, ("batch", 12)), Value("b", FLOAT)],
    )


def test_onnx_reads_what_is_written(tmp_path: Path) -> None:
    model = onnx.load_from_string(_example().serialize())

    arrays = [numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
    assert all(
        np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(arrays, ARRAYS, strict=True)
    )
    (node,) = model.graph.node
    assert (node.op_type, node.name, node.domain) == ("Split", "split", "com.microsoft")
    assert (list(node.input), list(node.output)) == (["ids", ""], ["a", "b"])
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    assert attributes == {"axis": -1, "epsilon": 0.5, "model": b"\x00\xff"}
    expected = [
        helper.make_tensor_value_info("ids", INT64, ["batch", 7]),
        helper.make_tensor_value_info("a", FLOAT, ["batch", 12]),
        helper.make_tensor_value_info("b", FLOAT, None),
    ]
    assert [*model.graph.input, *model.graph.output] == expected


def test_tensors_in_files_of_their_own_are_read_by_onnx(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    _example().write(path, lambda name, _: "numbers.bin" if name in ("0", "3") else None)

    tensors = {t.name: numpy_helper.to_array(t) for t in onnx.load(str(path)).graph.initializer}

    assert (tmp_path / "numbers.bin").stat().st_size == ARRAYS[0].nbytes + ARRAYS[3].nbytes
    assert all(np.array_equal(tensors[str(n)], array) for n, array in enumerate(ARRAYS))


@pytest.mark.parametrize("raw", [True, False])
def test_what_onnx_writes_is_read(tmp_path: Path, raw: bool) -> None:
    arrays = [array for array in ARRAYS if raw or array.dtype != np.float16]
    tensors = [
        helper.make_tensor(
            str(number),
            helper.np_dtype_to_tensor_dtype(array.dtype),
            array.shape,
            array.tobytes() if raw else array.flatten().tolist(),
            raw=raw,
        )
        for number, array in enumerate(arrays)
    ]
    tensors.append(helper.make_tensor("texts", onnx.TensorProto.STRING, [1], [b"word"]))  # type: ignore[list-item]
    node = helper.make_node(
        "Tokenize", ["x"], ["y"], model=b"\x01", ratio=0.5, size=-3, many=[1, 2]
    )
    onnx.save_model(
        helper.make_model(helper.make_graph([node], "published", [], [], tensors)),
        str(tmp_path / "model.onnx"),
    )

    graph = read_graph(tmp_path / "model.onnx")

    assert list(graph.tensors) == [str(number) for number in range(len(arrays))]
    for number, array in enumerate(arrays):
        assert np.array_equal(graph.tensors[str(number)], array)
        assert graph.tensors[str(number)].dtype == array.dtype
    (read,) = graph.nodes
    assert (read.operation, read.inputs, read.outputs) == ("Tokenize", ("x",), ("y",))
    assert read.attributes == {"model": b"\x01", "ratio": 0.5, "size": -3}


def test_a_tensor_that_lies_in_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    _example().write(path, lambda name, _: "numbers.bin" if name == "0" else None)

    with pytest.raises(ModelDamaged, match="'0' lies in another file"):
        read_graph(path)


@pytest.mark.parametrize("content", [b"", b"\x3a\x05\x00", b"<html>not here</html>", b"\xff" * 30])
def test_some_other_file_is_refused_with_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.onnx").write_bytes(content)

    with pytest.raises(ModelDamaged, match="can not be read"):
        read_graph(tmp_path / "model.onnx")


@given(place=st.integers(0, 10_000), byte=st.integers(0, 255), length=st.integers(1, 10_000))
def test_a_damaged_graph_is_read_or_refused_but_never_a_crash(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, length: int
) -> None:
    whole = bytearray(_example().serialize())
    whole[place % len(whole)] = byte
    path = tmp_path_factory.mktemp("damaged") / "model.onnx"
    path.write_bytes(whole[:length])

    try:
        graph = read_graph(path)
    except ModelDamaged as refused:
        assert "can not be read" in str(refused)
    else:
        assert len(graph.tensors) <= len(ARRAYS)
