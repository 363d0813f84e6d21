# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops of aten: rows of the golden tables where an op of TTIR agrees, and what differs from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from golden.elementwise import ELEMENTWISE
from ttmlir.dialects import ttir
from ttmlir.op_facts import functions_on_booleans, ops_with

import torch

from ..errors import UnsupportedError
from ..lowering import RULES, Lowering, Number, Value, rule
from ..types import is_float, is_integer

COMPARISONS, LOGICAL = (
    {name.removeprefix("ttir.") for name in ops_with(fact)} for fact in ("compares", "computes_truth")
)
# Rows that PyTorch calls with other arguments than the op of TTIR has, or that differ in a corner; written out below.
WRITTEN_OUT = {"div.Tensor", "_to_copy", "clamp", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "gelu", "gelu_backward",
               "round", "where.self", "leaky_relu", "selu", "isfinite", "add.Tensor", "sub.Tensor", "bitwise_not",
               "sign", "abs", "hardsigmoid"}  # fmt: skip


def as_values(g: Lowering, operands: tuple[Value | Number, ...], dtype: torch.dtype) -> list[Value]:
    """Returns operands in one dtype; numbers become tensors of one element that broadcast."""
    rank = max((x.rank for x in operands if isinstance(x, Value)), default=0)
    return [g.cast(x, dtype) if isinstance(x, Value) else g.full((1,) * rank, x, dtype) for x in operands]


def common_dtype(operands: tuple[Value | Number, ...]) -> torch.dtype:
    """Returns the dtype to which PyTorch promotes operands: tensors of rank 0 and numbers yield within their kind."""
    samples = [torch.empty((1,) * min(x.rank, 1), dtype=x.dtype, device="meta") if isinstance(x, Value) else x
               for x in operands]  # fmt: skip
    if len(samples) == 1:
        return operands[0].dtype if isinstance(operands[0], Value) else torch.get_default_dtype()
    dtype = torch.result_type(samples[0], samples[1])
    for sample in samples[2:]:
        dtype = torch.promote_types(dtype, torch.result_type(sample, sample))
    return dtype


def binary(g: Lowering, name: str, *operands: Value | Number) -> Value:
    """Returns an arithmetic op in the dtype of its result."""
    dtype = g.out().dtype
    if dtype is torch.bool:
        name = functions_on_booleans().get(name, name)
    if name == "remainder":
        refuse_zero(operands[1], dtype)
    values = as_values(g, operands, dtype)
    return g.finish(g.elementwise(getattr(ttir, name), *values), g.out())


def refuse_zero(divisor: Value | Number, dtype: torch.dtype) -> None:
    """Refuses an integer divided by the number 0, an error that PyTorch is to raise."""
    if is_integer(dtype) and not isinstance(divisor, Value) and divisor == 0:
        raise UnsupportedError("a division of integers by zero")


def comparison(g: Lowering, name: str, lhs: Value | Number, rhs: Value | Number) -> Value:
    dtype = common_dtype((lhs, rhs))
    if isinstance(rhs, int | float) and not isinstance(rhs, bool) and is_integer(dtype):
        # A number that the type cannot hold is less or greater than all.
        info = torch.iinfo(dtype)
        if not info.min <= rhs <= info.max:
            above = rhs > info.max
            return g.full(
                g.out().shape, above if name in ("lt", "le", "ne") else (name in ("gt", "ge") and not above), torch.bool
            )
    if dtype is torch.bool:
        dtype = torch.int32
    left, right = as_values(g, (lhs, rhs), dtype)
    return g.finish(g.compare(getattr(ttir, name), left, right), g.out())


