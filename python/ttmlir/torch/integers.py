# SPDX-License-Identifier: Apache-2.0
"""64-bit integers in 32 bits: how large results can be, and what a program says of those that may not fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node

MOST = 2**31
# What a size is at most where it has no bound: more than the chip holds.
LARGEST = 2**31
# What a magnitude in f32 is compared with: sums of many values round by less than the rest.
LIMIT = MOST * (1 - 2**-10)

aten, prims = torch.ops.aten, torch.ops.prims


def largest_shape(node: Node) -> tuple[int, ...]:
    """The shape of a node's tensor; where the program leaves sizes open, the largest one that it may get."""
    return node.meta.get("most") or tuple(node.meta["val"].shape)


def magnitude(value: Any, depth: int = 24) -> float:
    """A bound of the absolute values of a node of integers, or of a number; at most that of 32 bits."""
    if not isinstance(value, Node):
        return abs(value) if isinstance(value, int | float) else MOST
    fake = value.meta.get("val")
    if not isinstance(fake, torch.Tensor) or fake.dtype.is_floating_point:
        return MOST
    most = 1 if fake.dtype is torch.bool else min(MOST, max(torch.iinfo(fake.dtype).max, -torch.iinfo(fake.dtype).min))
    bound = BOUNDS.get(value.target) if depth and value.op == "call_function" else None
    return most if bound is None else min(most, bound(value, lambda x: magnitude(x, depth - 1)))


Of = Callable[[Any], float]


def _same(node: Node, of: Of) -> float:
    """Of ops whose values are their first operand's."""
    return of(node.args[0])


def _total(node: Node, of: Of) -> float:
    before, after = math.prod(largest_shape(node.args[0])), math.prod(largest_shape(node))  # type: ignore[arg-type]
    return of(node.args[0]) * before / max(after, 1)


def _along(node: Node, of: Of) -> float:
    shape = largest_shape(node)
    return of(node.args[0]) * (shape[node.args[1]] if shape else 1)  # type: ignore[index]


def _numbers(node: Node) -> float:
    if "most" in node.meta:
        return MOST
    return max((abs(x) for x in node.args if isinstance(x, int | float)), default=0)


BOUNDS: dict[Any, Callable[[Node, Of], float]] = {
    **dict.fromkeys(
        [aten._to_copy.default, prims.convert_element_type.default, aten.clone.default, aten.view.default,
         aten.expand.default, aten.permute.default, aten.transpose.int, aten.t.default, aten.slice.Tensor,
         aten.select.int, aten.unsqueeze.default, aten.squeeze.dim, aten.squeeze.dims, aten.flip.default,
         aten.index.Tensor, aten.gather.default, aten.index_select.default, aten.neg.default, aten.abs.default,
         aten.alias.default, aten.reshape.default, aten._unsafe_view.default, aten.repeat.default],
        _same,
    ),
    aten.sum.default: _total,
    aten.sum.dim_IntList: _total,
    aten.cumsum.default: _along,
    aten.arange.default: lambda node, of: _numbers(node),
    aten.arange.start: lambda node, of: _numbers(node),
    aten.arange.start_step: lambda node, of: _numbers(node),
    aten.add.Tensor: lambda node, of: of(node.args[0]) + of(node.args[1]) if not node.kwargs else MOST,
    aten.sub.Tensor: lambda node, of: of(node.args[0]) + of(node.args[1]) if not node.kwargs else MOST,
    aten.mul.Tensor: lambda node, of: of(node.args[0]) * of(node.args[1]),
    aten.where.self: lambda node, of: max(of(node.args[1]), of(node.args[2])),
    aten.cat.default: lambda node, of: max(map(of, node.args[0])),  # type: ignore[arg-type]
    aten.full.default: lambda node, of: of(node.args[1]),
    aten.full_like.default: lambda node, of: of(node.args[1]),
    aten.zeros.default: lambda node, of: 0,
    aten.ones.default: lambda node, of: 1,
}  # fmt: skip


def fits(magnitudes: float, count: int, product: bool) -> bool:
    """Whether a sum or product of so many integers fits for sure."""
    if product:
        return count * math.log2(max(magnitudes, 1)) < 31
    return magnitudes * count < MOST
