# SPDX-License-Identifier: Apache-2.0
"""The functions and operators of blocks: one row each, from the name in TT-Lang to functions of the kernel API.

A row of FUNCTIONS with several functions of the kernel API is an equation over others.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..errors import ShapeError, UnsupportedError
from . import tree
from .tree import Node, bits


class BlockFunction:
    """Is a function of `ttl.math` or `ttl.block`, which only compute kernels can call."""

    def __init__(self, name: str, build: Callable[..., Node]) -> None:
        self.name, self.build = name, build
        self.__doc__ = f"Is a function of blocks: {name}."

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raises UnsupportedError: blocks are there in kernels alone."""
        raise UnsupportedError(f"{self.name}: is for kernels (@ttl.compute); blocks exist only there")

    def __repr__(self) -> str:
        return f"<function {self.name}>"


def number(name: str, value: Any) -> float:
    """Returns an argument that the compiler has to know. Raises ShapeError for others."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ShapeError(f"{name}: {value!r}; expected a number that the compiler knows")
    return float(value)


# Operators of two blocks, and of a block and a number: the first of the pair is the block, or the number.
BINARY = {
    "add": "add_binary_tile", "sub": "sub_binary_tile", "mul": "mul_binary_tile", "truediv": "div_binary_tile",
    "mod": "remainder_binary_tile", "pow": "power_binary_tile",
    "eq": "eq_binary_tile", "ne": "ne_binary_tile", "gt": "gt_binary_tile", "ge": "ge_binary_tile",
    "lt": "lt_binary_tile", "le": "le_binary_tile",
    "max": "binary_max_tile", "min": "binary_min_tile",
}  # fmt: skip
WITH_NUMBER = {
    "add": "add_unary_tile", "sub": "sub_unary_tile", "mul": "mul_unary_tile", "truediv": "div_unary_tile",
    "eq": "unary_eq_tile", "ne": "unary_ne_tile", "gt": "unary_gt_tile", "ge": "unary_ge_tile",
    "lt": "unary_lt_tile", "le": "unary_le_tile", "max": "unary_max_tile", "min": "unary_min_tile",
}  # fmt: skip
MIRRORED = {"add": "add", "mul": "mul", "eq": "eq", "ne": "ne", "gt": "lt", "ge": "le", "lt": "gt", "le": "ge",
            "max": "max", "min": "min"}  # fmt: skip
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
           "matmul": "@", "eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}  # fmt: skip
_WITH_NUMBER_INIT = "binop_with_scalar_tile"


def binary(name: str, left: Any, right: Any) -> Node:
    """Returns an operator of two blocks, or of a block and a number, by the operator's name in Python."""
    shown = f"a {SYMBOLS[name]} b" if name in SYMBOLS else f"ttl.math.{name}"
    if name == "floordiv":
        return tree.unary("floor_tile", binary("truediv", left, right))
    if isinstance(left, Node) and isinstance(right, Node):
        return tree.matmul(left, right) if name == "matmul" else tree.several(shown, BINARY[name], left, right)
    if name == "matmul":
        raise ShapeError(f"{shown}: {left!r} and {right!r}; expected two blocks")
    if isinstance(left, Node):
        value = number(shown, right)
        if name == "pow":
            return power(shown, left, value)
        if name in WITH_NUMBER:
            return tree.unary(WITH_NUMBER[name], left, bits(value), init=_WITH_NUMBER_INIT)
        return tree.several(shown, BINARY[name], left, tree.Fill(left.shape, value))
    value = number(shown, left)
    if name in MIRRORED:
        return binary(MIRRORED[name], right, value)
    if name == "sub":
        return tree.unary("rsub_unary_tile", right, bits(value), init=_WITH_NUMBER_INIT)
    return tree.several(shown, BINARY[name], tree.Fill(right.shape, value), right)


def power(name: str, block: Node, exponent: Any) -> Node:
    """Returns a power with a whole exponent from 0 on."""
    value = number(name, exponent)
    if value < 0 or value != int(value):
        raise ShapeError(f"{name}: the exponent is {value:g}; expected a whole number from 0 on")
    return tree.unary("power_tile", block, f"{int(value)}u")


