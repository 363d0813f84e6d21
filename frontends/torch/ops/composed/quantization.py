# SPDX-License-Identifier: Apache-2.0
"""Fake quantisation: floats that are rounded as quantised ones, and which of them were inside of the range."""

from __future__ import annotations

import numpy as np

import torch

from .registry import composed, wide

Two = tuple[torch.Tensor, torch.Tensor]


def _rounded(
    x: torch.Tensor, scale: torch.Tensor | float, inverse: torch.Tensor | float, zero: torch.Tensor | float, low: int,
    high: int,
) -> Two:  # fmt: skip
    steps = torch.round(wide(x) * inverse + zero)
    result = (steps.clamp(low, high) - zero) * scale
    return result.to(x.dtype), (steps >= low) & (steps <= high)


@composed("aten::fake_quantize_per_tensor_affine_cachemask")
def per_tensor(x: torch.Tensor, scale: float, zero: int, low: int, high: int) -> Two:
    single = np.float32(scale)
    return _rounded(x, float(single), float(np.float32(1) / single), zero, low, high)


@composed("aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams")
def by_tensors(
    x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor, enabled: torch.Tensor, low: int, high: int
) -> Two:
    scale, zero = scale.float().reshape(()), zero.float().reshape(())
    result, inside = _rounded(x, scale, 1 / scale, zero, low, high)
    on = enabled.reshape(()) != 0
    return torch.where(on, result, x), inside | ~on


@composed("aten::fake_quantize_per_channel_affine_cachemask")
def per_channel(x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor, axis: int, low: int, high: int) -> Two:
    shape = [1] * x.dim()
    shape[axis] = -1
    scale, zero = scale.float().reshape(shape), zero.float().reshape(shape)
    return _rounded(x, scale, 1 / scale, zero, low, high)
