# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops that random modules are made of, each compared with its reference; see random_modules.py."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from random_values import DTYPES, FLOATS, MOST_ELEMENTS, NAMES, SIGNED, Draw, Generator, Value, is_float
from torch import Tensor

Function = Callable[..., Tensor]

# method -> (torch, least and most of the operand)
UNARY: dict[str, tuple[Function, float, float]] = {
    "abs": (torch.abs, -64, 64),
    "neg": (torch.neg, -64, 64),
    "relu": (torch.relu, -64, 64),
    "relu6": (torch.nn.functional.relu6, -64, 64),
    "sigmoid": (torch.sigmoid, -64, 64),
    "hardsigmoid": (torch.nn.functional.hardsigmoid, -64, 64),
    "tanh": (torch.tanh, -64, 64),
    "sin": (torch.sin, -8, 8),
    "cos": (torch.cos, -8, 8),
    "tan": (torch.tan, -1.25, 1.25),
    "asin": (torch.asin, -0.9, 0.9),
    "acos": (torch.acos, -0.9, 0.9),
    "atan": (torch.atan, -64, 64),
    "asinh": (torch.asinh, -64, 64),
    "exp": (torch.exp, -64, 3),
    "exp2": (torch.exp2, -64, 4),
    "expm1": (torch.expm1, -64, 3),
    "erf": (torch.erf, -8, 8),
    "erfc": (torch.erfc, -8, 8),
    "gelu": (torch.nn.functional.gelu, -8, 8),
    "silu": (torch.nn.functional.silu, -64, 64),
    "selu": (torch.nn.functional.selu, -64, 64),
    "mish": (torch.nn.functional.mish, -64, 64),
    "softsign": (torch.nn.functional.softsign, -64, 64),
    "sqrt": (torch.sqrt, 0.125, 64),
    "rsqrt": (torch.rsqrt, 0.25, 64),
    "cbrt": (lambda x: x ** (1 / 3), 0.125, 64),
    "log": (torch.log, 0.25, 64),
    "log2": (torch.log2, 0.25, 64),
    "log1p": (torch.log1p, -0.5, 64),
    "reciprocal": (torch.reciprocal, 0.25, 64),
    "square": (torch.square, -8, 8),
}
EXACT_UNARY = ("abs", "neg", "relu")
# What is not continuous, of exact operands.
STEPS: dict[str, Function] = {
    "ceil": torch.ceil,
    "floor": torch.floor,
    "trunc": torch.trunc,
    "frac": torch.frac,
    "sign": torch.sign,
    "signbit": torch.signbit,
    "isfinite": torch.isfinite,
    "logical_not": torch.logical_not,
}
BINARY: dict[str, Function] = {
    "add": torch.add,
    "subtract": torch.sub,
    "multiply": torch.mul,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
}
COMPARISONS: dict[str, Function] = {
    "eq": torch.eq,
    "ne": torch.ne,
    "gt": torch.gt,
    "ge": torch.ge,
    "lt": torch.lt,
    "le": torch.le,
}
LOGICAL: dict[str, Function] = {
    "logical_and": torch.logical_and,
    "logical_or": torch.logical_or,
    "logical_xor": torch.logical_xor,
}
BITS: dict[str, Function] = {
    "bitwise_and": torch.bitwise_and,
    "bitwise_or": torch.bitwise_or,
    "bitwise_xor": torch.bitwise_xor,
}
SHIFTS: dict[str, Function] = {
    "logical_left_shift": torch.bitwise_left_shift,
    "logical_right_shift": torch.bitwise_right_shift,
    "right_shift": torch.bitwise_right_shift,
}


def is_number(v: Value) -> bool:
    return v.dtype is not torch.bool


def is_integer(v: Value) -> bool:
    return not is_float(v) and is_number(v)


