# SPDX-License-Identifier: Apache-2.0
"""Ops of one element at a time, with NumPy's broadcasting."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from ttmlir import ir
from ttmlir.dialects import chlo, stablehlo

from ..emitter import Emitter, Number
from ..errors import Refused
from ..registry import Decides, Node, op
from ..values import BOOL, F32, F64, I32, I64, DType, Value, is_float, is_integer, is_unsigned

# Name of the op -> op of StableHLO or CHLO with the operands' type.
FLOATS: dict[str, Callable[..., Any]] = {
    "Acos": chlo.acos, "Acosh": chlo.acosh, "Asin": chlo.asin, "Asinh": chlo.asinh, "Atan": chlo.atan,
    "Atanh": chlo.atanh, "Ceil": stablehlo.ceil, "Cos": stablehlo.cosine, "Cosh": chlo.cosh, "Erf": chlo.erf,
    "Exp": stablehlo.exponential, "Floor": stablehlo.floor, "Log": stablehlo.log,
    "Round": stablehlo.round_nearest_even, "Sigmoid": stablehlo.logistic, "Sin": stablehlo.sine, "Sinh": chlo.sinh,
    "Sqrt": stablehlo.sqrt, "Tan": stablehlo.tan, "Tanh": stablehlo.tanh,
}  # fmt: skip
NUMBERS: dict[str, Callable[..., Any]] = {"Abs": stablehlo.abs, "Neg": stablehlo.negate, "Sign": stablehlo.sign}
ARITHMETIC: dict[str, Callable[..., Any]] = {
    "Add": stablehlo.add, "Sub": stablehlo.subtract, "Mul": stablehlo.multiply, "Div": stablehlo.divide,
}  # fmt: skip
COMPARISONS = {"Equal": "EQ", "Greater": "GT", "GreaterOrEqual": "GE", "Less": "LT", "LessOrEqual": "LE"}
LOGIC: dict[str, Callable[..., Any]] = {"And": stablehlo.and_, "Or": stablehlo.or_, "Xor": stablehlo.xor}
BITS: dict[str, Callable[..., Any]] = {
    "BitwiseAnd": stablehlo.and_, "BitwiseOr": stablehlo.or_, "BitwiseXor": stablehlo.xor,
}  # fmt: skip


def require(x: Value, holds: bool, expected: str) -> None:
    """
    Raises:
        Refused: an operand has another type than an op takes.
    """
    if not holds:
        raise Refused(f"operand {x!r}; expected {expected}")


def require_float(x: Value) -> None:
    require(x, is_float(x.dtype), "floats")


def require_numbers(*operands: Value) -> None:
    for x in operands:
        require(x, is_float(x.dtype) or is_integer(x.dtype), "numbers")


@op(*FLOATS, decides=dict.fromkeys(("Ceil", "Floor", "Round"), Decides.ROUNDED))
def floats(g: Emitter, node: Node, x: Value) -> Value:
    if node.op == "Erf" and is_integer(x.dtype):  # of which the result is an integer, too
        return in_f32(g, lambda x: g.unary(chlo.erf, x), x)
    require_float(x)
    return g.unary(FLOATS[node.op], x)


@op(*NUMBERS, decides=dict.fromkeys(("Abs", "Sign"), Decides.SIGN))
def numbers(g: Emitter, node: Node, x: Value) -> Value:
    require_numbers(x)
    if is_unsigned(x.dtype):
        if node.op == "Neg":
            return g.sub(g.scalar(0, x), x)
        return x if node.op == "Abs" else g.minimum(x, g.scalar(1, x))
    return g.unary(NUMBERS[node.op], x)


@op("Reciprocal")
def reciprocal(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    return g.ttir("reciprocal", x, dtype=x.dtype)


@op("Not", decides=Decides.LOGICAL)
def logical_not(g: Emitter, node: Node, x: Value) -> Value:
    require(x, x.dtype == BOOL, "bool")
    return g.unary(stablehlo.not_, x)


@op("BitwiseNot")
def bitwise_not(g: Emitter, node: Node, x: Value) -> Value:
    require(x, is_integer(x.dtype), "integers")
    return g.unary(stablehlo.not_, x)


@op(*ARITHMETIC, decides={"Div": Decides.ROUNDED})
def arithmetic(g: Emitter, node: Node, x: Value, y: Value) -> Value:
    require_numbers(x, y)
    return g.binary(ARITHMETIC[node.op], x, y)


@op(*COMPARISONS, decides=Decides.COMPARED)
def comparison(g: Emitter, node: Node, x: Value, y: Value) -> Value:
    if x.dtype != y.dtype:
        raise Refused(f"operands {x!r} and {y!r} have different types")
    return g.compare(COMPARISONS[node.op], x, y)


@op(*LOGIC, decides=Decides.LOGICAL)
def logic(g: Emitter, node: Node, x: Value, y: Value) -> Value:
    for each in (x, y):
        require(each, each.dtype == BOOL, "bool")
    return g.binary(LOGIC[node.op], x, y)


@op(*BITS, decides=Decides.ROUNDED)
def bitwise(g: Emitter, node: Node, x: Value, y: Value) -> Value:
    for each in (x, y):
        require(each, is_integer(each.dtype), "integers")
    return g.binary(BITS[node.op], x, y)


@op("BitShift", decides=Decides.ROUNDED)
def bit_shift(g: Emitter, node: Node, x: Value, y: Value) -> Value:
    for each in (x, y):
        require(each, is_integer(each.dtype), "integers")
    direction = node.need("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise Refused(f"direction {direction!r}; expected LEFT or RIGHT")
    if direction == "LEFT":
        return g.binary(stablehlo.shift_left, x, y)
    return g.binary(stablehlo.shift_right_logical if is_unsigned(x.dtype) else stablehlo.shift_right_arithmetic, x, y)


@op("Min", "Max", "Sum", "Mean", decides=dict.fromkeys(("Min", "Max"), Decides.SELECTED))
def many(g: Emitter, node: Node, *xs: Value) -> Value:
    require_numbers(*xs)
    fold = {"Min": g.minimum, "Max": g.maximum}.get(node.op, g.add)
    total = functools.reduce(fold, xs)
    if node.op != "Mean" or len(xs) == 1:
        return total
    require_float(total)
    return g.div(total, g.scalar(len(xs), total))


@op("Mod", decides=Decides.ROUNDED)
def mod(g: Emitter, node: Node, x: Value, y: Value) -> Value:
    require_numbers(x, y)
    if x.dtype != y.dtype:
        raise Refused(f"operands {x!r} and {y!r} have different types")
    if node.get("fmod", 0):
        return g.binary(stablehlo.remainder, x, y)
    if is_float(x.dtype):
        if node.version < 28:
            raise Refused("fmod is 0, of floats; expected 1")
        return floored_remainder(g, x, y)
    if is_unsigned(x.dtype):
        return g.binary(stablehlo.remainder, x, y)
    rest = g.binary(stablehlo.remainder, x, y)
    zero = g.scalar(0, x)
    other = g.compare("NE", g.compare("LT", rest, zero), g.compare("LT", y, zero))
    off = g.binary(stablehlo.and_, other, g.compare("NE", rest, zero))
    return g.select(off, g.add(rest, y), rest)


def floored_remainder(g: Emitter, x: Value, y: Value) -> Value:
    """Returns the remainder of floats with the sign of the divisor, also where it is 0."""
    rest, y = g.common(g.binary(stablehlo.remainder, x, y), y)
    zero = g.scalar(0, x)
    other = g.compare("NE", g.compare("LT", rest, zero), g.compare("LT", y, zero))
    nothing = g.select(g.compare("LT", y, zero), g.scalar(-0.0, x), zero)
    return g.select(g.compare("EQ", rest, zero), nothing, g.select(other, g.add(rest, y), rest))


@op("Pow")
def power(g: Emitter, node: Node, x: Value, y: Value) -> Value:
    """Returns powers of the base's type; those of integers by floats are cut off."""
    require_numbers(x, y)
    exponent = known_number(y)
    if is_integer(x.dtype) and exponent is not None and exponent == int(exponent) and exponent >= 0:
        y = Value.of(np.full(y.shape, int(exponent), x.dtype)) if exponent < 128 else y
    if exponent is not None and exponent in (0, 1, 2, 3) and len(y.shape) <= x.rank and not y.varying:
        if exponent == 0:
            return g.full(g.common_shape(x, y), 1, x.dtype)
        return functools.reduce(g.mul, [g.broadcast(x, g.common_shape(x, y))] * int(exponent))
    if is_float(x.dtype):
        if exponent == 0.5 and y.rank <= x.rank:
            return g.broadcast(g.unary(stablehlo.sqrt, x), g.common_shape(x, y))
        return g.binary(stablehlo.power, x, g.cast(y, x.dtype))
    if is_unsigned(y.dtype) or (y.known is not None and not y.varying and is_integer(y.dtype) and (y.known >= 0).all()):
        return g.binary(stablehlo.power, x, g.cast(y, x.dtype))
    wide = F64 if x.dtype == I64 or y.dtype == F64 else F32
    real = g.cast(y, wide)
    broken = g.cast(g.binary(stablehlo.power, g.cast(x, wide), real), x.dtype)
    whole = g.maximum(g.cast(y, x.dtype), g.scalar(0, x))
    is_whole = g.binary(
        stablehlo.and_, g.compare("EQ", real, g.unary(stablehlo.floor, real)), g.compare("GE", real, g.scalar(0, real))
    )
    return g.select(is_whole, g.binary(stablehlo.power, x, whole), broken)


