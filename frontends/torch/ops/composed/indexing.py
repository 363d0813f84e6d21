# SPDX-License-Identifier: Apache-2.0
"""Ops that write where others say, counts, and places in sorted tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .registry import composed


@composed("aten::index_reduce")
def index_reduce(
    x: torch.Tensor, dim: int, index: torch.Tensor, source: torch.Tensor, reduce: str, *, include_self: bool = True
) -> Any:
    if not x.dim() or index.dtype not in (torch.int32, torch.int64) or source.dtype is not x.dtype:
        return NotImplemented  # PyTorch's kernel refuses other types
    shape = [1] * x.dim()
    shape[dim] = -1
    return x.scatter_reduce(
        dim, index.long().reshape(shape).expand(source.shape), source, reduce, include_self=include_self
    )


@composed("aten::put")
def put(x: torch.Tensor, index: torch.Tensor, source: torch.Tensor, accumulate: bool = False) -> Any:
    if index.dtype is not torch.int64 or source.dtype is not x.dtype or index.numel() != source.numel():
        return NotImplemented  # PyTorch's kernel refuses them
    return x.flatten().index_put((index.flatten(),), source.flatten(), accumulate).reshape(x.shape)


@composed("aten::masked_scatter")
def masked_scatter(x: torch.Tensor, mask: torch.Tensor, source: torch.Tensor) -> Any:
    if not source.numel():
        return NotImplemented
    x, mask = torch.broadcast_tensors(x, mask)
    places = mask.flatten().long().cumsum(0) - 1
    taken = source.flatten()[places.clamp(0, source.numel() - 1)].reshape(x.shape)
    return torch.where(mask, taken, x)


@composed("aten::masked_scatter_backward")
def masked_scatter_backward(grad: torch.Tensor, mask: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    result = grad.new_empty(sizes)
    count = result.numel()
    mask = mask.expand(grad.shape).flatten()
    places = torch.where(mask, mask.long().cumsum(0) - 1, count)  # others are written behind the end
    return grad.new_zeros(count + 1).scatter(0, places, grad.flatten())[:count].reshape(sizes)


@composed("aten::histc")
def histc(x: torch.Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    if not x.is_floating_point():
        return NotImplemented
    values = x.flatten().float()
    if not values.numel() or min > max:
        return NotImplemented
    low, high = (values.min(), values.max()) if min == max else (values.new_full((), min), values.new_full((), max))
    if min == max:
        low, high = torch.where(low == high, low - 1, low), torch.where(low == high, high + 1, high)
    inside = (values >= low) & (values <= high)
    places = ((values - low) * bins / (high - low)).long().clamp(0, bins - 1)
    return values.new_zeros(bins).index_add(0, places, inside.to(values.dtype)).to(x.dtype)


@composed("aten::diagonal_scatter")
def diagonal_scatter(x: torch.Tensor, source: torch.Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    rows, columns = x.shape[dim1], x.shape[dim2]
    begin, skipped = max(0, -offset), max(0, offset)
    padded = torch.nn.functional.pad(source, (begin, max(rows, columns)))[..., :rows]
    places = torch.arange(rows, device=x.device)[:, None] + (skipped - begin)
    is_here = places == torch.arange(columns, device=x.device)
    return torch.where(is_here, padded.unsqueeze(-1), x.movedim((dim1, dim2), (-2, -1))).movedim((-2, -1), (dim1, dim2))


@composed("aten::searchsorted.Tensor", "aten::searchsorted.Scalar")
def searchsorted(
    sequence: torch.Tensor,
    values: torch.Tensor | float,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: torch.Tensor | None = None,
) -> Any:
    """Takes PyTorch's steps, so that a sequence that is not sorted has PyTorch's places, too."""
    values = torch.as_tensor(values)
    if (side == "left" and right) or side not in (None, "left", "right") or not fit(sequence, values):
        return NotImplemented  # PyTorch's kernel refuses them
    if sorter is not None:
        if sorter.dtype is not torch.int64 or sorter.shape != sequence.shape:
            return NotImplemented
        sequence = sequence.gather(-1, sorter)
    # Places along one dimension, as those of `gather`.
    rows = values.reshape(-1) if sequence.dim() == 1 else values
    size, upper = sequence.shape[-1], right or side == "right"
    begin = torch.zeros(rows.shape, dtype=torch.int64, device=sequence.device)
    end = begin + size
    left = size if rows.numel() else 0
    while left > 0:
        middle = (begin + end) // 2
        found = sequence.gather(-1, middle.clamp(max=size - 1))
        above = found > rows if upper else found >= rows
        is_open = begin < end
        begin, end = (
            torch.where(is_open & ~above, middle + 1, begin),
            torch.where(is_open & above, middle, end),
        )
        left //= 2
    return begin.reshape(values.shape).to(torch.int32 if out_int32 else torch.int64)


def fit(sequence: torch.Tensor, values: torch.Tensor) -> bool:
    """Returns whether PyTorch's kernel takes these shapes and types: numbers of any type for one sequence."""
    if not values.dim():
        return sequence.dim() == 1 and sequence.dtype is not torch.bool
    return sequence.dtype is values.dtype is not torch.bool and (
        sequence.dim() == 1 or sequence.shape[:-1] == values.shape[:-1]
    )


@composed("aten::bucketize.Tensor", "aten::bucketize.Scalar")
def bucketize(
    values: torch.Tensor | float, boundaries: torch.Tensor, *, out_int32: bool = False, right: bool = False
) -> Any:
    if boundaries.dim() != 1:
        return NotImplemented
    return searchsorted(boundaries, values, out_int32=out_int32, right=right)
