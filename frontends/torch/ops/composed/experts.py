# SPDX-License-Identifier: Apache-2.0
"""Products of groups of rows, each with a separate matrix: the experts of a layer.

How many rows a group has is known when the program runs. Rows are put into blocks of one group each, of which there are
at most rows / block + groups, and a block is a product with its group's matrix.
"""

from __future__ import annotations

from typing import Any

import torch

from .registry import composed


class Blocks:
    """The places of the rows of groups in blocks.

    ends: where each group ends, int[groups]. rows: of all; those behind the last end are of no group.
    """

    def __init__(self, ends: torch.Tensor, rows: int) -> None:
        groups = ends.shape[0]
        ends = ends.int()
        # Short groups in short blocks, long ones in blocks of which few are filled up.
        self.size = 1 if rows <= groups else min(128, 1 << (rows // groups).bit_length() - 1)
        self.count = rows if self.size == 1 else -(-rows // self.size) + groups
        begins = torch.cat([ends.new_zeros(1), ends[:-1]])
        block_ends = (torch.div(ends - begins + self.size - 1, self.size, rounding_mode="floor")).cumsum(0).int()
        block_begins = torch.cat([block_ends.new_zeros(1), block_ends[:-1]])
        numbers = torch.arange(self.count, dtype=torch.int32, device=ends.device)
        # Of blocks: the group, and the numbers of the rows.
        self.group = (block_ends.unsqueeze(0) <= numbers.unsqueeze(1)).sum(1).clamp(max=groups - 1)
        first = begins[self.group] + (numbers - block_begins[self.group]) * self.size
        within = torch.arange(self.size, dtype=torch.int32, device=ends.device)
        places = first.unsqueeze(1) + within
        self.filled = (places < ends[self.group].unsqueeze(1)) & (numbers < block_ends[-1]).unsqueeze(1)
        self.rows = places.clamp(0, rows - 1)
        # Of rows: where in the blocks they are.
        rows_numbers = torch.arange(rows, dtype=torch.int32, device=ends.device)
        self.known = rows_numbers < ends[-1]
        group = (ends.unsqueeze(0) <= rows_numbers.unsqueeze(1)).sum(1).clamp(max=groups - 1)
        self.places = (block_begins[group] * self.size + rows_numbers - begins[group]).clamp(
            0, self.count * self.size - 1
        )

    def of(self, x: torch.Tensor) -> torch.Tensor:
        """Returns rows [rows, n] as blocks [blocks, size, n]; the rest of a block is some row."""
        return x[self.rows.flatten()].reshape(self.count, self.size, x.shape[1])

    def rows_of(self, blocks: torch.Tensor) -> torch.Tensor:
        """Returns blocks as rows, 0 where a row is of no group."""
        found = blocks.flatten(0, 1)[self.places]
        return torch.where(self.known.unsqueeze(1), found, 0)


def rows_by_matrices(x: torch.Tensor, matrices: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """Returns [rows, k] by [groups, k, n]: [rows, n]."""
    blocks = Blocks(ends, x.shape[0])
    return blocks.rows_of(torch.bmm(blocks.of(x), matrices[blocks.group]))


def matrices_of_groups(x: torch.Tensor, y: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """Returns [k, rows] by [rows, n], for each group of rows: [groups, k, n]."""
    blocks = Blocks(ends, y.shape[0])
    left = torch.where(blocks.filled.unsqueeze(2), blocks.of(x.t()), 0)
    right = torch.where(blocks.filled.unsqueeze(2), blocks.of(y), 0)
    products = torch.bmm(left.mT.float(), right.float())
    total = products.new_zeros(ends.shape[0], *products.shape[1:]).index_add(0, blocks.group, products)
    return total.to(x.dtype)


@composed("aten::_grouped_mm")
def grouped_mm(
    x: torch.Tensor, y: torch.Tensor, ends: torch.Tensor | None = None, bias: torch.Tensor | None = None,
    dtype: torch.dtype | None = None,
) -> Any:  # fmt: skip
    if bias is not None or dtype not in (None, x.dtype) or (ends is None) != (x.dim() == y.dim() == 3):
        return NotImplemented
    if ends is None:
        return torch.bmm(x, y)
    if not x.numel() or not y.numel():
        return NotImplemented
    if x.dim() == 2 and y.dim() == 3:
        return rows_by_matrices(x, y, ends)
    if x.dim() == y.dim() == 2:
        return matrices_of_groups(x, y, ends)
    return rows_by_matrices(y.t(), x.mT, ends).t()


@composed("transformers::grouped_mm_fallback")
def grouped_mm_fallback(x: torch.Tensor, matrices: torch.Tensor, ends: torch.Tensor) -> Any:
    return rows_by_matrices(x, matrices, ends) if x.numel() and matrices.numel() else NotImplemented


@composed("transformers::grouped_mm_fallback_backward")
def grouped_mm_fallback_backward(
    x: torch.Tensor, matrices: torch.Tensor, ends: torch.Tensor, grad: torch.Tensor
) -> Any:
    if not x.numel() or not matrices.numel():
        return NotImplemented
    return rows_by_matrices(grad, matrices.mT, ends), matrices_of_groups(x.t(), grad, ends)
