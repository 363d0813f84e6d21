# SPDX-License-Identifier: Apache-2.0
"""Linear algebra by factorizations and triangular systems."""

from __future__ import annotations

from typing import Any

import torch
from torch.linalg import solve_triangular

from .registry import composed

aten = torch.ops.aten


def _are_known(*operands: torch.Tensor) -> bool:
    return all(x.dtype is torch.float32 and x.numel() > 0 for x in operands)


def _factored(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both factors and the exchanged rows, of the transposed matrix where PyTorch's derivatives of determinants expect
    it."""
    lu, pivots, _ = aten.linalg_lu_factor_ex(a.mT if a.is_contiguous() else a)
    return lu, pivots


def _signs(lu: torch.Tensor, pivots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the pivots, and the sign of the exchanges of rows."""
    places = torch.arange(1, pivots.shape[-1] + 1, device=pivots.device)
    exchanges = (pivots != places).sum(-1) % 2
    return lu.diagonal(dim1=-2, dim2=-1), 1 - 2 * exchanges.to(lu.dtype)


@composed("aten::_linalg_det")
def det(a: torch.Tensor) -> Any:
    if not _are_known(a):
        return NotImplemented
    lu, pivots = _factored(a)
    diagonal, sign = _signs(lu, pivots)
    return diagonal.prod(-1) * sign, lu, pivots


@composed("aten::_linalg_slogdet")
def slogdet(a: torch.Tensor) -> Any:
    if not _are_known(a):
        return NotImplemented
    lu, pivots = _factored(a)
    diagonal, sign = _signs(lu, pivots)
    return diagonal.sign().prod(-1) * sign, diagonal.abs().log().sum(-1), lu, pivots


@composed("aten::linalg_lu_solve")
def lu_solve(
    lu: torch.Tensor, pivots: torch.Tensor, b: torch.Tensor, *, left: bool = True, adjoint: bool = False
) -> Any:
    if not _are_known(lu, b):
        return NotImplemented
    if not left:  # x a = b is a' x' = b'
        return lu_solve(lu, pivots, b.mT, adjoint=not adjoint).mT
    batch = torch.broadcast_shapes(lu.shape[:-2], b.shape[:-2])
    permutation = aten.lu_unpack(lu, pivots, False)[0]
    lu, permutation, b = (x.expand(*batch, *x.shape[-2:]) for x in (lu, permutation, b))
    if adjoint:
        y = solve_triangular(lu.mT, b, upper=False)
        return permutation @ solve_triangular(lu.mT, y, upper=True, unitriangular=True)
    y = solve_triangular(lu, permutation.mT @ b, upper=False, unitriangular=True)
    return solve_triangular(lu, y, upper=True)


@composed("aten::_linalg_solve_ex")
def solve_ex(a: torch.Tensor, b: torch.Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    if not _are_known(a, b):
        return NotImplemented
    lu, pivots, info = aten.linalg_lu_factor_ex(a)
    is_vector = b.dim() == 1 or (b.dim() == a.dim() - 1 and b.shape == a.shape[:-1])
    result = lu_solve(lu, pivots, b.unsqueeze(-1) if is_vector else b, left=left or is_vector)
    return result.squeeze(-1) if is_vector else result, lu, pivots, info


@composed("aten::linalg_inv_ex")
def inv_ex(a: torch.Tensor, *, check_errors: bool = False) -> Any:
    if not _are_known(a):
        return NotImplemented
    lu, pivots, info = aten.linalg_lu_factor_ex(a)
    eye = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    return lu_solve(lu, pivots, eye.expand(a.shape)), info


@composed("aten::lu_unpack")
def lu_unpack(lu: torch.Tensor, pivots: torch.Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    if not _are_known(lu) or not unpack_data:
        return NotImplemented
    rows, columns = lu.shape[-2:]
    count = min(rows, columns)
    p = aten.lu_unpack(lu, pivots, False)[0] if unpack_pivots else lu.new_zeros(0)
    lower = lu[..., :count].tril(-1) + torch.eye(rows, count, dtype=lu.dtype, device=lu.device)
    return p, lower, lu[..., :count, :].triu()


@composed("aten::linalg_lu")
def lu(a: torch.Tensor, *, pivot: bool = True) -> Any:
    if not pivot or not _are_known(a):
        return NotImplemented
    factors, pivots, _ = aten.linalg_lu_factor_ex(a)
    return lu_unpack(factors, pivots)


@composed("aten::linalg_qr")
def qr(a: torch.Tensor, mode: str = "reduced") -> Any:
    if not _are_known(a):
        return NotImplemented
    rows, columns = a.shape[-2:]
    reflectors, tau = aten.geqrf(a)
    count = rows if mode == "complete" else min(rows, columns)
    upper = reflectors[..., :count, :].triu()
    if mode == "r":
        return a.new_zeros(0), upper
    reflectors = reflectors[..., : min(count, columns)]
    if count > columns:
        reflectors = torch.nn.functional.pad(reflectors, (0, count - columns))
    return aten.linalg_householder_product(reflectors, tau), upper


@composed("aten::cholesky_solve")
def cholesky_solve(b: torch.Tensor, factor: torch.Tensor, upper: bool = False) -> Any:
    if not _are_known(b, factor):
        return NotImplemented
    y = solve_triangular(factor.mT if upper else factor, b, upper=False)
    return solve_triangular(factor if upper else factor.mT, y, upper=True)


@composed("aten::cholesky_inverse")
def cholesky_inverse(factor: torch.Tensor, upper: bool = False) -> Any:
    if not _are_known(factor):
        return NotImplemented
    return cholesky_solve(torch.eye(factor.shape[-1], dtype=factor.dtype).expand(factor.shape), factor, upper)


@composed("aten::linalg_pinv.atol_rtol_tensor")
def pinv(
    a: torch.Tensor, *, atol: torch.Tensor | None = None, rtol: torch.Tensor | None = None, hermitian: bool = False
) -> Any:
    if not _are_known(a) or hermitian:
        return NotImplemented
    u, values, v = aten._linalg_svd(a)
    least = values.new_zeros(()) if atol is None else atol
    if rtol is None:
        rtol = values.new_full((), max(a.shape[-2:]) * torch.finfo(a.dtype).eps)
        rtol = rtol if atol is None else torch.where(atol > 0, values.new_zeros(()), rtol)
    least = torch.maximum(least.unsqueeze(-1), rtol.unsqueeze(-1) * values.amax(-1, keepdim=True))
    inverse = torch.where(values > least, 1 / values, torch.zeros_like(values))
    return (v.mT * inverse.unsqueeze(-2)) @ u.mT