def unary(g: Generator) -> None:
    name = g.choice.choice(list(UNARY))
    function, least, most = UNARY[name]
    x = g.pick(lambda v: is_float(v) and v.least >= least and v.most <= most)
    g.emit(f"builder.{name}({x.name})", lambda: g.each(function, x), x.exact and name in EXACT_UNARY)


def unary_of_integers(g: Generator) -> None:
    x = g.pick(lambda v: v.dtype in SIGNED)
    name = g.choice.choice(["abs", "neg", "relu", "sign", "square", "bitwise_not"])
    function = {**STEPS, "bitwise_not": torch.bitwise_not}.get(name) or UNARY[name][0]
    g.emit(f"builder.{name}({x.name})", lambda: g.each(function, x), x.exact)


def step(g: Generator) -> None:
    name = g.choice.choice(list(STEPS))
    x = g.pick_exact(lambda v: is_float(v) or (name == "logical_not" and not is_number(v)))
    g.emit(f"builder.{name}({x.name})", lambda: g.each(STEPS[name], x), True)


def partner(g: Generator, *values: Value, where: Callable[[Value], bool] | None = None) -> Value:
    """Another operand for these: of a shape that broadcasts with theirs, and of the first one's type or as said."""

    def fits(v: Value) -> bool:
        if not (where(v) if where else v.dtype == values[0].dtype):
            return False
        try:
            return math.prod(torch.broadcast_shapes(v.shape, *(x.shape for x in values))) <= MOST_ELEMENTS
        except RuntimeError:
            return False

    return g.pick(fits)


def binary(g: Generator) -> None:
    x = g.pick(is_number)
    y = partner(g, x)
    if g.choice.random() < 0.5:
        x, y = y, x
    name = g.choice.choice(list(BINARY))
    exact = x.exact and y.exact and (not is_float(x) or name in ("maximum", "minimum"))
    g.emit(f"builder.{name}({x.name}, {y.name})", lambda: g.each(BINARY[name], x, y), exact)


def divide(g: Generator) -> None:
    y = g.pick(lambda v: is_float(v) and (v.least > 0.25 or v.most < -0.25))
    x = partner(g, y)
    g.emit(f"builder.div({x.name}, {y.name})", lambda: g.each(torch.div, x, y), False)


def remainder(g: Generator) -> None:
    y = g.pick_exact(lambda v: is_float(v) and (v.least > 0.25 or v.most < -0.25))
    x = partner(g, y, where=lambda v: v.exact and v.dtype == y.dtype)
    g.emit(f"builder.remainder({x.name}, {y.name})", lambda: g.each(torch.remainder, x, y), False)


def power(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.least > 0.25 and v.most <= 8)
    y = partner(g, x, where=lambda v: v.dtype == x.dtype and v.least >= -2 and v.most <= 2)
    g.emit(f"builder.pow({x.name}, {y.name})", lambda: g.each(torch.pow, x, y), False)


def angle(g: Generator) -> None:
    """Draws from the right half of the plane: left of it, the angle jumps between the sides."""
    x = g.pick(lambda v: is_float(v) and v.least > 0.25)
    y = partner(g, x)
    g.emit(f"builder.atan2({y.name}, {x.name})", lambda: g.each(torch.atan2, y, x), False)


def compared(g: Generator) -> None:
    x = g.pick_exact()
    y = partner(g, x, where=lambda v: v.exact and v.dtype == x.dtype)
    name = g.choice.choice(list(COMPARISONS) if is_number(x) else ["eq", "ne"])
    g.emit(f"builder.{name}({x.name}, {y.name})", lambda: g.each(COMPARISONS[name], x, y), True)


def logical(g: Generator) -> None:
    x = g.pick_exact(lambda v: is_float(v) or not is_number(v))
    y = partner(g, x, where=lambda v: v.exact and v.dtype == x.dtype)
    name = g.choice.choice(list(LOGICAL))
    g.emit(f"builder.{name}({x.name}, {y.name})", lambda: g.each(LOGICAL[name], x, y), True)


