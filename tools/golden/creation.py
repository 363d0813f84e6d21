# SPDX-License-Identifier: Apache-2.0
"""Goldens of ops that make tensors from attributes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .op import Op, TensorSpec


def full(*device: Any, out: TensorSpec, fill_value: float = 0.0) -> Tensor:
    return torch.full(out.shape, fill_value, dtype=out.dtype)


def filled(value: float) -> Callable[..., Tensor]:
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


def shifted(bits: Tensor, places: int) -> Tensor:
    """Unsigned shift to the right of int64."""
    return (bits >> places) & ((1 << (64 - places)) - 1)


def random_bits(shape: Sequence[int], seed: int) -> Tensor:
    """64 bits an element, those of the device: SplitMix64 (Steele, Lea, Flood 2014) at the element's place, int64."""

    def wrapped(value: int) -> int:
        return (value + 2**63) % 2**64 - 2**63

    element = torch.arange(1, math.prod(shape) + 1).reshape(tuple(shape))
    z = element * wrapped(0x9E3779B97F4A7C15) + wrapped((seed + 1) * 0xD1342543DE82EF95)
    z = (z ^ shifted(z, 30)) * wrapped(0xBF58476D1CE4E5B9)
    z = (z ^ shifted(z, 27)) * wrapped(0x94D049BB133111EB)
    return z ^ shifted(z, 31)


def rand(*device: Any, out: TensorSpec, low: float = 0.0, high: float = 1.0, seed: int = 0) -> Tensor:
    """Uniform in [low, high): 24 random bits an element, as the device draws them."""
    unit = shifted(random_bits(out.shape, seed), 40).float() * 2.0**-24
    return (low + (torch.tensor(high) - low) * unit).to(out.dtype)


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