def _row(aten: str, name: str) -> None:
    op: Callable[..., Any] = getattr(ttir, name)

    def lower(g: Lowering, *operands: Value | Number) -> Value:
        if name in COMPARISONS:
            return comparison(g, name, *operands)
        if name in LOGICAL:
            values = as_values(g, operands, torch.bool)
            shape = torch.broadcast_shapes(*(x.shape for x in values))
            return Value(op(*(x.ir for x in values), results=[g.type(shape, torch.bool)]), tuple(shape), torch.bool)
        if name in ("signbit",):
            value = operands[0]
            assert isinstance(value, Value)
            if is_integer(value.dtype):
                return g.compare(ttir.lt, value, g.scalar(0, value))
            return Value(op(value.ir, results=[g.type(value.shape, torch.bool)]), value.shape, torch.bool)
        return binary(g, name, *operands)

    lower.__name__ = lower.__qualname__ = f"lower_{name}"
    grows = name == "multiply"
    rule(aten, grows=grows)(lower)
    # Overloads that take a number instead of a tensor.
    if aten.endswith(".Tensor"):
        for overload in (".Scalar", ".Scalar_Tensor", ".Tensor_Scalar"):
            if aten.removesuffix(".Tensor") + overload not in RULES:
                rule(aten.removesuffix(".Tensor") + overload, grows=grows)(lower)


for _name, _op in ELEMENTWISE.items():
    if _op.aten and _op.aten not in WRITTEN_OUT and hasattr(ttir, _name):
        _row(_op.aten, _name)


def scaled_sum(g: Lowering, x: Value | Number, y: Value | Number, alpha: Number = 1) -> Value | None:
    """Returns magnitudes of x + alpha * y. A sum of two is not looked at: most of them are steps from one place to the
    next."""
    return None if alpha == 1 else binary(g, "add", x, scaled(g, y, alpha))


@rule("add.Tensor", "add.Scalar", grows=scaled_sum)
def add(g: Lowering, x: Value | Number, y: Value | Number, alpha: Number = 1) -> Value:
    return binary(g, "add", x, scaled(g, y, alpha))


@rule("sub.Tensor", "sub.Scalar", grows=scaled_sum)
def sub(g: Lowering, x: Value | Number, y: Value | Number, alpha: Number = 1) -> Value:
    return binary(g, "subtract", x, scaled(g, y, alpha))


def scaled_difference(g: Lowering, x: Value, y: Value | Number, alpha: Number = 1) -> Value | None:
    return scaled_sum(g, y, x, alpha)


@rule("rsub.Scalar", "rsub.Tensor", grows=scaled_difference)
def rsub(g: Lowering, x: Value, y: Value | Number, alpha: Number = 1) -> Value:
    return binary(g, "subtract", y, scaled(g, x, alpha))


def scaled(g: Lowering, x: Value | Number, alpha: Number) -> Value | Number:
    if alpha == 1 and not isinstance(alpha, bool):
        return x
    if isinstance(x, Value):
        values = as_values(g, (x, alpha), g.out().dtype)
        return g.mul(*values)
    return x * alpha


@rule("div.Tensor", "div.Scalar", "div.Tensor_mode", "div.Scalar_mode", "true_divide.Tensor")
def div(g: Lowering, x: Value | Number, y: Value | Number, rounding_mode: str | None = None) -> Value:
    dtype = g.out().dtype
    refuse_zero(y, dtype)
    a, b = as_values(g, (x, y), dtype)
    if rounding_mode is None or dtype.is_floating_point:
        quotient = g.div(a, b)
        if rounding_mode == "trunc":
            quotient = g.call(ttir.trunc, quotient)
        elif rounding_mode == "floor":
            return g.finish(floor_quotient(g, a, b, quotient), g.out())
        return g.finish(quotient, g.out())
    quotient = g.div(a, b)  # towards zero
    if rounding_mode == "floor":
        rest = g.sub(a, g.mul(quotient, b))
        other_sign = g.compare(ttir.lt, g.elementwise(ttir.bitwise_xor, rest, b), g.scalar(0, rest))
        inexact = g.compare(ttir.ne, rest, g.scalar(0, rest))
        below = g.cast(g.elementwise(ttir.logical_and, other_sign, inexact), dtype)
        quotient = g.sub(quotient, below)
    return g.finish(quotient, g.out())


