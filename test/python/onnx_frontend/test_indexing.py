# SPDX-License-Identifier: Apache-2.0
"""Ops at positions that other tensors hold, compared with onnxruntime and the evaluator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import ttmlir.onnx
from onnx import parser
from single import check
from ttmlir.onnx import OnnxError

DTYPES = [np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.int64, np.uint8, np.bool_]


def drawn(shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
    generator = np.random.default_rng(sum(shape))
    if np.dtype(dtype) == np.bool_:
        return np.asarray(generator.random(shape) < 0.5)
    return np.asarray(generator.integers(0, 9, shape)).astype(dtype)


def places(size: int, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Positions, half of them negative."""
    return np.asarray(np.random.default_rng(seed + sum(shape)).integers(-size, size, shape))


def both(op: str, operands: list[Any], **options: Any) -> None:
    """Checks computed positions, and known ones."""
    check(op, operands, **options)
    check(op, operands, known=[1], **options)


@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype: Any) -> None:
    x, options = drawn((4, 3, 2), dtype), {"oracle": "reference", "opset": 13}
    both("Gather", [x, places(3, (2, 2))], axis=1, **options)
    both("GatherElements", [x, places(4, (5, 3, 2))], axis=0, **options)
    both("GatherND", [x, places(3, (2, 2))], **options)
    both("ScatterElements", [x, np.array([[[3]], [[-4]]]), drawn((2, 1, 1), dtype)], axis=0, **options)
    both("ScatterND", [x, np.array([[3, 1], [-4, 0]]), drawn((2, 2), dtype)], **options)


GATHERS = [((5,), 0, (3,)), ((5, 4), 0, (2, 3)), ((5, 4), -1, ()), ((2, 3, 4), 1, (2, 2)), ((5, 4), 0, (0,)),
           ((5, 0), 0, (3,)), ((1, 4), 0, (3,)), ((300, 64), 0, (7,))]  # fmt: skip


@pytest.mark.parametrize(("shape", "axis", "many"), GATHERS)
def test_gather(shape: tuple[int, ...], axis: int, many: tuple[int, ...]) -> None:
    both("Gather", [drawn(shape), places(shape[axis], many)], axis=axis)
    both("Gather", [drawn(shape), places(shape[axis], many).astype(np.int32)], axis=axis)


@pytest.mark.parametrize(
    ("shape", "axis", "many"), [((5,), 0, (7,)), ((5, 4), -1, (3, 2)), ((2, 3, 4), 1, (2, 5, 3)), ((5, 4), 0, (0, 4))]
)
def test_gather_elements(shape: tuple[int, ...], axis: int, many: tuple[int, ...]) -> None:
    both("GatherElements", [drawn(shape), places(shape[axis], many)], axis=axis)


@pytest.mark.parametrize(
    ("shape", "batch", "many"),
    [
        ((5,), 0, (3, 1)), ((5, 4), 0, (3, 2)), ((5, 4), 0, (2, 3, 1)), ((2, 3, 4), 1, (2, 2)),
        ((2, 3, 4), 1, (2, 5, 1)), ((2, 3, 4), 2, (2, 3, 1)), ((2, 3, 4), 0, (3,)), ((2, 2, 3, 4), 2, (2, 2, 3, 2)),
    ],
)  # fmt: skip
def test_gather_nd(shape: tuple[int, ...], batch: int, many: tuple[int, ...]) -> None:
    parts = [places(shape[batch + k], many[:-1], k) for k in range(many[-1])]
    both("GatherND", [drawn(shape), np.stack(parts, -1)], batch_dims=batch)


