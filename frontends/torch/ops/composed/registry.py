# SPDX-License-Identifier: Apache-2.0
"""The table of ops that are composed of others, and their common code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

# Name, as in "aten::cummax" or with an overload as in "aten::scatter.src" -> the op on tensors, by ops that have rules.
COMPOSED: dict[str, Callable[..., Any]] = {}


def composed(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function for ops. `NotImplemented` as its result leaves the op to PyTorch."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            COMPOSED[name] = function
        return function

    return register


def composed_ops() -> Iterator[tuple[Any, Callable[..., Any]]]:
    """Yields the overloads that PyTorch knows now: libraries add their own ops."""
    for name, function in COMPOSED.items():
        namespace, _, op = name.partition("::")
        op, _, overload = op.partition(".")
        packet = getattr(getattr(torch.ops, namespace), op, None)
        if packet is not None:
            yield getattr(packet, overload or "default"), function


def wide(x: torch.Tensor) -> torch.Tensor:
    """Returns floats for which several roundings do not matter."""
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x