class Expr:
    """Writes equations of the table with Python's operators: a block expression."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def _with(self, name: str, other: Any, swapped: bool = False) -> Expr:
        other = other.node if isinstance(other, Expr) else other
        return Expr(binary(name, other, self.node) if swapped else binary(name, self.node, other))

    def __add__(self, other: Any) -> Expr:
        return self._with("add", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Expr:
        return self._with("sub", other)

    def __rsub__(self, other: Any) -> Expr:
        return self._with("sub", other, True)

    def __mul__(self, other: Any) -> Expr:
        return self._with("mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Expr:
        return self._with("truediv", other)

    def __mod__(self, other: Any) -> Expr:
        return self._with("mod", other)

    def __gt__(self, other: Any) -> Expr:
        return self._with("gt", other)

    def __eq__(self, other: Any) -> Expr:  # type: ignore[override]
        return self._with("eq", other)

    __hash__ = None  # type: ignore[assignment]


def _tile(function: str) -> Callable[[Expr], Expr]:
    return lambda x: Expr(tree.unary(function, x.node))


_exp, _expm1, _log, _log1p = _tile("exp_tile"), _tile("expm1_tile"), _tile("log_tile"), _tile("log1p_tile")
_sqrt, _abs, _sign, _floor = _tile("sqrt_tile"), _tile("abs_tile"), _tile("sign_tile"), _tile("floor_tile")
_relu, _recip, _negative = _tile("relu_tile"), _tile("recip_tile"), _tile("ltz_tile")


def _max(a: Expr, b: Expr | float) -> Expr:
    return a._with("max", b)


def _min(a: Expr, b: Expr | float) -> Expr:
    return a._with("min", b)


def _where(condition: Expr, true: Expr | float, false: Expr | float) -> Expr:
    def filled(value: Expr | float) -> Node:
        return value.node if isinstance(value, Expr) else tree.Fill(condition.node.shape, float(value))

    return Expr(tree.several("ttl.block.where", "where_tile", condition.node, filled(true), filled(false)))


def _clamp(x: Expr, least: float, most: float) -> Expr:
    return Expr(tree.unary("clamp_tile", x.node, bits(least), bits(most)))


def _trunc(x: Expr) -> Expr:
    return _sign(x) * _floor(_abs(x))


def _round(x: Expr, decimals: float = 0) -> Expr:
    """Rounds half to even. The fraction is exact in every format, where x + 0.5 is not."""
    scale = 10.0**decimals
    scaled = x * scale if decimals else x
    down = _floor(scaled)
    part = scaled - down
    whole = down + (part > 0.5) + (part == 0.5) * (down % 2.0)
    return whole / scale if decimals else whole


_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772

# Functions of one register, in place.
TILES = {
    "abs": "abs_tile", "neg": "negative_tile", "exp": "exp_tile", "exp2": "exp2_tile", "expm1": "expm1_tile",
    "log": "log_tile", "logp1": "log1p_tile", "sqrt": "sqrt_tile", "square": "square_tile", "rsqrt": "rsqrt_tile",
    "recip": "recip_tile", "tan": "tan_tile", "tanh": "tanh_tile", "atan": "atan_tile", "atanh": "atanh_tile",
    "sin": "sin_tile", "asin": "asin_tile", "asinh": "asinh_tile", "cos": "cos_tile", "acos": "acos_tile",
    "relu": "relu_tile", "sigmoid": "sigmoid_tile", "gelu": "gelu_tile", "silu": "silu_tile",
    "hardsigmoid": "hardsigmoid_tile", "floor": "floor_tile", "ceil": "ceil_tile", "sign": "sign_tile",
}  # fmt: skip
# Functions of a block and of numbers, as equations.
EQUATIONS: dict[str, Callable[..., Expr]] = {
    "acosh": lambda x: _log1p((x - 1.0) + _sqrt((x - 1.0) * (x + 1.0))),
    "softsign": lambda x: x / (_abs(x) + 1.0),
    "selu": lambda x, scale=_SELU_SCALE, alpha=_SELU_ALPHA: _where(x > 0.0, x, _expm1(x) * alpha) * scale,
    "trunc": _trunc,
    "frac": lambda x: x - _trunc(x),
    "signbit": lambda x: _max(_negative(x), _negative(_recip(x))),
    "rsub": lambda a, b: b - a,
    "relu_max": lambda x, upper_limit: _min(_relu(x), upper_limit),
    "relu_min": lambda x, lower_limit: _relu(_max(x, lower_limit)),
    "leaky_relu": lambda x, slope: _where(x > 0.0, x, x * slope),
    "elu": lambda x, alpha: _where(x > 0.0, x, _expm1(x) * alpha),
    "celu": lambda x, alpha, alpha_recip: _where(x > 0.0, x, _expm1(x / alpha) * alpha),
    "prelu": lambda x, alpha: _where(x > 0.0, x, x * alpha),
    "softplus": lambda x, beta, beta_reciprocal, threshold: _where(
        x * beta > threshold, x, _log1p(_exp(x * beta)) / beta
    ),
    "hardtanh": lambda x, min_val, max_val: _clamp(x, min_val, max_val),
    "round": _round,
    "clamp": lambda x, min, max: _clamp(x, min, max),
    "threshold": lambda x, threshold, value: _where(x > threshold, value, x),
}
# Functions of several blocks.
BLOCKS: dict[str, Callable[..., Expr]] = {
    "where": lambda condition, true_value, false_value: _where(condition == 1.0, true_value, false_value),
    "mask": lambda expr, mask_blk: _where(mask_blk == 1.0, 0.0, expr),
    "mask_posinf": lambda expr, mask_blk: _where(mask_blk == 1.0, float("inf"), expr),
}


def _block(name: str, value: Any) -> Node:
    if not isinstance(value, Node):
        raise ShapeError(f"{name}: {value!r}; expected a block or a block expression")
    return value


def _of_tile(name: str, function: str) -> BlockFunction:
    return BlockFunction(name, lambda expr: tree.unary(function, _block(name, expr)))


def _of_equation(name: str, equation: Callable[..., Expr]) -> BlockFunction:
    def build(expr: Any, *args: Any, **kwargs: Any) -> Node:
        numbers = [number(name, each) for each in args]
        named = {key: number(f"{name}: {key}", each) for key, each in kwargs.items()}
        return equation(Expr(_block(name, expr)), *numbers, **named).node

    return BlockFunction(name, build)


def _of_blocks(name: str, equation: Callable[..., Expr]) -> BlockFunction:
    def build(*args: Any, **kwargs: Any) -> Node:
        named = {key: Expr(_block(name, each)) for key, each in kwargs.items()}
        return equation(*(Expr(_block(name, each)) for each in args), **named).node

    return BlockFunction(name, build)


def _two(name: str) -> BlockFunction:
    return BlockFunction(f"ttl.math.{name}", lambda a, b: binary(name, a, b))


MATH: dict[str, BlockFunction] = {
    **{name: _of_tile(f"ttl.math.{name}", function) for name, function in TILES.items()},
    **{name: _of_equation(f"ttl.math.{name}", equation) for name, equation in EQUATIONS.items()},
    **{name: _two(name) for name in ("max", "min", "gt", "ge", "lt", "le", "eq", "ne")},
    "pow": BlockFunction("ttl.math.pow", lambda expr, exponent: power("ttl.math.pow", expr, exponent)),
    "reduce_sum": BlockFunction(
        "ttl.math.reduce_sum", lambda block, dims, shape=None: tree.reduce("SUM", block, dims, shape)
    ),
    "reduce_max": BlockFunction(
        "ttl.math.reduce_max", lambda block, dims, shape=None: tree.reduce("MAX", block, dims, shape)
    ),
}
BLOCK: dict[str, BlockFunction] = {
    **{name: _of_blocks(f"ttl.block.{name}", equation) for name, equation in BLOCKS.items()},
    **{
        build.__name__: BlockFunction(f"ttl.block.{build.__name__}", build)
        for build in (tree.broadcast, tree.fill, tree.squeeze, tree.unsqueeze, tree.transpose)
    },
}
PYTHON: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "ne", "gt", "ge", "lt", "le")
}
