# SPDX-License-Identifier: Apache-2.0
"""Goldens of matrix products."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .activation import activated
from .op import Op, TensorSpec


def matmul(
    a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False, activation: str | None = None
) -> Tensor:
    """Multiplies the last two dimensions; a 1D operand is a vector and stays as it is."""
    a = a.transpose(-1, -2) if transpose_a and a.dim() > 1 else a
    b = b.transpose(-1, -2) if transpose_b and b.dim() > 1 else b
    return activated(torch.matmul(a, b), activation)


def linear(
    a: Tensor,
    b: Tensor,
    bias: Tensor | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    activation: str | None = None,
) -> Tensor:
    product = matmul(a, b, transpose_a, transpose_b)
    return activated(product if bias is None else product + bias, activation)


def dot_general(
    a: Tensor,
    b: Tensor,
    batch_dims_lhs: Sequence[int],
    contract_dims_lhs: Sequence[int],
    batch_dims_rhs: Sequence[int],
    contract_dims_rhs: Sequence[int],
) -> Tensor:
    """Returns result dimensions: batch, the free ones of `a`, the free ones of `b`."""
    free_a = [d for d in range(a.dim()) if d not in batch_dims_lhs and d not in contract_dims_lhs]
    free_b = [d for d in range(b.dim()) if d not in batch_dims_rhs and d not in contract_dims_rhs]
    size = lambda x, dims: int(torch.Size([x.shape[d] for d in dims]).numel())  # noqa: E731
    batch, inner = size(a, batch_dims_lhs), size(a, contract_dims_lhs)
    left = a.permute(*batch_dims_lhs, *free_a, *contract_dims_lhs).reshape(batch, size(a, free_a), inner)
    right = b.permute(*batch_dims_rhs, *contract_dims_rhs, *free_b).reshape(batch, inner, size(b, free_b))
    shape = [a.shape[d] for d in batch_dims_lhs] + [a.shape[d] for d in free_a] + [b.shape[d] for d in free_b]
    return torch.bmm(left, right).reshape(shape)


def einsum(*operands: Tensor, einsum_config: str) -> Tensor:
    return torch.einsum(einsum_config, *operands)


def sparse_matmul(
    a: Tensor,
    b: Tensor,
    sparsity: Tensor,
    out: TensorSpec,
    is_input_a_sparse: bool = False,
    is_input_b_sparse: bool = True,
) -> Tensor:
    """Returns products of the blocks whose entry of `sparsity` is not zero; the others are zero.

    a [A, B, M, K] and b [1, E, K, N]: with b sparse [A, B, 1, E, M, N], with both [1, E, M, N], with a [A, E, M, N].
    """
    live = sparsity != 0
    if is_input_a_sparse:
        return (torch.matmul(a, b) * live.reshape(-1, b.shape[1], 1, 1)).reshape(out.shape)
    products = torch.matmul(a[:, :, None, None], b[None, None])
    return (products * live.reshape(*a.shape[:2], 1, b.shape[1], 1, 1)).reshape(out.shape)


MATMUL = {
    "matmul": Op(matmul, aten="mm"),
    "linear": Op(linear, aten="linear"),
    "dot_general": Op(dot_general),
    "sparse_matmul": Op(sparse_matmul),
    "einsum": Op(einsum),
    "dot": Op(torch.matmul),
}
