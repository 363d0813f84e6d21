# SPDX-License-Identifier: Apache-2.0
"""Graphs whose sizes decide something at sizes that are no sample points, and sizes that have to be multiples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
import ttmlir.onnx as tt
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

node = helper.make_node
RANDOM = np.random.default_rng(0)
FIRST = [41, 45]


def model_of(nodes: Sequence[Any], inputs: dict[str, list[Any]], weights: dict[str, Any]) -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    arrays = [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()]
    graph = helper.make_graph(list(nodes), "net", values, [y], arrays)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def i64(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def size(name: str, of: str) -> list[Any]:
    return [node("Shape", [of], [name], start=0, end=1)]


# Nodes that make k, an integer [1] that the values are multiplied by, of the sizes n and m; constants; sizes.
Case = tuple[list[Any], dict[str, Any], list[Any]]
CHOOSE = node("Where", ["q", "two", "three"], ["k"])
CASES: dict[str, Case] = {
    "no remainder": (
        [node("Mod", ["n", "w"], ["r"]), node("Less", ["r", "one"], ["q"]), CHOOSE],
        {"w": i64(32)},
        [64, 96, 33, 32],
    ),
    "no remainder of 7": (
        [node("Mod", ["n", "w"], ["r"]), node("Less", ["r", "one"], ["q"]), CHOOSE],
        {"w": i64(7)},
        [14, 70, 15],
    ),
    "the smaller one of a remainder": (
        [node("Mod", ["n", "w"], ["r"]), node("Min", ["r", "one"], ["k"])],
        {"w": i64(16)},
        [32, 64, 33],
    ),
    "a whole quotient": (
        [node("Div", ["n", "w"], ["d"]), node("Mul", ["d", "w"], ["e"]), node("Less", ["e", "n"], ["q"]), CHOOSE],
        {"w": i64(8)},
        [64, 96, 33],
    ),
    "a few sizes": (
        [
            node("Greater", ["n", "low"], ["a"]),
            node("Less", ["n", "high"], ["b"]),
            node("And", ["a", "b"], ["q"]),
            CHOOSE,
        ],
        {"low": i64(50), "high": i64(60)},
        [55, 50, 51, 60, 59],
    ),
    "near a size": (
        [node("Sub", ["n", "w"], ["a"]), node("Abs", ["a"], ["b"]), node("Min", ["b", "five"], ["k"])],
        {"w": i64(200), "five": i64(5)},
        [198, 200, 205],
    ),
    "one size": (
        [node("Equal", ["n", "w"], ["q"]), CHOOSE],
        {"w": i64(70)},
        [70, 71],
    ),
    "rounded up": (
        [
            node("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
            node("Div", ["f", "w"], ["d"]),
            node("Ceil", ["d"], ["e"]),
            node("Sub", ["e", "d"], ["z"]),
            node("Ceil", ["z"], ["c"]),
            node("Cast", ["c"], ["k"], to=TensorProto.INT64),
        ],
        {"w": np.float32(8)},
        [64, 63],
    ),
    "a remainder as bool": (
        [
            node("Mod", ["n", "w"], ["r"]),
            node("Cast", ["r"], ["b"], to=TensorProto.BOOL),
            node("Cast", ["b"], ["k"], to=TensorProto.INT64),
        ],
        {"w": i64(32)},
        [64, 32],
    ),
    "the largest of two": (
        [
            node("Mod", ["n", "w"], ["r"]),
            node("Concat", ["r", "four"], ["both"], axis=0),
            node("ArgMax", ["both"], ["k"], axis=0),
        ],
        {"w": i64(32), "four": i64(4)},
        [64, 32, 33],
    ),
    "equal sizes": (
        [node("Less", ["n", "m"], ["a"]), node("Less", ["m", "n"], ["b"]), node("Or", ["a", "b"], ["q"]), CHOOSE],
        {},
        [(8, 8), (9, 4), (70, 70)],
    ),
    "a small sum": (
        [node("Add", ["n", "m"], ["p"]), node("Less", ["p", "w"], ["q"]), CHOOSE],
        {"w": i64(40)},
        [(8, 8), (2, 9), (9, 2), (70, 70)],
    ),
    "a small product": (
        [node("Mul", ["n", "m"], ["p"]), node("Min", ["p", "w"], ["k"])],
        {"w": i64(40)},
        [(2, 2), (3, 5), (2, 30), (70, 2)],
    ),
    "a divisor": (
        [node("Mod", ["n", "m"], ["p"]), node("Less", ["p", "one"], ["q"]), CHOOSE],
        {},
        [(8, 8), (8, 4), (9, 2), (70, 35)],
    ),
    "far apart": (
        [node("Mul", ["n", "w"], ["p"]), node("Less", ["p", "m"], ["q"]), CHOOSE],
        {"w": i64(500)},
        [(2, 3000), (8, 4), (70, 35)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_decision_is_seen_at_each_size(name: str) -> None:
    nodes, constants, several = CASES[name]
    has_two = isinstance(several[0], tuple)
    head = [*size("n", "x"), *(size("m", "z") if has_two else [])]
    tail = [node("Cast", ["k"], ["real"], to=TensorProto.FLOAT), node("Mul", ["x", "real"], ["y"])]
    inputs = {"x": ["rows", 4]} | ({"z": ["others", 4]} if has_two else {})
    model = model_of([*head, *nodes, *tail], inputs, {"one": i64(1), "two": i64(2), "three": i64(3), **constants})
    compiled, evaluator = tt.compile(model), ReferenceEvaluator(model)
    for sizes in [*([(n, n + 2) for n in FIRST] if has_two else FIRST), *several]:
        rows = sizes if isinstance(sizes, tuple) else (sizes,)
        given = {x: RANDOM.standard_normal((n, 4)).astype(np.float32) for x, n in zip(inputs, rows, strict=True)}
        np.testing.assert_allclose(compiled(**given), evaluator.run(None, given)[0], rtol=1e-6)


def test_a_number_that_no_size_equals_decides_nothing() -> None:
    nodes = [node("Equal", ["n", "one"], ["q"]), CHOOSE, node("Cast", ["k"], ["real"], to=TensorProto.FLOAT)]
    nodes = [*size("n", "x"), *nodes, node("Mul", ["x", "real"], ["y"])]
    model = tt.compile(model_of(nodes, {"x": ["rows", 4]}, {"one": i64(1), "two": i64(2), "three": i64(3)}))
    for n, factor in ((9, 3), (5, 3), (1, 2), (2, 3)):
        np.testing.assert_array_equal(model(np.ones((n, 4), np.float32)), np.full((n, 4), factor, np.float32))
    assert [size.least for size in model.open_sizes] == [2]


def kernel(*shape: int) -> Any:
    return (RANDOM.standard_normal(shape) * 0.3).astype(np.float32)


def test_images_of_a_u_net_are_multiples() -> None:
    nodes = [
        node("Conv", ["x", "w0"], ["a0"], pads=[1] * 4),
        node("MaxPool", ["a0"], ["p0"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["p0", "w1"], ["a1"], pads=[1] * 4),
        node("MaxPool", ["a1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
        node("ConvTranspose", ["p1", "u1"], ["t1"], strides=[2, 2]),
        node("Concat", ["t1", "a1"], ["c1"], axis=1),
        node("ConvTranspose", ["c1", "u0"], ["t0"], strides=[2, 2]),
        node("Concat", ["t0", "a0"], ["y"], axis=1),
    ]
    weights = {"w0": kernel(4, 3, 3, 3), "w1": kernel(8, 4, 3, 3), "u1": kernel(8, 8, 2, 2), "u0": kernel(16, 4, 2, 2)}
    proto = model_of(nodes, {"x": ["batch", 3, "height", "width"]}, weights)
    model, evaluator = tt.compile(proto), ReferenceEvaluator(proto)
    for shape in ((2, 3, 16, 24), (3, 3, 16, 16), (2, 3, 8, 12), (5, 3, 20, 8)):
        x = RANDOM.standard_normal(shape).astype(np.float32)
        np.testing.assert_allclose(model(x), evaluator.run(None, {"x": x})[0], rtol=1e-4, atol=1e-4)
    assert (len(model._fixed), len(model._opened)) == (1, 1)
    assert [size.name for size in model.open_sizes] == ["batch", "height/4", "width/4"]
    with pytest.raises(tt.OnnxError, match="cannot be joined along dimension 1"):
        model(np.ones((2, 3, 18, 8), np.float32))


def test_windows_stay_open() -> None:
    """Padding to a multiple that is none for some sizes, and the slice that takes it away again."""
    nodes = [
        *size("n", "x"),
        node("Neg", ["n"], ["less"]),
        node("Mod", ["less", "w"], ["rest"]),
        node("Concat", ["zeros", "rest", "zero"], ["pads"], axis=0),
        node("Pad", ["x", "pads"], ["whole"], mode="constant"),
        node("Reshape", ["whole", "shape"], ["parts"]),
        node("Softmax", ["parts"], ["soft"], axis=1),
        node("Reshape", ["soft", "flat"], ["rows"]),
        node("Slice", ["rows", "zero", "n", "zero"], ["y"]),
    ]
    constants = {"w": i64(4), "zeros": i64(0, 0), "zero": i64(0), "shape": i64(-1, 4, 6), "flat": i64(-1, 6)}
    proto = model_of(nodes, {"x": ["rows", 6]}, constants)
    model, evaluator = tt.compile(proto), ReferenceEvaluator(proto)
    for n in (13, 37, 16, 64, 18, 255, 14):
        x = RANDOM.standard_normal((n, 6)).astype(np.float32)
        np.testing.assert_allclose(model(x), evaluator.run(None, {"x": x})[0], rtol=1e-5, atol=1e-6)
    assert (len(model._fixed), len(model._opened)) == (1, 1)
