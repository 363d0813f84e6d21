# SPDX-License-Identifier: Apache-2.0
"""Conversions between types."""

from __future__ import annotations

from typing import Any

import numpy as np
from ttmlir.dialects import stablehlo

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Decides, Node, op
from ..values import BOOL, ELEMENT_TYPES, F32, I32, U8, U16, U32, DType, Value, is_float, is_integer

EXPONENTS = "float8_e8m0fnu"
BITS = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2}


def element_type(node: Node, code: int) -> DType:
    """Returns NumPy's type of a type of ONNX.

    Raises:
        Refused: the program has none.
    """
    from onnx import TensorProto, helper

    try:
        name = TensorProto.DataType.Name(code).lower()
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(code))
    except (ValueError, KeyError, TypeError):
        raise Refused(f"type {code} is none of ONNX's") from None
    if code == TensorProto.STRING or dtype not in ELEMENT_TYPES:
        raise Refused(f"elements of type {name} have no form on the chip")
    return dtype


@op("Cast", decides=Decides.ROUNDED)
def cast(g: Emitter, node: Node, x: Value) -> Value:
    return converted(g, node, x, element_type(node, node.need("to")))


@op("CastLike")
def cast_like(g: Emitter, node: Node, x: Value, like: Value) -> Value:
    return converted(g, node, x, like.dtype)


def converted(g: Emitter, node: Node, x: Value, dtype: DType) -> Value:
    """Converts elements: integers wrap, floats are cut off, narrow floats saturate."""
    if x.dtype == dtype and dtype.name != "float8_e5m2":  # of which infinity saturates
        return x
    if dtype.name == EXPONENTS:
        return to_exponents(g, g.cast(x, F32), str(node.get("round_mode", "up")), bool(node.get("saturate", 1)))
    if dtype.name.startswith(("float8", "float4")):
        wide = x if is_float(x.dtype) and x.dtype.itemsize > 1 else g.cast(x, F32)
        return to_narrow(g, wide, dtype, bool(node.get("saturate", 1)))
    if is_float(x.dtype) and is_integer(dtype) and bits_of(dtype) < 32:
        x = g.cast(x, I32)
    return g.cast(x, dtype)


def bits_of(dtype: DType) -> int:
    return BITS.get(dtype.name, dtype.itemsize * 8)


def to_narrow(g: Emitter, x: Value, dtype: DType, saturates: bool) -> Value:
    """Converts to 8 or 4 bits; numbers out of range saturate, or become what StableHLO specifies."""
    import ml_dtypes

    if saturates:
        info: Any = ml_dtypes.finfo(dtype)
        least, most = (g.scalar(float(n), x) for n in (info.min, info.max))
        x = g.select(g.compare("GT", x, most), most, g.select(g.compare("LT", x, least), least, x))
    return g.cast(x, dtype)


def to_exponents(g: Emitter, x: Value, mode: str, saturates: bool) -> Value:
    """Converts f32 to powers of two: the next one up or down, or the nearest; negative numbers and NaN are NaN."""
    if mode not in ("up", "down", "nearest"):
        raise Refused(f"round_mode {mode!r}; expected up, down or nearest")
    raw = Value(x.shape, U32, stablehlo.bitcast_convert(g.type(x.shape, U32), g.ir(x)))

    def number(n: int) -> Value:
        return g.full((), n, I32)

    bits = g.cast(raw, I32)
    magnitude = g.binary(stablehlo.and_, bits, number(0x7FFFFFFF))
    exponent = g.binary(stablehlo.shift_right_logical, magnitude, number(23))
    mantissa = g.binary(stablehlo.and_, magnitude, number(0x7FFFFF))
    if mode != "down":
        least = number(0 if mode == "up" else 0x3FFFFF)
        above = g.compare("GT", mantissa, least)
        exponent = g.add(exponent, g.cast(above, I32))
    if saturates:
        is_finite = g.compare("LT", magnitude, number(0x7F800000))
        last = g.select(is_finite, g.minimum(exponent, number(254)), number(254))
        exponent = g.select(g.compare("NE", x, x), number(255), last)
    exponent = g.select(g.compare("NE", x, x), number(255), g.minimum(exponent, number(255)))
    result = g.cast(exponent, U8)
    dtype = np.dtype(EXPONENTS) if EXPONENTS in np.sctypeDict else _exponents()
    return Value(x.shape, dtype, stablehlo.bitcast_convert(g.type(x.shape, dtype), g.ir(result)))


def _exponents() -> DType:
    import ml_dtypes

    return np.dtype(ml_dtypes.float8_e8m0fnu)


@op("BitCast")
def bit_cast(g: Emitter, node: Node, x: Value) -> Value:
    dtype = element_type(node, node.need("to"))
    if x.dtype == dtype:
        return x
    if bits_of(dtype) != bits_of(x.dtype):
        raise Refused(f"{bits_of(x.dtype)} bits as {dtype.name}; expected a type of as many bits")
    if bits_of(dtype) > 32:
        raise Refused(f"bits of {x.dtype.name}: the chip holds numbers of 64 bits in 32")
    if x.dtype == BOOL or dtype == BOOL:
        middle = g.cast(x, U8) if x.dtype == BOOL else x
        if dtype == BOOL:
            return g.compare("NE", raw_bits(g, middle), g.full((), 0, U8))
        x = middle
    if x.dtype == dtype:
        return x
    return Value(x.shape, dtype, stablehlo.bitcast_convert(g.type(x.shape, dtype), g.ir(x)))


def raw_bits(g: Emitter, x: Value) -> Value:
    dtype = {8: U8, 16: U16}.get(bits_of(x.dtype), U32)
    return x if x.dtype == dtype else Value(
        x.shape, dtype, stablehlo.bitcast_convert(g.type(x.shape, dtype), g.ir(x))
    )  # fmt: skip
