# SPDX-License-Identifier: Apache-2.0
"""Embedding bags: sums, means and maxima of rows of a table."""

from __future__ import annotations

from typing import Any

import torch

from .registry import composed, wide

SUM, MEAN, MAX = 0, 1, 2


def _bags(indices: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Returns the bag of each index: the last one that begins at it or before, int64[indices]."""
    places = torch.arange(indices.shape[0], device=indices.device).unsqueeze(1)
    return (offsets.unsqueeze(0) <= places).sum(1) - 1


def _counted(weights: torch.Tensor, bags: torch.Tensor, count: int) -> torch.Tensor:
    return weights.new_zeros(count).index_add(0, bags, weights)


@composed("aten::_embedding_bag", "aten::_embedding_bag_forward_only")
def embedding_bag(
    table: torch.Tensor, indices: torch.Tensor, offsets: torch.Tensor, scale_grad: bool = False, mode: int = SUM,
    sparse: bool = False, weights: torch.Tensor | None = None, include_last_offset: bool = False, padding: int = -1,
) -> Any:  # fmt: skip
    if sparse or not indices.numel():
        return NotImplemented
    offsets = offsets[:-1] if include_last_offset else offsets
    count, width = offsets.shape[0], table.shape[1]
    bags = _bags(indices, offsets)
    real = indices != padding
    rows = wide(table)[indices]
    sizes = _counted(real.long(), bags, count)
    places = bags.unsqueeze(1).expand(rows.shape)
    largest = sizes.new_zeros((count, width) if mode == MAX else (0,))
    if mode == MAX:
        lowest = rows.new_full((count, width), -torch.inf)
        rows = torch.where(real.unsqueeze(1), rows, -torch.inf)
        result = lowest.scatter_reduce(0, places, rows, "amax")
        # The first of equal ones.
        first = torch.where(
            rows == result[bags], torch.arange(rows.shape[0], device=rows.device).unsqueeze(1), rows.shape[0]
        )
        first = first.new_full((count, width), rows.shape[0]).scatter_reduce(0, places, first, "amin")
        empty = (sizes == 0).unsqueeze(1)
        largest = torch.where(empty, 0, indices.long()[first.clamp(max=rows.shape[0] - 1)])
        result = torch.where(empty, 0.0, result)
    else:
        factors = real.to(rows.dtype) if weights is None else real.to(rows.dtype) * wide(weights)
        result = rows.new_zeros(count, width).scatter_add(0, places, rows * factors.unsqueeze(1))
        if mode == MEAN:
            result = result / sizes.clamp(min=1).unsqueeze(1).to(result.dtype)
    kind = indices.dtype
    return result.to(table.dtype), bags.to(kind), sizes.to(kind), largest.to(kind)


@composed("aten::_embedding_bag_backward")
def embedding_bag_backward(
    grad: torch.Tensor, indices: torch.Tensor, offsets: torch.Tensor, bags: torch.Tensor, sizes: torch.Tensor,
    largest: torch.Tensor, rows: int, scale_grad: bool, mode: int, sparse: bool, weights: torch.Tensor | None,
    padding: int = -1,
) -> Any:  # fmt: skip
    if sparse or scale_grad:
        return NotImplemented
    zeros = wide(grad).new_zeros(rows, grad.shape[1])
    if mode == MAX:
        parts = torch.where((sizes == 0).unsqueeze(1), 0.0, wide(grad))
        return zeros.scatter_add(0, largest.long(), parts).to(grad.dtype)
    parts = wide(grad)[bags]
    factors = (indices != padding).to(parts.dtype)
    if weights is not None:
        factors = factors * wide(weights)
    if mode == MEAN:
        factors = factors / sizes[bags].clamp(min=1).to(parts.dtype)
    return zeros.index_add(0, indices, parts * factors.unsqueeze(1)).to(grad.dtype)


@composed("aten::_embedding_bag_per_sample_weights_backward")
def weights_backward(
    grad: torch.Tensor, table: torch.Tensor, indices: torch.Tensor, offsets: torch.Tensor, bags: torch.Tensor,
    mode: int, padding: int = -1,
) -> torch.Tensor:  # fmt: skip
    products = (wide(grad)[bags] * wide(table)[indices]).sum(1)
    return torch.where(indices != padding, products, 0.0).to(grad.dtype)
