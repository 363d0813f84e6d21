# SPDX-License-Identifier: Apache-2.0
"""Ops of one element at a time, with NumPy's broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects import chlo, stablehlo
from ..emitter import Emitter
from ..registry import Node, op
from ..values import Value

# Name of the op -> op of StableHLO or CHLO with the operands' type.
UNARY: dict[str, Callable[..., Any]] = {
    "Abs": stablehlo.abs, "Ceil": stablehlo.ceil, "Cos": stablehlo.cosine, "Erf": chlo.erf,
    "Exp": stablehlo.exponential, "Floor": stablehlo.floor, "Log": stablehlo.log, "Neg": stablehlo.negate,
    "Not": stablehlo.not_, "Round": stablehlo.round_nearest_even, "Sigmoid": stablehlo.logistic,
    "Sign": stablehlo.sign, "Sin": stablehlo.sine, "Sqrt": stablehlo.sqrt, "Tan": stablehlo.tan,
    "Tanh": stablehlo.tanh,
}  # fmt: skip
BINARY: dict[str, Callable[..., Any]] = {
    "Add": stablehlo.add, "Sub": stablehlo.subtract, "Mul": stablehlo.multiply,
    "Div": stablehlo.divide,
}  # fmt: skip
COMPARISONS = {"Equal": "EQ", "Greater": "GT", "GreaterOrEqual": "GE", "Less": "LT", "LessOrEqual": "LE"}


@op(*UNARY)
def unary(g: Emitter, node: Node, x: Value) -> Value:
    return g.unary(UNARY[node.op], x)


@op(*BINARY)
def binary(g: Emitter, node: Node, x: Value, y: Value) -> Value:
    return g.binary(BINARY[node.op], x, y)


@op(*COMPARISONS)
def comparison(g: Emitter, node: Node, x: Value, y: Value) -> Value:
    return g.compare(COMPARISONS[node.op], x, y)


@op("Relu")
def relu(g: Emitter, node: Node, x: Value) -> Value:
    return g.ttir("relu", x, dtype=x.dtype)
