# SPDX-License-Identifier: Apache-2.0
"""Determinants, of LU factorizations."""

from __future__ import annotations

import math

from ttmlir.dialects import stablehlo

from ...emitter import Emitter
from ...errors import Refused
from ...registry import Node, op
from ...values import F32, I32, Value, is_float


@op("Det")
def det(g: Emitter, node: Node, x: Value) -> Value:
    """Returns the product of the pivots of each matrix, [..., n, n] -> [...], with the sign of the row exchanges."""
    if x.rank < 2 or x.shape[-1] != x.shape[-2] or not is_float(x.dtype):
        raise Refused(f"{x!r}; expected square matrices of floats")
    batch, n = x.shape[:-2], x.shape[-1]
    if not n or not math.prod(batch):
        return g.full(batch, 1, x.dtype)
    wide, rows = g.cast(x, F32), (*batch, n)
    kinds = [g.type(x.shape, F32), g.type(rows, I32), g.type(batch, I32)]
    lu, pivots, _ = stablehlo.custom_call(kinds, [g.ir(wide)], "lapack_sgetrf_ffi")
    factors, numbers = Value(x.shape, F32, lu), g.iota(rows, len(batch))
    is_diagonal = g.compare("EQ", g.iota(x.shape, len(batch)), g.iota(x.shape, len(batch) + 1))
    diagonal = g.reduce("add", g.select(is_diagonal, factors, g.scalar(0, factors)), [-1])
    one = g.scalar(1, diagonal)
    stays = g.compare("EQ", Value(rows, I32, pivots), g.add(numbers, g.scalar(1, numbers)))
    signed = g.mul(diagonal, g.select(stays, one, g.scalar(-1, diagonal)))
    return g.cast(g.reduce("multiply", signed, [-1]), x.dtype)
