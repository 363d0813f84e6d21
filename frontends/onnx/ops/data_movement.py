# SPDX-License-Identifier: Apache-2.0
"""Ops that move elements: shapes, orders, joins, repetitions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Node, op
from ..values import BOOL, Given, Value
from .elementwise import positions


def known_ints(value: Value, what: str) -> list[int]:
    """Returns the elements of an operand that decides shapes.

    Raises:
        Refused: they are computed by the program.
    """
    if value.known is None:
        raise Refused(f"{what} is computed from the inputs' elements; expected one that is known when it is compiled")
    return [int(n) for n in value.known.flatten()]


def given_ints(node: Node, name: str, operand: Value | None) -> list[int] | None:
    """Returns integers that old versions have as an attribute and newer ones as an operand."""
    if operand is not None:
        return known_ints(operand, name)
    value = node.get(name)
    return None if value is None else [int(n) for n in value]


def dimension(axis: int, rank: int) -> int:
    """Returns a dimension, counted from the front.

    Raises:
        Refused: there is none.
    """
    if not -rank <= axis < rank:
        raise Refused(f"axis {axis} of {rank} dimensions; expected {-rank} to {rank - 1}")
    return axis % rank


def dimensions(axes: Sequence[int], rank: int) -> list[int]:
    """Returns dimensions, counted from the front.

    Raises:
        Refused: there is none, or one is named twice.
    """
    dims = [dimension(int(axis), rank) for axis in axes]
    if len(set(dims)) != len(dims):
        raise Refused(f"axes {list(axes)} name a dimension twice")
    return dims


@op("Shape", keep=True)
def shape(g: Emitter, node: Node, x: Value) -> Value:
    begin, end = node.get("start", 0), node.get("end", x.rank)
    result = Value.of(np.array(x.shape[slice(begin, end)], np.int64))
    result.varying = g.is_open and result.size > 0
    return result


@op("Size", keep=True)
def size(g: Emitter, node: Node, x: Value) -> Value:
    result = Value.of(np.array(x.size, np.int64))
    result.varying = g.is_open
    return result


@op("Reshape")
def reshape(g: Emitter, node: Node, x: Value, requested: Value | None = None) -> Value:
    sizes = given_ints(node, "shape", requested)
    if sizes is None:
        raise Refused("the shape is missing")
    if not node.get("allowzero", 0):
        if any(n == 0 for n in sizes[x.rank :]):
            raise Refused(f"shape {sizes} has a 0 where {x!r} has no dimension")
        sizes = [x.shape[d] if n == 0 else n for d, n in enumerate(sizes)]
    if sizes.count(-1) > 1 or any(n < -1 for n in sizes):
        raise Refused(f"shape {sizes}; expected sizes and at most one -1")
    if -1 in sizes:
        others = math.prod(n for n in sizes if n != -1)
        if not others or x.size % others:
            raise Refused(f"{x!r} has {x.size} elements, which shape {sizes} does not divide")
        sizes[sizes.index(-1)] = x.size // others
    return g.reshape(x, sizes)


@op("Flatten")
def flatten(g: Emitter, node: Node, x: Value) -> Value:
    axis = node.get("axis", 1)
    if not -x.rank <= axis <= x.rank:
        raise Refused(f"axis {axis} of {x!r}; expected {-x.rank} to {x.rank}")
    axis = axis + x.rank if axis < 0 else axis
    return g.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@op("Squeeze")
def squeeze(g: Emitter, node: Node, x: Value, axes: Value | None = None) -> Value:
    given = given_ints(node, "axes", axes)
    dims = [d for d, n in enumerate(x.shape) if n == 1] if given is None else dimensions(given, x.rank)
    for d in dims:
        if x.shape[d] != 1:
            raise Refused(f"dimension {d} of {x!r} is no 1")
    return g.reshape(x, [n for d, n in enumerate(x.shape) if d not in dims])


@op("Unsqueeze")
def unsqueeze(g: Emitter, node: Node, x: Value, axes: Value | None = None) -> Value:
    given = given_ints(node, "axes", axes)
    if given is None:
        raise Refused("axes are missing")
    return g.expand_dims(x, *dimensions(given, x.rank + len(given))) if given else x


@op("Transpose", moves=True)
def transpose(g: Emitter, node: Node, x: Value) -> Value:
    order = [int(d) for d in node.get("perm", range(x.rank)[::-1])]
    if sorted(order) != list(range(x.rank)):
        raise Refused(f"perm {order} of {x!r}; expected each dimension once")
    return g.transpose(x, order)


@op("Concat", moves=True)
def concat(g: Emitter, node: Node, *xs: Value) -> Value:
    axis = dimension(node.need("axis"), xs[0].rank)
    for x in xs:
        if x.dtype != xs[0].dtype:
            raise Refused(f"{xs[0]!r} and {x!r} have different types")
    kept = [x for x in xs if x.size or math.prod(n for d, n in enumerate(x.shape) if d != axis) == 0]
    return g.concat(kept or xs[:1], axis)


@op("Identity", keep=True)
def identity(g: Emitter, node: Node, x: Given) -> Given:
    return x


@op("Dropout")
def dropout(g: Emitter, node: Node, x: Value, ratio: Value | None = None, training: Value | None = None) -> Given:
    """Returns the input, as outside of training, and a mask of all elements."""
    if training is not None and (training.known is None or training.known.any()):
        known = None if ratio is None or ratio.known is None else float(ratio.known.reshape(-1)[0])
        if known != 0:
            raise Refused("training_mode is not known to be false; expected inference")
    return (x, g.full(x.shape, 1, BOOL if node.version >= 10 else x.dtype)) if node.wants(1) else (x,)  # type: ignore[return-value]


@op("Expand")
def expand(g: Emitter, node: Node, x: Value, requested: Value) -> Value:
    sizes = known_ints(requested, "shape")
    if any(n < 0 for n in sizes):
        raise Refused(f"shape {sizes}; expected sizes from 0")
    try:
        return g.broadcast(x, np.broadcast_shapes(x.shape, tuple(sizes)))
    except ValueError:
        raise Refused(f"{x!r} does not broadcast with shape {sizes}") from None


@op("Tile")
def tile(g: Emitter, node: Node, x: Value, repeats: Value) -> Value:
    times = known_ints(repeats, "repeats")
    if len(times) != x.rank or any(n < 0 for n in times):
        raise Refused(f"repeats {times} of {x!r}; expected a number from 0 for each dimension")
    sizes = [n * m for n, m in zip(x.shape, times, strict=True)]
    if not math.prod(sizes):
        return g.full(sizes, 0, x.dtype)
    if all(n == 1 or m == 1 for n, m in zip(x.shape, times, strict=True)):
        return g.broadcast(x, sizes)
    return g.ttir("repeat", x, shape=sizes, repeat_dimensions=g.ints(times))


def spatial(node: Node, x: Value) -> tuple[int, int, int, int, int]:
    """Returns batch, channels, height, width and the size of blocks."""
    block = node.need("blocksize")
    if x.rank != 4 or block < 1:
        raise Refused(f"blocks of {block} of {x!r}; expected 4 dimensions and a positive size")
    n, c, h, w = x.shape
    return n, c, h, w, block


@op("DepthToSpace")
def depth_to_space(g: Emitter, node: Node, x: Value) -> Value:
    n, c, h, w, b = spatial(node, x)
    mode = node.get("mode", "DCR")
    if mode not in ("DCR", "CRD") or c % (b * b):
        raise Refused(f"mode {mode} with blocks of {b} of {x!r}; expected DCR or CRD and channels of whole blocks")
    small = c // (b * b)
    if mode == "DCR":
        result = g.transpose(g.reshape(x, (n, b, b, small, h, w)), (0, 3, 4, 1, 5, 2))
    else:
        result = g.transpose(g.reshape(x, (n, small, b, b, h, w)), (0, 1, 4, 2, 5, 3))
    return g.reshape(result, (n, small, h * b, w * b))


@op("SpaceToDepth")
def space_to_depth(g: Emitter, node: Node, x: Value) -> Value:
    n, c, h, w, b = spatial(node, x)
    mode = node.get("mode", "DCR")
    if mode not in ("DCR", "CRD") or h % b or w % b:
        raise Refused(f"mode {mode} with blocks of {b} of {x!r}; expected DCR or CRD and whole blocks")
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    result = g.transpose(g.reshape(x, (n, c, h // b, b, w // b, b)), order)
    return g.reshape(result, (n, c * b * b, h // b, w // b))


@op("ReverseSequence")
def reverse_sequence(g: Emitter, node: Node, x: Value, lengths: Value) -> Value:
    """Turns the first elements of each row around, as many as its length."""
    batch, time = (
        dimension(node.get(name, default), x.rank) for name, default in (("batch_axis", 1), ("time_axis", 0))
    )
    if batch == time or lengths.shape != (x.shape[batch],):
        raise Refused(f"lengths {lengths!r} of {x!r} along {batch}, in which {time} is turned around")
    if not x.size:
        return x
    place = positions(g, x.shape, time)
    each = g.cast(g.reshape(lengths, [n if d == batch else 1 for d, n in enumerate(x.shape)]), place.dtype)
    turned = g.sub(g.sub(each, place), g.full((), 1, place.dtype))
    where = g.broadcast(g.select(g.compare("LT", place, each), turned, place), x.shape)
    return g.ttir("gather", x, where, shape=x.shape, dim=time)
