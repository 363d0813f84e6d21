# SPDX-License-Identifier: Apache-2.0
"""Ops that take parts of tensors, and that add elements around them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Node, op
from ..values import Value
from .data_movement import dimension, dimensions, given_ints, known_ints

# Elements of a dimension that are moved one by one.
MOST_APART = 8
# The longest step; no dimension has as many elements.
FARTHEST = 2**31 - 1
# Elements that are added to a dimension in several turns.
MOST_TURNED = 1 << 20


@op("Slice")
def slice_of(g: Emitter, node: Node, x: Value, starts: Value | None = None, ends: Value | None = None,
             axes: Value | None = None, steps: Value | None = None) -> Value:  # fmt: skip
    begins, stops = (given_ints(node, name, v) for name, v in (("starts", starts), ("ends", ends)))
    if begins is None or stops is None:
        raise Refused("starts or ends are missing")
    named = given_ints(node, "axes", axes)
    dims = dimensions(range(len(begins)) if named is None else named, x.rank)
    strides = [1] * len(begins) if steps is None else known_ints(steps, "steps")
    if not len(begins) == len(stops) == len(dims) == len(strides) or 0 in strides:
        raise Refused(f"starts {begins}, ends {stops}, axes {dims}, steps {strides}; expected as many, and no step 0")
    low, high, by, backward = [0] * x.rank, list(x.shape), [1] * x.rank, []
    for d, begin, end, step in zip(dims, begins, stops, strides, strict=True):
        n = x.shape[d]
        if abs(step) > FARTHEST:  # only the first element
            step = FARTHEST if step > 0 else -FARTHEST
        first, last, _ = slice(begin, end if step > 0 or end >= -n else None, step).indices(n)
        count = len(range(first, last, step))
        if step < 0:
            backward.append(d)
            first, last, step = first + (count - 1) * step, first + 1, -step
        low[d], high[d], by[d] = (first, max(first, last), step) if count else (0, 0, 1)
    shape = [len(range(b, e, s)) for b, e, s in zip(low, high, by, strict=True)]
    if not math.prod(shape):
        return g.full(shape, 0, x.dtype)
    # A slice of all elements is not an op. If it is one for some sizes only, one more element is dropped.
    more = [0] * x.rank
    for i, d in enumerate(dims):
        more[d] = int(strides[i] == 1 and is_all_of_some(g, x, d, [(v, i) for v in (starts, ends) if v is not None]))
    if any(more):
        x = g.pad(x, [0] * x.rank, more)
    return g.reverse(g.slice(x, low, high, by), [d for d in backward if shape[d] > 1])


def is_all_of_some(g: Emitter, x: Value, dim: int, bounds: Sequence[tuple[Value, int]]) -> bool:
    """Returns whether a slice is all of a dimension for some open sizes, and a few elements less for others.

    bounds: where it begins and ends, each as an operand and the place in it.
    """
    sizes = g.seen_sizes(x, dim)
    every = []
    for value, place in bounds:
        seen = g.seen_elements(value) or [value.known] * len(sizes)
        every.append([int(known.reshape(-1)[place]) for known in seen if known is not None])
    if len(every) != 2 or not all(len(each) == len(sizes) for each in every):
        return False
    left = [n - len(range(*slice(begin, end).indices(n))) for n, begin, end in zip(sizes, *every, strict=True)]
    return len(set(left)) > 1 and max(left) < min(sizes)


@op("Split")
def split(g: Emitter, node: Node, x: Value, sizes: Value | None = None) -> tuple[Value, ...]:
    axis = dimension(node.get("axis", 0), x.rank)
    n = x.shape[axis]
    parts = given_ints(node, "split", sizes)
    if parts is None:
        count = node.get("num_outputs", len(node.outputs))
        if count != len(node.outputs) or (node.version < 18 and n % count):
            raise Refused(f"dimension {axis} of {x!r} in {count} parts for {len(node.outputs)} outputs")
        each = -(-n // count)
        parts = [max(0, min(each, n - i * each)) for i in range(count)]
    if sum(parts) != n or any(m < 0 for m in parts) or len(parts) != len(node.outputs):
        raise Refused(f"parts {parts} for {len(node.outputs)} outputs of dimension {axis} of {x!r}")
    result, begin = [], 0
    for size in parts:
        result.append(part(g, x, axis, begin, begin + size))
        begin += size
    return tuple(result)


def part(g: Emitter, x: Value, dim: int, begin: int, end: int) -> Value:
    shape = [max(0, end - begin) if d == dim else n for d, n in enumerate(x.shape)]
    return g.slice_dim(x, dim, begin, end) if math.prod(shape) else g.full(shape, 0, x.dtype)


@op("Pad")
def pad(g: Emitter, node: Node, x: Value, pads: Value | None = None, fill: Value | None = None,
        axes: Value | None = None) -> Value:  # fmt: skip
    sizes = given_ints(node, "pads", pads)
    if sizes is None:
        raise Refused("pads are missing")
    dims = list(range(x.rank)) if axes is None else dimensions(known_ints(axes, "axes"), x.rank)
    if len(sizes) != 2 * len(dims):
        raise Refused(f"pads {sizes}; expected two for each of {len(dims)} dimensions")
    low, high = [0] * x.rank, [0] * x.rank
    for i, d in enumerate(dims):
        low[d], high[d] = sizes[i], sizes[i + len(dims)]
    if any(n + a + b < 0 for n, a, b in zip(x.shape, low, high, strict=True)):
        raise Refused(f"pads {sizes} cut more off {x!r} than there is")
    mode = node.get("mode", "constant")
    if mode not in ("constant", "reflect", "edge", "wrap"):
        raise Refused(f"mode {mode!r}; expected constant, reflect, edge or wrap")
    # A number that open sizes change can be 0, for which no op is left: one element more is added and taken away again.
    more = [int(n) for n in open_elements(g, pads)] if x.size and pads is not None else [0] * len(sizes)
    before, after = [0] * x.rank, [0] * x.rank
    for i, d in enumerate(dims):
        before[d], after[d] = more[i], more[i + len(dims)]
    low, high = ([n + m for n, m in zip(*both, strict=True)] for both in ((low, before), (high, after)))
    y = padded_by(g, node, x, low, high, fill, mode)
    return g.slice(y, before, [n - m for n, m in zip(y.shape, after, strict=True)]) if any(more) else y


def open_elements(g: Emitter, numbers: Value) -> list[bool]:
    """Returns which elements open sizes change; none of them is negative, and they are not all equal."""
    seen = [x.reshape(-1) for x in g.seen_elements(numbers)]
    return [len({int(x[i]) for x in seen}) > 1 and all(x[i] >= 0 for x in seen) for i in range(numbers.size)]


def padded_by(g: Emitter, node: Node, x: Value, low: Sequence[int], high: Sequence[int], fill: Value | None, mode: str
              ) -> Value:  # fmt: skip
    if mode == "constant":
        if fill is not None and (fill.size != 1 or fill.dtype != x.dtype):
            raise Refused(f"constant_value is {fill!r}; expected one number of type {x.dtype.name}")
        return padded(g, x, low, high, fill if fill is not None else node.get("value", 0.0))
    cut = [(max(0, -a), n - max(0, -b)) for n, a, b in zip(x.shape, low, high, strict=True)]
    if any(begin > end for begin, end in cut):
        raise Refused(f"pads {[*low, *high]} cut more off {x!r} than there is")
    x = g.slice(x, [begin for begin, _ in cut], [end for _, end in cut])
    for d in range(x.rank):
        if low[d] > 0 or high[d] > 0:
            x = extended(g, x, d, max(0, low[d]), max(0, high[d]), mode)
    return x


def padded(g: Emitter, x: Value, low: Sequence[int], high: Sequence[int], fill: Value | float) -> Value:
    """Adds elements of one number; negative numbers cut off."""
    if isinstance(fill, float) and x.dtype.kind in "iub":
        fill = int(fill)
    shape = [n + a + b for n, a, b in zip(x.shape, low, high, strict=True)]
    if not x.size or not math.prod(shape):
        return g.broadcast(g.reshape(fill, ()), shape) if isinstance(fill, Value) else g.full(shape, fill, x.dtype)
    return g.pad(x, low, high, fill)


def extended(g: Emitter, x: Value, dim: int, low: int, high: int, mode: str) -> Value:
    """Adds elements of the dimension itself: its ends (edge), turned around at the ends (reflect), or from the other
    end (wrap)."""
    n = x.shape[dim]
    if not n:
        raise Refused(f"mode {mode} of dimension {dim} of {x!r}; expected elements")
    if mode == "edge":
        ends = [(g.slice_dim(x, dim, 0, 1), low), (g.slice_dim(x, dim, n - 1, n), high)]
        before, after = ([g.broadcast(e, [m if d == dim else k for d, k in enumerate(x.shape)])] if m else []
                         for e, m in ends)  # fmt: skip
        return g.concat([*before, x, *after], dim)
    if mode == "reflect" and max(low, high) < n:
        return g.concat([*turned(g, x, dim, 1, low + 1), x, *turned(g, x, dim, n - 1 - high, n - 1)], dim)
    if mode == "wrap" and max(low, high) <= n:
        first = [g.slice_dim(x, dim, n - low, n)] if low else []
        last = [g.slice_dim(x, dim, 0, high)] if high else []
        return g.concat([*first, x, *last], dim)
    if low + high > MOST_TURNED:
        raise Refused(f"{low} and {high} elements by {mode} from {n}; expected at most {MOST_TURNED}")
    where = np.pad(np.arange(n, dtype=np.int32), (low, high), mode="reflect" if mode == "reflect" else "wrap")
    return g.gather(x, Value.of(where), dim)


def turned(g: Emitter, x: Value, dim: int, begin: int, end: int) -> list[Value]:
    """Returns the elements from the last to the first, to be joined; few of them one by one."""
    if end - begin <= MOST_APART and not g.is_open:  # an open program has the same ops for all sizes
        return [g.slice_dim(x, dim, i, i + 1) for i in range(begin, end)[::-1]]
    return [g.reverse(g.slice_dim(x, dim, begin, end), [dim])]


@op("CenterCropPad")
def center_crop_pad(g: Emitter, node: Node, x: Value, requested: Value) -> Value:
    sizes = known_ints(requested, "shape")
    axes = node.get("axes")
    dims = dimensions(range(x.rank) if axes is None else axes, x.rank)
    if len(sizes) != len(dims) or any(n < 0 for n in sizes):
        raise Refused(f"shape {sizes}; expected a size for each of {len(dims)} dimensions")
    for d, size in zip(dims, sizes, strict=True):
        n = x.shape[d]
        begin = (n - size) // 2 if n > size else (size - n) // 2
        if n > size:
            x = part(g, x, d, begin, begin + size)
        elif n < size:
            low, high = [0] * x.rank, [0] * x.rank
            low[d], high[d] = begin, size - n - begin
            x = padded(g, x, low, high, 0.0)
    return x
