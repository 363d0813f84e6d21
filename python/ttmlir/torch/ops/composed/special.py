# SPDX-License-Identifier: Apache-2.0
"""The gamma function's logarithm and its derivatives, in f32.

Arguments from 1/2 on are moved to 8 and more by the recurrence, where the asymptotic series hold; those below by the
reflection. Source: Abramowitz and Stegun, 6.1.17, 6.1.41, 6.3.7, 6.3.18, 6.4.7, 6.4.12.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from .registry import composed

SHIFT = 8


def _angle(x: torch.Tensor) -> torch.Tensor:
    """Returns pi times what x is above the integer nearest to it: no digit of a small or a large x is lost."""
    return (x - torch.round(x)) * math.pi


@composed("aten::lgamma")
def lgamma(x: torch.Tensor) -> Any:
    if not x.is_floating_point():
        return NotImplemented
    value = x.float()
    low = value < 0.5
    y = torch.where(low, 1 - value, value)
    small = y < SHIFT
    product = y
    for k in range(1, SHIFT):
        product = product * (y + k)
    z = torch.where(small, y + SHIFT, y)
    inverse = 1 / z
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    result = (z - 0.5) * torch.log(z) - z + (0.5 * math.log(2 * math.pi) + series)
    result = torch.where(small, result - torch.log(torch.where(small, product, 1.0)), result)
    result = torch.where(y.isinf(), math.inf, result)
    angle = _angle(value)
    reflected = math.log(math.pi) - torch.log(torch.sin(angle).abs()) - result
    poles = (value <= 0) & (value == torch.floor(value))
    result = torch.where(low, torch.where(poles | value.isinf(), math.inf, reflected), result)
    return result.to(x.dtype)


@composed("aten::digamma")
def digamma(x: torch.Tensor) -> Any:
    if not x.is_floating_point():
        return NotImplemented
    value = x.float()
    low = value < 0.5
    y = torch.where(low, 1 - value, value)
    small = y < SHIFT
    total = 1 / y
    for k in range(1, SHIFT):
        total = total + 1 / (y + k)
    z = torch.where(small, y + SHIFT, y)
    square = 1 / (z * z)
    series = square * (1 / 12 - square * (1 / 120 - square / 252))
    result = torch.log(z) - 0.5 / z - series
    result = torch.where(small, result - total, result)
    angle = _angle(value)
    result = torch.where(low, result - math.pi * torch.cos(angle) / torch.sin(angle), result)
    whole = value == torch.floor(value)
    result = torch.where(whole & (value < 0), math.nan, result)
    infinite = torch.where(torch.signbit(value), math.inf, -math.inf)
    return torch.where(value == 0, infinite, result).to(x.dtype)


@composed("aten::polygamma")
def polygamma(n: int, x: torch.Tensor) -> Any:
    if n == 0:
        return digamma(x)
    if n != 1 or not x.is_floating_point():
        return NotImplemented
    value = x.float()
    low = value < 0.5
    y = torch.where(low, 1 - value, value)
    small = y < SHIFT
    total = 1 / (y * y)
    for k in range(1, SHIFT):
        total = total + 1 / ((y + k) * (y + k))
    z = torch.where(small, y + SHIFT, y)
    inverse = 1 / z
    square = inverse * inverse
    result = inverse + square / 2 + inverse * square * (1 / 6 - square * (1 / 30 - square / 42))
    result = torch.where(small, result + total, result)
    sine = torch.sin(_angle(value))
    return torch.where(low, math.pi * math.pi / (sine * sine) - result, result).to(x.dtype)
