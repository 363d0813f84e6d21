# SPDX-License-Identifier: Apache-2.0
"""A function with ops of upstream dialects, which the host computes, compared with what PyTorch says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Case:
    """text: of `@main`. inputs: as the program takes them. reference: of the inputs, one result or a tuple of them.

    calls: functions of the host that the program calls. exact: bit for bit; else within a few roundings.
    """

    text: str
    inputs: Sequence[Tensor]
    reference: Callable[..., Tensor | tuple[Tensor, ...]]
    calls: int = 1
    exact: bool = True


X = (torch.arange(12, dtype=torch.float32).reshape(3, 4) - 5.5) / 3
Y = torch.linspace(0.25, 4, 12).reshape(3, 4)
M = torch.linspace(-1, 1, 20).reshape(4, 5)
IMAGE = torch.linspace(-1, 1, 2 * 5 * 6 * 3).reshape(2, 5, 6, 3)
KERNEL = torch.linspace(-1, 1, 2 * 3 * 3 * 4).reshape(2, 3, 3, 4)
N = torch.tensor([7, -7, 5, -(2**31), 2**31 - 1, 0], dtype=torch.int32)
D = torch.tensor([2, 2, 0, -1, -1, 3], dtype=torch.int32)
NONE = torch.zeros(0, 4)


def one(types: str, body: str, result: str) -> str:
    """@main of arguments %a, %b, ... of these types, which returns %r."""
    arguments = ", ".join(f"%{name}: {each}" for name, each in zip("abcdef", types.split(" | "), strict=False))
    return f"func.func @main({arguments}) -> {result} {{\n{body}\n  return %r : {result}\n}}"


def elementwise(op: str, type: str = "tensor<3x4xf32>", operands: int = 1) -> str:
    names = ", ".join(f"%{name}" for name in "abc"[:operands])
    return one(" | ".join([type] * operands), f"  %r = {op} {names} : {type}", type)
