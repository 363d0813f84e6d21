# SPDX-License-Identifier: Apache-2.0
"""Pixels at computed places: tables with a row for each pixel, and weighted sums of rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from ttmlir.dialects import stablehlo

from ..emitter import Emitter
from ..values import BOOL, I32, Value


def rows_of(g: Emitter, x: Value) -> Value:
    """Returns [batch * pixels, channels] of [batch, channels, ...]: a gather takes whole rows."""
    batch, channels, pixels = x.shape[0], x.shape[1], math.prod(x.shape[2:])
    return g.reshape(g.transpose(x, [0, *range(2, x.rank), 1]), (batch * pixels, channels))


def pick(g: Emitter, table: Value, batch: int, at: Sequence[Value], size: Sequence[int]) -> Value:
    """Returns the rows of pixels [batch, n], by their numbers (i32) in each dimension, which are in bounds: [batch, n,
    c]."""
    count = at[0].shape[1]
    index = g.reshape(g.iota((batch, 1), 0), (batch, 1))
    for along, n in zip(at, size, strict=True):
        index = g.add(g.mul(index, length(g, n, index)), along)
    taken = g.gather(table, g.reshape(index, (batch * count,)), 0)
    return g.reshape(taken, (batch, count, table.shape[1]))


def length(g: Emitter, n: int, like: Value) -> Value:
    """Returns a number that depends on a size, to be combined with `like`; open sizes change it."""
    if not g.is_open:
        return g.scalar(n, like)
    return g.reshape(g.cast(g.number(n, I32), like.dtype), ())


def floor(g: Emitter, x: Value) -> Value:
    return g.unary(stablehlo.floor, x)


def clamp(g: Emitter, x: Value, size: int) -> Value:
    """Returns the nearest pixel of a dimension, of whole numbers."""
    return g.minimum(g.maximum(x, g.scalar(0, x)), length(g, size - 1, x))


def inside(g: Emitter, x: Value, size: int) -> Value:
    """Returns whether whole numbers are those of pixels."""
    low, high = g.compare("GE", x, g.scalar(0, x)), g.compare("LE", x, length(g, size - 1, x))
    return Value(x.shape, BOOL, stablehlo.and_(g.ir(low), g.ir(high)))


Taps = list[tuple[Value, Value]]  # whole numbers of pixels as floats, and their weights


def linear_taps(g: Emitter, x: Value) -> Taps:
    """Returns the two neighbours of each place."""
    low = floor(g, x)
    part = g.sub(x, low)
    one = g.scalar(1, x)
    return [(low, g.sub(one, part)), (g.add(low, one), part)]


def cubic_taps(g: Emitter, x: Value, a: float = -0.75) -> Taps:
    """Returns the four neighbours of each place, with the weights of a cubic convolution."""
    low = floor(g, x)
    part = g.sub(x, low)
    one = g.scalar(1, x)

    def polynomial(t: Value, *factors: float) -> Value:
        y = g.scalar(factors[0], t)
        for factor in factors[1:]:
            y = g.add(g.mul(y, t), g.scalar(factor, t))
        return y

    def far(t: Value) -> Value:
        return polynomial(t, a, -5 * a, 8 * a, -4 * a)

    def near(t: Value) -> Value:
        return polynomial(t, a + 2, -(a + 3), 0.0, 1.0)

    rest = g.sub(one, part)
    weights = [far(g.add(part, one)), near(part), near(rest), far(g.add(rest, one))]
    return [(g.add(low, g.scalar(i - 1, x)), weight) for i, weight in enumerate(weights)]


def weighted(g: Emitter, table: Value, batch: int, taps: Sequence[Taps], size: Sequence[int],
             moved: Callable[[Value, int], Value] | None = None) -> Value:  # fmt: skip
    """Returns the sum over all combinations of the dimensions' taps: [batch, n, channels].

    moved: moves pixels outside to those inside, by number and dimension; without it they count as 0.
    """
    y = None
    for combined in itertools.product(*taps):
        at, weight = [], None
        for d, (place, share) in enumerate(combined):
            if moved is not None:
                place = moved(place, d)
            else:
                share = g.select(inside(g, place, size[d]), share, g.scalar(0, share))
                place = clamp(g, place, size[d])
            at.append(g.cast(place, I32))
            weight = share if weight is None else g.mul(weight, share)
        assert weight is not None
        part = g.mul(pick(g, table, batch, at, size), g.cast(g.expand_dims(weight, 2), table.dtype))
        y = part if y is None else g.add(y, part)
    assert y is not None
    return y


def bilinear(g: Emitter, table: Value, batch: int, positions: Sequence[Value], size: Sequence[int]) -> Value:
    """Returns values between pixels, with zeros outside: [batch, n, channels] at positions [batch, n] of each
    dimension."""
    return weighted(g, table, batch, [linear_taps(g, p) for p in positions], size)
