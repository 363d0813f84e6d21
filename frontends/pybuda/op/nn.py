# SPDX-License-Identifier: Apache-2.0
"""Ops of networks: softmax, normalization, linear layers."""

from __future__ import annotations

import torch

from ..config import _get_global_compiler_config
from ..errors import PyBudaError
from .modules import (  # noqa: F401
    AvgPool2dModule,
    Conv2dModule,
    ConvTranspose2dModule,
    MaxPool1dModule,
    MaxPool2dModule,
    SparseMatmulModule,
)
from .registry import op


def _softmax(x: torch.Tensor, dim: int, stable: bool) -> torch.Tensor:
    if stable and _get_global_compiler_config().enable_stable_softmax:
        return torch.softmax(x, dim)
    powers = torch.exp(x)
    return powers / powers.sum(dim, keepdim=True)


@op
def Softmax(operandA: torch.Tensor, *, dim: int, stable: bool = True) -> torch.Tensor:
    """Returns e^x over its sum along `dim`. Stable: the largest element is subtracted first."""
    return _softmax(operandA, dim, stable)


@op
def LogSoftmax(operandA: torch.Tensor, *, dim: int, stable: bool = True) -> torch.Tensor:
    """Returns the logarithm of softmax."""
    return torch.log_softmax(operandA, dim) if stable else torch.log(_softmax(operandA, dim, False))


@op
def Layernorm(
    operandA: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor, dim: int = -1, epsilon: float = 1e-05
) -> torch.Tensor:
    """Returns values less their mean, over their deviation, along the last dimension; times weights, plus bias."""
    if dim not in (-1, operandA.dim() - 1):
        raise PyBudaError(f"dim is {dim}; expected the last dimension, -1")
    size = operandA.shape[-1]
    return torch.nn.functional.layer_norm(operandA, (size,), weights.reshape(size), bias.reshape(size), epsilon)


@op
def Linear(activations: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Returns activations weights + bias, with weights [in, out]."""
    product = torch.matmul(activations, weights)
    return product if bias is None else product + bias


@op
def Batchnorm(
    operandA: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor, running_mean: torch.Tensor,
    running_var: torch.Tensor, epsilon: float = 1e-05,
) -> torch.Tensor:  # fmt: skip
    """Returns values less the running mean, over the running deviation; times weights, plus bias: all for the channels,
    dimension -3."""
    columns = [x.reshape(-1, 1, 1) for x in (weights, bias, running_mean, running_var)]
    scale, shift, mean, variance = columns
    return (operandA - mean) / torch.sqrt(variance + epsilon) * scale + shift
