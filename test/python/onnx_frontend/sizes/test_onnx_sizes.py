# SPDX-License-Identifier: Apache-2.0
"""ONNX files with named dimensions: one program for all sizes, equal to ONNX's reference at each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
import torch
import ttmlir.onnx as tt
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

RANDOM = np.random.default_rng(0)
KERNEL = numpy_helper.from_array(RANDOM.standard_normal((4, 3, 3, 3)).astype(np.float32), "w")
MATRIX = numpy_helper.from_array(RANDOM.standard_normal((8, 4)).astype(np.float32), "m")
node = helper.make_node


def numbers(name: str, *values: int) -> Any:
    return numpy_helper.from_array(np.array(values, np.int64), name)


Row = tuple[list[Any], dict[str, list[int | str]], Sequence[Any]]
X: dict[str, list[int | str]] = {"x": ["batch", "sequence", 8]}
ROWS: dict[str, Row] = {
    "softmax": ([node("Softmax", ["x"], ["y"], axis=1)], X, ()),
    "matmul and mean": (
        [node("MatMul", ["x", "m"], ["a"]), node("ReduceMean", ["a"], ["y"], axes=[1], keepdims=0)],
        X,
        [MATRIX],
    ),
    "attention": (
        [
            node("Transpose", ["x"], ["t"], perm=[0, 2, 1]),
            node("MatMul", ["x", "t"], ["s"]),
            node("Softmax", ["s"], ["p"], axis=-1),
            node("MatMul", ["p", "x"], ["y"]),
        ],
        X,
        (),
    ),
    # Their expansions have equal values of the result's shape; acosh is NaN below 1.
    "acosh": ([node("Exp", ["x"], ["e"]), node("Acosh", ["e"], ["y"])], X, ()),
    "sinh": ([node("Sinh", ["x"], ["y"])], X, ()),
    "merged dimensions": ([node("Reshape", ["x", "r"], ["y"])], X, [numbers("r", -1, 8)]),
    "heads": (
        [node("Reshape", ["x", "r"], ["h"]), node("Transpose", ["h"], ["y"], perm=[0, 2, 1, 3])],
        X,
        [numbers("r", 0, -1, 2, 4)],
    ),
    "shape that is computed": (
        [
            node("Shape", ["x"], ["s"]),
            node("Gather", ["s", "zero"], ["b"]),
            node("Concat", ["b", "rest"], ["r"], axis=0),
            node("Reshape", ["x", "r"], ["y"]),
        ],
        X,
        [numbers("zero", 0), numbers("rest", -1)],
    ),
    "convolution": (
        [
            node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
            node("Relu", ["a"], ["b"]),
            node("GlobalAveragePool", ["b"], ["c"]),
            node("Flatten", ["c"], ["y"]),
        ],
        {"x": ["batch", 3, "height", "width"]},
        [KERNEL],
    ),
    "cache": (
        [node("Concat", ["past", "new"], ["y"], axis=1)],
        {"past": ["batch", "length", 4], "new": ["batch", "step", 4]},
        (),
    ),
}

# Of results that have other ranks than 3.
RANKS = {"matmul and mean": 2, "merged dimensions": 2, "heads": 4, "shape that is computed": 2, "convolution": 2}


def save(name: str) -> onnx.ModelProto:
    nodes, inputs, weights = ROWS[name]
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in inputs.items()]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * RANKS.get(name, 3))
    graph = helper.make_graph(nodes, "net", values, [result], list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, "net.onnx")
    return model


def arguments(name: str, base: int) -> list[np.ndarray]:
    names = list(dict.fromkeys(n for shape in ROWS[name][1].values() for n in shape if isinstance(n, str)))
    sizes = {n: base + place for place, n in enumerate(names)}
    shapes = [[n if isinstance(n, int) else sizes[n] for n in shape] for shape in ROWS[name][1].values()]
    return [RANDOM.standard_normal(shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("name", ROWS)
def test_one_program_for_all_sizes(name: str) -> None:
    evaluator = ReferenceEvaluator(save(name))
    compiled = tt.compile("net.onnx")
    for base in (1, 2, 17, 30):
        given = arguments(name, base)
        (expected,) = evaluator.run(None, dict(zip(ROWS[name][1], given, strict=True)))
        found = compiled(*map(torch.from_numpy, given))
        torch.testing.assert_close(found, torch.from_numpy(expected), rtol=1e-4, atol=1e-4, equal_nan=True)
    assert compiled.closed == ""
    assert all(size.least <= 13 for size in compiled.open_sizes)
    assert len(compiled.flatbuffer) < 1 << 16
    # The first call, whose sizes of 1 have a program of their own.
    assert len(compiled._fixed) == 1 and len(compiled._opened) == 1


def test_refuses_other_sizes() -> None:
    save("cache")
    compiled = tt.compile("net.onnx", sizes={"length": (2, 64), "step": (0, None)})
    past, new = torch.ones(2, 5, 4), torch.ones(2, 1, 4)
    assert compiled(past, new).shape == (2, 6, 4)
    with pytest.raises(ValueError, match=r"input past: dimension 1 \(length\) is 65; expected 2 to 64"):
        compiled(torch.ones(2, 65, 4), new)
    with pytest.raises(ValueError, match=r"input past: dimension 1 \(length\) is 1; expected 2 to 64"):
        compiled(torch.ones(2, 1, 4), new)
    with pytest.raises(
        ValueError, match=r"input new: dimension 0 \(batch\) is 3; expected 2, as input past: dimension 0 is"
    ):
        compiled(past, torch.ones(3, 1, 4))
    with pytest.raises(ValueError, match="input new: dimension 2 is 5; expected 4"):
        compiled(past, torch.ones(2, 1, 5))
    with pytest.raises(ValueError, match=r"input new has the shape \[2, 4\]; expected \[batch, step, 4\]"):
        compiled(past, torch.ones(2, 4))
    with pytest.raises(TypeError, match=r"the model takes 2 inputs \(.*\) and was given 1: new missing"):
        compiled(past)
    with pytest.raises(tt.OnnxError, match="size length goes from 5 to 2"):
        tt.compile("net.onnx", sizes={"length": (5, 2)})
    with pytest.raises(
        tt.OnnxError, match="sizes has 'width', which no dimension is called; known: batch, length, ste"
    ):
        tt.compile("net.onnx", sizes={"width": 5})
    with pytest.raises(tt.OnnxError, match="size batch is -1; expected a number from 0, or bounds"):
        tt.compile("net.onnx", sizes={"batch": -1})


def test_some_sizes_may_be_given() -> None:
    save("attention")
    compiled = tt.compile("net.onnx", sizes={"batch": 2})
    assert list(compiled.sizes) == ["sequence"]
    assert compiled(torch.ones(2, 9, 8)).shape == (2, 9, 8)
    with pytest.raises(ValueError, match="input x: dimension 0 is 3; expected 2"):
        compiled(torch.ones(3, 9, 8))
    (path,) = compiled.save("net.ttnn")
    assert path.suffix == ".ttnn"
    assert tt.compile("net.onnx", sizes={"batch": 2, "sequence": 3}).open_sizes == []


def test_examples_fix_all_sizes() -> None:
    save("attention")
    compiled = tt.compile("net.onnx", [np.ones((2, 9, 8), np.float32)])
    assert compiled.sizes == {}
    with pytest.raises(ValueError, match="input x: dimension 1 is 8; expected 9"):
        compiled(torch.ones(2, 8, 8))


def model_of(nodes: list[Any], shape: Any, *weights: Any) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "net", [x], [y], list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_dimensions_without_names_and_of_any_rank() -> None:
    x = RANDOM.standard_normal((5, 7, 8)).astype(np.float32)
    model = tt.compile(model_of([node("MatMul", ["x", "m"], ["y"])], [None, None, 8], MATRIX))
    assert list(model.sizes) == ["x_0", "x_1"]
    for given in (x, x[:3, :2]):
        np.testing.assert_allclose(model(given), given @ numpy_helper.to_array(MATRIX), rtol=1e-4, atol=1e-4)
    assert model.closed == "" and [size.name for size in model.open_sizes] == ["x_0", "x_1"]
    assert tt.compile(model.model.proto, sizes={"x_0": 5}).sizes == {"x_1": (0, None)}
    model = tt.compile(model_of([node("Relu", ["x"], ["y"])], None))
    for given in (x, x[0], x[0, 0]):
        np.testing.assert_array_equal(model(given), np.maximum(given, 0))
    assert model.closed == "the file does not say how many dimensions input x has"


def test_sizes_that_have_to_be_equal() -> None:
    """Names that differ in the file, where a product needs one size."""
    inputs = {"x": ["a", 4], "z": ["b", 4]}
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in inputs.items()]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node("Add", ["x", "z"], ["y"])], "net", values, [y])
    model = tt.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    for n in (3, 5, 8, 9):
        x, z = (RANDOM.standard_normal((n, 4)).astype(np.float32) for _ in range(2))
        np.testing.assert_allclose(model(x, z), x + z, rtol=1e-6)
    # One for the first call, one for all others; and sizes of 1 broadcast.
    assert (len(model._fixed), len(model._opened)) == (1, 1)
    assert model(x[:1], z).shape == (9, 4)
    assert "operands" in model.closed
    with pytest.raises(tt.OnnxError, match=r"do not broadcast"):
        model(x[:5], z)


def test_programs_for_sizes_are_dropped() -> None:
    compiled = tt.compile(model_of([node("Relu", ["x"], ["y"])], ["n"]), sizes={"n": (0, 1)})
    assert compiled(np.ones(0, np.float32)).shape == (0,)
    assert compiled(np.ones(1, np.float32)).shape == (1,)
    model = tt.compile(model_of([node("Relu", ["x"], ["y"])], None))
    for rank in range(1, 20):
        model(np.ones((1,) * min(rank, 6) + (rank,), np.float32))
    assert len(model._fixed) == 16


def test_a_call_does_not_wait_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program for all sizes that takes long is compiled where it is requested, and calls have their own."""
    monkeypatch.setattr("ttmlir.onnx.compiled.LONGEST", 0.0)
    model = tt.compile(model_of([node("Relu", ["x"], ["y"])], ["n"]))
    for n in (3, 5, 8):
        assert model(np.ones(n, np.float32)).shape == (n,)
    assert len(model._fixed) == 3 and not model._opened
    assert "takes more than 0 s of CPU time" in model._closed
    assert model.closed == "" and len(model._opened) == 1