def known_number(x: Value | None) -> float | None:
    """Returns the number of which an operand has only one, or None."""
    if x is None or x.known is None or x.varying or x.size != 1:
        return None
    number = x.known.reshape(-1)[0].item()
    return None if isinstance(number, complex) or not math.isfinite(number) else number


def limits(dtype: DType) -> tuple[Number, Number]:
    """Returns the lowest and the highest number of a type."""
    import ml_dtypes

    info: Any = ml_dtypes.finfo(dtype) if is_float(dtype) else ml_dtypes.iinfo(dtype)
    return (float(info.min), float(info.max)) if is_float(dtype) else (int(info.min), int(info.max))


@op("Clip", decides=Decides.SELECTED)
def clip(g: Emitter, node: Node, x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    require_numbers(x)
    if node.version < 11:
        named = zip(("min", "max"), limits(F32), strict=True)
        low, high = (g.full((), float(node.get(name, n)), x.dtype) for name, n in named)
    for name, bound in (("min", low), ("max", high)):
        if bound is not None and (bound.size != 1 or bound.dtype != x.dtype):
            raise Refused(f"{name} is {bound!r}; expected one number of type {x.dtype.name}")
    least, most = known_number(low), known_number(high)
    if is_float(x.dtype) and x.dtype != F64:  # infinity is beyond the bounds that are left out
        ends = limits(x.dtype)
        if low is None:
            least, low = ends[0], g.full((), ends[0], x.dtype)
        if high is None:
            most, high = ends[1], g.full((), ends[1], x.dtype)
        if least is not None and most is not None and least <= most:
            if (least, most) == (0, 6):
                return g.ttir("relu6", x, dtype=x.dtype)
            first, last = (ir.FloatAttr.get_f32(float(n)) for n in (least, most))
            return g.ttir("clamp_scalar", x, dtype=x.dtype, min=first, max=last)
    if low is not None:
        x = g.maximum(x, g.reshape(low, ()))
    return x if high is None else g.minimum(x, g.reshape(high, ()))


@op("Where")
def where(g: Emitter, node: Node, condition: Value, x: Value, y: Value) -> Value:
    require(condition, condition.dtype == BOOL, "bool")
    if x.dtype != y.dtype:
        raise Refused(f"operands {x!r} and {y!r} have different types")
    return g.select(condition, x, y)


@op("IsNaN")
def is_nan(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    return g.compare("NE", x, x)


@op("IsInf")
def is_inf(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    signs = [s for s, name in ((-1, "detect_negative"), (1, "detect_positive")) if node.get(name, 1)]
    if not signs:
        return g.full(x.shape, False, BOOL)
    if "fn" in x.dtype.name:  # these types have no infinity
        return g.full(x.shape, False, BOOL)
    if len(signs) == 2:
        return g.compare("EQ", g.unary(stablehlo.abs, x), g.scalar(math.inf, x))
    return g.compare("EQ", x, g.scalar(signs[0] * math.inf, x))


def in_f32(g: Emitter, formula: Callable[..., Value], *operands: Value) -> Value:
    """Computes a formula of floats in at least f32 and rounds once."""
    dtype = operands[0].dtype
    wide = dtype if dtype in (F32, F64) else F32
    return g.cast(formula(*(g.cast(x, wide) for x in operands)), dtype)


def positions(g: Emitter, shape: Sequence[int], dim: int) -> Value:
    """Returns positions along a dimension, i32, with size 1 in all others."""
    return g.iota([n if d == dim else 1 for d, n in enumerate(shape)], dim, I32)
