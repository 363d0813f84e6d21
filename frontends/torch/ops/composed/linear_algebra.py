# SPDX-License-Identifier: Apache-2.0
"""Triangular systems."""

from __future__ import annotations

from typing import Any

import torch

from .registry import composed

# Rows up to which a system is taken apart: two ops for each.
MOST_ROWS = 128


@composed("aten::linalg_solve_triangular")
def solve_triangular(
    a: torch.Tensor, b: torch.Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    if a.dtype is not torch.float32 or not 0 < a.shape[-1] <= MOST_ROWS or not b.numel():
        return NotImplemented
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])
    if not left:
        return _solved(a.mT, b.mT, not upper, unitriangular).mT
    return _solved(a, b, upper, unitriangular)


def _solved(a: torch.Tensor, b: torch.Tensor, upper: bool, unit: bool) -> torch.Tensor:
    """By halves: one half of the unknowns, and then the other without what the first one gives."""
    n = a.shape[-1]
    if n == 1:
        return b if unit else b / a
    half = n // 2
    first, second = slice(0, half), slice(half, n)
    if upper:
        first, second = second, first
    one = _solved(a[..., first, first], b[..., first, :], upper, unit)
    two = _solved(a[..., second, second], b[..., second, :] - a[..., second, first] @ one, upper, unit)
    return torch.cat([two, one] if upper else [one, two], -2)