def floor_quotient(g: Lowering, a: Value, b: Value, quotient: Value) -> Value:
    """Returns floor(a / b) as PyTorch has it, step by step in the dtype of the operands.

    It comes from the remainder, which is exact: a / b may be rounded to the next integer.
    """
    rest = float_remainder(g, a, b)  # has the sign of a, so that the difference is within the range
    whole = g.div(g.sub(a, rest), b)
    other_sign = g.compare(ttir.lt, g.mul(g.call(ttir.sign, rest), b), g.scalar(0, rest))
    whole = g.sub(whole, g.cast(other_sign, whole.dtype))
    nearest = g.call(ttir.floor, whole)
    up = g.compare(ttir.gt, g.sub(whole, nearest), g.scalar(0.5, whole))
    nearest = g.add(nearest, g.cast(up, nearest.dtype))
    # 0 has the sign of a / b.
    zero = g.mul(quotient, g.scalar(0, quotient))
    nearest = g.where(g.compare(ttir.eq, whole, g.scalar(0, whole)), zero, nearest)
    return g.where(g.compare(ttir.eq, b, g.scalar(0, b)), quotient, nearest)


def with_sign(g: Lowering, magnitude: Value, sign: Value) -> Value:
    """Gives a value from 0 on the sign of another one, that of -0 included; NaN where either is."""
    # 0, -0 or NaN, as the sign is where it is not positive.
    nothing = g.elementwise(ttir.maximum, sign, g.scalar(-0.0, sign))
    return g.where(g.compare(ttir.gt, sign, g.scalar(0, sign)), magnitude, g.sub(nothing, magnitude))


def _known(op: Callable[..., Any]) -> Callable[[Lowering, Value, Value], Value]:
    """Returns the rule of an extreme of the operands that are not NaN."""

    def lower(g: Lowering, x: Value, y: Value) -> Value:
        a, b = as_values(g, (x, y), g.out().dtype)
        result = g.elementwise(op, a, b)
        if is_float(g.out().dtype):
            result = g.where(g.compare(ttir.ne, b, b), a, g.where(g.compare(ttir.ne, a, a), b, result))
        return g.finish(result, g.out())

    return lower


rule("fmax")(_known(ttir.maximum))
rule("fmin")(_known(ttir.minimum))


@rule("hypot")
def hypot(g: Lowering, x: Value, y: Value) -> Value:
    """Returns the root of the sum of squares in f32, scaled by powers of 2 where squares leave the normal numbers."""
    if not is_float(g.out().dtype):
        raise UnsupportedError("a hypotenuse of integers")
    a, b = (g.call(ttir.abs, v) for v in as_values(g, (x, y), torch.float32))
    largest = g.elementwise(ttir.maximum, a, b)
    one, up, down = (g.scalar(n, largest) for n in (1, 2.0**100, 2.0**-100))
    is_small, is_large = (
        g.compare(op, largest, g.scalar(n, largest)) for op, n in ((ttir.lt, 2.0**-60), (ttir.gt, 2.0**60))
    )
    a, b = (g.mul(v, g.where(is_large, down, g.where(is_small, up, one))) for v in (a, b))
    result = g.call(ttir.sqrt, g.add(g.mul(a, a), g.mul(b, b)))
    result = g.mul(result, g.where(is_large, up, g.where(is_small, down, one)))
    infinite = g.scalar(math.inf, result)  # also next to NaN
    is_infinite = g.elementwise(ttir.logical_or, g.compare(ttir.eq, a, infinite), g.compare(ttir.eq, b, infinite))
    return g.finish(g.where(is_infinite, infinite, result), g.out())


@rule("copysign.Tensor", "copysign.Scalar")
def copysign(g: Lowering, x: Value, y: Value | Number) -> Value:
    a, b = as_values(g, (x, y), g.out().dtype)
    size = g.call(ttir.abs, a)
    negative = Value(ttir.signbit(b.ir, results=[g.type(b.shape, torch.bool)]), b.shape, torch.bool)
    return g.finish(g.where(negative, g.call(ttir.neg, size), size), g.out())


def float_remainder(g: Lowering, a: Value, b: Value) -> Value:
    """Returns the remainder of the magnitudes, with the sign of the dividend."""
    return with_sign(g, g.elementwise(ttir.remainder, g.call(ttir.abs, a), g.call(ttir.abs, b)), a)


@rule("floor_divide", "floor_divide.Scalar")
def floor_divide(g: Lowering, x: Value | Number, y: Value | Number) -> Value:
    return div(g, x, y, rounding_mode="floor")