# onnxruntime has no reductions of float16.
ORACLES: dict[Any, str] = {
    np.float32: "runtime", np.int64: "runtime", np.int32: "runtime", np.float16: "reference",
}  # fmt: skip
REDUCTIONS = ["none", "add", "mul", "max", "min"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", ORACLES)
def test_scatter_elements(reduction: str, dtype: Any) -> None:
    for shape, axis, many in (((5,), 0, (3,)), ((5, 4), -1, (3, 2)), ((2, 3, 4), 1, (2, 2, 3)), ((5, 4), 0, (0, 4))):
        index = places(shape[axis], many)
        if reduction == "none":  # each place once
            index = np.argsort(np.random.default_rng(0).random(many), axis)
        operands = [drawn(shape, dtype), index, drawn(many, dtype)]
        both("ScatterElements", operands, oracle=ORACLES[dtype], opset=18, axis=axis, reduction=reduction)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", ORACLES)
def test_scatter_nd(reduction: str, dtype: Any) -> None:
    for shape, index in (((8,), [[3], [-1], [0]]), ((5, 4), [[1], [-5]]), ((2, 3, 4), [[1, 2], [0, -1]])):
        index = [index[0], *index] if reduction != "none" else index
        many = (len(index), *shape[len(index[0]) :])
        operands = [drawn(shape, dtype), np.array(index), drawn(many, dtype)]
        both("ScatterND", operands, oracle=ORACLES[dtype], opset=18, reduction=reduction)


def test_old_scatter() -> None:
    both("Scatter", [drawn((3, 3)), np.array([[1, 0, 2], [0, 2, 1]]), drawn((2, 3))], opset=9)


@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_tensor_scatter(mode: str) -> None:
    for axis, shape in ((-2, (2, 8, 3)), (2, (2, 3, 8, 4))):
        update = drawn(tuple(3 if d == axis % len(shape) else n for d, n in enumerate(shape)))
        begins = np.array([1, 5 if mode == "linear" else 7])
        for known in ((), (2,)):
            check("TensorScatter", [drawn(shape), update, begins], oracle="reference", known=known, opset=24, axis=axis,
                  mode=mode)  # fmt: skip
        check("TensorScatter", [drawn(shape), update], oracle="reference", opset=24, axis=axis, mode=mode)


def test_compress() -> None:
    for axis, condition in ((None, [0, 1, 1, 0, 0, 1]), (0, [1, 0, 1]), (1, [0, 1]), (-1, [0, 0])):
        named = {} if axis is None else {"axis": axis}
        check("Compress", [drawn((3, 4)), np.array(condition, bool)], known=[1], opset=11, **named)


def test_nonzero() -> None:
    for shape in ((3, 4), (5,), (2, 0), (70, 70)):
        check("NonZero", [drawn(shape)], known=[0])


def test_range_written_as_nonzero() -> None:
    model = parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 17]>
        range (float[N, 8] x) => (int64[N] y) {
            shape = Shape <end = 1> (x)
            ones = ConstantOfShape <value: tensor = int64[1] {1}> (shape)
            places = NonZero (ones)
            rows = Transpose (places)
            axes = Constant <value_ints = [1]> ()
            y = Squeeze (rows, axes)
        }""")
    compiled = ttmlir.onnx.compile(model)
    for size in (3, 7, 100):
        np.testing.assert_array_equal(compiled(np.zeros((size, 8), np.float32)), np.arange(size))
    assert not compiled.closed


@pytest.mark.parametrize("is_sorted", [0, 1])
def test_unique(is_sorted: int) -> None:
    for shape, axis in (((12,), None), ((3, 4), None), ((4, 2), 0), ((3, 4), 1)):
        named = {} if axis is None else {"axis": axis}
        check("Unique", [drawn(shape)], 4, known=[0], sorted=is_sorted, **named)


UNKNOWN: list[Any] = [
    ("NonZero", [drawn((3, 4))]), ("Unique", [drawn((3, 4))]), ("Compress", [drawn((3, 4)), np.ones(3, bool)]),
]  # fmt: skip


@pytest.mark.parametrize(("op", "operands"), UNKNOWN, ids=str)
def test_unknown_counts_are_refused(op: str, operands: list[Any]) -> None:
    with pytest.raises(OnnxError, match="how many results there are depends on the inputs' elements"):
        check(op, operands, expected=[operands[0]])


REFUSED: list[Any] = [
    ("Gather", [drawn((3, 4)), np.array([3])], "index 3 of a dimension of 3 elements"),
    ("GatherND", [drawn((3, 4)), np.array([[0, -5]])], "index -5 of a dimension of 4 elements"),
    ("ScatterND", [drawn((3, 4)), np.array([[1]]), drawn((1, 3))], "expected float32\\[1, 4\\]"),
    ("ScatterElements", [drawn((3, 4)), np.array([[1]]), drawn((1, 3))], "expected one of its type for each index"),
]


@pytest.mark.parametrize(("op", "operands", "text"), REFUSED, ids=str)
def test_refused(op: str, operands: list[Any], text: str) -> None:
    with pytest.raises(OnnxError, match=text):
        check(op, operands, expected=[operands[0]], known=[1])
