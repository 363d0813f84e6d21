# SPDX-License-Identifier: Apache-2.0
"""Ops of aten that make tensors of nothing, or of a shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.dialects import ttir

import torch

from ..integers import LARGEST
from ..lowering import Lowering, Number, Value, rule
from .elementwise import as_values


@rule("full", "new_full")
def full(g: Lowering, *arguments: Any, **options: Any) -> Value:
    value = options.get("fill_value", arguments[-1])
    if isinstance(value, Value):
        return g.expand(g.cast(value, g.out().dtype), tuple(g.out().shape))
    return g.full(g.out().shape, value, g.out().dtype)


@rule("full_like")
def full_like(g: Lowering, x: Value, fill_value: Number, **options: Any) -> Value:
    return g.full(g.out().shape, fill_value, g.out().dtype)


@rule("zeros", "zeros_like", "new_zeros", "empty.memory_format", "empty_like", "new_empty", "new_empty_strided",
      "empty_strided", "zero", "empty_permuted")  # fmt: skip
def zeros(g: Lowering, *arguments: Any, **options: Any) -> Value:
    return g.full(g.out().shape, 0, g.out().dtype)


@rule("ones", "ones_like", "new_ones")
def ones(g: Lowering, *arguments: Any, **options: Any) -> Value:
    return g.full(g.out().shape, 1, g.out().dtype)


@rule("scalar_tensor")
def scalar_tensor(g: Lowering, value: Number, **options: Any) -> Value:
    return g.full((), value, g.out().dtype)


@rule("arange", "arange.start", "arange.start_step", "prims.iota")
def arange(g: Lowering, *arguments: Any, **options: Any) -> Value:
    # Rounding of steps is PyTorch's: the values are known.
    if "start" in options and "step" in options:  # prims.iota
        count, start, step = arguments[0], options["start"], options["step"]
        values = torch.arange(start, start + count * step, step, dtype=g.out().dtype)
    else:
        values = torch.arange(*arguments, dtype=g.out().dtype)
    if values.numel() < 2:
        return g.constant(values)
    if values.dtype.is_floating_point:
        whole = whole_steps(values) if g.is_open else None
        if whole is None:
            return g.constant(values)
        first, step = whole
        result = ttir.arange(first, first + step * values.numel(), step, 0, results=[g.type(values.shape, torch.int32)])
        return g.cast(Value(result, tuple(values.shape), torch.int32), values.dtype)
    steps = values.long().diff()  # in their own type, steps of values that wrap around would be equal
    first, step = int(values[0]), int(steps[0])
    end = torch.tensor(first + step * values.numel()).to(values.dtype)
    if bool((steps != step).any()) or int(end) != first + step * values.numel():
        return g.constant(values)
    result = ttir.arange(first, first + step * values.numel(), step, 0, results=[g.type(values.shape, values.dtype)])
    return Value(result, tuple(values.shape), values.dtype)


def whole_steps(values: torch.Tensor) -> tuple[int, int] | None:
    """Returns the first value and the step of the integers that become these floats, two or more; None if some are not
    integers.

    Each of the floats depends on its integer alone: fewer of them are the same.
    """
    first, second = values[:2].tolist()
    if not (first.is_integer() and second.is_integer()):
        return None
    first, step = int(first), int(second - first)
    last = first + step * (values.numel() - 1)
    counted = first + step * torch.arange(values.numel())
    return (first, step) if abs(last) < LARGEST and torch.equal(counted.to(values.dtype), values) else None


@rule("linspace")
def linspace(g: Lowering, start: Number, end: Number, steps: int, **options: Any) -> Value:
    return g.constant(torch.linspace(start, end, steps, dtype=g.out().dtype))


@rule("eye", "eye.m")
def eye(g: Lowering, *sizes: int, **options: Any) -> Value:
    rows, columns = g.out().shape
    if not g.is_open:
        return g.constant(torch.eye(rows, columns, dtype=g.out().dtype))
    return g.cast(g.compare(ttir.eq, g.iota((rows, 1), 0), g.iota((1, columns), 1)), g.out().dtype)


def triangle(g: Lowering, x: Value, diagonal: int, lower: bool) -> Value:
    rows, columns = x.shape[-2], x.shape[-1]
    row = g.iota((rows, 1), 0)
    column = g.iota((1, columns), 1)
    bound = g.add(row, g.scalar(diagonal, row))
    keep = g.compare(ttir.le if lower else ttir.ge, column, bound)
    (zero,) = as_values(g, (0,), x.dtype)
    keep = g.reshape(keep, (1,) * (x.rank - 2) + keep.shape)
    return g.where(keep, x, g.reshape(zero, (1,) * x.rank))


@rule("tril")
def tril(g: Lowering, x: Value, diagonal: int = 0) -> Value:
    return triangle(g, x, diagonal, lower=True)


@rule("triu")
def triu(g: Lowering, x: Value, diagonal: int = 0) -> Value:
    return triangle(g, x, diagonal, lower=False)


def _indices(name: str, function: Callable[..., torch.Tensor]) -> None:
    def lower(g: Lowering, row: int, col: int, offset: int = 0, **options: Any) -> Value:
        return g.constant(function(row, col, offset, dtype=g.out().dtype))

    rule(name)(lower)


_indices("tril_indices", torch.tril_indices)
_indices("triu_indices", torch.triu_indices)
