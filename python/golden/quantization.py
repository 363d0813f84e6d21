# SPDX-License-Identifier: Apache-2.0
"""Goldens of quantisation: integer = round(value / scale) + zero point; one scale, or one for each index of `axis`."""

from __future__ import annotations

import re
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Uniform:
    """A quantized element type: an integer stands for (integer - zero point) * scale.

    axis: the dimension that each scale is an index of; None when there is one scale.
    """

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None
    low: int
    high: int

    @staticmethod
    def of(text: str) -> Uniform | None:
        """Parses MLIR's text of the type, as `!quant.uniform<i8<-8:7>:f32:1, {5.0e-01:3,2.5e-01}>`; None for others."""
        found = re.match(r"!quant\.uniform<([iu])(\d+)(?:<(-?\d+):(-?\d+)>)?:\w+?(?::(\d+))?, \{?([^}>]*)\}?>", text)
        if not found:
            return None
        sign, bits, low, high, axis, values = found.groups()
        half = 1 << (int(bits) - 1)
        smallest, largest = (-half, half - 1) if sign == "i" else (0, 2 * half - 1)
        pairs = [value.strip().partition(":") for value in values.split(",")]
        return Uniform(
            tuple(float(scale) for scale, _, _ in pairs),
            tuple(int(zero or 0) for _, _, zero in pairs),
            None if axis is None else int(axis),
            smallest if low is None else int(low),
            largest if high is None else int(high),
        )

    def parameters(self, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        return torch.tensor(self.scales, dtype=dtype), torch.tensor(self.zero_points, dtype=dtype)

    def dequantize(self, x: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        scales, zeros = (along_axis(x, p, self.axis) for p in self.parameters(dtype))
        return (x.to(dtype) - zeros) * scales

    def quantize(self, x: Tensor, dtype: torch.dtype) -> Tensor:
        """Quantizes. The clamped sum is rounded, halves to the even number (the specification of uniform_quantize)."""
        scales, zeros = (along_axis(x, p, self.axis) for p in self.parameters(x.dtype))
        return torch.round((x / scales + zeros).clamp(self.low, self.high)).to(dtype)


def same(x: Tensor) -> Tensor:
    """Returns quantized operands and results are those of floats around it."""
    return x


QUANTIZATION = {
    "stablehlo.uniform_quantize": Op(same),
    "stablehlo.uniform_dequantize": Op(same),
    "ttir.quantize": Op(same),
    "ttir.dequantize": Op(same),
    "ttir.requantize": Op(same),
    "quantize_unrolled": Op(quantize),
    "dequantize_unrolled": Op(dequantize),
    "requantize_unrolled": Op(requantize),
    "ttnn.quantize": Op(quantize),
    "ttnn.dequantize": Op(dequantize),
    "ttnn.requantize": Op(requantize),
}
