# SPDX-License-Identifier: Apache-2.0
"""Goldens of quantisation: integer = round(value / scale) + zero point; one scale, or one for each index of `axis`."""

from __future__ import annotations

import torch
from torch import Tensor

from .op import Op, TensorSpec


def along_axis(x: Tensor, parameter: Tensor, axis: int | None) -> Tensor:
    if axis is None or parameter.numel() == 1:
        return parameter.reshape(-1)[0]
    return parameter.reshape([-1 if d == axis % x.dim() else 1 for d in range(x.dim())])


def quantize(x: Tensor, scale: Tensor, zero_point: Tensor, axis: int | None = None, *, out: TensorSpec) -> Tensor:
    info = torch.iinfo(out.dtype)
    scaled = torch.round(x / along_axis(x, scale, axis)) + along_axis(x, zero_point, axis)
    return scaled.double().clamp(info.min, info.max).to(out.dtype)


def dequantize(x: Tensor, scale: Tensor, zero_point: Tensor, axis: int | None = None) -> Tensor:
    return (x.float() - along_axis(x, zero_point, axis)) * along_axis(x, scale, axis)


def requantize(
    x: Tensor, in_scale: Tensor, in_zero_point: Tensor, out_scale: Tensor, out_zero_point: Tensor,
    axis: int | None = None, *, out: TensorSpec,
) -> Tensor:  # fmt: skip
    return quantize(dequantize(x, in_scale, in_zero_point, axis), out_scale, out_zero_point, axis, out=out)


QUANTIZATION = {
    "quantize_unrolled": Op(quantize),
    "dequantize_unrolled": Op(dequantize),
    "requantize_unrolled": Op(requantize),
    "ttnn.quantize": Op(quantize),
    "ttnn.dequantize": Op(dequantize),
    "ttnn.requantize": Op(requantize),
}
