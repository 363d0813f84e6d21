# SPDX-License-Identifier: Apache-2.0
"""64-bit integers in 32 bits: the range of results, and the report of those that may not fit."""

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
    """Returns the shape of a node's tensor; where the program leaves sizes open, the largest one that it may get."""
    return node.meta.get("most") or tuple(node.meta["val"].shape)


def magnitude(value: Any, depth: int = 24) -> float:
    """Returns a bound of the absolute values of a node of integers, or of a number; at most that of 32 bits."""
    if not isinstance(value, Node):  # one with a place depends on open sizes
        return abs(value) if isinstance(value, int | float) and not hasattr(value, "place") else MOST
    fake = value.meta.get("val")
    if not isinstance(fake, torch.Tensor) or fake.dtype.is_complex:
        return MOST
    most: float = MOST
    if not fake.dtype.is_floating_point:
        limits = None if fake.dtype is torch.bool else torch.iinfo(fake.dtype)
        most = 1 if limits is None else min(MOST, max(limits.max, -limits.min))
    bound = BOUNDS.get(value.target) if depth and value.op == "call_function" else None
    return most if bound is None else min(most, bound(value, lambda x: magnitude(x, depth - 1)))


Of = Callable[[Any], float]


def _same(node: Node, of: Of) -> float:
    """Bounds the results of ops that return values of the first operand."""
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


def _products(node: Node, of: Of, first: int = 0) -> float:
    """Bounds sums of as many products as the last dimension of the left operand has elements."""
    left, right = node.args[first : first + 2]
    shape = largest_shape(left)  # type: ignore[arg-type]
    return of(left) * of(right) * (shape[-1] if shape else 1)


def _added_products(node: Node, of: Of) -> float:
    """Bounds beta * addend + alpha * products; `addbmm` and `addr` sum more or fewer products."""
    batch = largest_shape(node.args[1])[0] if node.target is aten.addbmm.default else 1  # type: ignore[arg-type]
    beta, alpha = (abs(node.kwargs.get(name, 1)) for name in ("beta", "alpha"))  # type: ignore[arg-type]
    left, right = of(node.args[1]), of(node.args[2])
    products = left * right if node.target is aten.addr.default else batch * _products(node, of, first=1)
    return beta * of(node.args[0]) + alpha * products


def _product(node: Node, of: Of) -> float:
    whole = largest_shape(node.args[0])  # type: ignore[arg-type]
    dims = [whole[node.args[1]]] if len(node.args) > 1 and whole else whole  # type: ignore[index]
    return _power(of(node.args[0]), math.prod(dims))


def _power(base: float, exponent: float) -> float:
    """Bounds a power of at least 1, at most by that of 32 bits."""
    base = max(base, 1)
    return base**exponent if math.log2(base) * exponent < 31 else MOST


def _powers(node: Node, of: Of) -> float:
    return _power(of(node.args[0]), node.args[1]) if isinstance(node.args[1], int | float) else MOST


def _shifted(node: Node, of: Of) -> float:
    steps = node.args[1]
    return of(node.args[0]) * 2**steps if isinstance(steps, int) and 0 <= steps < 64 else MOST


def _gathered(node: Node, of: Of) -> float:
    """Bounds sums at places, each of which may receive all elements of the last operand."""
    source = node.args[-1] if isinstance(node.args[-1], Node) else None
    if source is None:
        return MOST
    alpha = abs(node.kwargs.get("alpha", 1))  # type: ignore[arg-type]
    return of(node.args[0]) + alpha * of(source) * math.prod(largest_shape(source))


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
    **dict.fromkeys(
        [aten.mm.default, aten.bmm.default, aten.mv.default, aten.dot.default, aten.vdot.default], _products
    ),
    **dict.fromkeys(
        [aten.addmm.default, aten.baddbmm.default, aten.addmv.default, aten.addbmm.default, aten.addr.default],
        _added_products,
    ),
    aten.prod.default: _product,
    aten.prod.dim_int: _product,
    aten.cumprod.default: _product,
    aten.pow.Tensor_Scalar: _powers,
    aten.bitwise_left_shift.Tensor_Scalar: _shifted,
    aten.__lshift__.Scalar: _shifted,
    aten.scatter_add.default: _gathered,
    aten.index_add.default: _gathered,
    **dict.fromkeys([aten.floor.default, aten.ceil.default, aten.round.default], lambda node, of: of(node.args[0]) + 1),
    aten.trunc.default: _same,
    **dict.fromkeys([aten.sigmoid.default, aten._softmax.default, aten.rand.default], lambda node, of: 1),
    aten.where.self: lambda node, of: max(of(node.args[1]), of(node.args[2])),
    aten.cat.default: lambda node, of: max(map(of, node.args[0])),  # type: ignore[arg-type]
    aten.full.default: lambda node, of: of(node.args[1]),
    aten.full_like.default: lambda node, of: of(node.args[1]),
    aten.zeros.default: lambda node, of: 0,
    aten.ones.default: lambda node, of: 1,
}  # fmt: skip
