# SPDX-License-Identifier: Apache-2.0
"""Modules that tests of PyBuda share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pybuda
import torch


class Product(pybuda.PyBudaModule):
    """x weights + bias."""

    def __init__(self, name: str, weights: torch.Tensor, bias: torch.Tensor) -> None:
        super().__init__(name)
        self.weights = pybuda.Parameter(weights)
        self.bias = pybuda.Parameter(bias)

    def forward(self, x: pybuda.Tensor) -> pybuda.Tensor:
        return pybuda.op.Add("add", pybuda.op.Matmul("matmul", x, self.weights), self.bias)


class Function(pybuda.PyBudaModule):
    """A function of PyBuda's tensors."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        super().__init__(name)
        self.function = function

    def forward(self, *inputs: pybuda.Tensor) -> Any:
        return self.function(*inputs)


def read(queue: Any) -> list[torch.Tensor]:
    """The next results of a queue, without waiting for ever."""
    return [x.value() for x in queue.get(timeout=1200)]
