# SPDX-License-Identifier: Apache-2.0
"""Sampling of images at computed places: grids and regions of interest."""

from __future__ import annotations

import math

from ttmlir.dialects import stablehlo

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Node, op, refuse
from ..values import BOOL, F32, I32, Value
from .sampling import clamp, cubic_taps, floor, length, linear_taps, rows_of, weighted


@op("GridSample")
def grid_sample(g: Emitter, node: Node, x: Value, grid: Value) -> Value:
    rank = x.rank - 2
    if rank < 1 or grid.rank != x.rank or grid.shape[-1] != rank or grid.shape[0] != x.shape[0]:
        raise Refused(f"X is {x!r} and grid {grid!r}; expected a grid [n, ..., {rank}] of the same rank and batch")
    mode, padding = node.get("mode", "linear"), node.get("padding_mode", "zeros")
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    if mode not in ("linear", "nearest", "cubic"):
        raise Refused(f"mode is {mode!r}; expected linear, nearest or cubic")
    if padding not in ("zeros", "border", "reflection"):
        raise Refused(f"padding_mode is {padding!r}; expected zeros, border or reflection")
    batch, size, out = x.shape[0], x.shape[2:], grid.shape[1:-1]
    if not batch * math.prod(out) * x.shape[1]:
        return g.broadcast(g.full((1,) * x.rank, 0, x.dtype), (batch, x.shape[1], *out))
    if not x.size:
        raise Refused(f"X is {x!r}; expected pixels")
    count, aligned = math.prod(out), bool(node.get("align_corners", 0))
    places = g.reshape(g.cast(grid, F32), (batch, count, rank))
    half, one = g.scalar(0.5, places), g.scalar(1, places)
    taps = []
    for d in range(rank):
        # The last number of a place is of the last dimension.
        v = g.add(g.reshape(g.slice_dim(places, 2, rank - 1 - d, rank - d), (batch, count)), one)
        if aligned:
            v = g.mul(g.mul(v, half), length(g, size[d] - 1, v))
        else:
            v = g.mul(g.sub(g.mul(v, length(g, size[d], v)), one), half)
        if mode == "nearest":
            v = g.unary(stablehlo.round_nearest_even, v)
            taps.append([(v, g.broadcast(one, (batch, count)))])
        elif mode == "linear":
            if padding == "border":
                v = clamp(g, v, size[d])
            elif padding == "reflection":
                v = reflected(g, v, size[d], aligned)
            taps.append(linear_taps(g, v))
        else:
            taps.append(cubic_taps(g, v))

    def moved(v: Value, d: int) -> Value:
        if padding == "reflection":
            v = reflected(g, v, size[d], aligned)
        return clamp(g, v, size[d])

    table = rows_of(g, x)
    result = weighted(g, table, batch, taps, size, None if padding == "zeros" else moved)
    result = g.reshape(result, (batch, *out, x.shape[1]))
    return g.transpose(result, [0, rank + 1, *range(1, rank + 1)])


def reflected(g: Emitter, x: Value, size: int, aligned: bool) -> Value:
    """Returns places mirrored at the borders, which are at the middle of the first and the last pixel if aligned."""
    low = g.scalar(0.0 if aligned else -0.5, x)
    extent = length(g, size - 1 if aligned else size, x)
    if size == 1 and aligned:
        return g.mul(x, g.scalar(0, x))
    away = g.unary(stablehlo.abs, g.sub(x, low))
    turns = floor(g, g.div(away, extent))
    rest = g.sub(away, g.mul(turns, extent))
    two = g.scalar(2, x)
    odd = g.compare("NE", g.sub(turns, g.mul(floor(g, g.div(turns, two)), two)), g.scalar(0, x))
    return g.add(g.select(odd, g.sub(extent, rest), rest), low)


@op("AffineGrid")
def affine_grid(g: Emitter, node: Node, theta: Value, size: Value) -> Value:
    """Returns the products of matrices [n, d, d + 1] and the places of all pixels."""
    if size.known is None:
        raise Refused("size is computed; expected it to be known when it is compiled")
    sizes = [int(n) for n in size.known.flatten()][2:]
    rank = len(sizes)
    if rank not in (2, 3) or theta.rank != 3 or theta.shape[1:] != (rank, rank + 1):
        raise Refused(f"theta is {theta!r}, and size has {rank} spatial dimensions; expected 2 or 3, [n, d, d + 1]")
    aligned = bool(node.get("align_corners", 0))
    y = None
    for d in range(rank):
        n = sizes[d]
        at = g.cast(g.iota((1, *sizes, 1), 1 + d), theta.dtype)
        two, one = g.scalar(2, at), g.scalar(1, at)
        if aligned:
            # The middle, of one pixel.
            at = g.sub(g.div(g.mul(at, two), length(g, n - 1, at)), one) if n > 1 else g.mul(at, g.scalar(0, at))
        else:
            at = g.sub(g.div(g.add(g.mul(at, two), one), length(g, n, at)), one)
        # The first column is of the last dimension.
        column = g.reshape(g.slice_dim(theta, 2, rank - 1 - d, rank - d), (theta.shape[0], *(1,) * rank, rank))
        part = g.mul(at, column)
        y = part if y is None else g.add(y, part)
    assert y is not None
    last = g.slice_dim(theta, 2, rank, rank + 1)
    return g.add(y, g.reshape(last, (theta.shape[0], *(1,) * rank, rank)))


