# SPDX-License-Identifier: Apache-2.0
"""Ops of aten that read or write elements at positions that other tensors hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttmlir.dialects import ttir

import torch

from ..errors import UnsupportedError
from ..lowering import Lowering, Number, Value, dimension, rule

LONG, WORDS = (torch.int64,), (torch.int32, torch.int64)
PLACES = (torch.uint8, torch.bool, *WORDS)


def require_types(index: Value | torch.Tensor, types: Sequence[torch.dtype], x: Any = None, source: Any = None) -> None:
    """Leaves ops to PyTorch whose operands it refuses: shapes and types are checked by its kernels, not by its graphs.

    Raises:
        UnsupportedError: an index of another type, or elements of another type than those that they replace.
    """
    if index.dtype not in types:
        raise UnsupportedError(f"an index of {index.dtype}; expected {' or '.join(map(str, types))}")
    if source is not None and source.dtype is not x.dtype:
        raise UnsupportedError(f"elements of {source.dtype} for a tensor of {x.dtype}")


def rows_of(g: Lowering, table: Value, positions: Value) -> Value:
    """Returns rows of a table [rows, width] at positions [n]: [n, width]."""
    shape = (positions.size, table.shape[1])
    result = ttir.embedding(positions.ir, table.ir, results=[g.type(shape, table.dtype)])
    return Value(result, shape, table.dtype)


def counted_from_front(g: Lowering, positions: Value, size: int) -> Value:
    """Returns positions of a dimension; negative ones count from its end."""
    positions = g.cast(positions, torch.int32)
    negative = g.compare(ttir.lt, positions, g.scalar(0, positions))
    return g.where(negative, g.add(positions, g.scalar(size, positions)), positions)


@rule("embedding")
def embedding(
    g: Lowering, weight: Value, positions: Value, padding_idx: int = -1, scale_grad: bool = False, sparse: bool = False
) -> Value:
    flat = g.cast(g.reshape(positions, (positions.size,)), torch.int32)
    if not positions.size:
        return g.full(g.out().shape, 0, weight.dtype)
    return g.reshape(rows_of(g, weight, flat), tuple(g.out().shape))


@rule("index_select")
def index_select(g: Lowering, x: Value, dim: int, index: Value) -> Value:
    require_types(index, WORDS)
    if not x.rank:
        return x
    dim = dimension(dim, x.rank)
    return at_positions(g, x, [None] * dim + [g.reshape(index, (index.size,))])


@rule("index.Tensor", "_unsafe_index.Tensor")
def index(g: Lowering, x: Value, indices: Sequence[Value | None]) -> Value:
    return at_positions(g, x, indices)


def flat_positions(g: Lowering, shape: Sequence[int], indices: Sequence[Value]) -> Value:
    """Returns row-major positions in dimensions of these sizes; the indices broadcast."""
    total: Value | None = None
    for size, position, rest in zip(
        shape, indices, [math.prod(shape[i + 1 :]) for i in range(len(shape))], strict=True
    ):
        part = counted_from_front(g, position, size)
        if rest != 1:
            part = g.mul(part, g.scalar(rest, part))
        total = part if total is None else g.add(total, part)
    assert total is not None
    return total


def indexed_first(x: Value, indices: Sequence[Value | None]) -> tuple[list[int], list[int], list[Value]]:
    """Returns dimensions that have an index, those that have none, and the indices."""
    known = [d for d, index in enumerate(indices) if index is not None]
    for d in known:
        if indices[d].dtype in (torch.bool, torch.uint8):
            raise UnsupportedError("an index of booleans: the result's size depends on values")
    return known, [d for d in range(x.rank) if d not in known], [indices[d] for d in known]


def at_positions(g: Lowering, x: Value, indices: Sequence[Value | None]) -> Value:
    """Returns x[indices] as in PyTorch: the dimensions of the indices replace the first indexed dimension if the
    indexed ones are adjacent, and are leading ones otherwise.
    """
    known, rest, positions = indexed_first(x, indices)
    if not known:
        return x
    broadcast = torch.broadcast_shapes(*(p.shape for p in positions))
    sizes = [x.shape[d] for d in known]
    kept = [x.shape[d] for d in rest]
    if not math.prod(broadcast) or not x.size:
        return g.full(g.out().shape, 0, x.dtype)
    table = g.reshape(g.permute(x, known + rest), (math.prod(sizes), math.prod(kept)))
    where = g.expand(flat_positions(g, sizes, positions), broadcast)
    found = rows_of(g, table, g.reshape(where, (where.size,)))
    result = g.reshape(found, (*broadcast, *kept))
    if known == list(range(known[0], known[0] + len(known))):
        count, before = len(broadcast), known[0]
        order = [*range(count, count + before), *range(count), *range(count + before, result.rank)]
        result = g.permute(result, order)
    return result


@rule("gather")
def gather(g: Lowering, x: Value, dim: int, index: Value, sparse_grad: bool = False) -> Value:
    if not x.rank or not index.rank:
        return (
            g.reshape(x, tuple(g.out().shape))
            if x.size == 1
            else gather(g, g.reshape(x, (x.size,)), 0, g.reshape(index, (1,)))
        )
    if not index.size:
        return g.full(index.shape, 0, x.dtype)
    places = g.cast(index, torch.int32)
    result = ttir.gather(x.ir, places.ir, dimension(dim, x.rank), results=[g.type(index.shape, x.dtype)])
    return Value(result, index.shape, x.dtype)


REDUCTIONS = {"sum": "sum", "add": "sum", "prod": "prod", "multiply": "prod", "amax": "max", "amin": "min"}


def scattered(g: Lowering, x: Value, dim: int, index: Value, source: Value, reduce: str = "invalid") -> Value:
    if not index.size:
        return x
    shape = x.shape
    if not x.rank:
        x, index, source = (g.reshape(v, (1,)) for v in (x, index, source))
    source = g.cast(source, x.dtype)
    for d, size in enumerate(index.shape):
        if source.shape[d] != size:
            source = g.slice(source, d, 0, size)
    places = g.cast(index, torch.int32)

    result = ttir.scatter(x.ir, places.ir, source.ir, dimension(dim, x.rank), g.reduce_type(reduce))
    return g.reshape(Value(result, x.shape, x.dtype), shape)


def gathered_magnitude(
    g: Lowering, x: Value, dim: int, index: Value, source: Value | Number, reduce: str = "invalid", **options: Any
) -> Value | None:
    """Returns gradients of sums and products at places; of products, those of the magnitudes that are 1 or more."""
    kind = REDUCTIONS.get(reduce)
    if kind not in ("sum", "prod"):
        return None
    if not isinstance(source, Value):
        source = g.full(index.shape, source, x.dtype)
    if kind == "prod":
        x, source = (g.elementwise(ttir.maximum, v, g.scalar(1, v)) for v in (x, source))
    return scattered(g, x, dim, index, source, kind)


@rule("scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce", grows=gathered_magnitude)
def scatter(g: Lowering, x: Value, dim: int, index: Value, source: Value | Number, reduce: str = "invalid") -> Value:
    if not isinstance(source, Value):
        source = g.full(index.shape, source, x.dtype)
    return scattered(g, x, dim, index, source, REDUCTIONS.get(reduce, reduce))


@rule("scatter_add", grows=True)
def scatter_add(g: Lowering, x: Value, dim: int, index: Value, source: Value) -> Value:
    return scattered(g, x, dim, index, source, "sum")


@rule("scatter_reduce.two", grows=gathered_magnitude)
def scatter_reduce(
    g: Lowering, x: Value, dim: int, index: Value, source: Value, reduce: str, include_self: bool = True
) -> Value:
    if reduce == "mean" and x.dtype.is_floating_point and source.dtype.is_floating_point:
        return scatter_mean(g, x, dim, index, source, include_self)
    if reduce not in REDUCTIONS:
        raise UnsupportedError(f"scatter_reduce by {reduce}; known: {', '.join(REDUCTIONS)}")
    if not include_self:
        neutral = {"sum": 0, "prod": 1, "amax": -math.inf, "amin": math.inf}[reduce]
        if not x.dtype.is_floating_point and reduce.startswith("am"):
            info = torch.iinfo(torch.int32 if x.dtype is torch.int64 else x.dtype)
            neutral = info.min if reduce == "amax" else info.max
        x = scattered(g, x, dim, index, g.full(index.shape, neutral, x.dtype))
    return scattered(g, x, dim, index, source, REDUCTIONS[reduce])


def scatter_mean(g: Lowering, x: Value, dim: int, index: Value, source: Value, include_self: bool) -> Value:
    zeros, ones = g.full(x.shape, 0, torch.float32), g.full(index.shape, 1, torch.float32)
    count = scattered(g, zeros, dim, index, ones, "sum")
    wide = g.cast(x, torch.float32)
    if not include_self:
        wide = g.where(g.compare(ttir.gt, count, g.scalar(0, count)), zeros, wide)
    total = scattered(g, wide, dim, index, g.cast(source, torch.float32), "sum")
    one = g.scalar(1, count)
    count = g.add(count, one) if include_self else g.elementwise(ttir.maximum, count, one)
    return g.finish(g.div(total, count), g.out())


def put_magnitude(
    g: Lowering, x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False, *rest: Any
) -> Value | None:
    return index_put(g, x, indices, values, accumulate) if accumulate else None


@rule("index_put", "_unsafe_index_put", "index_put_", grows=put_magnitude)
def index_put(
    g: Lowering,
    x: Value,
    indices: Sequence[Value | None],
    values: Value,
    accumulate: bool = False,
    unsafe: bool = False,
) -> Value:
    known = [d for d, index in enumerate(indices) if index is not None]
    for d in known:
        require_types(indices[d], PLACES, x, values)
    if len(known) == 1 and indices[known[0]].dtype is torch.bool:
        mask, before = indices[known[0]], known[0]
        added = x.rank - mask.rank + 1 - values.rank
        sizes = (1,) * added + values.shape
        # One dimension of the values counts the elements that the mask chooses: of size 1, they are all alike.
        if added >= 0 and sizes[before] == 1:
            value = g.reshape(values, (*sizes[:before], *(1,) * mask.rank, *sizes[before + 1 :]))
            if accumulate:
                value = g.elementwise(ttir.logical_or if x.dtype is torch.bool else ttir.add, x, value)
            mask = g.reshape(mask, (*mask.shape, *(1,) * (x.rank - mask.rank - before)))
            return g.where(g.expand(mask, x.shape), g.expand(value, x.shape), x)
    known, rest, positions = indexed_first(x, indices)
    broadcast = torch.broadcast_shapes(*(p.shape for p in positions))
    count = math.prod(broadcast)
    if not count:
        return x
    sizes, kept = [x.shape[d] for d in known], [x.shape[d] for d in rest]
    table = g.reshape(g.permute(x, known + rest), (math.prod(sizes), math.prod(kept)))
    where = g.reshape(g.expand(flat_positions(g, sizes, positions), broadcast), (count, 1))
    # Values have the shape of x[indices]: the indices' dimensions before the kept ones.
    shape = (*broadcast, *kept)
    neighbours = known == list(range(known[0], known[0] + len(known)))
    if neighbours and known[0]:
        before, n = known[0], len(broadcast)
        target = (*kept[:before], *broadcast, *kept[before:])
        values = g.permute(
            g.expand(values, target), [*range(before, before + n), *range(before), *range(before + n, len(target))]
        )
    rows = g.reshape(g.expand(g.cast(values, x.dtype), shape), (count, math.prod(kept)))
    places = g.expand(where, rows.shape)
    result = scattered(g, table, 0, places, rows, "sum" if accumulate else "invalid")
    whole = g.reshape(result, (*sizes, *kept))
    order = known + rest
    return g.permute(whole, [order.index(d) for d in range(x.rank)])


@rule("index_add", grows=True)
def index_add(g: Lowering, x: Value, dim: int, index: Value, source: Value, alpha: Number = 1) -> Value:
    require_types(index, WORDS, x, source)
    dim = dimension(dim, x.rank)
    if alpha != 1:
        source = g.mul(source, g.scalar(alpha, source))
    if not x.rank:
        return g.add(x, g.reshape(source, ()))
    shape = tuple(index.size if d == dim else 1 for d in range(x.rank))
    places = g.expand(g.reshape(index, shape), source.shape)
    return scattered(g, x, dim, places, source, "sum")


@rule("index_copy")
def index_copy(g: Lowering, x: Value, dim: int, index: Value, source: Value) -> Value:
    require_types(index, LONG, x, source)
    dim = dimension(dim, x.rank)
    if not x.rank:
        return g.reshape(source, ())
    shape = tuple(index.size if d == dim else 1 for d in range(x.rank))
    places = g.expand(g.reshape(index, shape), source.shape)
    return scattered(g, x, dim, places, source)


@rule("index_fill.int_Scalar")
def index_fill(g: Lowering, x: Value, dim: int, index: Value, value: Number) -> Value:
    dim = dimension(dim, x.rank)
    shape = tuple(index.size if d == dim else n for d, n in enumerate(x.shape))
    return index_copy(g, x, dim, index, g.full(shape, value, x.dtype))


@rule("embedding_dense_backward")
def embedding_backward(
    g: Lowering, grad: Value, positions: Value, rows: int, padding_idx: int, scale_grad: bool
) -> Value:
    if scale_grad:
        raise UnsupportedError("embedding with scale_grad_by_freq=True")
    flat = g.cast(g.reshape(positions, (positions.size, 1)), torch.int32)
    values = g.reshape(grad, (positions.size, grad.shape[-1]))
    if padding_idx >= 0:
        padding = g.compare(ttir.eq, flat, g.scalar(padding_idx, flat))
        values = g.where(padding, g.scalar(0, values), values)
    table = g.full((rows, grad.shape[-1]), 0, grad.dtype)
    return scattered(g, table, 0, g.expand(flat, values.shape), values, "sum")
