# SPDX-License-Identifier: Apache-2.0
"""Lowerings of linear algebra for the platform `tt`: the calls that JAX writes for the CPU, which the compiler expands.

Functions that JAX composes of others, such as singular values, keep its own lowerings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from jax._src import core
from jax._src.interpreters import mlir
from jax._src.lax import lax, linalg
from jax._src.tpu.linalg.eigh import _eigh_qdwh_impl

from .host_linalg import lower_eigh_by_qr
from .rules import rule, with_own_settings


def _lower_eigh(
    context: Any, operand: Any, *, lower: bool, sort_eigenvalues: bool, subset_by_index: Any, algorithm: Any
) -> Any:
    parameters = {"lower": lower, "sort_eigenvalues": sort_eigenvalues, "subset_by_index": subset_by_index}
    if algorithm == linalg.EighImplementation.QR:
        return lower_eigh_by_qr(context, operand, **parameters)
    if algorithm == linalg.EighImplementation.QDWH:
        return rule(_eigh_qdwh_impl)(context, operand, **parameters)

    def function(matrix: Any) -> Any:
        all_of_them = {**parameters, "subset_by_index": None, "algorithm": None}
        first, last = subset_by_index or (0, matrix.shape[-1])
        return [x[..., first:last] for x in linalg.eigh_p.bind(matrix, **all_of_them)]

    if subset_by_index not in (None, (0, context.avals_in[0].shape[-1])):
        return rule(function)(context, operand)
    return linalg._eigh_cpu_gpu_lowering(
        context, operand, **{**parameters, "subset_by_index": None}, algorithm=None, target_name_prefix="cpu"
    )


def _lower_tridiagonal_solve(context: Any, *operands: Any, perturb_singular: bool) -> Any:
    lower = linalg._tridiagonal_solve_cpu_lowering if perturb_singular else _own_tridiagonal_solve
    return lower(context, *operands, perturb_singular=perturb_singular)


_own_tridiagonal_solve = mlir._lowerings[linalg.tridiagonal_solve_p].rule


def _with_flags(lower: Callable[..., Any]) -> Callable[..., Any]:
    """Takes integers for booleans, as JAX's lowering for the CPU does, where all parameters are booleans."""

    def with_flags(context: Any, *operands: Any, **parameters: Any) -> Any:
        return lower(context, *operands, **{name: bool(value) for name, value in parameters.items()})

    return with_flags


def register(platform: str) -> None:
    """Gives JAX the lowerings; they are for programs that are lowered for the platform on any other one, too."""
    rules: dict[Any, Callable[..., Any]] = {
        linalg.eigh_p: _lower_eigh,
        linalg.geqp3_p: partial(linalg._geqp3_cpu_gpu_lowering, target_name_prefix="cpu"),
        linalg.hessenberg_p: linalg._hessenberg_cpu_lowering,
        linalg.tridiagonal_p: partial(linalg._tridiagonal_cpu_gpu_lowering, target_name_prefix="cpu"),
        linalg.tridiagonal_solve_p: _lower_tridiagonal_solve,
        linalg.triangular_solve_p: _with_flags(mlir._lowerings[linalg.triangular_solve_p].rule),
        lax.reduce_prod_p: mlir._lowerings[lax.reduce_prod_p].rule,
    }
    # JAX's own, which are functions as well.
    for primitive in vars(linalg).values():
        if isinstance(primitive, core.Primitive) and primitive in mlir._lowerings:
            rules.setdefault(primitive, mlir._lowerings[primitive].rule)
    for primitive, lower in rules.items():
        mlir.register_lowering(primitive, with_own_settings(lower), platform=platform)
