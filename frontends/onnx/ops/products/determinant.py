# SPDX-License-Identifier: Apache-2.0
"""Determinants, by elimination."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttmlir.dialects import stablehlo

from ...emitter import Emitter
from ...errors import Refused
from ...registry import Node, op
from ...values import F32, F64, I32, Value, is_float


@op("Det")
def det(g: Emitter, node: Node, x: Value) -> Value:
    """Returns the product of the pivots of each matrix, [..., n, n] -> [...], with the sign of the row swaps."""
    if x.rank < 2 or x.shape[-1] != x.shape[-2] or not is_float(x.dtype):
        raise Refused(f"{x!r}; expected square matrices of floats")
    batch, n = x.shape[:-2], x.shape[-1]
    many = math.prod(batch)
    if not n or not many:
        return g.full(batch, 1, x.dtype)
    wide = g.reshape(x if x.dtype in (F32, F64) else g.cast(x, F32), (many, n, n))
    if n == 1:
        return g.cast(g.reshape(wide, batch), x.dtype)
    one, rows = g.full((), 1, I32), g.iota((1, n), 1, I32)

    def step(k: Value, matrix: Value, product: Value) -> Sequence[Value]:
        column = g.reshape(g.dynamic_slice(matrix, [0, 0, k], (many, n, 1)), (many, n))
        row = g.dynamic_slice(matrix, [0, k, 0], (many, 1, n))
        left = g.select(g.compare("GE", rows, k), g.unary(stablehlo.abs, column), g.scalar(-1, column))
        at = g.ttir("argmax", left, shape=(many, 1), dtype=I32, keep_dim=True, dim_arg=[1])
        is_pivot, is_row = g.compare("EQ", rows, at), g.compare("EQ", rows, k)
        zero = g.scalar(0, column)
        pivot = g.reduce("add", g.select(is_pivot, column, zero), [1])
        chosen = g.select(g.expand_dims(is_pivot, 2), matrix, zero)
        pivots = g.expand_dims(g.reduce("add", chosen, [1]), 1)
        swapped = g.select(g.expand_dims(is_pivot, 2), row, matrix)
        swapped = g.select(g.expand_dims(is_row, 2), pivots, swapped)
        below = g.reshape(g.dynamic_slice(swapped, [0, 0, k], (many, n, 1)), (many, n))
        safe = g.expand_dims(g.select(g.compare("EQ", pivot, zero), g.scalar(1, pivot), pivot), 1)
        factors = g.select(g.compare("GT", rows, k), g.div(below, safe), zero)
        after = g.sub(swapped, g.mul(g.expand_dims(factors, 2), pivots))
        sign = g.select(g.compare("EQ", g.reshape(at, (many,)), k), g.scalar(1, pivot), g.scalar(-1, pivot))
        return [g.add(k, one), after, g.mul(product, g.mul(pivot, sign))]

    first = [g.full((), 0, I32), wide, g.full((many,), 1, wide.dtype)]
    end = g.full((), n, I32)
    product = g.loop(first, lambda k, *_: g.compare("LT", k, end), step)[2]
    return g.cast(g.reshape(product, batch), x.dtype)
