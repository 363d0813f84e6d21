# SPDX-License-Identifier: Apache-2.0
"""Cumulative ops, by doubling: after each turn an element knows twice as many of those before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from .registry import composed, wide

Combine = Callable[[Sequence[torch.Tensor], Sequence[torch.Tensor]], Sequence[torch.Tensor]]


def scan(values: Sequence[torch.Tensor], dim: int, combine: Combine) -> Sequence[torch.Tensor]:
    """Returns the prefixes of an associative function of (earlier, later), along a dimension of equally long
    tensors."""
    size, distance = values[0].shape[dim], 1
    while distance < size:
        earlier = [x.narrow(dim, 0, size - distance) for x in values]
        later = [x.narrow(dim, distance, size - distance) for x in values]
        found = combine(earlier, later)
        values = [torch.cat([x.narrow(dim, 0, distance), y], dim) for x, y in zip(values, found, strict=True)]
        distance *= 2
    return values


def _extremes(x: torch.Tensor, dim: int, wins: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> tuple[
    torch.Tensor, torch.Tensor
]:  # fmt: skip
    """Returns running extremes and their places: the last of equal ones, and NaN above all."""
    if not x.dim():
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    dim %= x.dim()
    shape = [1] * x.dim()
    shape[dim] = -1
    places = torch.arange(x.shape[dim], device=x.device).reshape(shape).expand(x.shape)

    def combine(earlier: Sequence[torch.Tensor], later: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        (before, _), (value, _) = earlier, later
        take = wins(value, before)
        if x.is_floating_point():
            take = value.isnan() | (take & ~before.isnan())
        return [torch.where(take, y, z) for y, z in zip(later, earlier, strict=True)]

    values, found = scan([x.int() if x.dtype is torch.bool else x, places], dim, combine)
    return values.to(x.dtype), found


@composed("aten::cummax")
def cummax(x: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    return _extremes(x, dim, torch.ge)


@composed("aten::cummin")
def cummin(x: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    return _extremes(x, dim, torch.le)


@composed("aten::logcumsumexp", "aten::_logcumsumexp")
def logcumsumexp(x: torch.Tensor, dim: int) -> torch.Tensor:
    if not x.is_floating_point():
        return NotImplemented
    if not x.dim():
        return x.clone()

    def combine(earlier: Sequence[torch.Tensor], later: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        high, low = torch.maximum(earlier[0], later[0]), torch.minimum(earlier[0], later[0])
        total = high + torch.log1p(torch.exp(low - high))
        return [torch.where((high == low) & high.isinf(), high, total)]

    return scan([wide(x)], dim % x.dim(), combine)[0].to(x.dtype)
