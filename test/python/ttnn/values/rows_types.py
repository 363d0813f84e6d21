# SPDX-License-Identifier: Apache-2.0
"""Calls on integers of all widths, changes of data types, quantization, and tensors that are made of numbers."""

from __future__ import annotations

from typing import Any

import torch
import ttnn
from composite_cases import ids, of
from value_rows import BITS, KINDS, NUMBERS, Rows

Tensor = torch.Tensor
INF, NAN = float("inf"), float("nan")
UNSIGNED = "u32 u16 u8"
# Every pair of these, as each data type holds them.
EDGES = torch.tensor([0, 1, 2, 7, 100, 127, 128, 255, 256, 32767, 65535, 65536, 2**24 + 1, 2**31 - 1])
PAIRS = {"input_tensor_a": EDGES[:, None].expand(-1, 14).contiguous(),
         "input_tensor_b": EDGES.expand(14, -1).contiguous()}  # fmt: skip
SIZES: list[dict[str, Any]] = [PAIRS, *({"input_tensor_a": of(*s), "input_tensor_b": of(*t)} for s, t in (
    ((3, 37), (3, 37)), ((3, 1), (1, 5)), ((1,), (1,)), ((0, 3), (1, 3))))]  # fmt: skip


def pairs(function: Any, kinds: str = UNSIGNED) -> Rows:
    return Rows(lambda input_tensor_a, input_tensor_b: function(input_tensor_a, input_tensor_b), kinds, SIZES)


def cast(input_tensor: Tensor, dtype: Any) -> Tensor:
    """Returns floats for integers as they are cut, saturated, and NaN as 0; integers keep their lowest bits."""
    if not input_tensor.is_floating_point() or dtype not in BITS:
        return input_tensor
    least, largest = {ttnn.int32: (-(2**31), 2**31 - 1)}.get(dtype, (0, 2 ** BITS[dtype] - 1))
    return input_tensor.nan_to_num(0).trunc().clamp(least, largest).long()


NUMBERS_TO_CAST = torch.tensor([[0.0, -0.0, 1.5, -1.5, 2.5, 255.0, 256.0, 300.7], [NAN, INF, -INF, 1e10, -1e10, 65535.0,
                                65536.0, -0.4]])  # fmt: skip


def made(shape: Any = None, fill_value: float = 0.0, **_: Any) -> Tensor:
    return torch.full(list(shape), fill_value, dtype=torch.float64)


def numbers(start: float, end: float, step: float = 1, **_: Any) -> Tensor:
    return torch.arange(start, end, step, dtype=torch.float64)


FORMATS = [ttnn.float32, ttnn.bfloat16, ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8]
TILED = {"layout": ttnn.TILE_LAYOUT}
MADE: list[dict[str, Any]] = [
    {"shape": shape, "dtype": dtype, **own} for dtype in FORMATS for shape in ([3, 37], [1], [0, 4], [2, 3, 4])
    for own in ({}, TILED)]  # fmt: skip


def quantized(input_tensor: Tensor, scale: Tensor, zero_point: Tensor, axis: int | None = None, **_: Any) -> Tensor:
    shape = [1] * input_tensor.dim()
    if axis is not None:
        shape[axis] = -1
    return (input_tensor / scale.reshape(shape)).round() + zero_point.reshape(shape)


def dequantized(input_tensor: Tensor, scale: Tensor, zero_point: Tensor, axis: int | None = None, **_: Any) -> Tensor:
    shape = [1] * input_tensor.dim()
    if axis is not None:
        shape[axis] = -1
    return (input_tensor - zero_point.reshape(shape)) * scale.reshape(shape)


LEVELS = ids([3, -120, 0, 127], [5, 7, -128, 1])
SCALES, ZEROS = torch.tensor([0.25, 2.0]), ids(3, -5)

TABLE: dict[str, Rows] = {
    **{name: pairs(function) for name, function in {
        "add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "maximum": torch.maximum,
        "minimum": torch.minimum, "bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or,
        "bitwise_xor": torch.bitwise_xor, "logical_and": torch.logical_and, "logical_or": torch.logical_or,
        "logical_xor": torch.logical_xor, "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le,
        "gt": torch.gt, "ge": torch.ge}.items()},
    **{name: Rows(function, UNSIGNED, [{"input_tensor": x} for x in (EDGES, of(3, 37), of(1), of(0, 3))])
       for name, function in {
           "abs": lambda input_tensor: input_tensor, "relu": lambda input_tensor: input_tensor,
           "square": lambda input_tensor: input_tensor.square(), "bitwise_not": lambda input_tensor: ~input_tensor,
           "logical_not": lambda input_tensor: input_tensor == 0, "sign": lambda input_tensor: input_tensor.sign(),
       }.items()},
    "typecast": Rows(cast, NUMBERS + " u32 u16 u8", [
        {"input_tensor": x, "dtype": dtype} for dtype in KINDS.values()
        for x in (NUMBERS_TO_CAST, of(3, 37), of(1), of(0, 3))]),
    "full": Rows(made, "f32", [row | {"fill_value": v} for row in MADE for v in (2.0, 200.0)] + [
        {"shape": [2, 2], "fill_value": v} for v in (NAN, INF, -INF, 1.001, -2.5)]),
    "zeros": Rows(made, "f32", MADE),
    "ones": Rows(lambda **own: made(**own, fill_value=1.0), "f32", MADE),
    **{name: Rows(lambda tensor, value=value, **own: made(tensor.shape, own.get("fill_value", value)), NUMBERS,
                  [{"tensor": x, **more} for x in (of(3, 37), of(0, 4), of(1))])
       for name, value, more in (("zeros_like", 0.0, {}), ("ones_like", 1.0, {}),
                                 ("full_like", 0.0, {"fill_value": 2.0}))},
    "arange": Rows(numbers, "f32", [
        {"start": a, "end": b, "step": s, "dtype": dtype} for dtype in FORMATS[:4]
        for a, b, s in ((0, 37, 1), (3, 20, 4), (5, 5, 1), (20, 3, -3), (0, 1, 5))]),
    "quantize": Rows(quantized, "f32 bf16", [
        {"input_tensor": of(2, 37), "scale": torch.tensor([0.25]), "zero_point": ids(3), "dtype": ttnn.int32},
        {"input_tensor": of(2, 5), "scale": SCALES, "zero_point": ZEROS, "axis": 0, "dtype": ttnn.int32}]),
    "dequantize": Rows(dequantized, "f32", [
        {"input_tensor": LEVELS, "scale": torch.tensor([0.25]), "zero_point": ids(3), "dtype": ttnn.float32},
        {"input_tensor": LEVELS, "scale": SCALES, "zero_point": ZEROS, "axis": 0, "dtype": ttnn.bfloat16}]),
    "requantize": Rows(
        lambda input_tensor, in_scale, in_zero_point, out_scale, out_zero_point, **_: quantized(
            dequantized(input_tensor, in_scale, in_zero_point), out_scale, out_zero_point), "f32", [
            {"input_tensor": LEVELS, "in_scale": torch.tensor([0.25]), "in_zero_point": ids(3),
             "out_scale": torch.tensor([0.5]), "out_zero_point": ids(-2), "dtype": ttnn.int32}]),
}  # fmt: skip
