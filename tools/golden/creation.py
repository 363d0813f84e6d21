"""Goldens of ops that make tensors from attributes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .op import Op, TensorSpec


def full(*device: Any, out: TensorSpec, fill_value: float = 0.0) -> Tensor:
    return torch.full(out.shape, fill_value, dtype=out.dtype)


def filled(value: float):
    return lambda *device, out: torch.full(out.shape, value, dtype=out.dtype)


def arange(*device: Any, out: TensorSpec, start: int, end: int, step: int, arange_dimension: int = 0) -> Tensor:
    values = torch.arange(start, end, step, dtype=out.dtype)
    return values.reshape([-1 if d == arange_dimension else 1 for d in range(len(out.shape))]).expand(out.shape)


def iota(*shape: Any, out: TensorSpec, iota_dimension: int) -> Tensor:
    return arange(out=out, start=0, end=out.shape[iota_dimension], step=1, arange_dimension=iota_dimension)


def constant(*device: Any, out: TensorSpec, value: Any) -> Tensor:
    """`value` is a tensor, or a number that fills the result."""
    if isinstance(value, Tensor):
        return value.to(out.dtype).reshape(out.shape)
    return torch.full(out.shape, value, dtype=out.dtype)


def rand(*device: Any, out: TensorSpec, low: float = 0.0, high: float = 1.0, seed: int = 0) -> Tensor:
    """Uniform, but not the device's generator: single elements cannot be compared."""
    return torch.empty(out.shape).uniform_(low, high, generator=torch.Generator().manual_seed(seed)).to(out.dtype)


CREATION = {
    "zeros": Op(filled(0), aten="zeros"),
    "ones": Op(filled(1), aten="ones"),
    "empty": Op(filled(0), aten="empty.memory_format"),
    "full": Op(full, aten="full"),
    "arange": Op(arange, aten="arange.start_step"),
    "iota": Op(iota),
    "dynamic_iota": Op(iota),
    "constant": Op(constant),
    "rand": Op(rand, aten="rand"),
}