#
# Regions of interest
#


# Samples of a bin in each dimension: regions that are not finite would have no end of them.
MOST_SAMPLES = 4096


@op("RoiAlign")
def roi_align(g: Emitter, node: Node, x: Value, rois: Value, batch_indices: Value) -> Value:
    if x.rank != 4 or rois.rank != 2 or rois.shape[1] != 4:
        raise Refused(f"X is {x!r} and rois {rois!r}; expected [n, c, h, w] and [r, 4]")
    default = "output_half_pixel" if node.version < 16 else "half_pixel"
    transform, mode = node.get("coordinate_transformation_mode", default), node.get("mode", "avg")
    if transform not in ("half_pixel", "output_half_pixel") or mode not in ("avg", "max"):
        raise Refused(f"coordinate_transformation_mode is {transform!r} and mode {mode!r}; expected avg or max")
    out = (node.get("output_height", 1), node.get("output_width", 1))
    ratio, regions = node.get("sampling_ratio", 0), rois.shape[0]
    if min(out) < 1 or ratio < 0 or batch_indices.shape != (regions,) or not x.size:
        raise Refused(
            f"X is {x!r}, batch_indices {batch_indices!r}, the output {out} and sampling_ratio {ratio}; expected "
            f"elements, {regions} indices, sizes of at least 1 and a ratio of at least 0"
        )
    corners = g.cast(rois, F32)
    corners = g.mul(corners, g.scalar(node.get("spatial_scale", 1.0), corners))
    half = transform == "half_pixel"
    if half:
        corners = g.sub(corners, g.scalar(0.5, corners))
    begins, steps = [], []
    for d in range(2):
        begin, end = (g.slice_dim(corners, 1, i, i + 1) for i in (1 - d, 3 - d))
        extent = g.sub(end, begin)
        if not half:
            extent = g.maximum(extent, g.scalar(1, extent))
        begins.append(begin)
        steps.append(g.div(extent, g.scalar(out[d], extent)))  # [r, 1]
    index = g.cast(g.reshape(batch_indices, (regions,)), I32)
    if mode == "avg":
        return region_means(g, x, index, begins, steps, out, ratio)
    return region_maxima(g, x, index, begins, steps, out, ratio)


def sample_counts(g: Emitter, step: Value, ratio: int) -> Value:
    """Returns how many places of a bin are looked at, [r, 1] (f32)."""
    if ratio > 0:
        return g.broadcast(g.full((1, 1), ratio, F32), step.shape)
    return g.minimum(g.unary(stablehlo.ceil, step), g.scalar(MOST_SAMPLES, step))


def region_means(g: Emitter, x: Value, index: Value, begins: list[Value], steps: list[Value], out: tuple[int, int],
                 ratio: int) -> Value:  # fmt: skip
    """Returns interpolation and mean are sums by row and by column: a product with weights from each side."""
    weights = []
    for d in range(2):
        size, step = x.shape[2 + d], steps[d]
        counts = sample_counts(g, step, ratio)
        shape = (step.shape[0], out[d], size)

        def added(i: Value, y: Value, d: int = d, size: int = size, counts: Value = counts) -> Value:
            """Returns the weights of sample i of each bin, in place of those of places that it does not have."""
            at, outside = sample_places(g, begins[d], steps[d], counts, out[d], i, size)
            places = g.cast(g.iota((1, 1, size), 2), F32)
            near = g.sub(g.scalar(1, at), g.unary(stablehlo.abs, g.sub(g.expand_dims(at, 2), places)))
            near = g.maximum(near, g.scalar(0, near))
            expected = g.compare("LT", i, counts)  # [r, 1]
            kept = Value(outside.shape, BOOL, stablehlo.and_(g.ir(g.unary(stablehlo.not_, outside)),
                                                            g.ir(g.broadcast(expected, outside.shape))))  # fmt: skip
            return g.add(y, g.select(g.expand_dims(kept, 2), near, g.scalar(0, near)))

        y = g.broadcast(g.full((1, 1, 1), 0, F32), shape)
        if ratio > 0:
            for n in range(ratio):
                y = added(g.full((), n, F32), y)
        else:
            most = g.reduce("maximum", counts, [0, 1]) if counts.size else g.full((), 0, F32)
            (_, y) = g.loop(
                [g.full((), 0, F32), y],
                lambda i, _y, most=most: g.compare("LT", i, most),
                lambda i, y, added=added: [g.add(i, g.scalar(1, i)), added(i, y)],
            )
        share = g.maximum(counts, g.scalar(1, counts))
        weights.append(g.div(y, g.expand_dims(share, 2)))
    taken = g.cast(g.gather(x, index, 0), F32)  # [r, c, h, w]
    y = g.dot(taken, weights[1], ((3,), (2,)), ((0,), (0,)))  # [r, c, h, columns]
    y = g.dot(weights[0], y, ((2,), (2,)), ((0,), (0,)))  # [r, rows, c, columns]
    return g.cast(g.transpose(y, [0, 2, 1, 3]), x.dtype)


