# SPDX-License-Identifier: Apache-2.0
"""Quantised values: integers that stand for (integer - zero point) * scale, with a scale per tensor or channel."""

from __future__ import annotations

import torch

from ..errors import PyBudaError
from .registry import op

# Ranges of the integers, by type.
RANGES = {kind: torch.iinfo(kind) for kind in (torch.int8, torch.uint8, torch.int32)}
ROUNDING = ("None", "UPWARD", "TONEAREST")


def along(scale: torch.Tensor, x: torch.Tensor, axis: int) -> torch.Tensor:
    """Returns the scale of each element of x: one for all, or one for each index of `axis`."""
    if scale.numel() == 1:
        return scale.reshape(())
    if scale.numel() != x.shape[axis]:
        raise PyBudaError(f"the scale has {scale.numel()} elements; expected 1, or {x.shape[axis]} of dimension {axis}")
    shape = [1] * x.dim()
    shape[axis] = -1
    return scale.reshape(shape)


def to_integers(
    values: torch.Tensor, zero_point: float, out_dtype: torch.dtype, rounding: str = "None"
) -> torch.Tensor:
    """Returns the nearest integers of a type: of two that are as near the even one, with UPWARD the larger."""
    if out_dtype not in RANGES:
        raise PyBudaError(f"out_dtype is {out_dtype}; expected one of {', '.join(map(str, RANGES))}")
    if rounding not in ROUNDING:
        raise PyBudaError(f"rounding is {rounding!r}; expected one of {', '.join(ROUNDING)}")
    whole = torch.floor(values + 0.5) if rounding == "UPWARD" else torch.round(values)
    limits = RANGES[out_dtype]
    return (whole + zero_point).clamp(limits.min, limits.max).to(out_dtype)


@op
def Quantize(
    operandA: torch.Tensor, operandB: torch.Tensor, zero_point: int, axis: int, out_dtype: torch.dtype
) -> torch.Tensor:
    """Returns integers: operandA over the scale operandB, rounded, plus the zero point; those beyond the type's range
    are its limits."""
    return to_integers(operandA / along(operandB, operandA, axis), zero_point, out_dtype)


@op
def Dequantize(
    operandA: torch.Tensor, operandB: torch.Tensor, zero_point: int, axis: int = -1,
    out_dtype: torch.dtype = torch.float32,
) -> torch.Tensor:  # fmt: skip
    """Returns floats: integers less the zero point, times the scale operandB."""
    return (operandA.to(out_dtype) - zero_point) * along(operandB, operandA, axis)


@op
def Requantize(
    operandA: torch.Tensor, operand_inp_scale: torch.Tensor, operand_out_scale: torch.Tensor, input_zero_point: float,
    output_zero_point: float, out_dtype: torch.dtype, axis: int = -1, rounding: str = "None",
) -> torch.Tensor:  # fmt: skip
    """Returns integers of another scale and zero point that stand for the same values, rounded."""
    scale = along(operand_inp_scale, operandA, axis) / along(operand_out_scale, operandA, axis)
    return to_integers((operandA.float() - input_zero_point) * scale, output_zero_point, out_dtype, rounding)


@op
def BudaRequantize(
    operandA: torch.Tensor, scale: torch.Tensor, zero_point: float, out_dtype: torch.dtype, axis: int = -1,
    rounding: str = "None",
) -> torch.Tensor:  # fmt: skip
    """Returns integers times a scale, rounded, plus the zero point."""
    return to_integers(operandA.float() * along(scale, operandA, axis), zero_point, out_dtype, rounding)
