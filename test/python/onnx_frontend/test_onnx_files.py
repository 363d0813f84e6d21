# SPDX-License-Identifier: Apache-2.0
"""ONNX files: where weights come from, and files that are wrong."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
import ttmlir.onnx as tt
from onnx import TensorProto, external_data_helper, helper, numpy_helper
from ttmlir.onnx.files import NotWalkable, without_values
from ttmlir.onnx.model import read_model

MATRIX = np.random.default_rng(0).standard_normal((16, 32), np.float32)
node, tensor = helper.make_node, helper.make_tensor_value_info


def product(opset: int = 17, version: int = 8, listed: bool = False, **kwargs: Any) -> onnx.ModelProto:
    inputs = [tensor("x", TensorProto.FLOAT, [2, 16]), *[tensor("w", TensorProto.FLOAT, [16, 32])] * listed]
    graph = helper.make_graph(
        [node("MatMul", ["x", "w"], ["y"])],
        "net",
        inputs,
        [tensor("y", TensorProto.FLOAT, [2, 32])],
        [numpy_helper.from_array(MATRIX, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=version, **kwargs)


def is_right(path: Any) -> bool:
    x = np.ones((2, 16), np.float32)
    np.testing.assert_allclose(tt.compile(path)(x), x @ MATRIX, rtol=1e-4, atol=1e-4)
    return True


def external(location: str = "weights.bin", **entries: int) -> onnx.ModelProto:
    """A model whose weights are in another file."""
    model = product()
    (weight,) = model.graph.initializer
    external_data_helper.set_external_data(weight, location, **entries)
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    onnx.save(model, "net.onnx")
    return model


@pytest.mark.parametrize("version", range(3, onnx.IR_VERSION + 1))
def test_versions_of_the_format(version: int) -> None:
    onnx.save(product(opset=9, version=version, listed=True), "net.onnx")
    assert is_right("net.onnx")
    assert [x.name for x in tt.load("net.onnx").inputs] == ["x"]


def test_weights_of_the_file_are_read_once() -> None:
    onnx.save(product(), "net.onnx")
    data = Path("net.onnx").read_bytes()
    skeleton, places = without_values(memoryview(data))
    assert len(skeleton) < len(data) - MATRIX.nbytes + 16
    (place,) = places
    assert place is not None and data[slice(*place)] == MATRIX.tobytes()
    model = tt.compile("net.onnx")
    Path("net.onnx").write_bytes(b"")  # another program may write it
    np.testing.assert_array_equal(model.model.weights["w"], MATRIX)
    with pytest.raises(NotWalkable):
        without_values(memoryview(data[:-3]))


def test_external_data_is_mapped() -> None:
    Path("weights.bin").write_bytes(b"\0" * 4096 + MATRIX.tobytes())
    for entries in ({"offset": 4096, "length": MATRIX.nbytes}, {"offset": 4096}):
        external(**entries)
        assert is_right("net.onnx")
    weight = read_model("net.onnx").weights["w"]
    assert not weight.flags.owndata and not weight.flags.writeable
    Path("weights.bin").write_bytes(b"\0" * 3 + MATRIX.tobytes())  # not aligned
    external(offset=3)
    assert is_right("net.onnx")


def test_external_data_stays_in_the_folder() -> None:
    Path("outside").mkdir()
    Path("inside").mkdir()
    Path("outside/weights.bin").write_bytes(MATRIX.tobytes())
    os.chdir("inside")
    Path("link.bin").symlink_to(Path("../outside/weights.bin").resolve())
    os.mkfifo("pipe.bin")
    Path("short.bin").write_bytes(MATRIX.tobytes()[:-1])
    what = "external data '{0}' of tensor 'w': "
    for location, entries, text in [
        ("../outside/weights.bin", {}, "expected a path below the folder of the model"),
        (str(Path("../outside/weights.bin").resolve()), {}, "expected a path below the folder of the model"),
        ("", {}, "expected a path below"),
        ("link.bin", {}, r"leads to .*/outside/weights\.bin, which is outside of the folder of the model"),
        ("missing.bin", {}, "No such file or directory"),
        ("short.bin", {}, "bytes 0 to 2048 of a file of 2047"),
        ("short.bin", {"offset": 2**62}, "bytes 4611686018427387904 to 4611686018427389952 of a file of 2047"),
        ("short.bin", {"length": 8}, "tensor 'w'[16, 32] has 8 bytes of values; expected 2048"),
    ]:
        external(location, **entries)
        with pytest.raises(tt.OnnxError) as caught:
            tt.compile("net.onnx")
        message = str(caught.value)
        if "has 8 bytes" in text:
            assert message == f"net.onnx: {text}"
        else:
            assert message.startswith(f"net.onnx: {what.format(location)}")
            assert re.search(text, message)
    external("pipe.bin")
    with pytest.raises(tt.OnnxError, match=r"'pipe\.bin' of tensor 'w' is no regular file"):
        tt.compile("net.onnx")
    model = external("short.bin")
    with pytest.raises(tt.OnnxError, match="the model was given without its folder; give the path of its file"):
        tt.compile(model)


def test_a_model_that_is_a_link_next_to_its_data() -> None:
    """As caches of hubs have models: links to files of one folder."""
    external("data_of_the_model")
    Path("blobs").mkdir()
    Path("snapshot").mkdir()
    Path("net.onnx").rename("blobs/1")
    Path("blobs/2").write_bytes(MATRIX.tobytes())
    Path("snapshot/net.onnx").symlink_to("../blobs/1")
    Path("snapshot/data_of_the_model").symlink_to("../blobs/2")
    assert is_right("snapshot/net.onnx")


def test_external_data_of_attributes() -> None:
    model = product()
    weight = TensorProto()
    weight.CopyFrom(model.graph.initializer[0])
    del model.graph.initializer[:]
    external_data_helper.set_external_data(weight, "weights.bin")
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    model.graph.node.insert(0, node("Constant", [], ["w"], value=weight))
    onnx.save(model, "net.onnx")
    Path("weights.bin").write_bytes(MATRIX.tobytes())
    assert is_right("net.onnx")
    weight.external_data[0].value = "../weights.bin"
    model.graph.node[0].attribute[0].t.CopyFrom(weight)
    Path("net.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(tt.OnnxError, match=r"external data '\.\./weights\.bin' of tensor '.*': expected a path below"):
        tt.compile("net.onnx")


def test_sparse_weights() -> None:
    model = product()
    places = np.argwhere(MATRIX > 1)
    for indices in (places, np.ravel_multi_index(tuple(places.T), MATRIX.shape)):
        values = MATRIX[MATRIX > 1]
        sparse = helper.make_sparse_tensor(
            numpy_helper.from_array(values, "w"), numpy_helper.from_array(indices.astype(np.int64)), [16, 32]
        )
        del model.graph.initializer[:]
        del model.graph.sparse_initializer[:]
        model.graph.sparse_initializer.append(sparse)
        found = tt.compile(model)(np.ones((2, 16), np.float32))
        np.testing.assert_allclose(found[0], np.where(MATRIX > 1, MATRIX, 0).sum(0), rtol=1e-4, atol=1e-4)
    model.graph.sparse_initializer[0].dims[:] = [2**31, 2**31]
    with pytest.raises(tt.OnnxError, match=r"sparse tensor 'w' of \d+ values has the shape \[2147483648, 2147483648\]"):
        tt.compile(model)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e4m3fn", "int4", "uint4", "bool", "int64", "float64"])
@pytest.mark.parametrize("raw", [True, False])
def test_values_of_weights(name: str, raw: bool) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    values = np.arange(6).reshape(2, 3).astype(dtype)
    proto = numpy_helper.from_array(values, "w")
    if not raw:
        plain = values.astype(bool if name == "bool" else float)
        proto = helper.make_tensor("w", proto.data_type, [2, 3], plain.flatten().tolist())
    graph = helper.make_graph(
        [node("Identity", ["w"], ["y"])], "g", [], [tensor("y", proto.data_type, [2, 3])], [proto]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, "net.onnx")
    for each in (model, "net.onnx"):
        found = tt.compile(each)()
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.astype(float), values.astype(float))


def wrong(change: Any) -> onnx.ModelProto:
    model = product()
    change(model)
    return model


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda m: m.graph.node[0].ClearField("op_type"), "no valid ONNX model: "),
        (lambda m: m.ClearField("opset_import"), "no valid ONNX model: .*opset_import"),
        (lambda m: setattr(m, "ir_version", 99), "no valid ONNX model: .*99"),
        (lambda m: setattr(m.opset_import[0], "version", 999), "opset 999 of ai.onnx is newer than "),
        (lambda m: m.graph.initializer[0].dims.append(2), r"tensor 'w'\[16, 32, 2\] has 2048 bytes of values; exp"),
        (lambda m: m.graph.initializer[0].dims.append(-1), r"tensor 'w' has the shape \[16, 32, -1\]"),
        (lambda m: setattr(m.graph.initializer[0], "data_type", 99), "tensor 'w' has elements of the unknown type 99"),
        (lambda m: setattr(m.graph.initializer[0], "data_type", 8), "tensor 'w' is of strings"),
        (lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", 8), "input x has elements of type string"),
        (lambda m: setattr(m.graph.node[0], "op_type", "Nonsense"), "no valid ONNX model: .*Nonsense"),
        (lambda m: m.graph.node[0].input.__setitem__(1, "v"), "no valid ONNX model: "),
        (lambda m: m.graph.initializer[0].float_data.append(1), "tensor 'w' has values in raw_data and in float_data"),
    ],
)  # fmt: skip
def test_files_that_are_wrong(change: Any, text: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("net.onnx").write_bytes(wrong(change).SerializeToString())
    with pytest.raises(tt.OnnxError, match=f"^net.onnx: {text}") as caught:
        tt.compile("net.onnx")
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_names_that_are_no_text() -> None:
    data = product().SerializeToString().replace(b"MatMul", b"MatM\xff\xfe")
    Path("net.onnx").write_bytes(data)
    with pytest.raises(tt.OnnxError, match=r"net\.onnx: the graph has the name b'MatM\\xff\\xfe', which is no UTF-8"):
        tt.compile("net.onnx")


def test_non_model_is_refused() -> None:
    Path("text.onnx").write_text("no model")
    with pytest.raises(tt.OnnxError, match=r"text\.onnx: no valid ONNX model: "):
        tt.compile("text.onnx")
    Path("empty.onnx").write_bytes(b"")
    with pytest.raises(tt.OnnxError, match=r"empty\.onnx: no valid ONNX model: "):
        tt.compile("empty.onnx")
    for path in ("missing.onnx", "."):
        with pytest.raises(FileNotFoundError, match="no such file"):
            tt.compile(path)
    with pytest.raises(tt.OnnxError, match=r"model: is list; expected the path of a file or an onnx\.ModelProto"):
        tt.compile([])


def test_nodes_in_any_order() -> None:
    """Some tools write nodes before those whose outputs they take, also of inner graphs; onnxruntime sorts them."""

    def branch(name: str, count: int) -> onnx.GraphProto:
        nodes = [node("Add", [f"{name}{i}", "b"], [f"{name}{i + 1}"]) for i in range(1, count)]
        nodes.append(node("Neg", ["a"], [f"{name}1"]))
        return helper.make_graph(nodes, name, [], [tensor(f"{name}{count}", TensorProto.FLOAT, [2, 3])])

    nodes = [
        node("Identity", ["d"], ["y"]),
        node("If", ["c"], ["d"], then_branch=branch("t", 3), else_branch=branch("e", 2)),
        node("Exp", ["a"], ["b"]),
        node("Relu", ["x"], ["a"]),
    ]
    inputs = [tensor("x", TensorProto.FLOAT, [2, 3]), tensor("c", TensorProto.BOOL, [])]
    graph = helper.make_graph(nodes, "net", inputs, [tensor("y", TensorProto.FLOAT, [2, 3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    before = model.SerializeToString()
    onnx.save(model, "net.onnx")
    x = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
    a = np.maximum(x, 0)
    for given in (model, "net.onnx"):
        compiled = tt.compile(given)
        for condition, times in ((True, 2), (False, 1)):
            found = compiled(x, np.array(condition))
            np.testing.assert_allclose(found, times * np.exp(a) - a, rtol=1e-5)
    assert model.SerializeToString() == before


@pytest.mark.parametrize("inside", [False, True])
def test_nodes_in_a_circle(inside: bool) -> None:
    nodes = [node("Add", ["x", "b"], ["a"]), node("Neg", ["a"], ["b"])]
    outputs = [tensor("b", TensorProto.FLOAT, [2])]
    if inside:
        branch = helper.make_graph(nodes, "g", [], outputs)
        outputs = [tensor("y", TensorProto.FLOAT, [2])]
        nodes = [node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)]
    inputs = [tensor("x", TensorProto.FLOAT, [2]), tensor("c", TensorProto.BOOL, [])]
    model = helper.make_model(helper.make_graph(nodes, "net", inputs, outputs), ir_version=8)
    with pytest.raises(tt.OnnxError, match=r"no valid ONNX model: .*topologically sorted"):
        tt.load(model)


def test_opsets_before_7_are_converted() -> None:
    x, b = np.ones((2, 3, 4), np.float32), np.arange(4, dtype=np.float32)
    inputs = [tensor("x", TensorProto.FLOAT, x.shape), tensor("b", TensorProto.FLOAT, b.shape)]
    graph = helper.make_graph(
        [node("Add", ["x", "b"], ["y"], broadcast=1)], "g", inputs, [tensor("y", TensorProto.FLOAT, x.shape)]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 6)], ir_version=3)
    np.testing.assert_array_equal(tt.compile(model)(x, b), x + b)
    model.graph.node[0].attribute.append(helper.make_attribute("axis", 1))
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_value = 3
    with pytest.raises(
        tt.OnnxError, match=r"opset 6 of ai\.onnx is older than 7, and the model does not convert: Dimen"
    ):
        tt.compile(model)


@pytest.mark.parametrize("seed", range(8))
def test_damaged_files(seed: int) -> None:
    """Bytes that are changed, removed or added give errors that name the file, or a model that runs."""
    source = random.Random(seed)
    whole = product().SerializeToString()
    for _ in range(25):
        data = bytearray(whole)
        for _ in range(source.choice((1, 2, 8))):
            at = source.randrange(400 if source.random() < 0.5 else len(data)) % len(data)
            choice = source.randrange(3)
            if choice == 0:
                data[at] = source.randrange(256)
            elif choice == 1:
                del data[at : at + source.randrange(1, 9)]
            else:
                data[at:at] = source.randbytes(source.randrange(1, 9))
        Path("net.onnx").write_bytes(data)
        try:
            tt.compile("net.onnx")
        except tt.OnnxError as error:
            assert str(error).startswith("net.onnx: ") and "\n" not in str(error)
