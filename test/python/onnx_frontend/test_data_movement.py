# SPDX-License-Identifier: Apache-2.0
"""Shapes, slices, joins, padding and creation, compared with onnxruntime and the evaluator."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import helper
from single import check
from ttmlir.onnx import OnnxError

FAR = 2**31 - 1


def drawn(shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
    generator = np.random.default_rng(sum(shape))
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return np.asarray(generator.random(shape) < 0.5)
    if dtype.kind in "iu":
        return np.asarray(generator.integers(0, 99, shape)).astype(dtype)
    return np.asarray(generator.standard_normal(shape)).astype(dtype)


def ints(*values: int) -> Any:
    return np.array(values, np.int64)


DTYPES = [np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.int64, np.uint8, np.bool_]


@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype: Any) -> None:
    x = drawn((2, 3, 4), dtype)
    options: dict[str, Any] = {"oracle": "reference", "opset": 21}
    check("Transpose", [x], perm=[2, 0, 1], **options)
    check("Slice", [x, ints(2, -1), ints(-5, FAR), ints(1, 2), ints(-1, 1)], known=[1, 2, 3, 4], **options)
    check("Concat", [x, x[:, :0], x[:, :2]], axis=1, **options)
    check("Tile", [x, ints(2, 1, 3)], known=[1], **options)
    check("Expand", [x, ints(2, 1, 1, 4)], known=[1], **options)
    for mode in ("constant", "edge", "reflect", "wrap"):
        check("Pad", [x, ints(0, 1, 2, 1, 0, 3)], known=[1], mode=mode, **options)
    check("Trilu", [x, np.array(1)], upper=0, known=[1], **options)


RESHAPES = [((2, 3, 4), (4, -1)), ((2, 3, 4), (0, 0, 2, 2)), ((2, 0, 3), (3, 0)), ((), (1, 1)), ((1, 1), ())]


def test_reshape() -> None:
    for shape, expected in RESHAPES:
        check("Reshape", [drawn(shape), ints(*expected)], known=[1])
    check("Reshape", [drawn((0, 3, 4)), ints(3, 4, 0)], known=[1], opset=14, allowzero=1)


def test_flatten() -> None:
    for shape, axes in (((2, 3, 4), (0, 1, 3, -1)), ((), (0,)), ((2, 0, 3), (1, 2))):
        for axis in axes:
            check("Flatten", [drawn(shape)], axis=axis)


def test_squeeze_and_unsqueeze() -> None:
    for shape, axes in (((1, 3, 1), None), ((1, 3, 1), (0, -1)), ((1, 0), (0,)), ((2, 3), ())):
        check("Squeeze", [drawn(shape), None if axes is None else ints(*axes)], known=[] if axes is None else [1])
    check("Squeeze", [drawn((1, 3, 1))], opset=11, axes=[-1])
    for shape, axes in (((3,), (0, 2)), ((3,), (-1, 0)), ((), (0, 1)), ((2, 3), (3, 0))):
        check("Unsqueeze", [drawn(shape), ints(*axes)], known=[1])
        check("Unsqueeze", [drawn(shape)], opset=11, axes=list(axes))


def test_transpose_of_all() -> None:
    for shape, order in (((2, 3, 4), None), ((2, 0, 4), (1, 2, 0)), ((), None), ((1, 2, 3, 4, 5), (4, 2, 0, 1, 3))):
        check("Transpose", [drawn(shape)], **({"perm": order} if order else {}))


def test_concat() -> None:
    for shapes, axis in ((((2, 3), (2, 1), (2, 0)), 1), (((3,), (0,), (2,)), 0), (((0, 2), (0, 2)), 0), (((2, 3),), 1)):
        check("Concat", [drawn(shape) for shape in shapes], axis=axis)


SLICES: list[Any] = [
    ((5, 6), [1], [3], None, None), ((5, 6), [0, 1], [2**63 - 1, -1], None, None), ((5, 6), [-2], [FAR], [1], None),
    ((5, 6), [1, 2], [5, 6], [0, 1], [2, 3]), ((5, 6), [-1], [-(2**63)], [0], [-1]), ((5, 6), [3], [3], [0], None),
    ((5, 6), [4, 5], [0, 1], [0, 1], [-2, -3]), ((5, 6), [10], [20], [-1], None), ((5, 6), [-100], [3], [0], None),
    ((5, 6), [5], [-10], [1], [-1]), ((7,), [100], [-100], [0], [-2]), ((5,), [4], [-6], [0], [-100]),
    ((5,), [1], [FAR], [0], [2**40]), ((5,), [3], [-FAR], [0], [-(2**40)]),
    ((0, 3), [0], [5], [0], None),
]  # fmt: skip


@pytest.mark.parametrize("case", SLICES, ids=str)
def test_slice(case: Any) -> None:
    shape, *parts = case
    given = [None if part is None else ints(*part) for part in parts]
    check("Slice", [drawn(shape), *given], known=[k + 1 for k, part in enumerate(given) if part is not None])
    if parts[3] is None:
        named = {"axes": parts[2]} if parts[2] else {}
        check("Slice", [drawn(shape)], opset=9, starts=parts[0], ends=parts[1], **named)


def test_split() -> None:
    check("Split", [drawn((6, 2))], 2, opset=13)
    check("Split", [drawn((6, 2)), ints(1, 0, 5)], 3, known=[1], opset=13)
    check("Split", [drawn((2, 6))], 3, opset=11, axis=-1, split=[1, 2, 3])
    for size, count in ((7, 3), (7, 2), (6, 1)):
        check("Split", [drawn((size, 2))], count, opset=18, num_outputs=count)


PADS: list[Any] = [
    ((3, 4), [1, 0, 0, 2], "constant"), ((3, 4), [-1, 2, 1, -2], "constant"), ((0, 2), [1, 0, 1, 1], "constant"),
    ((3, 4), [2, 3, 1, 3], "reflect"), ((3, 4), [-1, 1, 0, 2], "reflect"), ((20,), [12, 9], "reflect"),
    ((3, 4), [1, 2, 3, 4], "edge"), ((3, 4), [-1, 1, 0, 2], "edge"), ((1,), [2, 2], "edge"),
    ((4,), [3, 4], "wrap"), ((4,), [9, 6], "wrap"),
]  # fmt: skip


@pytest.mark.parametrize("case", PADS, ids=str)
def test_pad(case: Any) -> None:
    shape, pads, mode = case
    check("Pad", [drawn(shape), ints(*pads)], known=[1], opset=19, mode=mode)
    if mode == "constant":
        fill = np.array(2.5, np.float32)
        check("Pad", [drawn(shape), ints(*pads), fill], known=[1], opset=19)
        check("Pad", [drawn(shape), ints(*pads), fill], known=[1, 2], opset=19)
    if mode != "wrap":
        check("Pad", [drawn(shape)], opset=7, mode=mode, pads=pads, value=1.5)


def test_pad_axes() -> None:
    for axes, pads in (([1], [1, 2]), ([-2], [1, 2]), ([1, 0], [1, 1, 2, 2])):
        check("Pad", [drawn((3, 4)), ints(*pads), None, ints(*axes)], known=[1, 3], opset=18, mode="edge")


def test_tile_and_expand() -> None:
    for shape, times in (((3, 2), (2, 2)), ((1, 3), (4, 1)), ((2, 3), (0, 1)), ((), ()), ((2, 3, 4), (2, 1, 3))):
        check("Tile", [drawn(shape), ints(*times)], known=[1])
    for shape, expected in (((3, 1), (2, 1, 6)), ((), (2, 3)), ((1,), (0,)), ((3, 4), (1, 1))):
        check("Expand", [drawn(shape), ints(*expected)], known=[1])


def test_blocks() -> None:
    for mode in ("DCR", "CRD"):
        check("DepthToSpace", [drawn((2, 8, 2, 4))], blocksize=2, mode=mode)
    check("SpaceToDepth", [drawn((1, 2, 6, 3))], blocksize=3)


def test_shape_and_size() -> None:
    for shape, options in (((2, 3, 4), {}), ((), {}), ((2, 3, 4), {"start": -2, "end": 5}), ((2, 3), {"start": 2})):
        check("Shape", [drawn(shape)], opset=15, **options)
    check("Size", [drawn((2, 0, 3))])


def test_dropout() -> None:
    check("Dropout", [drawn((2, 3)), np.array(0.3, np.float32)], 2, opset=13)
    check("Dropout", [drawn((2, 3))], 1, opset=7, ratio=0.3)
    with pytest.raises(OnnxError, match="training_mode is not known to be false; expected inference"):
        check("Dropout", [drawn((2, 3)), np.array(0.3, np.float32), np.array(True)], expected=[drawn((2, 3))], opset=13)


def test_reverse_sequence() -> None:
    check("ReverseSequence", [drawn((4, 3, 2)), ints(1, 4, 2)])
    check("ReverseSequence", [drawn((4, 3)), ints(1, 3, 2, 2)], time_axis=1, batch_axis=0)


def test_center_crop_pad() -> None:
    for shape, expected, axes in (((5, 6), (3, 9), None), ((5, 6), (7, 3), (-1, 0)), ((5, 6, 3), (2, 9), (2, 0))):
        named = {} if axes is None else {"axes": axes}
        check("CenterCropPad", [drawn(shape), ints(*expected)], oracle="reference", known=[1], opset=18, **named)


#
# Creation
#


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_range(dtype: Any) -> None:
    for numbers in ((0, 10, 1), (10, 0, -3), (0, 100, 1), (5, 2, 1), (7, 300, 2)):
        check("Range", [np.array(n, dtype) for n in numbers], known=[0, 1, 2])


def test_range_of_fractions() -> None:
    check("Range", [np.array(n, np.float32) for n in (0.5, 90.3, 0.7)], known=[0, 1, 2])


def test_eye_like() -> None:
    for shape, options in (
        ((3, 4), {}),
        ((4, 3), {"k": 1}),
        ((3, 3), {"k": -2, "dtype": 7}),
        ((0, 2), {}),
        ((3, 4), {"k": 2**40}),
    ):
        check("EyeLike", [drawn(shape)], **options)


def test_trilu() -> None:
    for shape, k in itertools.product(((3, 5), (2, 4, 3)), (None, 0, 1, -1, 7, -9)):
        for upper in (0, 1):
            check("Trilu", [drawn(shape), None if k is None else np.array(k)], upper=upper)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis: int) -> None:
    values = np.array([2, 5], np.float32)
    for kind in (np.int64, np.float32):
        indices = np.array([[0, -1, 4], [5, -6, 2]], kind)
        depth = np.array(5, np.int64 if kind is np.int64 else np.float32)
        check("OneHot", [indices, depth, values], known=[1], axis=axis)


@pytest.mark.parametrize("dtype", DTYPES)
def test_constant_of_shape(dtype: Any) -> None:
    one = np.array([3]).astype(dtype)
    value = helper.make_tensor("value", helper.np_dtype_to_tensor_dtype(one.dtype), [1], one.tobytes(), raw=True)
    for sizes in ((2, 3), (), (0,), (3, 40)):
        check("ConstantOfShape", [ints(*sizes)], expected=[np.full(sizes, one[0])], known=[0], value=value)


REFUSED: list[Any] = [
    ("Reshape", [drawn((2, 3)), ints(4, -1)], "which shape \\[4, -1\\] does not divide"),
    ("Reshape", [drawn((2, 3)), ints(7)], "has 6 elements; shape \\[7\\] has 7"),
    ("Squeeze", [drawn((2, 3)), ints(0)], "dimension 0 of float32\\[2, 3\\] is no 1"),
    ("Unsqueeze", [drawn((2, 3)), ints(5)], "axis 5 of 3 dimensions"),
    ("Expand", [drawn((2, 3)), ints(4, 3)], "does not broadcast with shape"),
    ("Tile", [drawn((2, 3)), ints(2)], "expected a number from 0 for each dimension"),
    ("Pad", [drawn((2, 3)), ints(0, -4, 0, 0)], "cut more off"),
    ("Split", [drawn((6, 2)), ints(2, 4)], "parts \\[2, 4\\] for 1 outputs"),
]


@pytest.mark.parametrize(("op", "operands", "text"), REFUSED, ids=str)
def test_refused(op: str, operands: list[Any], text: str) -> None:
    with pytest.raises(OnnxError, match=text):
        check(op, operands, expected=[operands[0]], known=[1])


def test_very_large_pads_are_refused() -> None:
    with pytest.raises(OnnxError, match="by wrap from 3; expected at most 1048576"):
        check("Pad", [drawn((3,)), ints(0, 2**40)], expected=[drawn((3,))], known=[1], opset=19, mode="wrap")


def test_computed_shapes_are_refused() -> None:
    with pytest.raises(OnnxError, match="shape is computed from the inputs' elements; expected one that is known"):
        check("Reshape", [drawn((2, 3)), ints(3, 2)], expected=[drawn((3, 2))])