@rule("fmod.Tensor", "fmod.Scalar")
def fmod(g: Lowering, x: Value, y: Value | Number) -> Value:
    refuse_zero(y, g.out().dtype)
    a, b = as_values(g, (x, y), g.out().dtype)
    if is_integer(g.out().dtype):
        return g.finish(g.sub(a, g.mul(g.div(a, b), b)), g.out())
    return g.finish(float_remainder(g, a, b), g.out())


def converted(g: Lowering, x: Value, *args: Any, **kwargs: Any) -> Value | None:
    """Returns magnitudes of floats and of 32-bit unsigned integers that become 64-bit integers. NaN and infinity become
    any integer in PyTorch, too."""
    if g.given[0].dtype is torch.uint32:
        return x
    if not is_float(g.given[0].dtype):
        return None
    known = Value(ttir.isfinite(x.ir, results=[g.type(x.shape, torch.bool)]), x.shape, torch.bool)
    return g.where(known, x, g.scalar(0, x))


@rule("_to_copy", "to.dtype", "_to_dtype", "prims.convert_element_type", grows=converted)
def to_copy(g: Lowering, x: Value, *args: Any, **kwargs: Any) -> Value:
    return g.cast(x, g.out().dtype)


@rule("prims.fma")
def multiply_add(g: Lowering, x: Value | Number, y: Value | Number, z: Value | Number) -> Value:
    """Returns x * y + z, rounded to 16 bits once: PyTorch's decompositions of `addcmul` and `lerp` contain it."""
    computed = torch.float32 if is_float(g.out().dtype) else g.out().dtype
    a, b, c = as_values(g, (x, y, z), computed)
    return g.finish(g.cast(g.add(g.mul(a, b), c), g.out().dtype), g.out())


@rule("abs")
def absolute(g: Lowering, x: Value) -> Value:
    return x if x.dtype is torch.bool or x.dtype is torch.uint8 else g.call(ttir.abs, x)


@rule("sign")
def sign(g: Lowering, x: Value) -> Value:
    return x if x.dtype is torch.bool else g.call(ttir.sign, x)


@rule("bitwise_not")
def bitwise_not(g: Lowering, x: Value) -> Value:
    return binary(g, "bitwise_not", x)


def bounded(g: Lowering, x: Value, low: Any, high: Any) -> Value:
    dtype = g.out().dtype
    result = g.cast(x, dtype)
    for bound, op in ((low, ttir.maximum), (high, ttir.minimum)):
        if bound is not None:
            result = g.elementwise(op, *as_values(g, (result, bound), dtype))
    return g.finish(result, g.out())


def _clamps() -> None:
    def both(g: Lowering, x: Value, min: Any = None, max: Any = None) -> Value:
        return bounded(g, x, min, max)

    def lower(g: Lowering, x: Value, min: Any) -> Value:
        return bounded(g, x, min, None)

    def upper(g: Lowering, x: Value, max: Any) -> Value:
        return bounded(g, x, None, max)

    def hardtanh(g: Lowering, x: Value, min_val: Any = -1, max_val: Any = 1) -> Value:
        return bounded(g, x, min_val, max_val)

    for name in ("clamp", "clamp.Tensor"):
        rule(name)(both)
    rule("hardtanh")(hardtanh)
    for name in ("clamp_min", "clamp_min.Tensor"):
        rule(name)(lower)
    for name in ("clamp_max", "clamp_max.Tensor"):
        rule(name)(upper)


_clamps()


@rule("pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar", grows=True)
def power(g: Lowering, x: Value | Number, y: Value | Number) -> Value:
    dtype = g.out().dtype
    if isinstance(y, int | float) and isinstance(x, Value):
        base = g.cast(x, dtype)
        if y == 2:
            return g.finish(g.mul(base, base), g.out())
        if y == 3:
            return g.finish(g.mul(g.mul(base, base), base), g.out())
        if y == 1:
            return base
        if y == 0:
            return g.full(g.out().shape, 1, dtype)
        if dtype.is_floating_point and dtype is not torch.float16:  # of which PyTorch takes the general power
            if y == 0.5:
                return g.call(ttir.sqrt, base)
            if y == -0.5:
                return g.call(ttir.rsqrt, base)
        if dtype.is_floating_point and y == -1:
            return g.call(ttir.reciprocal, base)
        if dtype.is_floating_point and y == -2:
            return g.call(ttir.reciprocal, g.mul(base, base))
    return binary(g, "pow", x, y)


