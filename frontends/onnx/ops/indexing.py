# SPDX-License-Identifier: Apache-2.0
"""Ops that read or write elements at positions that other tensors hold."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from ttmlir.dialects import stablehlo

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Decides, Node, op
from ..values import BOOL, F64, I32, I64, Value, is_float, is_integer
from .data_movement import dimension
from .elementwise import positions

REDUCTIONS = {"none": "invalid", "add": "sum", "mul": "prod", "max": "max", "min": "min"}
UNKNOWN_COUNT = (
    "how many results there are depends on the inputs' elements; expected ones that are known when it is compiled"
)


def places(g: Emitter, indices: Value, size: int) -> Value:
    """Returns positions counted from the front, i32.

    Raises:
        Refused: one that is known is outside of the dimension.
    """
    if not is_integer(indices.dtype):
        raise Refused(f"indices are {indices!r}; expected integers")
    known = indices.known
    if known is not None and known.size and not indices.varying:
        least, most = int(known.min()), int(known.max())
        if least < -size or most >= size:
            raise Refused(f"index {least if least < -size else most} of a dimension of {size} elements")
        return Value.of(np.where(known < 0, known + size, known).astype(I32))
    return g.wrapped(g.cast(indices, I32), size)


@op("Gather", decides=Decides.LOOKED_UP)
def gather(g: Emitter, node: Node, x: Value, indices: Value) -> Value:
    axis = dimension(node.get("axis", 0), x.rank)
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if not math.prod(shape):
        return g.full(shape, 0, x.dtype)
    if not indices.rank and indices.known is not None and not indices.varying:
        at = int(places(g, indices, x.shape[axis]).known)  # type: ignore[arg-type]
        return g.reshape(g.slice_dim(x, axis, at, at + 1), shape)
    return g.gather(x, places(g, indices, x.shape[axis]), axis)


def require_inside(x: Value, indices: Value, axis: int) -> None:
    """
    Raises:
        Refused: indices have more elements in another dimension than there are.
    """
    if indices.rank != x.rank or any(
        m > n for d, (m, n) in enumerate(zip(indices.shape, x.shape, strict=True)) if d != axis
    ):
        raise Refused(f"indices {indices!r} along dimension {axis} of {x!r}; expected at most as many in other ones")


@op("GatherElements", decides=Decides.LOOKED_UP)
def gather_elements(g: Emitter, node: Node, x: Value, indices: Value) -> Value:
    axis = dimension(node.get("axis", 0), x.rank)
    require_inside(x, indices, axis)
    if not indices.size:
        return g.full(indices.shape, 0, x.dtype)
    return g.ttir("gather", x, places(g, indices, x.shape[axis]), shape=indices.shape, dim=axis)


def flat_places(g: Emitter, sizes: Sequence[int], indices: Value) -> Value:
    """Returns row-major positions, [n], of the rows [n, dimensions] of indices in dimensions of these sizes."""
    known = indices.known
    if known is not None and not indices.varying and known.size:
        parts = [np.asarray(places(g, Value.of(known[:, i]), size).known) for i, size in enumerate(sizes)]
        return Value.of(np.ravel_multi_index(parts, tuple(sizes)).astype(I32))
    total: Value | None = None
    for i, size in enumerate(sizes):
        part = places(g, g.reshape(g.slice_dim(indices, 1, i, i + 1), (indices.shape[0],)), size)
        total = part if total is None else g.add(g.mul(total, g.full((), size, I32)), part)
    assert total is not None
    return total


def rows_of(g: Emitter, node: Node, x: Value, indices: Value, batch: int) -> tuple[Value, Value]:
    """Returns a table of what indices point at, [rows, width], and the rows that they name, [n] i32.

    batch: leading dimensions that both have.
    """
    if not is_integer(indices.dtype) or not indices.rank > batch or x.shape[:batch] != indices.shape[:batch]:
        raise Refused(f"indices {indices!r} of {x!r} with {batch} dimensions in common")
    depth = indices.shape[-1]
    if not 1 <= depth <= x.rank - batch:
        raise Refused(f"indices {indices!r} of {x!r}; expected positions of at most {x.rank - batch} dimensions")
    sizes = x.shape[batch : batch + depth]
    many, width = math.prod(x.shape[: batch + depth]), math.prod(x.shape[batch + depth :])
    where = flat_places(g, sizes, g.reshape(indices, (indices.size // depth, depth)))
    if batch:
        outer, inner = math.prod(x.shape[:batch]), math.prod(indices.shape[batch:-1])
        first = g.mul(positions(g, (outer, inner), 0), g.full((), math.prod(sizes), I32))
        where = g.reshape(g.add(g.reshape(where, (outer, inner)), first), (outer * inner,))
    return g.reshape(x, (many, width)), where


@op("GatherND", decides=Decides.LOOKED_UP)
def gather_nd(g: Emitter, node: Node, x: Value, indices: Value) -> Value:
    batch = node.get("batch_dims", 0)
    if not 0 <= batch < min(x.rank, indices.rank):
        raise Refused(f"batch_dims {batch} of {x!r} and {indices!r}")
    shape = (*indices.shape[:-1], *x.shape[batch + indices.shape[-1] :])
    if not math.prod(shape) or not indices.size:
        return g.full(shape, 0, x.dtype)
    table, where = rows_of(g, node, x, indices, batch)
    return g.reshape(g.gather(table, where, 0), shape)


def reduction(g: Emitter, node: Node, x: Value) -> str:
    name = node.get("reduction", "none")
    if name not in REDUCTIONS:
        raise Refused(f"reduction {name!r}; expected {', '.join(REDUCTIONS)}")
    return REDUCTIONS[name]


def scattered(g: Emitter, x: Value, where: Value, updates: Value, dim: int, kind: str) -> Value:
    """Returns a tensor with elements replaced, or joined with new ones: of bools a sum is or, a product and."""
    dtype = x.dtype
    if dtype == BOOL:
        kind = {"sum": "max", "prod": "min"}.get(kind, kind)
        x, updates = g.cast(x, I32), g.cast(updates, I32)
    attribute = g.attribute(f"#ttcore.reduce_type<{kind}>")
    return g.cast(g.ttir("scatter", x, where, updates, dtype=x.dtype, dim=dim, scatter_reduce_type=attribute), dtype)


@op("ScatterElements", "Scatter")
def scatter_elements(g: Emitter, node: Node, x: Value, indices: Value, updates: Value) -> Value:
    axis = dimension(node.get("axis", 0), x.rank)
    require_inside(x, indices, axis)
    if updates.shape != indices.shape or updates.dtype != x.dtype:
        raise Refused(f"updates {updates!r} of {x!r} at {indices!r}; expected one of its type for each index")
    kind = reduction(g, node, x)
    return scattered(g, x, places(g, indices, x.shape[axis]), updates, axis, kind) if indices.size else x


@op("ScatterND")
def scatter_nd(g: Emitter, node: Node, x: Value, indices: Value, updates: Value) -> Value:
    kind = reduction(g, node, x)
    if not indices.rank or indices.shape[-1] > x.rank:
        raise Refused(f"indices {indices!r} of {x!r}; expected positions of at most {x.rank} dimensions")
    shape = (*indices.shape[:-1], *x.shape[indices.shape[-1] :])
    if updates.shape != shape or updates.dtype != x.dtype:
        raise Refused(f"updates {updates!r}; expected {x.dtype.name}{list(shape)}")
    if not updates.size or not indices.size:
        return x
    table, where = rows_of(g, node, x, indices, 0)
    rows = g.reshape(updates, (where.size, table.shape[1]))
    return g.reshape(scattered(g, table, g.broadcast(g.expand_dims(where, 1), rows.shape), rows, 0, kind), x.shape)


@op("TensorScatter")
def tensor_scatter(g: Emitter, node: Node, cache: Value, update: Value, begins: Value | None = None) -> Value:
    """Writes a piece of a sequence at a place of each batch."""
    axis = dimension(node.get("axis", -2), cache.rank)
    mode = node.get("mode", "linear")
    most, count = cache.shape[axis], update.shape[axis] if update.rank == cache.rank else -1
    expected = tuple(count if d == axis else n for d, n in enumerate(cache.shape))
    if axis == 0 or update.shape != expected or count > most or update.dtype != cache.dtype:
        raise Refused(f"update {update!r} of {cache!r} along dimension {axis}")
    if mode not in ("linear", "circular"):
        raise Refused(f"mode {mode!r}; expected linear or circular")
    if not update.size:
        return cache
    where = positions(g, update.shape, axis)
    if begins is not None:
        if begins.shape != (cache.shape[0],):
            raise Refused(f"write_indices {begins!r}; expected {cache.shape[0]} integers")
        first = g.reshape(g.cast(begins, I32), [n if d == 0 else 1 for d, n in enumerate(cache.shape)])
        where = g.add(where, first)
        if mode == "circular":
            over = g.compare("GE", where, g.full((), most, I32))
            if begins.known is None or (begins.known >= most).any():
                where = g.binary(stablehlo.remainder, where, g.full((), most, I32))
            else:
                where = g.select(over, g.sub(where, g.full((), most, I32)), where)
    return scattered(g, cache, g.broadcast(where, update.shape), update, axis, "invalid")


@op("Compress")
def compress(g: Emitter, node: Node, x: Value, condition: Value) -> Value:
    if condition.known is None or condition.rank != 1:
        raise Refused(UNKNOWN_COUNT)
    if condition.varying:
        raise Refused("the condition depends on an open size")
    axis = node.get("axis")
    if axis is None:
        x, axis = g.reshape(x, (x.size,)), 0
    axis = dimension(axis, x.rank)
    where = np.flatnonzero(condition.known).astype(I32)
    if where.size and where[-1] >= x.shape[axis]:
        raise Refused(f"the condition names element {where[-1]} of {x.shape[axis]}")
    return g.gather(x, Value.of(where), axis)


@op("NonZero", keep=True, decides=Decides.ORDER)
def non_zero(g: Emitter, node: Node, x: Value) -> Value:
    if x.known is None:
        raise Refused(UNKNOWN_COUNT)
    if not x.rank:
        return Value.of(np.zeros((0, int(x.known.any())), np.int64))
    result = Value.of(np.array(np.nonzero(x.known), np.int64))
    if x.rank == 1 and x.known.all():  # an arange that is written so
        result.emit = lambda: g.iota(result.shape, 1, I64)
    return result


@op("Unique", keep=True, decides=Decides.ORDER)
def unique(g: Emitter, node: Node, x: Value) -> tuple[Value, ...]:
    if x.known is None:
        raise Refused(UNKNOWN_COUNT)
    axis = node.get("axis")
    known = x.known.reshape(-1) if axis is None else x.known
    if is_float(x.dtype):  # -0 is 0
        known = known.astype(F64) + 0
    result = list(np.unique(known, return_index=True, return_inverse=True, return_counts=True, axis=axis or 0))
    result[2] = result[2].reshape(-1)
    if not node.get("sorted", 1):
        order = np.argsort(result[1])
        place = np.argsort(order)
        result = [np.take(result[0], order, axis or 0), result[1][order], place[result[2]], result[3][order]]
    kinds = (x.dtype, I64, I64, I64)
    return tuple(Value.of(np.ascontiguousarray(m).astype(kind)) for m, kind in zip(result, kinds, strict=True))
