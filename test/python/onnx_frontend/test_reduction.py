# SPDX-License-Identifier: Apache-2.0
"""Reductions, cumulative ops, largest elements and determinants, compared with onnxruntime and the evaluator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from single import check
from ttmlir.onnx import OnnxError

OPS = ["ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
       "ReduceLogSum", "ReduceLogSumExp"]  # fmt: skip
CASES: list[tuple[tuple[int, ...], list[int] | None]] = [
    ((2, 3, 4), None), ((2, 3, 4), [1]), ((2, 3, 4), [0, -1]), ((2, 3, 4), [2, 0, 1]), ((), None), ((1, 1, 3), [0, 1]),
    ((33, 40), [1]),
]  # fmt: skip


def drawn(shape: tuple[int, ...], dtype: Any = np.float32, positive: bool = False) -> Any:
    generator = np.random.default_rng(sum(shape))
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return np.asarray(generator.random(shape) < 0.5)
    if dtype.kind in "iu":
        return np.asarray(generator.integers(1 if positive else 0, 4, shape)).astype(dtype)
    x = generator.standard_normal(shape)
    return np.asarray(np.abs(x) + 0.1 if positive else x).astype(dtype)


@pytest.mark.parametrize("op", OPS)
def test_reductions(op: str) -> None:
    for shape, axes in CASES:
        x = drawn(shape, positive=op == "ReduceLogSum")
        named = {} if axes is None else {"axes": axes}
        for keep in (0, 1):
            check(op, [x, None if axes is None else np.array(axes)], known=[] if axes is None else [1], opset=20,
                  keepdims=keep)  # fmt: skip
            check(op, [x], opset=11, keepdims=keep, **named)


@pytest.mark.parametrize("op", OPS)
def test_no_axes(op: str) -> None:
    x = drawn((2, 3), positive=op == "ReduceLogSum")
    check(op, [x, np.zeros(0, np.int64)], known=[1], opset=20)
    if op not in ("ReduceLogSum", "ReduceLogSumExp"):  # which onnxruntime takes for reductions
        check(op, [x, np.zeros(0, np.int64)], known=[1], opset=20, noop_with_empty_axes=1)
    check(op, [x, np.array([1])], known=[1], opset=20, noop_with_empty_axes=1)


@pytest.mark.parametrize("op", ["ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceLogSumExp"])
def test_no_elements(op: str) -> None:
    check(op, [drawn((2, 0, 3)), np.array([1])], known=[1], oracle="reference", opset=20)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float16, ml_dtypes.bfloat16, np.uint8, np.int8, np.bool_])
@pytest.mark.parametrize("op", OPS)
def test_types(op: str, dtype: Any) -> None:
    dtype = np.dtype(dtype)
    if dtype.itemsize == 1 and op not in ("ReduceMax", "ReduceMin"):
        return
    integers = dtype.kind == "i" and op in ("ReduceLogSumExp", "ReduceLogSum", "ReduceL2")
    x = drawn((3, 9), dtype, positive=op == "ReduceLogSum")
    axes = np.array([1])
    expected = None
    if integers:
        function = {"ReduceL2": lambda x: np.sqrt((x * x).sum(1)), "ReduceLogSum": lambda x: np.log(x.sum(1)),
                    "ReduceLogSumExp": lambda x: np.log(np.exp(x).sum(1))}[op]  # fmt: skip
        expected = [np.trunc(function(x.astype(np.float64))).astype(dtype)]
    oracle = "runtime" if op in ("ReduceMean", "ReduceSumSquare") and dtype.kind == "i" else "reference"
    check(op, [x, axes], known=[1], oracle=oracle, expected=expected, opset=20, keepdims=0)


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("last", [0, 1])
def test_positions(op: str, last: int) -> None:
    for dtype in (np.float32, np.int32, np.uint8):
        for shape, axis in (((2, 3, 4), 1), ((2, 3, 4), -1), ((5,), 0), ((7, 1), 1)):
            for keep in (0, 1):
                x = np.round(drawn(shape, dtype) * 2).astype(dtype)  # with equal ones
                check(op, [x], opset=13, axis=axis, keepdims=keep, select_last_index=last)


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
def test_cumulative(exclusive: int, reverse: int) -> None:
    for shape, axis in (((2, 3, 4), 1), ((5,), 0), ((2, 3, 4), -1), ((0, 3), 0)):
        for dtype in (np.float32, np.int64, np.int32):
            operands = [drawn(shape, dtype), np.array(axis)]
            options: dict[str, Any] = {"known": [1], "exclusive": exclusive, "reverse": reverse}
            check("CumSum", operands, opset=14, **options)
            check("CumProd", operands, oracle="reference", opset=26, **options)


@pytest.mark.parametrize("largest", [0, 1])
def test_top_k(largest: int) -> None:
    for dtype in (np.float32, np.int64, np.int32):
        for shape, k, axis in (((9,), 3, 0), ((3, 5), 2, 0), ((3, 5), 5, -1), ((3, 5), 0, 1), ((4, 130), 7, -1)):
            x = np.round(drawn(shape, dtype) * 3).astype(dtype)  # with equal ones
            check("TopK", [x, np.array([k])], 2, known=[1], opset=11, axis=axis, largest=largest)


def test_old_top_k() -> None:
    check("TopK", [drawn((3, 5))], 2, opset=7, k=2)
    check("TopK", [drawn((3, 5)), np.array([2])], 2, opset=10, known=[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (5, 5), (2, 3, 4, 4), (0, 3, 3), (2, 0, 0), (3, 12, 12)])
def test_determinants(shape: tuple[int, ...], dtype: Any) -> None:
    x = drawn(shape, dtype)
    check("Det", [x], expected=[np.asarray(np.linalg.det(x.astype(np.float64))).astype(dtype)], opset=22)


def test_determinants_of_singular_matrices() -> None:
    for rows in ([[0, 1], [1, 0]], [[0, 0], [0, 0]], [[1, 2], [2, 4]], [[0, 2, 1], [0, 1, 1], [3, 1, 1]]):
        check("Det", [np.array(rows, np.float32)])
    with pytest.raises(OnnxError, match="expected square matrices of floats"):
        check("Det", [drawn((2, 3))], expected=[drawn((2,))])


REFUSED: list[Any] = [
    ("ReduceSum", [drawn((2, 3)), np.array([2])], "axis 2 of 2 dimensions; expected -2 to 1"),
    ("ReduceSum", [drawn((2, 3)), np.array([0, -2])], "name a dimension twice"),
    ("TopK", [drawn((2, 3)), np.array([4])], "4 elements of 3 in dimension 1"),
    ("CumSum", [drawn((2, 3)), np.array(2)], "axis 2 of 2 dimensions"),
]


@pytest.mark.parametrize(("op", "operands", "text"), REFUSED, ids=str)
def test_refused(op: str, operands: list[Any], text: str) -> None:
    with pytest.raises(OnnxError, match=text):
        check(op, operands, 2 if op == "TopK" else 1, expected=[operands[0]] * (2 if op == "TopK" else 1), known=[1])
