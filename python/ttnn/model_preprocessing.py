# SPDX-License-Identifier: Apache-2.0
"""Weights of PyTorch's layers in the form that the functions of TTNN take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType, Layout

from .arguments import described
from .constants import TILE_LAYOUT
from .tensor import from_torch

if TYPE_CHECKING:
    import torch

__all__ = ["preprocess_linear_bias", "preprocess_linear_weight"]


def preprocess_linear_weight(weight: torch.Tensor, *, dtype: DataType, layout: Layout = TILE_LAYOUT) -> Tensor:
    """Returns the weight [out, in] of a torch.nn.Linear as ttnn.linear takes it: [in, out], on the host.

    Raises:
        ValueError: the weight is no matrix.
    """
    _check("preprocess_linear_weight", "weight", weight, 2, "[out, in]")
    return from_torch(weight.T.contiguous(), dtype=dtype, layout=layout)


def preprocess_linear_bias(bias: torch.Tensor, *, dtype: DataType, layout: Layout = TILE_LAYOUT) -> Tensor:
    """Returns the bias [out] of a torch.nn.Linear as ttnn.linear takes it: [1, out], on the host.

    Raises:
        ValueError: the bias is no vector.
    """
    _check("preprocess_linear_bias", "bias", bias, 1, "[out]")
    return from_torch(bias.reshape(1, -1), dtype=dtype, layout=layout)


def _check(function: str, name: str, value: torch.Tensor, rank: int, expected: str) -> None:
    if not hasattr(value, "dim"):
        raise TypeError(f"{function}: {name} is {described(value)}; expected a torch tensor")
    if value.dim() != rank:
        raise ValueError(f"{function}: {name} has shape {list(value.shape)}; expected {expected}")
