# SPDX-License-Identifier: Apache-2.0
"""Tridiagonal systems whose matrix may be singular, as LAPACK's `lagtf` and `lagts` solve them.

JAX has the other ones as functions of its own.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax._src.interpreters import mlir
from jax._src.lax import linalg

from .rules import rule

# The chip computes 64-bit floats in 32 bits.
_FLOAT = np.finfo(np.float32)


def _factored(below: Array, diagonal: Array, above: Array, b: Array) -> tuple[Array, ...]:
    """Eliminates what is below the diagonal, with pivoting by rows that are scaled by their size.

    Returns:
        The upper factor's diagonals [m], [m] and [m], and the right-hand sides [m, k] after the same steps.
    """

    def step(state: Any, row: Any) -> Any:
        pivot, next_to_pivot, right, size = state
        below, diagonal, above, b = row
        next_size = jnp.abs(below) + jnp.abs(diagonal) + jnp.abs(above)
        swaps = (below != 0) & (jnp.abs(below) * size > jnp.abs(pivot) * next_size)
        factor = jnp.where(swaps, pivot, below) / jnp.where(swaps, below, jnp.where(pivot == 0, 1, pivot))
        done = [
            jnp.where(swaps, one, other)
            for one, other in ((below, pivot), (diagonal, next_to_pivot), (above, jnp.zeros_like(above)), (b, right))
        ]
        # What is left of the other row.
        pivot = jnp.where(swaps, next_to_pivot - factor * diagonal, diagonal - factor * next_to_pivot)
        left = jnp.where(swaps, -factor * above, above)
        right = jnp.where(swaps, right - factor * b, b - factor * right)
        return (pivot, left, right, jnp.where(swaps, jnp.abs(pivot) + jnp.abs(left), next_size)), done

    above = jnp.concatenate([above[:-1], jnp.zeros_like(above[:1])])
    start = (diagonal[0], above[0], b[0], jnp.abs(diagonal[0]) + jnp.abs(above[0]))
    (pivot, _, right, _), done = lax.scan(step, start, (below[1:], diagonal[1:], above[1:], b[1:]))
    nothing = jnp.zeros_like(pivot)
    return tuple(
        jnp.concatenate([rows, last[None]]) for rows, last in zip(done, (pivot, nothing, nothing, right), strict=True)
    )


def _perturbed(pivot: Array, right: Array, by: Array) -> tuple[Array, Array]:
    """A pivot by which the right-hand sides [k] can be divided without overflow."""
    largest = jnp.max(jnp.abs(right), initial=0)
    small = float(_FLOAT.tiny)
    change = jnp.maximum(by, small)
    change = jnp.where(pivot.real < 0, -change, change)

    def is_too_small(state: Any) -> Array:
        size = jnp.abs(state[0])
        limit = jnp.where(size < small, largest * small > size, largest > jnp.minimum(size, 1) / small)
        return (size < 1) & ((size == 0) | limit)

    def enlarge(state: Any) -> Any:
        pivot, change = state
        return pivot + change.astype(pivot.dtype), 2 * change

    pivot, _ = lax.while_loop(is_too_small, enlarge, (pivot, change))
    scale = jnp.where(jnp.abs(pivot) < small, 1 / small, 1).astype(change.dtype)
    return pivot * scale, right * scale


def _solve(below: Array, diagonal: Array, above: Array, b: Array) -> Array:
    """The solution [m, k] of one system; tiny pivots grow by the order of the rounding error."""
    if not b.size:
        return b
    *upper, right = _factored(below, diagonal, above, b)
    by = float(_FLOAT.eps) * jnp.max(jnp.abs(jnp.stack(upper)))

    def step(state: Any, row: Any) -> Any:
        following, second = state
        pivot, next_to_pivot, beyond, right = row
        pivot, right = _perturbed(pivot, right - next_to_pivot * following - beyond * second, by)
        solved = right * (1 / pivot)
        return (solved, following), solved

    return lax.scan(step, (jnp.zeros_like(b[0]), jnp.zeros_like(b[0])), (*upper, right), reverse=True)[1]


_known = mlir._lowerings[linalg.tridiagonal_solve_p].rule


def lower_tridiagonal_solve(context: Any, *operands: Any, perturb_singular: bool) -> Any:
    if not perturb_singular:
        return _known(context, *operands, perturb_singular=False)
    solve = _solve
    for _ in context.avals_in[0].shape[:-1]:
        solve = jax.vmap(solve)
    return rule(solve, multiple_results=False)(context, *operands)
