# SPDX-License-Identifier: Apache-2.0
"""The gamma function's logarithm and its derivatives, in f32.

Arguments from 1/2 on are moved to 8 and more by the recurrence, where the asymptotic series hold; those below by the
reflection. Source: Abramowitz and Stegun, 6.1.17, 6.1.41, 6.3.7, 6.3.18, 6.4.7, 6.4.12.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch

from .registry import composed

SHIFT = 8


def _angle(x: torch.Tensor) -> torch.Tensor:
    """Returns pi times what x is above the integer nearest to it: no digit of a small or a large x is lost."""
    return (x - torch.round(x)) * math.pi


@dataclass(frozen=True)
class Moved:
    """An argument in f32, moved to where the series hold.

    low: where it is below 1/2, so that y is 1 - value, else y is value.
    small: where y is below SHIFT, so that z is y + SHIFT, else z is y.
    """

    value: torch.Tensor
    low: torch.Tensor
    y: torch.Tensor
    small: torch.Tensor
    z: torch.Tensor

    def steps(self, term: Callable[[torch.Tensor], torch.Tensor], combine: Callable[..., torch.Tensor]) -> torch.Tensor:
        """Returns the terms of y, y + 1, ... below z, combined."""
        return reduce(combine, (term(self.y + k if k else self.y) for k in range(SHIFT)))


def _moved(x: torch.Tensor) -> Moved:
    value = x.float()
    low = value < 0.5
    y = torch.where(low, 1 - value, value)
    small = y < SHIFT
    return Moved(value, low, y, small, torch.where(small, y + SHIFT, y))


@composed("aten::lgamma")
def lgamma(x: torch.Tensor) -> Any:
    if not x.is_floating_point():
        return NotImplemented
    m = _moved(x)
    product = m.steps(lambda y: y, torch.mul)
    inverse = 1 / m.z
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    result = (m.z - 0.5) * torch.log(m.z) - m.z + (0.5 * math.log(2 * math.pi) + series)
    result = torch.where(m.small, result - torch.log(torch.where(m.small, product, 1.0)), result)
    result = torch.where(m.y.isinf(), math.inf, result)
    # The fraction itself where it is small: pi times a number below the normal ones has lost digits.
    fraction = (m.value - torch.round(m.value)).abs()
    sine = torch.where(fraction < 1e-18, fraction, torch.sin(fraction * math.pi) / math.pi)
    reflected = -torch.log(sine) - result
    poles = (m.value <= 0) & (m.value == torch.floor(m.value))
    result = torch.where(m.low, torch.where(poles | m.value.isinf(), math.inf, reflected), result)
    return result.to(x.dtype)


@composed("aten::digamma")
def digamma(x: torch.Tensor) -> Any:
    if not x.is_floating_point():
        return NotImplemented
    m = _moved(x)
    total = m.steps(lambda y: 1 / y, torch.add)
    square = 1 / (m.z * m.z)
    series = square * (1 / 12 - square * (1 / 120 - square / 252))
    result = torch.log(m.z) - 0.5 / m.z - series
    result = torch.where(m.small, result - total, result)
    angle = _angle(m.value)
    result = torch.where(m.low, result - math.pi * torch.cos(angle) / torch.sin(angle), result)
    whole = m.value == torch.floor(m.value)
    result = torch.where(whole & (m.value < 0), math.nan, result)
    infinite = torch.where(torch.signbit(m.value), math.inf, -math.inf)
    return torch.where(m.value == 0, infinite, result).to(x.dtype)


@composed("aten::polygamma")
def polygamma(n: int, x: torch.Tensor) -> Any:
    if n == 0:
        return digamma(x)
    if n != 1 or not x.is_floating_point():
        return NotImplemented
    m = _moved(x)
    total = m.steps(lambda y: 1 / (y * y), torch.add)
    inverse = 1 / m.z
    square = inverse * inverse
    result = inverse + square / 2 + inverse * square * (1 / 6 - square * (1 / 30 - square / 42))
    result = torch.where(m.small, result + total, result)
    sine = torch.sin(_angle(m.value))
    return torch.where(m.low, math.pi * math.pi / (sine * sine) - result, result).to(x.dtype)