@rule("gelu")
def gelu(g: Lowering, x: Value, approximate: str = "none") -> Value:
    if approximate == "none":
        return g.call(ttir.gelu, x)
    # 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), in f32 as PyTorch computes it.
    wide = g.cast(x, torch.float32)
    cubic = g.mul(g.mul(g.mul(wide, wide), wide), g.scalar(0.044715, wide))
    inner = g.mul(g.add(wide, cubic), g.scalar(math.sqrt(2 / math.pi), wide))
    outer = g.mul(g.mul(wide, g.scalar(0.5, wide)), g.add(g.call(ttir.tanh, inner), g.scalar(1, wide)))
    return g.cast(outer, x.dtype)


@rule("gelu_backward")
def gelu_backward(g: Lowering, grad: Value, x: Value, approximate: str = "none") -> Value:
    return Value(ttir.gelu_bw(grad.ir, x.ir, approximate=approximate), x.shape, x.dtype)


@rule("round", "round.decimals")
def round_even(g: Lowering, x: Value, decimals: int = 0) -> Value:
    if not is_float(x.dtype):
        return x
    wide = g.cast(x, torch.float32)
    if decimals:
        wide = g.mul(wide, g.scalar(10.0**decimals, wide))
    magnitude = g.call(ttir.abs, wide)
    floor = g.call(ttir.floor, magnitude)
    rest = g.sub(magnitude, floor)
    half = g.mul(floor, g.scalar(0.5, floor))
    odd = g.compare(ttir.ne, g.call(ttir.floor, half), half)
    tie = g.elementwise(ttir.logical_and, g.compare(ttir.eq, rest, g.scalar(0.5, rest)), odd)
    up = g.elementwise(ttir.logical_or, g.compare(ttir.gt, rest, g.scalar(0.5, rest)), tie)
    result = g.add(floor, g.cast(up, torch.float32))
    # Values that are integers stay: infinity less itself is NaN.
    result = g.where(g.compare(ttir.eq, magnitude, floor), magnitude, result)
    result = with_sign(g, result, wide)
    if decimals:
        result = g.div(result, g.scalar(10.0**decimals, result))
    return g.cast(result, x.dtype)


