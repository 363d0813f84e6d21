# SPDX-License-Identifier: Apache-2.0
"""A row of the golden tables."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .optional import torch


@dataclass(frozen=True)
class TensorSpec:
    """Shape and dtype that an op declares for one of its results."""

    shape: tuple[int, ...]
    dtype: torch.dtype


@dataclass(frozen=True)
class Op:
    """One row of the op table. Which values the op accepts is in golden/domains.py, which needs no torch.

    golden: reference on torch tensors, same operand order and attribute names as the op. An absent optional operand is
        None, a variadic one a list. A parameter `out` receives the declared TensorSpec of the result (a list of them
        when there are several), `regions` the op's regions as functions on tensors.
    aten: overload the torch frontend maps to this op, or None.
    mesh: True when the golden looks at all shards at once: it takes and returns GoldenMapTensor.
    exact_types: True when 16-bit floats reach the golden as they are, instead of widened to float32.
    updates: the operands that an op without results writes to: the golden returns what is in them then.
    points_to: result index -> function(positions, *operands, **attributes) of a result that holds positions: the
        elements that they stand for. Elements that are equal may be pointed to in any order. It raises ValueError for
        positions that cannot be meant.
    """

    golden: Callable[..., Any]
    aten: str | None = None
    mesh: bool = False
    exact_types: bool = False
    updates: tuple[int, ...] = ()
    points_to: Mapping[int, Callable[..., torch.Tensor]] = field(default_factory=dict)

    def elements(
        self, result: int, operands: Sequence[Any], attributes: Mapping[str, Any]
    ) -> Callable[[torch.Tensor], torch.Tensor]:
        """Returns what the positions in a result stand for."""
        function = self.points_to[result]
        return lambda positions: function(positions, *operands, **accepted(function, attributes))

    def __call__(self, *operands: Any, **attributes: Any) -> Any:
        return self.golden(*operands, **accepted(self.golden, attributes))


@functools.cache
def _keywords(function: Callable[..., Any]) -> frozenset[str] | None:
    """Names that `function` takes by keyword; None when it takes any."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # torch's C functions have no signature; none of the tables' takes an attribute
        return frozenset()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return frozenset(p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))


def accepted(function: Callable[..., Any], attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the attributes that concern the computation: those that the golden names (not, say, a compute kernel
    config)."""
    names = _keywords(function)
    return {k: v for k, v in attributes.items() if names is None or k in names}


def ints(value: Any, count: int) -> list[int]:
    """Returns an integer or a list of them as a list of `count`."""
    values = [int(value)] * count if isinstance(value, int) else [int(v) for v in value]
    if len(values) == 1:
        values *= count
    if len(values) != count:
        raise ValueError(f"expected {count} integers, got {len(values)}: {values}")
    return values
