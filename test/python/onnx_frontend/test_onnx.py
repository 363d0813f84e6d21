# SPDX-License-Identifier: Apache-2.0
"""ONNX files compiled for the chip: a small network, calls, and files that are saved."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
import torch
import ttmlir.onnx as tt
from onnx import TensorProto, helper, numpy_helper

WEIGHT = np.random.default_rng(0).standard_normal((4, 3, 3, 3), np.float32)
OUT = np.random.default_rng(1).standard_normal((4 * 8 * 8, 5), np.float32)
MATRIX = np.random.default_rng(2).standard_normal((16, 32), np.float32)
node, tensor = helper.make_node, helper.make_tensor_value_info


def made(graph: onnx.GraphProto, opset: int = 17, **kwargs: Any) -> onnx.ModelProto:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, **kwargs)


def network(path: str, batch: int | str | None = 2, op: str = "Relu", opset: int = 17) -> None:
    """conv 3x3, an op, flatten, product with a matrix, softmax."""
    nodes = [
        node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        node(op, ["a"], ["b"]),
        node("Flatten", ["b"], ["c"]),
        node("MatMul", ["c", "m"], ["d"]),
        node("Softmax", ["d"], ["y"], axis=1),
    ]
    weights = [numpy_helper.from_array(WEIGHT, "w"), numpy_helper.from_array(OUT, "m")]
    x, y = tensor("x", TensorProto.FLOAT, [batch, 3, 8, 8]), tensor("y", TensorProto.FLOAT, [batch, 5])
    onnx.save(made(helper.make_graph(nodes, "net", [x], [y], weights), opset), path)


def expected(x: torch.Tensor) -> torch.Tensor:
    a = torch.relu(torch.nn.functional.conv2d(x, torch.from_numpy(WEIGHT), padding=1))
    return torch.softmax(a.flatten(1) @ torch.from_numpy(OUT), 1)


def product(batch: int | str | None = 2, kind: int = TensorProto.FLOAT, matrix: Any = MATRIX) -> onnx.ModelProto:
    """A product with a matrix, and relu."""
    nodes = [node("MatMul", ["x", "w"], ["a"], name="product"), node("Relu", ["a"], ["y"])]
    x, y = tensor("x", kind, [batch, 16]), tensor("y", kind, [batch, 32])
    return made(helper.make_graph(nodes, "net", [x], [y], [numpy_helper.from_array(matrix, "w")]))


@pytest.mark.long
def test_a_network() -> None:
    network("net.onnx")
    compiled = tt.compile("net.onnx")
    x = torch.rand(2, 3, 8, 8)
    torch.testing.assert_close(compiled(x), expected(x), rtol=1e-4, atol=1e-5)
    assert "ttnn.conv2d" in compiled.ttnn
    assert [p.suffix for p in compiled.save("net.ttnn")] == [".ttnn", ".safetensors"]


def test_kinds_of_models() -> None:
    model = tt.load(product("batch"))
    assert [str(x) for x in (*model.inputs, *model.outputs)] == ["float32[batch, 16]", "float32[batch, 32]"]
    assert model.ops == {"MatMul": 1, "Relu": 1}
    assert model.opsets == {"ai.onnx": 17}
    assert model.sizes == {"batch": (0, None)}


def test_arrays_of_other_libraries() -> None:
    compiled = tt.compile(product())
    x = np.random.default_rng(3).standard_normal((2, 16)).astype(np.float32)
    want = np.maximum(x @ MATRIX, 0)

    class Exporter:
        def __dlpack__(self, **kwargs: Any) -> Any:
            return x.__dlpack__()

        def __dlpack_device__(self) -> Any:
            return x.__dlpack_device__()

    class Convertible:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return x

    for given in (x, x.tolist(), Exporter(), Convertible(), x.astype(np.float64), x[:, ::-1][:, ::-1]):
        found = compiled(given)
        assert isinstance(found, np.ndarray) and found.dtype == np.float32
        np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)
    found = compiled(x=torch.from_numpy(x))
    assert isinstance(found, torch.Tensor)
    np.testing.assert_allclose(found.numpy(), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64], ids=str)
def test_types_of_weights_and_inputs(dtype: torch.dtype) -> None:
    x = torch.rand(2, 16, dtype=torch.float32).to(dtype)
    matrix = torch.from_numpy(MATRIX).to(dtype)
    array = matrix.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if dtype is torch.bfloat16 else matrix.numpy()
    compiled = tt.compile(product(kind=helper.np_dtype_to_tensor_dtype(array.dtype), matrix=array))
    found = compiled(x)
    assert found.dtype is dtype
    torch.testing.assert_close(found, torch.relu(x @ matrix), rtol=2e-2, atol=2e-2)
    assert [p.suffix for p in compiled.save("net.ttnn")] == [".ttnn", ".safetensors"]


def test_several_outputs_and_values_of_optional_inputs() -> None:
    nodes = [node("Add", ["x", "b"], ["sum"]), node("Sub", ["x", "b"], ["difference"])]
    inputs = [tensor(name, TensorProto.FLOAT, [3]) for name in ("x", "b")]
    outputs = [tensor(name, TensorProto.FLOAT, [3]) for name in ("sum", "difference")]
    default = np.array([1, 2, 3], np.float32)
    model = made(helper.make_graph(nodes, "net", inputs, outputs, [numpy_helper.from_array(default, "b")]))
    compiled = tt.compile(model)
    assert [x.name for x in compiled.inputs] == ["x"]
    x = np.array([10, 20, 30], np.float32)
    for b, given in ((default, {}), (2 * default, {"b": 2 * default}), (default, {})):
        found = compiled(x, **given)
        assert isinstance(found, tuple)
        np.testing.assert_array_equal(found, (x + b, x - b))
    fixed = tt.compile(model, known={"b": default * 3})
    np.testing.assert_array_equal(fixed(x)[0], x + default * 3)
    with pytest.raises(TypeError, match="there is no input 'b'"):
        fixed(x, b=default)
    with pytest.raises(tt.OnnxError, match="known has 'c', which is no input; the inputs are x"):
        tt.compile(model, known={"c": default})


def test_values_that_decide_what_is_computed() -> None:
    inputs = [tensor("x", TensorProto.FLOAT, [2, 6]), tensor("shape", TensorProto.INT64, [2])]
    graph = helper.make_graph([node("Reshape", ["x", "shape"], ["y"])], "net", inputs, [tensor("y", 1, ["a", "b"])])
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    model = tt.compile(made(graph))
    for shape in ([3, 4], [-1, 3], [12, 1], [3, 4]):
        np.testing.assert_array_equal(model(x, shape), x.reshape(shape))
    assert model.closed == "values of shape decide what is computed"
    with pytest.raises(tt.OnnxError, match=r"node 0 'y' \(Reshape\)"):
        model(x, [5, 5])
    known = tt.compile(made(graph), known={"shape": [4, 3]})
    np.testing.assert_array_equal(known(x), x.reshape(4, 3))


def test_operands_of_a_call() -> None:
    compiled = tt.compile(product())
    x = np.ones((2, 16), np.float32)
    for given, error, text in [
        ([np.ones((3, 16), np.float32)], ValueError, "input x: dimension 0 is 3; expected 2"),
        ([np.ones(16, np.float32)], ValueError, r"input x has the shape \[16\]; expected \[2, 16\]"),
        ([x.astype(complex)], ValueError, r"input x is complex128\[2, 16\]; expected float32\[2, 16\]"),
        ([["no number"]], ValueError, r"input x is str.*; expected float32\[2, 16\]"),
        ([None], ValueError, r"input x is None; expected float32\[2, 16\]"),
        ([[[1], [1, 2]]], ValueError, r"input x is no array, .*inhomogeneous.*; expected float32\[2, 16\]"),
        ([torch.ones(2, 16, device="meta")], ValueError, r"input x is no array, .*; expected float32\[2, 16\]"),
        ([torch.ones(2, 16).to_sparse()], ValueError, r"input x is no array, .*; expected float32\[2, 16\]"),
        ([np.full((2, 16), 1e300)], ValueError, r"input x is float64\[2, 16\] and has values that float32 does not"),
        ([], TypeError, r"the model takes 1 input \(x float32\[2, 16\]\) and was given 0: x missing"),
        ([x, x], TypeError, r"the model takes 1 input \(x float32\[2, 16\]\) and was given 2"),
    ]:
        with pytest.raises(error, match=text):
            compiled(*given)
    with pytest.raises(TypeError, match="input x is given twice"):
        compiled(x, x=x)
    assert np.isnan(compiled(np.full((2, 16), np.inf))).all()  # infinity is a number of both types
    integers = made(
        helper.make_graph([node("Neg", ["x"], ["y"])], "g", [tensor("x", TensorProto.INT32, [1])],
                          [tensor("y", TensorProto.INT32, [1])])
    )  # fmt: skip
    compiled = tt.compile(integers)
    assert compiled([7]) == -7
    with pytest.raises(ValueError, match=r"input x is int64\[1\] and has values that int32 does not hold"):
        compiled(np.array([2**31]))
    with pytest.raises(ValueError, match=r"input x is float32\[1\]; expected int32\[1\]"):
        compiled(np.ones(1, np.float32))


def test_targets_of_models() -> None:
    for given, text in [
        ({"sizes": "batch=2"}, "sizes is str; expected a mapping by name"),
        ({"sizes": [2]}, "sizes is list; expected a mapping by name"),
        ({"known": [np.ones(2)]}, "known is list; expected a mapping by name"),
        ({"options": 3}, "options is 3; expected options of ttir-to-ttnn-backend-pipeline as text"),
        ({"inputs": np.ones((2, 16))}, "inputs is ndarray; expected a list of arrays, or arrays by name"),
        ({"inputs": "x"}, "inputs is str; expected a list of arrays, or arrays by name"),
    ]:
        with pytest.raises(TypeError, match=text):
            tt.compile(product("batch"), **given)


def test_sequences() -> None:
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    value = helper.make_value_info("s", helper.make_sequence_type_proto(kind))
    graph = helper.make_graph([node("Identity", ["s"], ["y"])], "g", [value],
                              [helper.make_value_info("y", helper.make_sequence_type_proto(kind))])  # fmt: skip
    model = tt.compile(made(graph))
    arrays = [np.ones((2, 3), np.float32), np.zeros((4,), np.float32)]
    found = model(arrays)
    assert isinstance(found, list) and len(found) == 2
    for one, other in zip(found, arrays, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match=r"input s is ndarray; expected a list of float32\[\.\.\.\]"):
        model(arrays[0])


@pytest.mark.parametrize("weights", ["beside", "inside"])
@pytest.mark.parametrize("batch", [2, "batch"])
def test_files(batch: int | str, weights: str) -> None:
    compiled = tt.compile(product(batch))
    names = {
        ".ttnn": ["net.ttnn", *["net.safetensors"] * (weights == "beside")],
        ".mlir": ["net.mlir", "net.ttnn.mlir", "net.stablehlo.mlir"],
        ".py": ["net.py", *["net.py.tensors"] * (weights == "inside")],
        ".cpp": ["net.cpp", *["net.cpp.tensors"] * (weights == "inside")],
        ".safetensors": ["net.safetensors"],
    }
    for suffix, expected_names in names.items():
        assert [p.name for p in compiled.save("net" + suffix, weights)] == expected_names
    with pytest.raises(ValueError, match=r"save to net\.onnx: suffix '\.onnx'; known: \.ttnn"):
        compiled.save("net.onnx")
    with pytest.raises(ValueError, match="save with weights='there'; expected 'beside' or 'inside'"):
        compiled.save("net.ttnn", "there")


def test_a_saved_program_runs() -> None:
    written = tt.export(product("batch"), "net.ttnn")
    assert [p.name for p in written] == ["net.ttnn", "net.safetensors"]
    command = "from ttrt.__main__ import main; main()"
    x = np.random.default_rng(4).standard_normal((3, 16)).astype(np.float32)
    arguments = ["run", "net.ttnn", "--weights", "net.safetensors", "--sizes", "batch=3", "--init", "x=x.npy"]
    np.save("x.npy", x)
    done = subprocess.run(
        [sys.executable, "-c", command, *arguments, "--save-outputs", "out.npz"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (found,) = np.load("out.npz").values()
    np.testing.assert_allclose(found, np.maximum(x @ MATRIX, 0), rtol=1e-4, atol=1e-5)


def test_weights_are_shared_by_programs() -> None:
    compiled = tt.compile(product("batch"), sizes={"batch": (1, 2)})  # a program for each size
    for batch in (1, 2):
        compiled(np.ones((batch, 16), np.float32))
    first, second = (program._weights for program in compiled._fixed.values())
    assert first is not None and second is not None
    assert first[0] is second[0]
    assert first[0].array.ctypes.data == compiled.model.weights["w"].ctypes.data


@pytest.mark.parametrize("size", [9, 100, 256])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "float16", "bfloat16", "float32"])
def test_constants_with_equal_beginnings(dtype: str, size: int) -> None:
    """Constants are merged if all of their elements are equal: those of one number with no others, either."""
    numbers = np.dtype(getattr(ml_dtypes, dtype, dtype))
    ones = np.ones(size, numbers)
    first, second = ones.copy(), ones.copy()
    first[1:3], second[4:] = 0, 0
    names = {"ones": ones, "first": first, "again": first.copy(), "second": second}
    kind = helper.np_dtype_to_tensor_dtype(numbers)
    chosen = [node("Where", ["c", name, "x"], [f"of {name}"]) for name in names]
    graph = helper.make_graph(
        chosen, "g", [tensor("c", TensorProto.BOOL, [1]), tensor("x", kind, [size])],
        [tensor(f"of {name}", kind, [size]) for name in names],
        [numpy_helper.from_array(x, name) for name, x in names.items()],
    )  # fmt: skip
    found = tt.compile(made(graph))(np.array([True]), np.zeros(size, numbers))
    for ours, theirs in zip(found, names.values(), strict=True):
        assert (ours == theirs).all()


def test_errors_name_the_node() -> None:
    nodes = [node("Relu", ["x"], ["a"]), node("MatMul", ["a", "a"], ["y"], name="product")]
    graph = helper.make_graph(nodes, "g", [tensor("x", 1, [2, 3])], [tensor("y", 1, None)])
    with pytest.raises(tt.OnnxError, match=r"^net\.onnx: node 1 'product' \(MatMul\): .*3 columns and 2 rows$"):
        onnx.save(made(graph), "net.onnx")
        tt.compile("net.onnx")
    # What a pass refuses is known by its location.
    for op, shape, text in [
        (
            "Transpose",
            [2**33, 2**30],
            r"node 0 'large' \(Transpose\): stablehlo\.transpose: not converted to TTIR: .* 2\^31",
        ),
        (
            "Relu",
            [2**40, 2**20],
            r"input x is 'tensor<1099511627776x1048576xf32>'; the runtime has tensors of up to \d+ el",
        ),
    ]:
        graph = helper.make_graph(
            [node(op, ["x"], ["y"], name="large")], "g", [tensor("x", 1, shape)], [tensor("y", 1, None)]
        )
        with pytest.raises(tt.OnnxError, match=f"^model: {text}"):
            tt.compile(made(graph))


@pytest.mark.parametrize(
    ("name", "option"),
    [("m.tflite", "--tflite m.tflite"), ("m.pb", "--graphdef m.pb"), ("saved", "--saved-model saved")],
)
def test_tensorflow_is_told_how_to_export(name: str, option: str) -> None:
    Path("saved").mkdir()
    Path("saved/saved_model.pb").write_bytes(b"x")
    with pytest.raises(tt.OnnxError, match=f"is TensorFlow's; export it as StableHLO.*tf2onnx.convert {option} "):
        tt.compile(name)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "onnx" else found(name, *a))
    with pytest.raises(tt.OnnxError, match=r"need the package onnx: pip install 'ttmlir\[onnx\]'"):
        tt.load("x.onnx")


def test_importing_needs_no_package() -> None:
    program = "import sys, ttmlir.onnx; print(any(m in sys.modules for m in ('torch', 'onnx', 'onnxruntime')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    program = "import sys, ttmlir.onnx as o; o.load; o.operators(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_ops_with_a_rule_or_a_definition() -> None:
    ops = tt.operators()
    assert ops["Relu"] == [6, 13, 14] and ops["Gelu"] == [20] and "StringConcat" not in ops


def test_the_page_lists_the_ops() -> None:
    from ttmlir.onnx.table import page

    text = (Path(__file__).resolve().parents[3] / "docs" / "onnx.md").read_text(encoding="utf-8")
    assert text.partition("## Ops\n")[2].partition("<!-- end of the table -->")[0].endswith(page() + "\n\n"), (
        "docs/onnx.md is older than the table of ops; python -m ttmlir.onnx.table docs/onnx.md writes it"
    )


def test_outputs_own_their_values() -> None:
    """Also those that are an input or a weight, and two that are one value."""
    nodes = [helper.make_node("Identity", [x], [y]) for x, y in (("a", "o0"), ("w", "o1"), ("w", "o2"))]
    nodes.append(helper.make_node("Neg", ["a"], ["o3"]))
    kinds = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("a", "o0", "o1", "o2", "o3")]
    weight = np.arange(4, dtype=np.float32)
    graph = helper.make_graph(nodes, "g", kinds[:1], kinds[1:], [numpy_helper.from_array(weight, "w")])
    model = tt.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))
    a = np.ones(4, np.float32)
    found = model(a)
    for i, x in enumerate(found):
        x[:] = 7 + i
    assert (a == 1).all() and [float(x[0]) for x in found] == [7, 8, 9, 10]
    later = [model(np.full(4, i, np.float32)) for i in range(40)]
    assert [float(x[3][1]) for x in later] == [-i for i in range(40)]
    assert all((x[1] == weight).all() and (x[2] == weight).all() for x in later)
