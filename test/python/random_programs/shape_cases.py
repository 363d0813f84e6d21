# SPDX-License-Identifier: Apache-2.0
"""Ingredients of cases of many shapes; see random_shapes.py."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

SIZES = (1, 2, 3, 31, 32, 33, 63, 64, 65)
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
MOST_WORK = 2_000_000  # multiplications of a case


@dataclass
class Case:
    """One op. build(builder, operands) makes it. expected: the result in double. tolerance: of the rounded one,
    compared with the value or 1."""

    text: str
    operands: list[Tensor]
    is_constant: list[bool]
    build: Callable[[Any, list[Any]], Any]
    expected: Tensor
    tolerance: float = 0.0


class Draw:
    def __init__(self, seed: int) -> None:
        self.choice = random.Random(seed)
        self.torch = torch.Generator().manual_seed(seed)

    def size(self, most: int = 65) -> int:
        return self.choice.choice([size for size in SIZES if size <= max(1, most)])

    def chance(self, of: int) -> bool:
        return self.choice.randrange(of) == 0

    def values(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        quarters = torch.randint(1, 16, shape, generator=self.torch) / 4
        return (quarters * (torch.randint(0, 2, shape, generator=self.torch) * 2 - 1)).to(dtype)
