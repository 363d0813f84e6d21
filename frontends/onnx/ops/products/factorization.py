# SPDX-License-Identifier: Apache-2.0
"""LU factorizations, which StableHLO's pipeline computes, and ops that use them."""

from __future__ import annotations

from ttmlir.dialects import stablehlo

from ...emitter import Emitter
from ...errors import Refused
from ...registry import Node, op
from ...values import F32, I32, Value, is_float


def expect_square(x: Value) -> None:
    if x.rank < 2 or x.shape[-1] != x.shape[-2] or not is_float(x.dtype):
        raise Refused(f"{x!r}; expected square matrices of floats")


def lu(g: Emitter, x: Value) -> tuple[Value, Value]:
    """Returns both factors of each matrix [..., n, n] in one (f32), and which rows were exchanged, from 1 on."""
    kinds = [g.type(x.shape, F32), g.type(x.shape[:-1], I32), g.type(x.shape[:-2], I32)]
    factors, pivots, _ = stablehlo.custom_call(kinds, [g.ir(g.cast(x, F32))], "lapack_sgetrf_ffi")
    return Value(x.shape, F32, factors), Value(x.shape[:-1], I32, pivots)


@op("Det")
def det(g: Emitter, node: Node, x: Value) -> Value:
    """Returns the product of the pivots of each matrix, [..., n, n] -> [...], with the sign of the row exchanges."""
    expect_square(x)
    batch = x.shape[:-2]
    if not x.size:
        return g.full(batch, 1, x.dtype)
    factors, pivots = lu(g, x)
    numbers = g.iota(x.shape[:-1], len(batch))
    is_diagonal = g.compare("EQ", g.iota(x.shape, len(batch)), g.iota(x.shape, len(batch) + 1))
    diagonal = g.reduce("add", g.select(is_diagonal, factors, g.scalar(0, factors)), [-1])
    one = g.scalar(1, diagonal)
    stays = g.compare("EQ", pivots, g.add(numbers, g.scalar(1, numbers)))
    signed = g.mul(diagonal, g.select(stays, one, g.scalar(-1, diagonal)))
    return g.cast(g.reduce("multiply", signed, [-1]), x.dtype)


def inverse(g: Emitter, x: Value) -> Value:
    """Returns the inverse of each matrix: of both triangles, for the columns of the permutation."""
    expect_square(x)
    if not x.size:
        return x
    factors, pivots = lu(g, x)
    kind, axes = g.type(x.shape, F32), [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    permutation = stablehlo.custom_call([kind], [g.ir(pivots)], "tt.permutation_of_pivots")
    right = g.transpose(Value(x.shape, F32, permutation), axes)
    none = g.attribute("#stablehlo<transpose NO_TRANSPOSE>")
    for lower in (True, False):
        solved = stablehlo.triangular_solve(kind, g.ir(factors), g.ir(right), True, lower, lower, none)
        right = Value(x.shape, F32, solved)
    return g.cast(right, x.dtype)
