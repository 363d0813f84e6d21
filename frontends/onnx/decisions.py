# SPDX-License-Identifier: Apache-2.0
"""Nodes that compare, clip or round sizes: where sizes can decide otherwise than at the sample points.

A condition such as `size % 32 == 0` can be the same at all sample points, and the program does not show it: the
importer computes it. So graphs are imported, without being compiled, for further sizes: those where two operands of a
comparison meet, and those with all remainders where quotients and remainders are compared.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from ttmlir.sizes import Point, near_meeting

from .registry import Decides, Op
from .values import Array

if TYPE_CHECKING:
    from .importer import Trace

Bounds: TypeAlias = "Sequence[tuple[int, int]]"

COMPARING = {Decides.COMPARED, Decides.SELECTED, Decides.SIGN}

# Points that are imported, those of them that are compiled, and sample points whose decisions are taken for known.
MOST_PROBES, MOST_DOUBTFUL, SAMPLES = 160, 16, 5
LONGEST_PERIOD = 128


@dataclass(frozen=True)
class Folded:
    """A node that was computed when the graph was imported."""

    op: Op
    inputs: tuple[Array, ...]
    output: Array

    def pairs(self) -> Iterator[tuple[Array, Array]]:
        """Yields operands that are compared, broadcast."""
        zero = np.zeros((), np.int64)
        others: Sequence[Array] = [zero] if self.decides is Decides.SIGN or self.to_bool else self.inputs[1:]
        if self.decides in COMPARING or self.to_bool:
            every = [self.inputs[0], *others]
            yield from itertools.combinations(np.broadcast_arrays(*every), 2)

    @property
    def decides(self) -> Decides | None:
        return self.op.decides

    @property
    def to_bool(self) -> bool:
        return self.op.name == "Cast" and self.output.dtype == np.bool_

    def outcome(self) -> bytes:
        """Returns the decisions, independent of the numbers that led to them."""
        if self.decides is Decides.ORDER:
            return np.argsort(self.inputs[0].reshape(-1), kind="stable").tobytes()
        if self.decides is Decides.SELECTED:
            return b"".join(bytes(x <= y) for x, y in self.pairs())
        if self.decides is Decides.SIGN:
            return np.sign(self.inputs[0]).astype(np.int8).tobytes()
        return self.output.tobytes()


@dataclass
class Decisions:
    """The decisions that sizes make in a graph.

    at, traces: sample points and their imports. least: of each size. probe: imports the graph for other sizes, None
    where it takes none.
    """

    at: Sequence[Point]
    traces: Sequence[Trace]
    least: Sequence[int]
    probe: Callable[[Point], Trace | None]
    keys: list[str] = field(default_factory=list)  # of nodes that decide

    def __post_init__(self) -> None:
        self._probed: dict[Point, Trace | None] = dict(zip(self.at, self.traces, strict=True))
        self._differences: list[list[int | float]] = []
        self._periods: set[int] = set()
        self._is_regular = True
        self._candidates: dict[tuple[Point, ...], list[Point]] = {}  # by sample points
        for key in self.traces[0].folded:
            self._look_at(key)

    def _look_at(self, key: str) -> None:
        found = [trace.folded[key] for trace in self.traces if key in trace.folded]
        if len(found) < len(self.traces) or len({tuple(x.shape for x in each.inputs) for each in found}) > 1:
            return  # the program shows shapes
        decision = found[0].decides
        first = int(decision is Decides.LOOKED_UP)
        if not any(differ(each.inputs[i] for each in found) for i in range(first, len(found[0].inputs))):
            return
        if decision is Decides.ROUNDED:
            self._note_periods(found)
        if decision in (Decides.ORDER, Decides.LOGICAL):
            self._is_regular = self._is_regular and decision is Decides.LOGICAL
            self.keys.append(key)
            return
        decides = False
        for each in zip(*(x.pairs() for x in found), strict=True):
            left, right = (np.stack([np.asarray(pair[side]).reshape(-1) for pair in each]) for side in (0, 1))
            for i in range(left.shape[1]):
                values = [exact(x) - exact(y) for x, y in zip(left[:, i], right[:, i], strict=True)]
                if len(set(values)) > 1 and values not in self._differences:
                    self._differences.append(values)
                decides = decides or len(set(values)) > 1
        if decision in (Decides.ROUNDED, Decides.LOOKED_UP) and not differ(each.output for each in found):
            # As far as is seen, a number: it is one if that of another size is the same.
            self._is_regular, decides = False, True
        if decides:
            self.keys.append(key)

    def _note_periods(self, found: Sequence[Folded]) -> None:
        for x in found[0].inputs[1:]:
            for n in x.reshape(-1).tolist():
                if 1 < abs(n) <= LONGEST_PERIOD and float(n).is_integer():
                    self._periods.add(2 ** min(int(n), 7) if found[0].op.name == "BitShift" else abs(int(n)))

    def doubtful(self, at: Sequence[Point], bounds: Bounds) -> list[Point]:
        """Returns points within bounds where sizes decide otherwise than at the sample points.

        First those where one node does, then those where several nodes together do.
        """
        if not self.keys:
            return []
        outcomes = [found for point in at[:SAMPLES] if (found := self._outcomes(point)) is not None]
        seen, together = [set(each) for each in zip(*outcomes, strict=True)], set(outcomes)
        alone: list[Point] = []
        joint: list[Point] = []
        key = tuple(at[:SAMPLES])
        if key not in self._candidates:
            self._candidates[key] = self._all_candidates(key)
        for point in within(self._candidates[key], bounds):
            found = self._outcomes(point)
            if found is None or found in together:
                continue
            together.add(found)
            is_new = any(each not in known for each, known in zip(found, seen, strict=True))
            (alone if is_new else joint).append(point)
            for each, known in zip(found, seen, strict=True):
                known.add(each)
        return [*alone, *joint][:MOST_DOUBTFUL]

    def _outcomes(self, point: Point) -> tuple[bytes, ...] | None:
        if point not in self._probed:
            self._probed[point] = self.probe(point)
        trace = self._probed[point]
        if trace is None:
            return None
        return tuple(trace.folded[key].outcome() if key in trace.folded else b"" for key in self.keys)

    def _all_candidates(self, at: Sequence[Point]) -> list[Point]:
        """Returns points to look at, for the widest bounds and those of the sample points."""
        sampled = [(min(values), max(values)) for values in zip(*at, strict=True)]
        widest = [(least, most) for least, (_, most) in zip(self.least, sampled, strict=True)]
        found = (dict.fromkeys(self._points(at, bounds)) for bounds in (widest, sampled))
        return list(dict.fromkeys(point for each in found for point in itertools.islice(each, MOST_PROBES)))

    def _points(self, at: Sequence[Point], bounds: Bounds) -> Iterator[Point]:
        inside = [tuple(min(max(n, least), most) for n, (least, most) in zip(point, bounds, strict=True))
                  for point in self._starts(at, bounds)]  # fmt: skip
        regular = self._is_regular
        for values in self._differences:
            factors = affine(self.at, values)
            if factors is None:
                regular = False
                continue
            for start in inside:
                yield from near_root(start, factors, bounds)
        if regular:
            return
        period = math.lcm(*self._periods) if self._periods else 24
        if period > LONGEST_PERIOD:
            period = max(self._periods)
        count = len(bounds)
        draw = random.Random(0)
        turned = [draw.sample(range(period), period) if k else list(range(period)) for k in range(count)]
        for remainders in zip(*turned, strict=True):
            yield tuple(
                min(least + (r - least) % period + period * draw.randint(0, 2), most)
                for r, (least, most) in zip(remainders, bounds, strict=True)
            )
        for i, j in itertools.permutations(range(count), 2):
            for n, factor in itertools.product((8, 21, 64), (1, 2, 3)):
                point = list(inside[0])
                point[i], point[j] = n * factor, n
                yield from within([tuple(point)], bounds)
        for _ in range(16):
            yield tuple(round(least * (min(most, 4096) / least) ** draw.random()) if most > least else least
                        for least, most in bounds)  # fmt: skip

    def _starts(self, at: Sequence[Point], bounds: Bounds) -> Iterator[Point]:
        yield from at
        yield tuple(least for least, _ in bounds)
        for n in (5, 64, 200):
            yield (n,) * len(bounds)


def differ(arrays: Iterable[Array]) -> bool:
    return len({x.tobytes() for x in arrays}) > 1


def exact(x: object) -> int | float:
    """Returns an element as a number of Python."""
    n = float(x) if isinstance(x, np.floating) else int(x)  # type: ignore[call-overload]
    return n if isinstance(n, int) or not n.is_integer() else int(n)


def affine(at: Sequence[Point], values: Sequence[int | float]) -> list[int] | None:
    """Returns whole factors of the sizes, and a number, that together are these values at all points; of few sizes."""
    if not all(math.isfinite(n) and abs(n) < 2**50 for n in values):
        return None
    count = len(at[0])
    for many in (1, 2, 3):
        for those in itertools.combinations(range(count), many):
            if len(at) < many + 2:
                continue
            rows = np.array([[*(float(point[k]) for k in those), 1.0] for point in at])
            solved = np.linalg.lstsq(rows, np.array(values, np.float64), rcond=None)[0]
            whole = [round(float(n)) for n in solved]
            if all(sum(f * int(p) for f, p in zip(whole, row, strict=True)) == n
                   for row, n in zip(rows.tolist(), values, strict=True)):  # fmt: skip
                factors = [0] * (count + 1)
                for k, n in zip(those, whole, strict=False):
                    factors[k] = n
                factors[-1] = whole[-1]
                return factors
    return None


def near_root(start: Sequence[int], factors: Sequence[int], bounds: Bounds) -> Iterator[Point]:
    """Yields points near those where the expression is 0, from `start` along one size each."""
    for k, (least, most) in enumerate(bounds):
        if not factors[k]:
            continue

        def value(n: int, k: int = k) -> int:
            point = (*start[:k], n, *start[k + 1 :])
            return factors[-1] + sum(factor * size for factor, size in zip(factors, point, strict=False))

        # A root next to a bound decides at the bound.
        points = [(*start[:k], n, *start[k + 1 :]) for n in near_meeting(value, least - 1, most + 1)]
        yield from within(points, bounds)


def within(points: Iterable[Point], bounds: Bounds) -> Iterator[Point]:
    for point in points:
        if all(least <= n <= most for n, (least, most) in zip(point, bounds, strict=True)):
            yield point