def sample_places(g: Emitter, begin: Value, step: Value, counts: Value, bins: int, i: Value,
                  size: int) -> tuple[Value, Value]:  # fmt: skip
    """Returns sample i of each bin, [r, bins], moved to the nearest pixels at the border, and which count as 0."""
    numbers = g.cast(g.iota((1, bins), 1), F32)
    inner = g.div(g.mul(g.add(i, g.scalar(0.5, i)), step), g.maximum(counts, g.scalar(1, counts)))
    at = g.add(g.add(begin, g.mul(numbers, step)), inner)
    below, above = g.compare("LT", at, g.scalar(-1, at)), g.compare("GT", at, length(g, size, at))
    return clamp(g, at, size), Value(at.shape, BOOL, stablehlo.or_(g.ir(below), g.ir(above)))


def region_maxima(g: Emitter, x: Value, index: Value, begins: list[Value], steps: list[Value], out: tuple[int, int],
                  ratio: int) -> Value:  # fmt: skip
    """Returns the greatest of a bin's samples: for each the greatest of four pixels times their weights, as ONNX has
    it."""
    regions, (channels, height, width) = index.size, x.shape[1:]
    size = (height, width)
    counts = [sample_counts(g, step, ratio) for step in steps]
    table = rows_of(g, x)
    pixels, bins = height * width, out[0] * out[1]
    shape = (regions, bins, channels)
    base = g.reshape(g.mul(index, g.scalar(pixels, index)), (regions, 1))

    def grid(v: Value, d: int) -> Value:
        """Returns [r, bins of d] for all bins."""
        v = g.expand_dims(v, 2 if d == 0 else 1)
        return g.reshape(g.broadcast(v, (regions, *out)), (regions, bins))

    def greater(i: Value, j: Value, y: Value) -> Value:
        taps: list[list[tuple[Value, Value]]] = []
        skipped: tuple[Value, ...] | None = None
        for d, n in enumerate((i, j)):
            at, outside = sample_places(g, begins[d], steps[d], counts[d], out[d], n, size[d])
            lacking = g.broadcast(g.compare("GE", n, counts[d]), outside.shape)
            outside, lacking = grid(outside, d), grid(lacking, d)
            taps.append([(grid(clamp(g, p, size[d]), d), grid(w, d)) for p, w in linear_taps(g, at)])
            gone = (outside, lacking)
            skipped = gone if skipped is None else tuple(
                Value(a.shape, BOOL, stablehlo.or_(g.ir(a), g.ir(b))) for a, b in zip(skipped, gone, strict=True)
            )  # fmt: skip
        found = None
        for row, high in taps[0]:
            for column, wide in taps[1]:
                number = g.add(g.mul(g.cast(row, I32), g.scalar(width, base)), g.cast(column, I32))
                taken = g.gather(table, g.reshape(g.add(number, base), (regions * bins,)), 0)
                part = g.cast(g.reshape(taken, shape), F32)
                part = g.mul(part, g.expand_dims(g.mul(high, wide), 2))
                found = part if found is None else g.maximum(found, part)
        assert found is not None and skipped is not None
        found = g.select(g.expand_dims(skipped[0], 2), g.scalar(0, found), found)
        return g.select(g.expand_dims(skipped[1], 2), y, g.maximum(y, found))

    y = g.broadcast(g.full((1, 1, 1), -math.inf, F32), shape)
    if ratio > 0:
        for n in range(ratio * ratio):
            y = greater(g.full((), n // ratio, F32), g.full((), n % ratio, F32), y)
    else:
        most = [g.reduce("maximum", c, [0, 1]) for c in counts]
        one = g.full((), 1, F32)

        def step(n: Value, y: Value) -> list[Value]:
            row = floor(g, g.div(n, most[1]))
            return [g.add(n, one), greater(row, g.sub(n, g.mul(row, most[1])), y)]

        total = g.mul(*most)
        _, y = g.loop([g.full((), 0, F32), y], lambda n, _y: g.compare("LT", n, total), step)
    y = g.select(g.compare("EQ", y, g.scalar(-math.inf, y)), g.scalar(0, y), y)
    y = g.reshape(y, (regions, *out, channels))
    return g.cast(g.transpose(y, [0, 3, 1, 2]), x.dtype)


refuse(
    "how many boxes are selected depends on the data, and programs have results of known shapes; expected known boxes "
    "and scores, or the node to be left out of the model and run after it",
    "NonMaxSuppression",
)
