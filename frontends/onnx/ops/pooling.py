# SPDX-License-Identifier: Apache-2.0
"""Pools. Those of TTIR are of images and volumes whose channels are last; the permutes that this takes are what
`ttir-erase-inverse-ops` removes. Sequences are images of height 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ttmlir.dialects import stablehlo, ttir

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Node, op
from ..values import BOOL, F32, I32, I64, Value, is_float
from .convolution import convolved, of_dims, paddings


@dataclass(frozen=True)
class Window:
    """A window along one dimension. out: how many there are."""

    size: int
    kernel: int
    stride: int
    dilation: int
    low: int
    high: int
    out: int
    ceil: bool


WHOLE = Window(1, 1, 1, 1, 0, 0, 1, False)


def windows(node: Node, x: Value, empty: bool = False) -> list[Window]:
    """Returns the windows of a node along each spatial dimension. empty: they can have places of the padding only.

    Raises:
        Refused: they do not fit the input.
    """
    rank = x.rank - 2
    if not 1 <= rank <= 3:
        raise Refused(f"X is {x!r}; expected [n, c] and 1 to 3 spatial dimensions")
    node.need("kernel_shape")
    kernel, strides, dilations = (of_dims(node, name, rank, 1) for name in ("kernel_shape", "strides", "dilations"))
    pads = paddings(node, x.shape[2:], kernel, strides, dilations)
    ceil = bool(node.get("ceil_mode", 0)) and node.get("auto_pad", "NOTSET") in ("NOTSET", "VALID")
    found = []
    for n, k, s, d, (low, high) in zip(x.shape[2:], kernel, strides, dilations, pads, strict=True):
        reach = (k - 1) * d + 1
        if low < 0 or high < 0 or (max(low, high) >= reach and not empty):
            raise Refused(f"pads has {low} and {high}; expected at least 0 and less than the window, {reach}")
        room = n + low + high - reach
        if room < 0 and not ceil:
            raise Refused(f"a window takes {reach} places and X has {n + low + high}, with its padding")
        out = (-(-room // s) if ceil else room // s) + 1
        if ceil and (out - 1) * s >= n + low:  # no window begins in the padding at the end
            out -= 1
        if out < 1:
            raise Refused(f"a window takes {reach} places and X has {n + low + high}, with its padding")
        if room < 0:  # the only window goes beyond the end, where nothing counts
            k = (n + low + high - 1) // d + 1
        found.append(Window(n, k, s, d, low, high, out, ceil))
    return found


def image(g: Emitter, x: Value, of: Sequence[Window]) -> tuple[Value, list[Window]]:
    """Returns a sequence as an image of height 1."""
    return (g.expand_dims(x, 2), [WHOLE, *of]) if x.rank == 3 else (x, list(of))


def pooled_shape(x: Value, of: Sequence[Window]) -> tuple[int, ...]:
    """Returns the shape of the pool of an image or a volume, channels last."""
    return (x.shape[0], *(w.out for w in of), x.shape[-1])


def arguments(g: Emitter, of: Sequence[Window]) -> dict[str, object]:
    return dict(
        kernel=g.i32s([w.kernel for w in of]), stride=g.i32s([w.stride for w in of]),
        dilation=g.i32s([w.dilation for w in of]), padding=g.i32s([w.low for w in of] + [w.high for w in of]),
        ceil_mode=any(w.ceil for w in of),
    )  # fmt: skip


def channels_last(g: Emitter, x: Value) -> Value:
    return g.transpose(x, [0, *range(2, x.rank), 1])


def channels_first(g: Emitter, y: Value) -> Value:
    return g.transpose(y, [0, y.rank - 1, *range(1, y.rank - 1)])


def spatial_back(g: Emitter, y: Value, rank: int) -> Value:
    """Returns an image of height 1 as a sequence again."""
    return g.reshape(y, (y.shape[0], y.shape[1], y.shape[3])) if rank == 3 else y


#
# Greatest values
#


@op("MaxPool")
def max_pool(g: Emitter, node: Node, x: Value) -> tuple[Value, ...]:
    of = windows(node, x)
    rank, size = x.rank, x.shape[2:]
    narrow = x.dtype if not is_float(x.dtype) and x.dtype not in (I32,) else None
    wide = g.cast(x, I32) if narrow is not None else x
    wide, of = image(g, wide, of)
    if not node.wants(1):
        v = channels_last(g, wide)
        y = g.ttir(f"max_pool{len(of)}d", v, shape=pooled_shape(v, of), dtype=v.dtype, **arguments(g, of))
        return (g.cast(spatial_back(g, channels_first(g, y), rank), x.dtype),)
    y, places = greatest(g, wide, of)
    y, places = spatial_back(g, y, rank), spatial_back(g, places, rank)
    if node.get("storage_order", 0) and len(size) > 1:
        places = column_major(g, places, size)
    # Positions are counted over batch and channels too.
    channels = g.iota((x.shape[0] * x.shape[1], 1), 0)
    ahead = g.mul(channels, plane_size(g, size, channels))
    places = g.add(places, g.reshape(ahead, (*x.shape[:2], *(1,) * len(size))))
    return g.cast(y, x.dtype), g.cast(places, I64)


def plane_size(g: Emitter, size: Sequence[int], like: Value) -> Value:
    """Returns the number of pixels, which open sizes may change."""
    from .sampling import length

    y = length(g, size[0], like)
    for n in size[1:]:
        y = g.mul(y, length(g, n, like))
    return y


def column_major(g: Emitter, places: Value, size: Sequence[int]) -> Value:
    """Returns row-major positions as positions where the first dimension is the fastest."""
    y, rest = None, places
    for d in reversed(range(len(size))):
        n = g.scalar(size[d], places)
        at = g.binary(stablehlo.remainder, rest, n)
        rest = g.binary(stablehlo.divide, rest, n)
        part = g.mul(at, g.scalar(math.prod(size[:d]), places))
        y = part if y is None else g.add(y, part)
    assert y is not None
    return y


def greatest(g: Emitter, x: Value, of: Sequence[Window]) -> tuple[Value, Value]:
    """Returns the greatest values of an image or a volume, and their row-major positions in it (i32)."""
    v = channels_last(g, x)
    shape = pooled_shape(v, of)
    kinds = [g.type(shape, v.dtype), g.type(shape, I32)]
    if len(of) == 2:
        found = ttir.max_pool2d_with_indices(g.ir(v), [], **arguments(g, of), results=kinds)
    else:
        found = ttir.max_pool3d_with_indices(g.ir(v), **arguments(g, of), results=kinds)
    y, places = found
    return channels_first(g, Value(shape, v.dtype, y)), channels_first(g, Value(shape, I32, places))


@op("MaxUnpool")
def max_unpool(g: Emitter, node: Node, x: Value, indices: Value, output_shape: Value | None = None) -> Value:
    rank = x.rank - 2
    node.need("kernel_shape")
    kernel, strides = (of_dims(node, name, rank, 1) for name in ("kernel_shape", "strides"))
    pads = paddings(node, x.shape[2:], kernel, strides, [1] * rank)
    own = [(n - 1) * s + k - low - high
           for n, s, k, (low, high) in zip(x.shape[2:], strides, kernel, pads, strict=True)]  # fmt: skip
    shape = (*x.shape[:2], *own)
    if output_shape is not None:
        if output_shape.known is None:
            raise Refused("output_shape is computed; expected it to be known when it is compiled")
        shape = tuple(int(n) for n in output_shape.known)
    whole = (*x.shape[:2], *own)
    if len(shape) != x.rank or any(n < m for n, m in zip(shape, whole, strict=True)):
        raise Refused(f"output_shape is {list(shape)}; expected at least {list(whole)}, which the indices are of")
    size = math.prod(whole)
    zeros = g.broadcast(g.full((1,), 0, x.dtype), (size,))
    places, values = g.cast(g.reshape(indices, (x.size,)), I32), g.reshape(x, (x.size,))
    result = ttir.scatter(g.ir(zeros), g.ir(places), g.ir(values), 0, g.attribute("#ttcore.reduce_type<invalid>"))
    y = g.reshape(Value((size,), x.dtype, result), whole)
    return g.pad(y, [0] * x.rank, [n - m for n, m in zip(shape, whole, strict=True)])


#
# Means and norms
#


def means(g: Emitter, x: Value, of: Sequence[Window], with_padding: bool) -> Value:
    """Returns means of windows of an image or a volume without dilation."""
    parts = {**arguments(g, of), "dilation": g.i32s([1] * len(of))}
    v = channels_last(g, x)
    y = g.ttir(f"avg_pool{len(of)}d", v, shape=pooled_shape(v, of), dtype=v.dtype, count_include_pad=with_padding,
               **parts)  # fmt: skip
    return channels_first(g, y)


def is_spread(of: Sequence[Window]) -> bool:
    """Returns whether the places of the windows are not neighbours."""
    return any(w.dilation > 1 and w.kernel > 1 for w in of)


def sums(g: Emitter, x: Value, of: Sequence[Window]) -> Value:
    """Returns sums of windows of an image or a volume with dilation: a convolution of each channel with ones."""
    (batch, channels), size, out = x.shape[:2], x.shape[2:], [w.out for w in of]
    ones = g.full((1, 1, *(w.kernel for w in of)), 1, x.dtype)
    reach = [
        (w.low, max(0, (w.out - 1) * w.stride + (w.kernel - 1) * w.dilation + 1 - n - w.low))
        for w, n in zip(of, size, strict=True)
    ]
    planes = g.reshape(x, (batch * channels, 1, *size))
    y = convolved(g, planes, ones, None, [w.stride for w in of], reach, [w.dilation for w in of], 1)
    y = g.slice(y, [0] * x.rank, [batch * channels, 1, *out])
    return g.reshape(y, (batch, channels, *out))


def spread_means(g: Emitter, x: Value, of: Sequence[Window], with_padding: bool) -> Value:
    """Returns means of windows of an image or a volume with dilation: sums by counts, which are sums of ones."""
    ones = g.broadcast(g.full((1,) * x.rank, 1, F32), (1, 1, *x.shape[2:]))
    counted = of
    if with_padding:
        ones = g.pad(ones, [0, 0, *(w.low for w in of)], [0, 0, *(w.high for w in of)], 1)
        counted = [replace(w, low=0, high=0) for w in of]
    return g.div(sums(g, x, of), g.cast(sums(g, ones, counted), x.dtype))


@op("AveragePool")
def average_pool(g: Emitter, node: Node, x: Value) -> Value:
    rank, of = x.rank, windows(node, x)
    with_padding = bool(node.get("count_include_pad", 0))
    x, of = image(g, x, of)
    return spatial_back(g, (spread_means if is_spread(of) else means)(g, x, of, with_padding), rank)


def power(g: Emitter, x: Value, p: float) -> Value:
    """Returns |x| to the power of p."""
    if p == 2:
        return g.mul(x, x)
    x = g.unary(stablehlo.abs, x)
    return x if p == 1 else g.binary(stablehlo.power, x, g.scalar(p, x))


def norm_of(node: Node) -> float:
    """Returns the norm's power.

    Raises:
        Refused: it is less than 1.
    """
    p: float = node.get("p", 2)
    if p < 1:
        raise Refused(f"p is {p}; expected at least 1")
    return p


def root(g: Emitter, x: Value, p: float) -> Value:
    if p == 2:
        return g.unary(stablehlo.sqrt, x)
    return x if p == 1 else g.binary(stablehlo.power, x, g.scalar(1 / p, x))


@op("LpPool")
def lp_pool(g: Emitter, node: Node, x: Value) -> Value:
    """Returns the p-norm of each window, from the mean of powers; padding and places beyond it are 0."""
    rank, of, p, dtype = x.rank, windows(node, x, True), norm_of(node), x.dtype
    x = power(g, g.cast(x, F32), p)
    sizes = [max(w.low + w.size, (w.out - 1) * w.stride + (w.kernel - 1) * w.dilation + 1) for w in of]
    x = g.pad(x, [0, 0, *(w.low for w in of)], [0, 0, *(n - w.low - w.size for n, w in zip(sizes, of, strict=True))])
    of = [replace(w, size=n, low=0, high=0, ceil=False) for n, w in zip(sizes, of, strict=True)]
    x, of = image(g, x, of)
    if is_spread(of):
        y = sums(g, x, of)
    else:
        y = means(g, x, of, True)
        y = g.mul(y, g.scalar(math.prod(w.kernel for w in of), y))
    return g.cast(root(g, spatial_back(g, y, rank), p), dtype)


@op("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(g: Emitter, node: Node, x: Value) -> Value:
    if x.rank < 2:
        raise Refused(f"X is {x!r}; expected [n, c] and spatial dimensions")
    dims = list(range(2, x.rank))
    if node.op == "GlobalMaxPool":
        return g.reduce("maximum", x, dims, True)
    if node.op == "GlobalAveragePool":
        shape = (*x.shape[:2], *(1,) * len(dims))
        return g.ttir("mean", x, shape=shape, dtype=x.dtype, dim_arg=dims, keep_dim=True) if dims else x
    p = norm_of(node)
    wide = power(g, g.cast(x, F32), p)
    return g.cast(root(g, g.reduce("add", wide, dims, True), p), x.dtype)


#
# Regions of interest
#


def bins(g: Emitter, begin: Value, end: Value, count: int) -> tuple[Value, Value]:
    """Returns where the bins of regions [r, 1] begin and end: [r, count]."""
    numbers = g.cast(g.iota((1, count), 1), F32)
    step = g.div(g.sub(end, begin), g.scalar(count, begin))
    return g.mul(numbers, step), g.mul(g.add(numbers, g.scalar(1, numbers)), step)


@op("MaxRoiPool")
def max_roi_pool(g: Emitter, node: Node, x: Value, rois: Value) -> Value:
    """Returns the greatest value of each bin of each region; 0 of a bin without pixels. A row or column at a time, by
    masks."""
    if x.rank != 4 or rois.rank != 2 or rois.shape[1] != 5:
        raise Refused(f"X is {x!r} and rois {rois!r}; expected [n, c, h, w] and [r, 5]")
    shape, scale, regions = node.need("pooled_shape"), node.get("spatial_scale", 1.0), rois.shape[0]
    if len(shape) != 2 or min(shape) < 1:
        raise Refused(f"pooled_shape is {list(shape)}; expected 2 numbers of at least 1")
    corners = g.cast(rois, F32)

    def corner(i: int) -> Value:
        """Rounds a coordinate, away from 0 in the middle."""
        v = g.slice_dim(corners, 1, i, i + 1)
        return g.unary(stablehlo.round_nearest_afz, g.mul(v, g.scalar(scale, v)))

    def mask(begin: Value, end: Value, count: int, size: int) -> Value:
        """Returns which places are in which bin: [r, count, size]."""
        one = g.scalar(1, begin)
        extent = g.maximum(g.add(g.sub(end, begin), one), one)
        first, last = bins(g, g.sub(extent, extent), extent, count)
        first = g.add(g.unary(stablehlo.floor, first), begin)
        last = g.add(g.unary(stablehlo.ceil, last), begin)
        places = g.cast(g.iota((1, 1, size), 2), F32)
        above = g.compare("GE", places, g.expand_dims(first, 2))
        below = g.compare("LT", places, g.expand_dims(last, 2))
        return Value(above.shape, BOOL, stablehlo.and_(g.ir(above), g.ir(below)))

    (high, wide), (_, channels, height, width) = shape, x.shape
    batch = g.cast(g.reshape(g.slice_dim(rois, 1, 0, 1), (regions,)), I32)
    taken = g.gather(x, batch, 0)  # [r, c, h, w]
    rows = g.reshape(mask(corner(2), corner(4), high, height), (regions, 1, high, height, 1))
    columns = g.reshape(mask(corner(1), corner(3), wide, width), (regions, 1, 1, wide, width))
    least = g.scalar(-math.inf, x)
    y = g.select(rows, g.reshape(taken, (regions, channels, 1, height, width)), least)
    y = g.reduce("maximum", y, [3])  # [r, c, high, w]
    y = g.select(columns, g.reshape(y, (regions, channels, high, 1, width)), least)
    y = g.reduce("maximum", y, [4])
    return g.select(g.compare("EQ", y, least), g.scalar(0, y), y)
