# SPDX-License-Identifier: Apache-2.0
"""Goldens of elementwise ops; operands broadcast as in numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .op import Op, TensorSpec


def cbrt(x: Tensor) -> Tensor:
    return torch.copysign(torch.abs(x).pow(1.0 / 3.0), x)


def round_away(x: Tensor) -> Tensor:
    """Rounds to the nearest integer, halves away from zero; in double, where a number below a half stays below one."""
    return torch.copysign(torch.floor(torch.abs(x).double() + 0.5), x).to(x.dtype)


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """Returns front ends mark an op that is computed by tanh; the op itself has no such attribute."""
    return F.gelu(x, approximate=approximate)


def gelu_backward(grad: Tensor, x: Tensor, approximate: str = "none") -> Tensor:
    grad, x = (t.contiguous() for t in torch.broadcast_tensors(grad, x))  # torch's own does not broadcast on every CPU
    return torch.ops.aten.gelu_backward(grad, x, approximate=approximate)


def logical(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Returns truth is `!= 0`; the result is of the first operand's dtype, 1 or 0."""
    return lambda *xs: function(*(x != 0 for x in xs)).to(xs[0].dtype)


def of_bytes(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Returns the function with booleans computed as bytes, of which those are true that are not 0."""

    def golden(*xs: Any) -> Tensor:
        return function(*(x.byte() for x in xs)) != 0 if xs[0].dtype == torch.bool else function(*xs)

    return golden


def divide(a: Tensor, b: Tensor) -> Tensor:
    if a.dtype.is_floating_point or b.dtype.is_floating_point:
        return torch.true_divide(a, b)
    # Of equal width, so that the quotient wraps; x / 0 has all bits set, as JAX and the chip have it.
    lowest = torch.iinfo(a.dtype).min
    overflows = (b == 0) | ((a == lowest) & (b == -1) if lowest < 0 else False)
    quotient = torch.div(a, torch.where(overflows, 1, b).to(b.dtype), rounding_mode="trunc")
    return torch.where(b == 0, torch.full_like(quotient, -1 if lowest < 0 else torch.iinfo(a.dtype).max), quotient)


def bits_of(dtype: torch.dtype) -> int:
    return torch.iinfo(dtype).bits


def shift_left(a: Tensor, b: Tensor) -> Tensor:
    """Returns zero where the amount is negative or not less than the width."""
    bits = bits_of(a.dtype)
    inside = (b >= 0) & (b < bits)
    return torch.where(inside, a.to(torch.int64) << b.clamp(0, bits - 1), 0).to(a.dtype)


def shift_right_logical(a: Tensor, b: Tensor) -> Tensor:
    bits = bits_of(a.dtype)
    inside = (b >= 0) & (b < bits)
    if bits == 64:
        shifted = torch.where(b > 0, (a >> 1 & (2**63 - 1)) >> (b.clamp(1, 63) - 1), a)
    else:
        shifted = (a.to(torch.int64) & (2**bits - 1)) >> b.clamp(0, bits - 1)
    return torch.where(inside, shifted, 0).to(a.dtype)


def shift_right_arithmetic(a: Tensor, b: Tensor) -> Tensor:
    return a >> torch.where((b >= 0) & (b < bits_of(a.dtype)), b, bits_of(a.dtype) - 1)


def clamp(x: Tensor, min: float, max: float) -> Tensor:
    return torch.clamp(x, min, max)


def clamp_tensor(x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    return torch.minimum(torch.maximum(x, low), high)


def typecast(x: Tensor, out: TensorSpec) -> Tensor:
    """Returns float to integer drops the fraction; values outside the range saturate, NaN becomes 0."""
    if x.dtype.is_floating_point and not out.dtype.is_floating_point and out.dtype != torch.bool:
        info = torch.iinfo(out.dtype)
        x = torch.nan_to_num(x.to(torch.float64), nan=0.0, posinf=info.max, neginf=info.min).clamp(info.min, info.max)
        return torch.where(x >= info.max, torch.tensor(info.max), x.to(torch.int64)).to(out.dtype)
    return x.to(out.dtype)


def bitcast(x: Tensor, out: TensorSpec) -> Tensor:
    return x.view(out.dtype).reshape(out.shape)


def selu(x: Tensor, scale: float = 1.0507009873390197, alpha: float = 1.6732635498046875) -> Tensor:
    return scale * torch.where(x > 0, x, alpha * torch.expm1(x))


def leaky_relu(x: Tensor, parameter: float = 0.01) -> Tensor:
    return F.leaky_relu(x, parameter)


def where(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return torch.where(condition != 0, a, b)


def population_count(x: Tensor) -> Tensor:
    bits = bits_of(x.dtype)
    return torch.stack([(x.to(torch.int64) >> i) & 1 for i in range(bits)]).sum(dim=0).to(x.dtype)


def leading_zeros(x: Tensor) -> Tensor:
    bits = bits_of(x.dtype)
    seen, count = torch.zeros_like(x, dtype=torch.bool), torch.zeros_like(x)
    for i in range(bits - 1, -1, -1):
        seen = seen | (((x.to(torch.int64) >> i) & 1) != 0)
        count += (~seen).to(x.dtype)
    return count


def reduce_precision(x: Tensor, exponent_bits: int = 8, mantissa_bits: int = 23) -> Tensor:
    """Rounds to nearest even on the kept mantissa bits; beyond the exponent's range: infinity or zero."""
    bits = x.to(torch.float32).view(torch.int32).to(torch.int64) & 0xFFFFFFFF
    drop = 23 - min(mantissa_bits, 23)
    if drop:
        bits = bits + (1 << (drop - 1)) - 1 + ((bits >> drop) & 1)
        bits = bits & ~((1 << drop) - 1)
    rounded = torch.where(bits >= 2**31, bits - 2**32, bits).to(torch.int32).view(torch.float32)
    largest_exponent = 2 ** (exponent_bits - 1) - 1
    _, exponent = torch.frexp(rounded)
    rounded = torch.where(exponent - 1 > largest_exponent, torch.copysign(torch.tensor(torch.inf), x), rounded)
    rounded = torch.where(exponent - 1 < 1 - largest_exponent, torch.copysign(torch.tensor(0.0), x), rounded)
    return torch.where(torch.isfinite(x), rounded, x.to(torch.float32))


UNARY = {
    "abs": Op(of_bytes(torch.abs), aten="abs"),
    "acos": Op(torch.acos, aten="acos"),
    "asin": Op(torch.asin, aten="asin"),
    "asinh": Op(torch.asinh, aten="asinh"),
    "atan": Op(torch.atan, aten="atan"),
    "atanh": Op(torch.atanh, aten="atanh"),
    "bitcast_convert": Op(bitcast, exact_types=True),
    "bitwise_not": Op(torch.bitwise_not, aten="bitwise_not"),
    "cbrt": Op(cbrt),
    "ceil": Op(torch.ceil, aten="ceil"),
    "cos": Op(torch.cos, aten="cos"),
    "count_leading_zeros": Op(leading_zeros),
    "erf": Op(torch.erf, aten="erf"),
    "erfc": Op(torch.erfc, aten="erfc"),
    "exp": Op(torch.exp, aten="exp"),
    "exp2": Op(torch.exp2, aten="exp2"),
    "expm1": Op(torch.expm1, aten="expm1"),
    "floor": Op(torch.floor, aten="floor"),
    "frac": Op(torch.frac, aten="frac"),
    "gelu": Op(gelu, aten="gelu"),
    "hardsigmoid": Op(F.hardsigmoid, aten="hardsigmoid"),
    "isfinite": Op(torch.isfinite, aten="isfinite"),
    "leaky_relu": Op(leaky_relu, aten="leaky_relu"),
    "log": Op(torch.log, aten="log"),
    "log1p": Op(torch.log1p, aten="log1p"),
    "log2": Op(torch.log2, aten="log2"),
    "logical_not": Op(logical(torch.logical_not), aten="logical_not"),
    "mish": Op(F.mish, aten="mish"),
    "neg": Op(of_bytes(torch.neg), aten="neg"),
    "population_count": Op(population_count),
    "reciprocal": Op(torch.reciprocal, aten="reciprocal"),
    "reduce_precision": Op(reduce_precision),
    "relu": Op(of_bytes(torch.relu), aten="relu"),
    "relu6": Op(F.relu6, aten="relu6"),
    "round": Op(round_away),
    "round_even": Op(torch.round, aten="round"),
    "rsqrt": Op(torch.rsqrt, aten="rsqrt"),
    "selu": Op(selu, aten="selu"),
    "sigmoid": Op(torch.sigmoid, aten="sigmoid"),
    "sign": Op(torch.sign, aten="sign"),
    "signbit": Op(torch.signbit, aten="signbit"),
    "silu": Op(F.silu, aten="silu"),
    "sin": Op(torch.sin, aten="sin"),
    "softsign": Op(F.softsign),
    "sqrt": Op(torch.sqrt, aten="sqrt"),
    "square": Op(torch.square),
    "tan": Op(torch.tan, aten="tan"),
    "tanh": Op(torch.tanh, aten="tanh"),
    "trunc": Op(torch.trunc, aten="trunc"),
    "typecast": Op(typecast, aten="_to_copy"),
    "clamp_scalar": Op(clamp, aten="clamp"),
}

BINARY = {
    "add": Op(torch.add, aten="add.Tensor"),
    "atan2": Op(torch.atan2, aten="atan2"),
    "bitwise_and": Op(torch.bitwise_and, aten="bitwise_and.Tensor"),
    "bitwise_or": Op(torch.bitwise_or, aten="bitwise_or.Tensor"),
    "bitwise_xor": Op(torch.bitwise_xor, aten="bitwise_xor.Tensor"),
    "div": Op(divide, aten="div.Tensor"),
    "eq": Op(torch.eq, aten="eq.Tensor"),
    "ge": Op(torch.ge, aten="ge.Tensor"),
    "gelu_bw": Op(gelu_backward, aten="gelu_backward"),
    "gt": Op(torch.gt, aten="gt.Tensor"),
    "le": Op(torch.le, aten="le.Tensor"),
    "logical_and": Op(logical(torch.logical_and), aten="logical_and"),
    "logical_left_shift": Op(of_bytes(shift_left)),
    "logical_or": Op(logical(torch.logical_or), aten="logical_or"),
    "logical_right_shift": Op(of_bytes(shift_right_logical)),
    "logical_xor": Op(logical(torch.logical_xor), aten="logical_xor"),
    "lt": Op(torch.lt, aten="lt.Tensor"),
    "maximum": Op(torch.maximum, aten="maximum"),
    "minimum": Op(torch.minimum, aten="minimum"),
    "multiply": Op(torch.mul, aten="mul.Tensor"),
    "ne": Op(torch.ne, aten="ne.Tensor"),
    "pow": Op(torch.pow, aten="pow.Tensor_Tensor"),
    "pow_scalar": Op(lambda x, rhs: torch.pow(x, rhs), aten="pow.Tensor_Scalar"),
    "remainder": Op(torch.remainder, aten="remainder.Tensor"),
    "right_shift": Op(of_bytes(shift_right_arithmetic)),
    "subtract": Op(of_bytes(torch.sub), aten="sub.Tensor"),
}

TERNARY = {
    "clamp_tensor": Op(
        clamp_tensor,
    ),
    "where": Op(where, aten="where.self"),
}

ELEMENTWISE = UNARY | BINARY | TERNARY
