# SPDX-License-Identifier: Apache-2.0
"""Distances of rows, and their gradients."""

from __future__ import annotations

import math

import torch

from .registry import composed, wide


def _norm(difference: torch.Tensor, p: float) -> torch.Tensor:
    """Returns the p-norm of the last dimension; for p = 0 the number of elements that are not 0."""
    size = difference.abs()
    if p == 0:
        return (size != 0).to(size.dtype).sum(-1)
    if not size.shape[-1]:
        return size.sum(-1)
    if p == math.inf:
        return size.amax(-1)
    if p == 1:
        return size.sum(-1)
    if p == 2:
        return size.square().sum(-1).sqrt()
    return size.pow(p).sum(-1).pow(1 / p)


def _slopes(difference: torch.Tensor, distance: torch.Tensor, grad: torch.Tensor, p: float) -> torch.Tensor:
    """Returns what each difference adds to the gradient of the norm."""
    distance, grad = distance.unsqueeze(-1), grad.unsqueeze(-1)
    size, sign = difference.abs(), difference.sign()
    if p == 0:
        return torch.zeros_like(difference)
    if p == 1:
        return sign * grad
    if p == math.inf:
        return sign * (size == distance).to(size.dtype) * grad
    slope = difference if p == 2 else sign * size.pow(p - 1)
    below = distance if p == 2 else distance.pow(p - 1)
    zero = (distance == 0) if p >= 2 else (distance == 0) | (difference == 0)
    return torch.where(zero, 0.0, slope * grad / torch.where(zero, 1.0, below))


@composed("aten::_cdist_forward")
def cdist(x: torch.Tensor, y: torch.Tensor, p: float, mode: int | None = None) -> torch.Tensor:
    return _norm(wide(x).unsqueeze(-2) - wide(y).unsqueeze(-3), p).to(x.dtype)


@composed("aten::_cdist_backward")
def cdist_backward(
    grad: torch.Tensor, x: torch.Tensor, y: torch.Tensor, p: float, distance: torch.Tensor
) -> torch.Tensor:
    difference = wide(x).unsqueeze(-2) - wide(y).unsqueeze(-3)
    return _slopes(difference, wide(distance), wide(grad), p).sum(-2).to(x.dtype)


def _pairs(x: torch.Tensor) -> torch.Tensor:
    return torch.triu_indices(x.shape[0], x.shape[0], 1, device=x.device)


@composed("aten::_pdist_forward")
def pdist(x: torch.Tensor, p: float = 2) -> torch.Tensor:
    first, second = _pairs(x)
    return _norm(x[first] - x[second], p)


@composed("aten::_pdist_backward")
def pdist_backward(grad: torch.Tensor, x: torch.Tensor, p: float, distance: torch.Tensor) -> torch.Tensor:
    first, second = _pairs(x)
    slopes = _slopes(x[first] - x[second], distance, grad, p)
    return torch.zeros_like(x).index_add(0, first, slopes).index_add(0, second, -slopes)
