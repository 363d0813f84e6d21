# SPDX-License-Identifier: Apache-2.0
"""Factorizations of matrices and triangular systems: ops and calls of StableHLO, as programs of JAX have them, which
`stablehlo-to-ttir-pipeline` expands. Ops that are composed of these are in `composed/linear_algebra.py`.

PyTorch runs them in other types than f32, and of matrices without elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttmlir import ir
from ttmlir.dialects import stablehlo

import torch

from ..errors import UnsupportedError
from ..lowering import Lowering, Value, rule


def _matrices(*operands: Value) -> None:
    for x in operands:
        if x.dtype is not torch.float32 or not x.size:
            raise UnsupportedError(f"linear algebra of {x.dtype}{list(x.shape)}; expected float32, and elements")


def _call(g: Lowering, target: str, operands: Sequence[Value], results: Sequence[Any], **letters: str) -> list[Value]:
    """Calls a function of LAPACK or XLA with results of these shapes and dtypes. letters: arguments of LAPACK."""
    types = [g.type(shape, dtype) for shape, dtype in results]
    op = stablehlo.CustomCallOp(types, [x.ir for x in operands], target)
    if letters:
        byte = ir.IntegerType.get_unsigned(8, g.context)
        config = {name: ir.IntegerAttr.get(byte, ord(letter)) for name, letter in letters.items()}
        op.operation.attributes["mhlo.backend_config"] = ir.DictAttr.get(config, g.context)
    g.has_stablehlo = True
    return [Value(x, tuple(shape), dtype) for x, (shape, dtype) in zip(op.results, results, strict=True)]


@rule("linalg_cholesky_ex")
def cholesky(g: Lowering, x: Value, *, upper: bool = False, check_errors: bool = False) -> Any:
    _matrices(x)
    kinds = [(x.shape, x.dtype), (x.shape[:-2], torch.int32)]
    return tuple(_call(g, "lapack_spotrf_ffi", [x], kinds, uplo="U" if upper else "L"))


@rule("linalg_lu_factor_ex")
def lu_factor(g: Lowering, x: Value, *, pivot: bool = True, check_errors: bool = False) -> Any:
    if not pivot:
        raise UnsupportedError("an LU factorization without pivots")
    _matrices(x)
    kinds = [(x.shape, x.dtype), ((*x.shape[:-2], min(x.shape[-2:])), torch.int32), (x.shape[:-2], torch.int32)]
    return tuple(_call(g, "lapack_sgetrf_ffi", [x], kinds))


@rule("lu_unpack")
def permutation(g: Lowering, lu: Value, pivots: Value, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """Returns the permutation alone; both triangles are composed."""
    if unpack_data or not unpack_pivots:
        raise UnsupportedError("triangles of factors")
    _matrices(lu)
    rows = lu.shape[-2]
    return _call(g, "tt.permutation_of_pivots", [pivots], [((*lu.shape[:-2], rows, rows), lu.dtype)])[0], None, None


@rule("geqrf")
def geqrf(g: Lowering, x: Value) -> Any:
    _matrices(x)
    kinds = [(x.shape, x.dtype), ((*x.shape[:-2], min(x.shape[-2:])), x.dtype)]
    return tuple(_call(g, "Qr", [x], kinds))


@rule("linalg_householder_product")
def householder_product(g: Lowering, x: Value, tau: Value) -> Value:
    _matrices(x, tau)
    return _call(g, "ProductOfElementaryHouseholderReflectors", [x, tau], [(x.shape, x.dtype)])[0]


@rule("_linalg_eigh")
def eigh(g: Lowering, x: Value, uplo: str = "L", compute_v: bool = True) -> Any:
    _matrices(x)
    kinds = [(x.shape, x.dtype), (x.shape[:-1], x.dtype), (x.shape[:-2], torch.int32)]
    vectors, values, _ = _call(g, "lapack_ssyevd_ffi", [x], kinds, uplo=uplo.upper(), mode="V")
    return values, vectors if compute_v else None


@rule("_linalg_svd")
def svd(
    g: Lowering, x: Value, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> Any:
    _matrices(x)
    *batch, rows, columns = x.shape
    count = min(rows, columns)
    left, right = (rows, columns) if full_matrices else (count, count)
    kinds = [
        (x.shape, x.dtype), ((*batch, count), x.dtype), ((*batch, rows, left), x.dtype),
        ((*batch, right, columns), x.dtype), (batch, torch.int32),
    ]  # fmt: skip
    mode = "N" if not compute_uv else "A" if full_matrices else "S"
    _, values, u, v, _ = _call(g, "lapack_sgesdd_ffi", [x], kinds, mode=mode)
    return (u, values, v) if compute_uv else (None, values, None)


@rule("linalg_solve_triangular")
def solve_triangular(
    g: Lowering, a: Value, b: Value, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Value:
    _matrices(a, b)
    batch = g.out().shape[:-2]
    a, b = (g.expand(x, (*batch, *x.shape[-2:])) for x in (a, b))
    g.has_stablehlo = True
    none = ir.Attribute.parse("#stablehlo<transpose NO_TRANSPOSE>", g.context)
    kind = g.type(b.shape, b.dtype)
    return g.value(stablehlo.triangular_solve(kind, a.ir, b.ir, left, not upper, unitriangular, none), b.dtype)
