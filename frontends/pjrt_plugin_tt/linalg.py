# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues of symmetric and Hermitian matrices, as functions of JAX.

JAX calls libraries for them on the CPU, and for `tt` it has no lowering. Singular values, and what stands on them, are
functions of JAX over these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax._src import core
from jax._src.interpreters import mlir
from jax._src.lax import linalg
from jax._src.tpu.linalg.eigh import _eigh_qdwh_impl

from .host_linalg import lower_eigh_by_qr
from .rules import is_complex, rule, with_own_settings
from .tridiagonal import lower_tridiagonal_solve

_MOST_SWEEPS = 20  # convergence is quadratic: 6 to 10 suffice


def _hermitian(matrix: Array, lower: bool) -> Array:
    """The matrix of which one triangle is given; the other one is not read."""
    rows, columns = (lax.broadcasted_iota(np.int32, matrix.shape[-2:], i) for i in (0, 1))
    given = rows >= columns if lower else rows <= columns
    full = jnp.where(given, matrix, matrix.conj().mT)
    return jnp.where(rows == columns, full.real.astype(matrix.dtype), full)


def _seats(rows: Any) -> Any:
    """The next round of a tournament in which every row meets every other: the first stays, the others go round.

    Row i of the upper half meets row i of the lower one.
    """
    half = rows.shape[0] // 2
    if half == 1:
        return rows
    parts = (rows[:1], rows[half : half + 1], rows[1 : half - 1], rows[half + 1 :], rows[half - 1 : half])
    return np.concatenate(parts) if isinstance(rows, np.ndarray) else jnp.concatenate(parts)