@rule("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def where(g: Lowering, condition: Value, x: Value | Number, y: Value | Number) -> Value:
    a, b = as_values(g, (x, y), g.out().dtype)
    return g.finish(g.where(g.cast(condition, torch.bool), a, b), g.out())


@rule("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(g: Lowering, x: Value, mask: Value, value: Value | Number) -> Value:
    return where(g, mask, value, x)


@rule("leaky_relu")
def leaky_relu(g: Lowering, x: Value, negative_slope: Number = 0.01) -> Value:
    return g.call(ttir.leaky_relu, x, parameter=float(negative_slope))


@rule("isnan")
def isnan(g: Lowering, x: Value) -> Value:
    return g.compare(ttir.ne, x, x)


@rule("isinf")
def isinf(g: Lowering, x: Value) -> Value:
    if not is_float(x.dtype):
        return g.full(x.shape, False, torch.bool)
    return g.compare(ttir.eq, g.call(ttir.abs, x), g.scalar(math.inf, x))


@rule("isfinite")
def isfinite(g: Lowering, x: Value) -> Value:
    if not is_float(x.dtype):
        return g.full(x.shape, True, torch.bool)
    return g.compare(ttir.lt, g.call(ttir.abs, x), g.scalar(math.inf, x))


def _written(name: str, formula: Callable[[Lowering, Value], Value]) -> None:
    """Returns the rule of a function of one float tensor, by its formula, in f32."""

    def lower(g: Lowering, x: Value) -> Value:
        return g.finish(formula(g, g.cast(x, torch.float32)), g.out())

    rule(name)(lower)


def _log_over(base: float) -> Callable[[Lowering, Value], Value]:
    return lambda g, x: g.mul(g.call(ttir.log, x), g.scalar(1 / math.log(base), x))


def _half_sum(sign: Callable[[Lowering, Value, Value], Value]) -> Callable[[Lowering, Value], Value]:
    def formula(g: Lowering, x: Value) -> Value:
        up, down = g.call(ttir.exp, x), g.call(ttir.exp, g.call(ttir.neg, x))
        return g.mul(sign(g, up, down), g.scalar(0.5, x))

    return formula


def _sinh(g: Lowering, x: Value) -> Value:
    # With e = expm1(x): sinh x = (e + e / (e + 1)) / 2, which is exact around 0.
    e = g.call(ttir.expm1, g.call(ttir.abs, x))
    y = g.mul(g.add(e, g.div(e, g.add(e, g.scalar(1, e)))), g.scalar(0.5, e))
    y = g.where(g.compare(ttir.eq, e, g.scalar(math.inf, e)), e, y)
    return with_sign(g, y, x)


def _acosh(g: Lowering, x: Value) -> Value:
    # acosh x = 2 asinh(sqrt((x - 1) / 2)), which is exact around 1 and squares nothing.
    half = g.mul(g.sub(x, g.scalar(1, x)), g.scalar(0.5, x))
    return g.mul(g.call(ttir.asinh, g.call(ttir.sqrt, half)), g.scalar(2, x))


def _hardswish(g: Lowering, x: Value) -> Value:
    inner = g.elementwise(ttir.maximum, g.add(x, g.scalar(3, x)), g.scalar(0, x))
    inner = g.elementwise(ttir.minimum, inner, g.scalar(6, x))
    return g.div(g.mul(x, inner), g.scalar(6, x))


def _hardsigmoid(g: Lowering, x: Value) -> Value:
    inner = g.elementwise(ttir.maximum, g.add(x, g.scalar(3, x)), g.scalar(0, x))
    return g.div(g.elementwise(ttir.minimum, inner, g.scalar(6, x)), g.scalar(6, x))


_written("log10", _log_over(10))
_written("cosh", _half_sum(lambda g, a, b: g.add(a, b)))
_written("sinh", _sinh)
_written("acosh", _acosh)
_written("hardswish", _hardswish)
_written("hardsigmoid", _hardsigmoid)


@rule("elu")
def elu(g: Lowering, x: Value, alpha: Number = 1, scale: Number = 1, input_scale: Number = 1) -> Value:
    wide = g.cast(x, torch.float32)
    negative = g.mul(
        g.call(ttir.expm1, g.mul(wide, g.scalar(input_scale, wide))), g.scalar(float(alpha) * float(scale), wide)
    )
    positive = g.mul(wide, g.scalar(scale, wide))
    return g.cast(g.where(g.compare(ttir.gt, wide, g.scalar(0, wide)), positive, negative), x.dtype)


@rule("softplus")
def softplus(g: Lowering, x: Value, beta: Number = 1, threshold: Number = 20) -> Value:
    wide = g.cast(x, torch.float32)
    inner = g.mul(wide, g.scalar(beta, wide))
    soft = g.div(g.call(ttir.log1p, g.call(ttir.exp, inner)), g.scalar(beta, wide))
    return g.cast(g.where(g.compare(ttir.gt, inner, g.scalar(threshold, wide)), wide, soft), x.dtype)


def shifted_magnitude(g: Lowering, x: Value, y: Value | Number) -> Value:
    values = as_values(g, (x, y), torch.float32)
    return g.mul(values[0], g.elementwise(ttir.pow, g.scalar(2, values[0]), values[1]))


@rule("bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_Scalar", "__lshift__.Scalar", "__lshift__.Tensor",
      grows=shifted_magnitude)  # fmt: skip
def shift_left(g: Lowering, x: Value, y: Value | Number) -> Value:
    return binary(g, "logical_left_shift", x, y)


@rule("bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_Scalar", "__rshift__.Scalar", "__rshift__.Tensor")
def shift_right(g: Lowering, x: Value, y: Value | Number) -> Value:
    return binary(g, "right_shift", x, y)


@rule("fill.Scalar", "fill.Tensor")
def fill(g: Lowering, x: Value, value: Value | Number) -> Value:
    if isinstance(value, Value):
        return g.expand(g.cast(value, x.dtype), x.shape)
    return g.full(x.shape, value, x.dtype)
