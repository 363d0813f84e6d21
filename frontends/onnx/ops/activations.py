# SPDX-License-Identifier: Apache-2.0
"""Activation functions."""

from __future__ import annotations

import math

from ttmlir.dialects import stablehlo

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Decides, Node, op
from ..values import F32, I32, Value
from .elementwise import in_f32, positions, require_float, require_numbers


@op("Relu", decides=Decides.SIGN)
def relu(g: Emitter, node: Node, x: Value) -> Value:
    require_numbers(x)
    return g.ttir("relu", x, dtype=x.dtype)


@op("LeakyRelu")
def leaky_relu(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    return g.ttir("leaky_relu", x, dtype=x.dtype, parameter=node.get("alpha", 0.01))


@op("PRelu")
def prelu(g: Emitter, node: Node, x: Value, slope: Value) -> Value:
    require_numbers(x)
    shape = g.common_shape(x, slope)
    if shape != x.shape:
        raise Refused(f"slope {slope!r} does not broadcast to {x!r}")
    return g.select(g.compare("LT", x, g.scalar(0, x)), g.mul(x, slope), x)


def expm1(g: Emitter, x: Value) -> Value:
    return g.unary(stablehlo.exponential_minus_one, x)


def positive_or(g: Emitter, x: Value, other: Value, least: float = 0) -> Value:
    return g.select(g.compare("GT", x, g.scalar(least, x)), x, other)


@op("Elu")
def elu(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    alpha = node.get("alpha", 1.0)

    def formula(x: Value) -> Value:
        below = expm1(g, g.minimum(x, g.scalar(0, x)))
        return positive_or(g, x, below if alpha == 1 else g.mul(below, g.scalar(alpha, x)))

    return in_f32(g, formula, x)


@op("Celu")
def celu(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    alpha = node.get("alpha", 1.0)

    def formula(x: Value) -> Value:
        below = g.minimum(x, g.scalar(0, x))
        below = below if alpha == 1 else g.div(below, g.scalar(alpha, x))
        below = expm1(g, below)
        return positive_or(g, x, below if alpha == 1 else g.mul(below, g.scalar(alpha, x)))

    return in_f32(g, formula, x)


@op("Selu")
def selu(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    alpha = node.get("alpha", 1.67326319217681884765625)
    gamma = node.get("gamma", 1.05070102214813232421875)

    def formula(x: Value) -> Value:
        below = expm1(g, g.minimum(x, g.scalar(0, x)))
        below = g.mul(below, g.scalar(alpha * gamma, x))
        return g.select(g.compare("GT", x, g.scalar(0, x)), g.mul(x, g.scalar(gamma, x)), below)

    return in_f32(g, formula, x)


@op("ThresholdedRelu")
def thresholded_relu(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    return positive_or(g, x, g.scalar(0, x), node.get("alpha", 1.0))


def affine(g: Emitter, x: Value, alpha: float, beta: float) -> Value:
    x = x if alpha == 1 else g.mul(x, g.scalar(alpha, x))
    return x if beta == 0 else g.add(x, g.scalar(beta, x))


@op("HardSigmoid")
def hard_sigmoid(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    alpha, beta = node.get("alpha", 0.2), node.get("beta", 0.5)
    if beta == 0.5 and abs(alpha - 1 / 6) < 1e-7:
        return g.ttir("hardsigmoid", x, dtype=x.dtype)

    def formula(x: Value) -> Value:
        return g.minimum(g.maximum(affine(g, x, alpha, beta), g.scalar(0, x)), g.scalar(1, x))

    return in_f32(g, formula, x)


@op("HardSwish")
def hard_swish(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    return g.mul(x, g.ttir("hardsigmoid", x, dtype=x.dtype))


@op("Softplus")
def softplus(g: Emitter, node: Node, x: Value) -> Value:
    """Returns log(1 + e^x) without overflow."""
    require_float(x)

    def formula(x: Value) -> Value:
        low = g.unary(stablehlo.exponential, g.unary(stablehlo.negate, g.unary(stablehlo.abs, x)))
        return g.add(g.maximum(x, g.scalar(0, x)), g.unary(stablehlo.log_plus_one, low))

    return in_f32(g, formula, x)


@op("Softsign")
def softsign(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    return g.ttir("softsign", x, dtype=x.dtype)


@op("Mish")
def mish(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    return g.ttir("mish", x, dtype=x.dtype)


@op("Gelu")
def gelu(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    approximate = node.get("approximate", "none")
    if approximate == "none":
        return g.ttir("gelu", x, dtype=x.dtype)
    if approximate != "tanh":
        raise Refused(f"approximate {approximate!r}; expected none or tanh")
    return in_f32(g, lambda x: gelu_tanh(g, x), x)


def gelu_tanh(g: Emitter, x: Value) -> Value:
    """Returns 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))"""
    cubic = g.mul(g.mul(g.mul(x, x), x), g.scalar(0.044715, x))
    inner = g.unary(stablehlo.tanh, g.mul(g.add(x, cubic), g.scalar(math.sqrt(2 / math.pi), x)))
    return g.mul(g.mul(x, g.scalar(0.5, x)), g.add(inner, g.scalar(1, x)))


@op("Swish")
def swish(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    alpha = node.get("alpha", 1.0)
    if alpha == 1:
        return g.ttir("silu", x, dtype=x.dtype)
    return in_f32(g, lambda x: g.mul(x, g.unary(stablehlo.logistic, g.mul(x, g.scalar(alpha, x)))), x)


@op("Shrink")
def shrink(g: Emitter, node: Node, x: Value) -> Value:
    require_numbers(x)
    lambd, bias = node.get("lambd", 0.5), node.get("bias", 0.0)
    dtype = x.dtype
    wide = x if dtype.kind == "f" and dtype.itemsize >= 4 else g.cast(x, F32)
    low = g.compare("LT", wide, g.scalar(-lambd, wide))
    high = g.compare("GT", wide, g.scalar(lambd, wide))
    below, above = (wide if bias == 0 else op(wide, g.scalar(bias, wide)) for op in (g.add, g.sub))
    return g.cast(g.select(low, below, g.select(high, above, g.scalar(0, wide))), dtype)


@op("Hardmax")
def hardmax(g: Emitter, node: Node, x: Value) -> Value:
    """Returns 1 where the largest element is, the first of equal ones."""
    require_float(x)
    shape = x.shape
    axis = node.get("axis", 1 if node.version < 13 else -1)
    if not -max(x.rank, 1) <= axis <= x.rank:
        raise Refused(f"axis {axis} of {x!r}")
    axis = axis % max(x.rank, 1) if axis < x.rank else axis
    if not x.size:
        return x
    if node.version < 13:  # of the dimensions from the axis on, as one
        x = g.reshape(x, (*shape[:axis], math.prod(shape[axis:])))
    elif not x.rank:
        return g.full((), 1, x.dtype)
    kept = [1 if d == axis else n for d, n in enumerate(x.shape)]
    first = g.ttir("argmax", x, shape=kept, dtype=I32, keep_dim=True, dim_arg=[axis])
    return g.reshape(g.cast(g.compare("EQ", positions(g, x.shape, axis), first), x.dtype), shape)