def _jacobi(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues and vectors of a Hermitian matrix [n, n] by Jacobi's method, in no order.

    All pairs of rows that meet are turned at once; after n - 1 rounds each pair has met, and the rows are back in their
    places (Brent and Luk, 1985). The diagonal is held on its own: it changes by less than a product would round off.
    """
    size = matrix.shape[-1]
    half = max((size + 1) // 2, 1)
    even = 2 * half
    # A row of zeros makes the size even: there is nothing to turn it with.
    full = jnp.pad(matrix, ((0, even - size),) * 2)
    tiny = np.finfo(matrix.dtype).eps / 4
    met = _seats(np.arange(even))
    met = np.equal.outer(met % half, met % half)  # each row with itself and with the row that it was turned with
    others = jnp.asarray(~met, full.real.dtype)
    pairs = jnp.eye(half, dtype=full.real.dtype)
    limit = tiny * jnp.sqrt(jnp.sum(jnp.abs(full) ** 2))

    def turn(_: Any, state: Any) -> Any:
        diagonal, outside, vectors = state
        p, q = diagonal[:half], diagonal[half:]
        w = jnp.sum(outside[:half, half:] * pairs, axis=0)
        length = jnp.abs(w)
        matters = length > tiny * jnp.minimum(jnp.abs(p), jnp.abs(q))  # what rounding hides is zero
        divisor = jnp.where(matters, length, 1)
        ratio = (q - p) / (2 * divisor)
        tangent = jnp.where(ratio >= 0, 1, -1) / (jnp.abs(ratio) + jnp.sqrt(1 + ratio * ratio))
        tangent = jnp.where(matters, tangent, 0)
        cosine = 1 / jnp.sqrt(1 + tangent * tangent)
        sine = (tangent * cosine / divisor) * w
        sines = jnp.concatenate([-sine, sine.conj()])[:, None]
        # cosine - 1: rounding in what a small angle changes is smaller than in the product with a cosine near 1.
        less = -((tangent * cosine) ** 2) / (1 + cosine)
        less = jnp.concatenate([less, less])[:, None].astype(matrix.dtype)

        def turned(rows: Array) -> Array:
            return _seats(rows + (less * rows + sines * jnp.concatenate([rows[half:], rows[:half]])))

        change = tangent * length
        diagonal = _seats(jnp.concatenate([p - change, q + change]))
        # The second time on the columns, which are the conjugated rows of a Hermitian matrix.
        return diagonal, turned(turned(outside).conj().T) * others, turned(vectors)

    def unfinished(state: Any) -> Array:
        sweep, (_, outside, _) = state
        return (sweep < _MOST_SWEEPS) & (jnp.sqrt(jnp.sum(jnp.abs(outside) ** 2)) > limit)

    diagonal = jnp.diagonal(full).real
    # Rows are vectors, conjugated.
    start = (diagonal, full * (1 - jnp.eye(even, dtype=diagonal.dtype)), jnp.eye(even, dtype=full.dtype))
    _, (values, _, vectors) = lax.while_loop(
        unfinished,
        lambda state: (state[0] + 1, lax.fori_loop(0, even - 1, turn, state[1])),
        (jnp.int32(0), start),
    )
    return values[:size], vectors[:size, :size].conj().T


def eigh_jacobi(matrix: Array, *, lower: bool, sort_eigenvalues: bool) -> tuple[Array, Array]:
    """Returns eigenvectors [..., n, n] and eigenvalues [..., n] of matrices of which one triangle is given."""
    if matrix.shape[-1] == 0:
        return matrix, jnp.zeros(matrix.shape[:-1], matrix.real.dtype)
    # A scale keeps squares inside the range of floats.
    scale = jnp.max(jnp.abs(_hermitian(matrix, lower)), axis=(-2, -1), keepdims=True)
    scale = jnp.where((scale > 0) & jnp.isfinite(scale), scale, 1)
    values, vectors = _batched(_jacobi)(_hermitian(matrix, lower) / scale.astype(matrix.dtype))
    values = values * scale[..., 0]
    if sort_eigenvalues:
        order = jnp.argsort(values, axis=-1)
        values = jnp.take_along_axis(values, order, -1)
        vectors = jnp.take_along_axis(vectors, order[..., None, :], -1)
    return vectors, values


def _reflector(column: Array, place: Any) -> tuple[Array, Array, Array]:
    """The reflection I - tau v v* whose adjoint makes zeros of the elements of a column [m] after a place.

    Returns:
        v [m], which is 0 before the place and 1 there; tau; the element at the place afterwards.
    """
    rows = lax.broadcasted_iota(np.int32, column.shape, 0)
    first = jnp.sum(jnp.where(rows == place, column, 0))
    rest = jnp.where(rows > place, column, 0)
    norm = jnp.sqrt(jnp.sum(jnp.abs(rest) ** 2))
    length = jnp.sqrt(jnp.abs(first) ** 2 + norm**2)
    after = jnp.where(first.real > 0, -length, length)
    nothing = (norm == 0) & (first.imag == 0)
    safe = jnp.where(nothing, 1, after)
    tau = jnp.where(nothing, 0, (safe - first) / safe)
    v = rest / jnp.where(nothing, 1, first - safe) + (rows == place)
    return v, tau.astype(column.dtype), jnp.where(nothing, first, after.astype(column.dtype))


def _swapped(values: Array, i: Array, j: Array) -> Array:
    """Places i and j of the last dimension have changed places."""
    places = lax.broadcasted_iota(np.int32, values.shape[-1:], 0)
    order = jnp.where(places == i, j, jnp.where(places == j, i, places))
    return jnp.take(values, order, axis=-1)


def _factor(matrix: Array, pivots: Array | None) -> tuple[Array, ...]:
    """LAPACK's `geqrf`, and `geqp3` when pivots are given: R, with the reflectors below it, and their factors."""
    rows, columns = matrix.shape
    count = min(rows, columns)
    below = lax.broadcasted_iota(np.int32, (rows,), 0)
    places = lax.broadcasted_iota(np.int32, (columns,), 0)

    def step(k: Array, state: Any) -> Any:
        a, order, taus = state
        if pivots is not None:
            lengths = jnp.sum(jnp.where(below[:, None] >= k, jnp.abs(a) ** 2, 0), axis=0)
            largest = jnp.argmax(jnp.where(places >= k, lengths, -1)).astype(np.int32)
            a, order = _swapped(a, k, largest), _swapped(order, k, largest)
        column = jnp.sum(jnp.where(places == k, a, 0), axis=1)
        v, tau, after = _reflector(column, k)
        a = a - jnp.where(places > k, tau.conj() * v[:, None] * (v.conj() @ a), 0)
        column = jnp.where(below > k, v, jnp.where(below == k, after, column))
        a = jnp.where(places == k, column[:, None], a)
        return a, order, jnp.where(lax.broadcasted_iota(np.int32, taus.shape, 0) == k, tau, taus)

    start = (matrix, places + 1, jnp.zeros(count, matrix.dtype))
    a, order, taus = lax.fori_loop(0, count, step, start)
    return (a, taus) if pivots is None else (a, order.astype(pivots.dtype), taus)


def _product(reflectors: Array, taus: Array) -> Array:
    """LAPACK's `orgqr`: the first columns of the product of reflections."""
    rows, columns = reflectors.shape
    below = lax.broadcasted_iota(np.int32, (rows,), 0)
    places = lax.broadcasted_iota(np.int32, (columns,), 0)
    numbers = lax.broadcasted_iota(np.int32, taus.shape, 0)

    def step(i: Array, q: Array) -> Array:
        k = taus.shape[0] - 1 - i
        column = jnp.sum(jnp.where(places == k, reflectors, 0), axis=1)
        v = jnp.where(below > k, column, 0) + (below == k)
        return q - jnp.sum(jnp.where(numbers == k, taus, 0)) * v[:, None] * (v.conj() @ q)

    return lax.fori_loop(0, taus.shape[0], step, jnp.eye(rows, columns, dtype=reflectors.dtype))


def _hessenberg(matrix: Array) -> tuple[Array, Array]:
    """LAPACK's `gehrd`: a matrix of which what is below the first subdiagonal is zero, with the reflectors there."""
    size = matrix.shape[-1]
    places = lax.broadcasted_iota(np.int32, (size,), 0)

    def step(k: Array, state: Any) -> Any:
        a, taus = state
        column = jnp.sum(jnp.where(places == k, a, 0), axis=1)
        v, tau, after = _reflector(column, k + 1)
        a = a - jnp.where(places > k, tau.conj() * v[:, None] * (v.conj() @ a), 0)
        a = a - jnp.where(places > k, tau * (a @ v)[:, None] * v.conj(), 0)
        column = jnp.where(places > k + 1, v, jnp.where(places == k + 1, after, column))
        a = jnp.where(places == k, column[:, None], a)
        return a, jnp.where(lax.broadcasted_iota(np.int32, taus.shape, 0) == k, tau, taus)

    return lax.fori_loop(0, max(size - 1, 0), step, (matrix, jnp.zeros(max(size - 1, 0), matrix.dtype)))


def _tridiagonal(matrix: Array, *, lower: bool) -> tuple[Array, ...]:
    """LAPACK's `sytrd`: the same of a Hermitian matrix, whose upper triangle is then known."""
    if not lower:  # the rows and columns in reverse order, whose lower triangle is this upper one
        a, *others = _tridiagonal(matrix[::-1, ::-1], lower=True)
        return a[::-1, ::-1], *(other[::-1] for other in others)
    a, taus = _hessenberg(_hermitian(matrix, lower=True))
    below = lax.broadcasted_iota(np.int32, a.shape, 0) >= lax.broadcasted_iota(np.int32, a.shape, 1)
    return jnp.where(below, a, matrix), jnp.diagonal(a).real, jnp.diagonal(a, -1).real, taus


def _cholesky(matrix: Array) -> Array:
    """The lower triangular factor of a positive definite Hermitian matrix; NaN for another one."""
    size = matrix.shape[-1]
    places = lax.broadcasted_iota(np.int32, (size,), 0)

    def step(k: Array, factor: Array) -> Array:
        row = jnp.sum(jnp.where((places == k)[:, None], factor, 0), axis=0)
        row = jnp.where(places < k, row, 0)
        column = jnp.sum(jnp.where(places == k, matrix, 0), axis=1) - factor @ row.conj()
        pivot = jnp.sqrt(jnp.sum(jnp.where(places == k, column.real, 0)))
        return jnp.where(places == k, jnp.where(places >= k, column / pivot, 0)[:, None], factor)

    return lax.fori_loop(0, size, step, jnp.zeros_like(matrix))


def _triangular_solve(
    a: Array,
    b: Array,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> Array:
    if conjugate_a:
        a = a.conj()
    if transpose_a:
        a, lower = a.T, not lower
    if not left_side:
        a, b, lower = a.T, b.T, not lower
    size = a.shape[-1]
    places = lax.broadcasted_iota(np.int32, (size,), 0)

    def step(i: Array, x: Array) -> Array:
        k = i if lower else size - 1 - i
        known = (places < k) if lower else (places > k)
        row = jnp.sum(jnp.where((places == k)[:, None], a, 0), axis=0)
        value = jnp.sum(jnp.where((places == k)[:, None], b, 0), axis=0) - jnp.where(known, row, 0) @ x
        if not unit_diagonal:
            value = value / jnp.sum(jnp.where(places == k, row, 0))
        return jnp.where((places == k)[:, None], value, x)

    solved = lax.fori_loop(0, size, step, jnp.zeros_like(b))
    return solved if left_side else solved.T


def _reduce_prod(values: Array, *, axes: tuple[int, ...], **_: Any) -> Array:
    for axis in sorted(axes, reverse=True):
        values = jnp.moveaxis(values, axis, 0)
        while values.shape[0] > 1:
            half = values.shape[0] // 2
            values = jnp.concatenate([values[:half] * values[half : 2 * half], values[2 * half :]])
        values = values[0] if values.shape[0] else jnp.ones(values.shape[1:], values.dtype)
    return values


def _batched(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of a function of one matrix, one of batches in leading dimensions."""

    def of_batches(matrix: Array, *more: Array, **parameters: Any) -> Any:
        mapped = partial(function, **parameters)
        for _ in matrix.shape[:-2]:
            mapped = jax.vmap(mapped)
        return mapped(matrix, *more)

    return of_batches


def _lower_eigh(
    context: Any, operand: Any, *, lower: bool, sort_eigenvalues: bool, subset_by_index: Any, algorithm: Any
) -> Any:
    size = context.avals_in[0].shape[-1]
    parameters = {"lower": lower, "sort_eigenvalues": sort_eigenvalues, "subset_by_index": subset_by_index}
    if algorithm == linalg.EighImplementation.QR:
        return lower_eigh_by_qr(context, operand, **parameters)
    if algorithm == linalg.EighImplementation.QDWH:
        return rule(_eigh_qdwh_impl)(context, operand, **parameters)

    def function(matrix: Array) -> tuple[Array, Array]:
        vectors, values = eigh_jacobi(matrix, lower=lower, sort_eigenvalues=sort_eigenvalues)
        first, last = subset_by_index or (0, size)
        return vectors[..., first:last], values[..., first:last]

    return rule(function)(context, operand)


def _complex_only(function: Callable[..., Any], primitive: Any) -> Callable[..., Any]:
    """Real numbers have a form in the compiler, by JAX's own lowering."""
    known = mlir._lowerings[primitive].rule

    def lower(context: Any, *operands: Any, **parameters: Any) -> Any:
        if is_complex(context.avals_in[0]):
            return rule(function, multiple_results=len(context.avals_out) > 1)(context, *operands, **parameters)
        return known(context, *operands, **parameters)

    return lower


def _with_flags(lower: Callable[..., Any]) -> Callable[..., Any]:
    """Takes integers for booleans, as JAX's lowering for the CPU does, where all parameters are booleans."""

    def with_flags(context: Any, *operands: Any, **parameters: Any) -> Any:
        return lower(context, *operands, **{name: bool(value) for name, value in parameters.items()})

    return with_flags


def register(platform: str) -> None:
    """Gives JAX the lowerings; they are for programs that are lowered for the platform on any other one, too."""
    rules: dict[Any, Callable[..., Any]] = {
        linalg.eigh_p: _lower_eigh,
        linalg.geqp3_p: rule(_batched(lambda matrix, pivots, use_magma: _factor(matrix, pivots))),
        linalg.hessenberg_p: rule(_batched(_hessenberg)),
        linalg.tridiagonal_p: rule(_batched(_tridiagonal)),
        linalg.tridiagonal_solve_p: lower_tridiagonal_solve,
        linalg.geqrf_p: _complex_only(_batched(lambda matrix: _factor(matrix, None)), linalg.geqrf_p),
        linalg.householder_product_p: _complex_only(_batched(_product), linalg.householder_product_p),
        linalg.cholesky_p: _complex_only(_batched(_cholesky), linalg.cholesky_p),
        linalg.triangular_solve_p: _with_flags(_complex_only(_batched(_triangular_solve), linalg.triangular_solve_p)),
        lax.reduce_prod_p: _complex_only(_reduce_prod, lax.reduce_prod_p),
    }
    # JAX's own, which are functions as well.
    for primitive in vars(linalg).values():
        if isinstance(primitive, core.Primitive) and primitive in mlir._lowerings:
            rules.setdefault(primitive, mlir._lowerings[primitive].rule)
    for primitive, lower in rules.items():
        mlir.register_lowering(primitive, with_own_settings(lower), platform=platform)
