# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues and Schur forms of matrices that are not symmetric, by LAPACK on the host.

Their algorithms take one small step after another, and no step is work for a chip. A program that asks for them calls
the host in its middle, as it calls functions of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax._src.interpreters import mlir
from jax._src.lax import linalg

from .rules import rule


def _each(function: Callable[[np.ndarray], Sequence[np.ndarray]], matrices: Any, results: Sequence[Any]) -> Any:
    """Applies `function` to every matrix; NaN for a matrix without a result."""
    given = np.asarray(matrices)
    nothing = {"c": complex(np.nan, np.nan), "f": np.nan}
    created = [np.full(result.shape, nothing[result.dtype.kind], result.dtype) for result in results]
    for place in np.ndindex(*given.shape[:-2]):
        if not given.shape[-1] or not np.isfinite(given[place]).all():
            continue
        try:
            values = function(given[place])
        except np.linalg.LinAlgError:
            continue
        for array, value in zip(created, values, strict=True):
            array[place] = value
    return created


def _call(context: Any, matrices: Any, function: Callable[[np.ndarray], Sequence[np.ndarray]]) -> Any:
    shapes = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in context.avals_out]

    def lapack(given: Any) -> Any:
        return _each(function, given, shapes)

    return rule(lambda given: jax.pure_callback(lapack, shapes, given))(context, matrices)


def lower_eig(
    context: Any, matrices: Any, *, compute_left_eigenvectors: bool, compute_right_eigenvectors: bool, **_: Any
) -> Any:
    left, right = compute_left_eigenvectors, compute_right_eigenvectors

    def eig(matrix: np.ndarray) -> Sequence[np.ndarray]:
        import scipy.linalg

        found = scipy.linalg.eig(matrix, left=left, right=right, check_finite=False)
        return found if left or right else [found]

    return _call(context, matrices, eig)


def lower_eigh_by_qr(
    context: Any, matrices: Any, *, lower: bool, sort_eigenvalues: bool, subset_by_index: tuple[int, int] | None
) -> Any:
    """Returns eigenvectors and eigenvalues of symmetric matrices; LAPACK always sorts."""
    first, last = subset_by_index or (0, context.avals_in[0].shape[-1])

    def eigh(matrix: np.ndarray) -> Sequence[np.ndarray]:
        import scipy.linalg

        values, vectors = scipy.linalg.eigh(matrix, lower=lower, check_finite=False)
        return [vectors[:, first:last], values[first:last]]

    return _call(context, matrices, eigh)


def lower_schur(context: Any, matrices: Any, *, compute_schur_vectors: bool, sort_eig_vals: bool, **_: Any) -> Any:
    if sort_eig_vals:
        raise NotImplementedError("jax.lax.linalg.schur: sort_eig_vals is True; expected False, as on JAX's CPU")

    def schur(matrix: np.ndarray) -> Sequence[np.ndarray]:
        import scipy.linalg

        form, vectors = scipy.linalg.schur(
            matrix, output="complex" if np.iscomplexobj(matrix) else "real", check_finite=False
        )
        return [form, vectors] if compute_schur_vectors else [form]

    return _call(context, matrices, schur)


def register(platform: str) -> None:
    mlir.register_lowering(linalg.eig_p, lower_eig, platform=platform)
    mlir.register_lowering(linalg.schur_p, lower_schur, platform=platform)
