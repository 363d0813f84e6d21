# SPDX-License-Identifier: Apache-2.0
"""Sizes at which comparisons of a StableHLO module decide otherwise than at the sample points.

A module can compare sizes, as in `where(b == l, ...)`. The compiler computes such a comparison, and it can be the same
at all sample points. So open programs are confirmed at further sizes: those where two compared numbers meet, and those
with all remainders modulo the divisors of the module.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ttmlir.sizes import LONGEST_PERIOD, Point, near_meeting

from .dimensions import Dimensions, Expression

# Pairs that are looked at, and points at which a program is confirmed.
MOST_PAIRS, MOST_DOUBTFUL = 64, 16
# Values of all sizes to start from, besides the sample points.
STARTS = (5, 64, 200)


class Decisions:
    """The decisions that comparisons of a module make, by its sizes."""

    def __init__(self, dimensions: Dimensions, admits: Callable[[Point], bool]) -> None:
        self.names, self.admits = dimensions.names, admits
        self.periods = [n for n in dimensions.periods if 1 < n <= LONGEST_PERIOD]
        named = {read: Expression(leaf=name) for name, read in dimensions.read.items()}
        pairs = dict.fromkeys((in_names(one, named), in_names(other, named)) for one, other in dimensions.compared)
        self.pairs = [pair for pair in pairs if (pair[0].leaves() | pair[1].leaves()) <= set(self.names)][:MOST_PAIRS]

    def doubtful(self, at: Sequence[Point], bounds: Sequence[tuple[int, int]]) -> list[Point]:
        """Returns points within bounds at which comparisons have results that no sample point has."""
        seen = {self._outcomes(point) for point in at}
        found: list[Point] = []
        for point in self._points(at, bounds) if self.pairs else ():
            if (outcomes := self._outcomes(point)) in seen or not self.admits(point):
                continue
            seen.add(outcomes)
            found.append(point)
            if len(found) == MOST_DOUBTFUL:
                break
        return found

    def _difference(self, pair: tuple[Expression, Expression], point: Point) -> int | None:
        values = dict(zip(self.names, point, strict=True))
        try:
            return pair[0](values) - pair[1](values)
        except ArithmeticError:
            return None

    def _outcomes(self, point: Point) -> tuple[int | None, ...]:
        differences = (self._difference(pair, point) for pair in self.pairs)
        return tuple(None if n is None else (n > 0) - (n < 0) for n in differences)

    def _points(self, at: Sequence[Point], bounds: Sequence[tuple[int, int]]) -> Iterator[Point]:
        starts = [*at[:5], tuple(least for least, _ in bounds), *((n,) * len(bounds) for n in STARTS)]
        inside = [tuple(min(max(n, least), most) for n, (least, most) in zip(p, bounds, strict=True)) for p in starts]
        for pair in self.pairs:
            for start, place in itertools.product(inside, range(len(bounds))):

                def at_size(n: int, start: Point = start, place: int = place) -> Point:
                    return (*start[:place], n, *start[place + 1 :])

                def difference(n: int, pair: Any = pair, at_size: Callable[[int], Point] = at_size) -> int | None:
                    return self._difference(pair, at_size(n))

                yield from map(at_size, near_meeting(difference, *bounds[place]))
        draw = random.Random(0)
        for period, place in itertools.product(self.periods, range(len(bounds))):
            for remainder, start in itertools.product(range(period), (inside[0], inside[5])):
                least, most = bounds[place]
                value = least + (remainder - least) % period + period * draw.randint(0, 2)
                if value <= most:
                    yield (*start[:place], value, *start[place + 1 :])


def in_names(expression: Expression, named: dict[Any, Expression]) -> Expression:
    """Returns the expression with names of sizes in place of their producers."""
    if (name := named.get(expression)) is not None:
        return name
    if not expression.operator:
        return expression
    operands = tuple(in_names(operand, named) for operand in expression.operands)
    return Expression(expression.operator, operands, expression.leaf, expression.value)
