# SPDX-License-Identifier: Apache-2.0
"""More rows: what is left of jax.numpy. See jax_functions.py."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax_functions import A, B, I, J, P, Row, U, X, Y, binary, main, normal, unary

C, E = "contraction", "exact"
V = normal(8)
F = np.array([1.0, np.nan, -2.0, np.nan, 0.5, 3.0], np.float32)
Z = np.array([3 + 1j, -1 - 2j, 3 + 0j, 0j, -1 + 2j], np.complex64)
SORTED = np.sort(I.ravel())
SMALL = normal(2, 3)

ROWS: list[Row] = [
    *unary(jnp, "absolute acosh arccosh", P + 1.2),
    *unary(jnp, "asinh conjugate around unwrap", X),
    *unary(jnp, "atanh rad2deg", P),
    *unary(jnp, "amax amin", X, E),
    *unary(jnp, "atleast_1d atleast_3d iscomplex isreal ones_like zeros_like matrix_transpose", X, E),
    *unary(jnp, "sort_complex", V, E),
    *unary(jnp, "bitwise_invert bitwise_not invert logical_not", I, E),
    *binary(jnp, "atan2 allclose array_equiv subtract", X, Y),
    *binary(jnp, "pow", P, X),
    *binary(jnp, "bitwise_left_shift bitwise_right_shift right_shift", abs(I), abs(J) % 5, E),
    *binary(jnp, "bitwise_left_shift right_shift", U, U % 7, E),
    *binary(jnp, "less_equal", I, J, E),
    *unary(jnp, "nancumsum nancumprod nanprod nanvar nanmedian", F, C),
    *unary(jnp, "nanargmax nanargmin", F, E),
    *unary(jnp, "cumulative_sum cumulative_prod", V, C),
    *unary(jnp, "poly polyder polyint", V[:4], C),
    *binary(jnp, "polyadd polysub polymul", V, V[:3], C),
    Row("jnp.polydiv", lambda u, v: jnp.polydiv(u, v), [V, V[:3] + 2], C),
    *unary(jnp, "frexp modf spacing", V),
    Row("jnp.ldexp", jnp.ldexp, [X, I]),
    Row("jnp.nanpercentile", lambda x: jnp.nanpercentile(x, 40), [F], C),
    Row("jnp.nanquantile", lambda x: jnp.nanquantile(x, 0.4), [F], C),
    Row("jnp.apply_over_axes", lambda x: jnp.apply_over_axes(jnp.sum, x, [0]), [X], C),
    Row("jnp.argwhere", lambda x: jnp.argwhere(x > 0, size=5), [X], E),
    Row("jnp.flatnonzero", lambda x: jnp.flatnonzero(x > 0, size=5), [X], E),
    *[Row(f"jnp.{name}", lambda name=name: getattr(jnp, name)(9), [], C)
      for name in ["bartlett", "blackman", "hamming", "hanning", "identity"]],
    Row("jnp.kaiser", lambda: jnp.kaiser(9, 8.6), [], C),
    Row("jnp.broadcast_arrays", jnp.broadcast_arrays, [X, X[0]], E),
    Row("jnp.choose", lambda i: jnp.choose(i, [10, 20, 30], mode="wrap"), [abs(I)], E),
    Row("jnp.column_stack", lambda v: jnp.column_stack((v, v)), [V], E),
    Row("jnp.compress", lambda x: jnp.compress(np.array([True, False, True, True]), x, axis=0, size=3), [X], E),
    Row("jnp.diag_indices", lambda x: x.at[jnp.diag_indices(4)].set(0), [X], E),
    Row("jnp.diag_indices_from", lambda x: x[jnp.diag_indices_from(x)], [normal(4, 4)], E),
    Row("jnp.dsplit", lambda x: jnp.dsplit(x, 2), [normal(2, 3, 4)], E),
    Row("jnp.hsplit", lambda x: jnp.hsplit(x, 3), [X], E),
    Row("jnp.vsplit", lambda x: jnp.vsplit(x, 2), [X], E),
    Row("jnp.dstack", lambda x, y: jnp.dstack((x, y)), [X, Y], E),
    Row("jnp.hstack", lambda x, y: jnp.hstack((x, y)), [X, Y], E),
    Row("jnp.vstack", lambda x, y: jnp.vstack((x, y)), [X, Y], E),
    Row("jnp.expand_dims", lambda x: jnp.expand_dims(x, (0, 3)), [X], E),
    Row("jnp.extract", lambda x: jnp.extract(x > 0, x, size=6), [X], E),
    Row("jnp.full", lambda: (jnp.full((2, 3), 1.5), jnp.full_like(I, 3), jnp.empty_like(X).shape[0]), [], E),
    Row("jnp.fromfunction", lambda: jnp.fromfunction(lambda i, j: i * 10 + j, (3, 4)), [], E),
    Row("jnp.frompyfunc", lambda x, y: jnp.frompyfunc(lambda a, b: a * b + 1, 2, 1, identity=0)(x, y), [X, Y]),
    Row("jnp.ufunc methods", lambda x, y: (jnp.add.reduce(x), jnp.multiply.accumulate(x), jnp.add.outer(x[0], y[0]),
                                           jnp.maximum.reduceat(x[0], np.array([0, 2]))), [X, Y], C),
    Row("jnp.geomspace", lambda: jnp.geomspace(1, 1000, 7), []),
    Row("jnp.logspace", lambda: jnp.logspace(0, 2, 5), []),
    Row("jnp.histogram2d", lambda x, y: jnp.histogram2d(x, y, bins=3), [V, V[::-1].copy()], C),
    Row("jnp.histogramdd", lambda x: jnp.histogramdd(x, bins=2)[0], [normal(9, 2)], C),
    Row("jnp.histogram_bin_edges", lambda x: jnp.histogram_bin_edges(x, 4), [V], C),
    Row("jnp.indices", lambda: jnp.indices((2, 3)), [], E),
    Row("jnp.ix_", lambda x: x[jnp.ix_(np.array([0, 2]), np.array([1, 5, 3]))], [X], E),
    Row("jnp.mask_indices", lambda x: x[jnp.mask_indices(4, jnp.triu, size=10)], [normal(4, 4)], E),
    Row("jnp.matvec", jnp.matvec, [A, normal(7)], C),
    Row("jnp.vecmat", jnp.vecmat, [normal(5), A], C),
    Row("jnp.vecdot", jnp.vecdot, [X, Y], C),
    Row("jnp.tensordot", lambda a, b: jnp.tensordot(a, b, 1), [A, B], C),
    Row("jnp.moveaxis", lambda x: jnp.moveaxis(x, 0, -1), [normal(2, 3, 4)], E),
    Row("jnp.rollaxis", lambda x: jnp.rollaxis(x, 2), [normal(2, 3, 4)], E),
    Row("jnp.swapaxes", lambda x: jnp.swapaxes(x, 0, 2), [normal(2, 3, 4)], E),
    Row("jnp.packbits", jnp.packbits, [I > 0], E),
    Row("jnp.unpackbits", jnp.unpackbits, [np.uint8([3, 200, 17])], E),
    Row("jnp.place", lambda x: jnp.place(x, x > 0, V[:3], inplace=False), [X], E),
    Row("jnp.put", lambda x: jnp.put(x, np.array([0, 5, 2]), V[:3], inplace=False), [X], E),
    Row("jnp.ravel_multi_index", lambda i: jnp.ravel_multi_index((i[0] % 3, i[1] % 4), (3, 4), mode="wrap"),
        [abs(I)], E),
    Row("jnp.unravel_index", lambda i: jnp.unravel_index(i, (4, 5)), [abs(I)], E),
    Row("jnp.tri", lambda: jnp.tri(3, 4, 1), [], E),
    Row("jnp.tril_indices", lambda x: x[jnp.tril_indices(4)], [X], E),
    Row("jnp.triu_indices_from", lambda x: x[jnp.triu_indices_from(x)], [X], E),
    Row("jnp.unique all", lambda i: jnp.unique(i, return_index=True, return_inverse=True, return_counts=True, size=20),
        [I], E),
    *[Row(f"jnp.{name}", lambda i, name=name: getattr(jnp, name)(i, size=20), [I], E)
      for name in ["unique_all", "unique_counts", "unique_inverse", "unique_values"]],
    *[Row(f"jnp.{name}", lambda i, j, name=name: getattr(jnp, name)(i, j, size=20), [I.ravel(), J.ravel()], E)
      for name in ["union1d", "intersect1d", "setdiff1d", "setxor1d"]],
    Row("jnp.unstack", jnp.unstack, [X], E),
    Row("jnp.vectorize", lambda a, b: jnp.vectorize(jnp.dot, signature="(n,m),(m)->(n)")(a, b),
        [normal(2, 3, 4), normal(4)], C),
    Row("jnp.sort_complex", jnp.sort_complex, [Z], E),
    Row("jnp.sort of complex", jnp.sort, [Z], E),
    Row("jnp.abs and angle of complex", lambda z: (jnp.abs(z), jnp.angle(z), z.real, z.imag), [Z], C),
    *[Row(f"jnp.{name} complex", getattr(jnp, name), [Z + 0.3], C) for name in (
        "exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh",
        "square", "reciprocal", "mean", "sum", "cumsum", "arcsin", "arctan", "log1p", "expm1", "sign")],
    *[Row(f"jnp.{name} complex", getattr(jnp, name), [Z], C) for name in ("prod", "cumprod", "max", "min")],
    Row("at multiply complex", lambda z: z.at[np.array([1, 3, 1])].multiply(np.complex64(1 - 2j)), [Z], C),
    Row("at multiply complex, of a batch", jax.vmap(
        lambda z, i, u: z.at[i].multiply(u)), [np.stack([Z, Z + 1]), np.array([[1, 3, 1], [0, 0, -1]]),
                                               np.stack([Z[:3], Z[1:4]])], C),
    Row("at multiply complex rows, of a batch", jax.vmap(
        lambda z, i: z.at[i].multiply(z[0]), in_axes=(2, 0)), [np.arange(24).reshape(3, 4, 2) * (1 + 0.1j),
                                                               np.array([2, 1])], C),
    Row("jnp.power complex", jnp.power, [Z + 0.3, Z], C),
    Row("jnp.divide complex", jnp.divide, [Z, Z + 1.5], C),
    Row("jnp.matmul complex", lambda z: z[:, None] @ z[None].conj(), [Z], C),
    Row("jnp.max of two axes", lambda x: jnp.max(x, axis=(0, 2), where=x > -1, initial=-9.0), [normal(2, 3, 4)], E),
    Row("jnp.mean where", lambda x: jnp.mean(x, where=x > 0), [X], C),
    Row("jnp.argmax keepdims", lambda x: jnp.argmax(x, axis=1, keepdims=True), [X], E),
    Row("jnp.argsort stable descending", lambda i: jnp.argsort(i, axis=1, stable=True, descending=True), [I], E),
    Row("jnp.searchsorted right", lambda s, i: jnp.searchsorted(s, i, side="right"), [SORTED, I], E),
    Row("jnp.searchsorted compare_all", lambda s, i: jnp.searchsorted(s, i, method="compare_all"), [SORTED, I], E),
    Row("jnp.cov weighted", lambda x: jnp.cov(x, aweights=jnp.arange(1.0, 7.0)), [X], C),
    Row("jnp.average weighted", lambda x: jnp.average(x, axis=1, weights=jnp.arange(1.0, 7.0)), [X], C),
    Row("jnp.einsum of three", lambda a, b, c: jnp.einsum("ij,jk,kl->il", a, b, c), [A, B, normal(9, 2)], C),
    Row("jnp.einsum trace", lambda a: jnp.einsum("ii", a), [normal(4, 4)], C),
    Row("jnp.einsum diagonal", lambda a: jnp.einsum("ii->i", a), [normal(4, 4)], E),
    Row("jnp.tile and repeat with counts", lambda x: jnp.repeat(x, np.array([2, 0, 3, 1]), axis=0), [X], E),
    *[Row(f"jnp.pad {mode}", lambda x, mode=mode: jnp.pad(x, ((2, 1), (1, 3)), mode=mode), [X], C)
      for mode in ["edge", "symmetric", "wrap", "linear_ramp", "mean", "maximum", "minimum", "median"]],
    Row("jnp.cross of two dimensions", lambda x, y: jnp.cross(x, y), [SMALL, normal(2, 3, seed=4)], C),
    Row("jnp.float power of integers", lambda i, j: i.astype(float) ** (j % 4), [I, J], C),
    Row("jnp.integer power", lambda i: i ** jnp.array([0, 1, 2, 3, 4, 5]), [I], E),
    Row("jnp.right shift of i8", jnp.right_shift, [np.int8([-100, 100, 7]), np.int8([1, 2, 3])], E),
    Row("jnp.nan_to_num", lambda x: jnp.nan_to_num(x, nan=7.0, posinf=1.0, neginf=-1.0),
        [np.float32([np.nan, np.inf, -np.inf, 2])], E),
    Row("x.at apply", lambda x: x.at[0].apply(jnp.sin), [X]),
    Row("x.at apply many times", lambda x: x.at[jnp.array([1, 1, 3, 1, 9, -1])].apply(lambda v: v * v - 1), [X]),
    Row("x.at apply to unique elements", lambda x: x.at[jnp.array([0, 2]), jnp.array([5, 1])].apply(
        lambda v: jnp.where(v > 0, jnp.tanh(v), -v), unique_indices=True), [X]),
    Row("x.at apply to integers", lambda i: i.at[1:3, ::2].apply(lambda v: v * 3 + 1), [I], E),
    Row("lax.reduce with a call", lambda x: jax.lax.reduce(
        x, jnp.float32(-9), lambda a, b: jnp.where(a > b, a, b), (1,)), [X], E),
    Row("lax.reduce_window with a call", lambda x: jax.lax.reduce_window(
        x, jnp.float32(9), lambda a, b: jnp.where(a < b, a, b), (2, 2), (1, 1), "SAME"), [X], E),
    Row("x.at apply nowhere", lambda x: x.at[jnp.zeros(0, int)].apply(jnp.sin), [X], E),
    Row("x.at divide and power", lambda x: (x.at[1].divide(2.0), x.at[0].power(2.0)), [X], C),
    Row("x.at subtract", lambda x, i: x.at[i].subtract(1.5), [X, np.array([0, 0, 2])], C),
    Row("x.at get fill", lambda x, i: x.at[i].get(mode="fill", fill_value=-1.0), [X, np.array([0, 9])], E),
    Row("x.at set drop", lambda x, i: x.at[i].set(5.0, mode="drop"), [X, np.array([0, 9])], E),
    Row("x[mask] = ", lambda x: x.at[X < -1].set(3.0), [X], E),
]  # fmt: skip


if __name__ == "__main__":
    main(ROWS)