def where(g: Generator) -> None:
    x = g.pick()
    y = partner(g, x)
    condition = partner(g, x, y, where=lambda v: v.exact and v.dtype in (x.dtype, torch.bool))
    g.emit(
        f"builder.where({condition.name}, {x.name}, {y.name})",
        lambda: g.each(lambda c, a, b: torch.where(c != 0, a, b), condition, x, y, dtype=x.dtype),
        x.exact and y.exact,
    )


def clamp(g: Generator) -> None:
    x = g.pick(is_float)
    text = f"builder.clamp_scalar({x.name}, min=-0.5, max=1.25)"
    g.emit(text, lambda: g.each(lambda v: v.clamp(-0.5, 1.25), x), x.exact)


def clamp_tensor(g: Generator) -> None:
    x = g.pick(is_float)
    low = partner(g, x)
    high = partner(g, x, low)
    g.emit(
        f"builder.clamp_tensor({x.name}, {low.name}, {high.name})",
        lambda: g.each(lambda v, a, b: torch.minimum(torch.maximum(v, a), b), x, low, high),
        x.exact and low.exact and high.exact,
    )


def leaky_relu(g: Generator) -> None:
    x = g.pick(is_float)
    text = f"builder.leaky_relu({x.name}, parameter=0.125)"
    g.emit(text, lambda: g.each(lambda v: torch.where(v > 0, v, v * 0.125), x), False)


def gelu_backward(g: Generator) -> None:
    grad = g.pick(is_float)
    x = g.pick(lambda v: v.dtype == grad.dtype and v.shape == grad.shape and v.least >= -8 and v.most <= 8)

    def derivative(d: Tensor, v: Tensor) -> Tensor:
        below = 0.5 * (1 + torch.erf(v * math.sqrt(0.5)))
        return d * (below + v * torch.exp(-0.5 * v * v) / math.sqrt(2 * math.pi))

    text = f'builder.gelu_bw({grad.name}, {x.name}, approximate="none")'
    g.emit(text, lambda: g.each(derivative, grad, x), False)


def typecast(g: Generator) -> None:
    to = g.choice.choice([d for d in DTYPES for _ in range(4 if d in FLOATS else 1)])
    # Of floats, integers are what is left of them; 16 bits of a float hold small integers only.
    x = g.pick(
        lambda v: v.dtype != to and ((is_float(v) and to in FLOATS) or (v.exact and v.least >= -128 and v.most <= 128))
    )
    text = f"builder.typecast({x.name}, output_type={NAMES[to]})"
    if is_float(x) and to in FLOATS:
        g.emit(text, lambda: [g.narrow(s, to) for s in x.shards], x.exact)
    else:
        cut = (lambda v: v != 0) if to is torch.bool else (lambda v: v.trunc() if v.is_floating_point() else v)
        g.emit(text, lambda: g.each(cut, x, dtype=to), True)


def bits(g: Generator) -> None:
    x = g.pick_exact(lambda v: v.dtype is torch.int32)
    y = partner(g, x)
    name = g.choice.choice(list(BITS))
    g.emit(f"builder.{name}({x.name}, {y.name})", lambda: g.each(BITS[name], x, y), x.exact and y.exact)


def shift(g: Generator) -> None:
    name = g.choice.choice(list(SHIFTS))
    x = g.pick_exact(lambda v: v.dtype is torch.int32 and (v.least >= 0 or name != "logical_right_shift"))
    y = partner(g, x, where=lambda v: v.exact and v.dtype is torch.int32 and v.least >= 0 and v.most < 20)
    g.emit(f"builder.{name}({x.name}, {y.name})", lambda: g.each(SHIFTS[name], x, y), True)


ELEMENTWISE: list[Draw] = [
    *[unary] * 5,
    unary_of_integers,
    step,
    *[binary] * 6,
    divide,
    remainder,
    power,
    angle,
    compared,
    logical,
    where,
    clamp,
    clamp_tensor,
    leaky_relu,
    gelu_backward,
    *[typecast] * 2,
    bits,
    shift,
]
