# SPDX-License-Identifier: Apache-2.0
"""Compiles programs with open sizes (symbolic dimensions): one flatbuffer for many lengths, batches and images.

Passes work on static shapes. A program with open sizes is therefore lowered at several sample points, sets of sizes
that have nothing in common. If the lowered programs differ only in numbers, and one expression of the sizes gives each
number at all points, the flatbuffer is valid for all sizes within the bounds. The runtime takes the sizes from the
shapes of the inputs and infers all other shapes with the shape rules that the compiler uses.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import _ttmlir_runtime as tt

from . import ir
from ._mlir_libs._ttmlir import translate as _translate
from .bounds import LARGEST, is_size
from .passes import ttnn_to_flatbuffer_bin

# Sizes at the sample points, from small to large: no multiples of the tile, and different remainders modulo small
# divisors. If a program has the same ops at all of them, no pass compares a size with a threshold in between. If not,
# the next row is tried, without very large sizes.
GENERIC = ((37, 92, 335, 1046, 131103), (37, 92, 335, 1046, 8211), (37, 50, 92, 335, 1047))
# Lower bounds that are tried, from the smallest: the program must be as at the other points. Slices and pads of small
# sizes are often other ones.
LEAST = (2, 3, 5, 13)
# An open size has this many values: with fewer, each is a program of its own.
FEWEST = 3


# The values of all sizes, in their order.
Point = tuple[int, ...]


class OpenSizeError(ValueError):
    """Raised when the ops of a program depend on a size. The message names the op and the attribute."""


@dataclass(frozen=True)
class Size:
    """Describes an open size and its bounds, both inclusive.

    least: 2 or more. Sizes 0 and 1 need programs of their own: a size of 1 broadcasts, and 0 has no elements.
    most: None leaves the bound to the compiler.

    Raises:
        TypeError: a name or bound of another kind.
        ValueError: a bound is out of range.
    """

    name: str
    least: int = 2
    most: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"a size is called {self.name!r}; expected a name")
        for bound, is_optional in ((self.least, False), (self.most, True)):
            if not (is_size(bound) or (is_optional and bound is None)):
                raise TypeError(f"size {self.name} has the bound {bound!r}; expected an integer")
        if self.most is not None and self.most > LARGEST:
            raise ValueError(f"size {self.name} goes up to {self.most}; a size is at most {LARGEST}")
        if self.least < 2:
            raise ValueError(f"size {self.name} has the least value {self.least}; expected 2 or more")
        if self.most is not None and self.most < self.least:
            raise ValueError(f"size {self.name} goes from {self.least} to {self.most}; expected the larger one last")


def _values(size: Size, generic: Sequence[int]) -> list[int]:
    """Returns the values of one size at the sample points."""
    largest = generic[-1] if 2 * size.least < generic[-1] else min(4 * size.least, LARGEST)
    most = largest if size.most is None else min(size.most, largest)
    chosen = [value for value in generic[:-1] if size.least <= value < most]
    count = len(generic)
    if len(chosen) == count - 1:
        return [*chosen, most]
    # Too few generic values lie within the bounds: take others at growing distances.
    span = most - size.least
    # Not all of one remainder modulo a small divisor.
    apart = [0, 1, 2, *[0] * (count - 3)]
    spread = sorted({min(size.least + round(span * (i / (count - 1)) ** 2) + apart[i], most) for i in range(count)})
    if len(spread) < FEWEST:
        raise OpenSizeError(
            f"size {size.name} goes from {size.least} to {most}, which are few: each is a program of its own"
        )
    return (spread * count)[:count]


def points(sizes: Sequence[Size], generic: Sequence[int] = GENERIC[0]) -> list[Point]:
    """Returns the sample points, each with one value per size.

    Sizes take the generic values in different orders, so that no two sizes are equal at a point.

    Raises:
        OpenSizeError: a size has fewer than three values.
    """
    count = len(generic)
    values = [_values(size, generic) for size in sizes]

    def value(place: int, point: int) -> int:
        turned, shift = values[place][(point + place) % count], place // count
        return turned + shift if turned + shift <= max(values[place]) else turned

    return [tuple(value(place, point) for place in range(len(sizes))) for point in range(count)]


Admits: TypeAlias = Callable[[Point], bool]
# Gets a point and the least value of each size.
Nearest: TypeAlias = Callable[[Point, Sequence[int]], "Point | None"]
# Points have all remainders of sizes modulo the periods of quotients, up to this one.
LONGEST_PERIOD = 128
# Sets of remainders of several sizes that are looked at together.
MOST_TOGETHER = 36
# Points that tell quotients from others by chance, and points that confirm a program with quotients.
SEPARATING, CONFIRMING = 16, 16
# Sizes of which a few points do not tell products and sums apart.
MANY = 4
# Points between two lower bounds, for these programs.
BETWEEN = 6
# How often points are added to.
MOST_ROUNDS = 12


class _MorePoints:
    """Further points of small sizes, for programs with quotients."""

    def __init__(self, at: Sequence[Point], admits: Admits, nearest: Nearest) -> None:
        self.random, self.admits, self.nearest = random.Random(0), admits, nearest
        self.bounds = [(min(values), max(values)) for values in zip(*at, strict=True)]

    def some(self, count: int, known: Sequence[Point], span: int = 250) -> list[Point]:
        """Returns up to `count` points that are not known."""
        found: list[Point] = []
        for _ in range(8 * count):
            drawn = tuple(self.random.randint(least, min(most, least + span)) for least, most in self.bounds)
            point = self.nearest(drawn, [least for least, _ in self.bounds])
            if point is not None and point not in known and point not in found:
                found.append(point)
                if len(found) == count:
                    break
        return found

    def unseen(self, known: Sequence[Point]) -> list[Point]:
        """Returns points with each value of a size of few values that no known point has.

        Points by chance do not tell quotients apart that differ at one of these values only.
        """
        left = []
        for i, (least, most) in enumerate(self.bounds):
            seen = {point[i] for point in known}
            few = range(least, most + 1) if most - least < LONGEST_PERIOD else ()
            left.append([n for n in few if n not in seen])
        found = dict[Point, None]()
        for k in range(max(map(len, left))):
            drawn = (
                values[k % len(values)] if values else self.random.randint(least, min(most, least + 250))
                for values, (least, most) in zip(left, self.bounds, strict=True)
            )
            if (point := self.nearest(tuple(drawn), [least for least, _ in self.bounds])) is not None:
                found[point] = None
        return [point for point in found if point not in known]

    def with_remainders(self, period: int) -> list[Point]:
        """Returns points with all remainders of each size modulo `period`, of all sizes together if these are few."""
        count = len(self.bounds)
        if period**count <= MOST_TOGETHER:
            requested = list(itertools.product(range(period), repeat=count))
        else:
            turned = [self.random.sample(range(period), period) for _ in self.bounds]
            requested = list(zip(*turned, strict=True))
        return [point for remainders in requested if (point := self._with(remainders, period)) is not None]

    def _with(self, remainders: Sequence[int], period: int) -> Point | None:
        for attempt in range(16):
            point = []
            for remainder, (least, most) in zip(remainders, self.bounds, strict=True):
                value = least + (remainder - least) % period + period * self.random.randint(0, 2 + attempt // 4)
                if value > most:
                    value = least + (remainder - least) % period
                if value > most:
                    return None
                point.append(value)
            if self.admits(tuple(point)):
                return tuple(point)
        return None


# Sample points, and bounds of sizes, least and most, to points within them.
Doubtful: TypeAlias = Callable[[Sequence[Point], Sequence[tuple[int, int]]], Sequence[Point]]


class _Compilation:
    """Compiles a program at sample points, once at each."""

    def __init__(
        self,
        lower_at: Callable[[Point], ir.Module],
        sizes: Sequence[Size],
        admits: Admits,
        nearest: Nearest,
        periods: Sequence[int],
        doubtful: Doubtful,
    ) -> None:
        self.lower_at, self.sizes, self.periods, self.doubtful = lower_at, sizes, periods, doubtful
        self.admits, self.nearest = admits, nearest
        self.files: dict[Point, bytes] = {}
        self.quotients: list[tuple[int, bool, str]] = []

    def file(self, point: Point) -> bytes:
        if point not in self.files:
            self.files[point] = ttnn_to_flatbuffer_bin(self.lower_at(point))
        return self.files[point]

    def fitted(self, at: Sequence[Point], least: Sequence[int]) -> bytes:
        """Returns a file whose expressions have the numbers of the points, for sizes from `least` to the largest there.

        Raises:
            OpenSizeError: the ops of the program depend on a size.
        """
        bounds = _bounds(at, least)
        files, names = [self.file(point) for point in at], [size.name for size in self.sizes]
        try:
            result, self.quotients, _ = _translate.open_sizes(files, names, bounds, at)
        except ValueError as error:
            raise OpenSizeError(str(error)) from None
        return bytes(result)

    def differing(self, result: bytes, at: Sequence[Point]) -> tuple[Point, tt.Error] | None:
        """Returns the first point for which the compiler makes another program than the file has, and what differs."""
        binary = tt.binary.load_binary_from_bytes(result)
        for point in at:
            try:
                _require_same(binary, tt.binary.load_binary_from_bytes(self.file(point)))
            except tt.Error as error:
                return point, error
        return None

    def require(self, result: bytes, at: Sequence[Point]) -> None:
        """
        Raises:
            OpenSizeError: the compiler makes another program at a point.
        """
        if (found := self.differing(result, at)) is not None:
            values = ", ".join(f"{size.name} {n}" for size, n in zip(self.sizes, found[0], strict=True))
            raise OpenSizeError(f"{found[1]} ({values}), so that the sizes cannot stay open")

    def certain(self, at: list[Point]) -> tuple[list[Point], bytes]:
        """Returns the file for the points, or for more of them if numbers are quotients, and these points.

        Raises:
            OpenSizeError: the ops of the program depend on a size.
        """
        least = [min(values) for values in zip(*at, strict=True)]
        result, doubtful = self.fitted(at, least), self.doubtful(at, _bounds(at, least))
        if not self.quotients:
            self.require(result, [*at, *doubtful])
            return self.confirmed(at, result, least) if len(least) >= MANY else (at, result)
        more, covered = _MorePoints(at, self.admits, self.nearest), set[int]()
        at = [*at, *more.some(SEPARATING, at)]
        for _ in range(MOST_ROUNDS):
            result = self.fitted(at, least)
            if (long := next((q for q in self.quotients if q[0] > LONGEST_PERIOD), None)) is not None:
                added = more.unseen(at) or more.some(SEPARATING, at)
                if not added or len(at) > 4 * SEPARATING:
                    raise OpenSizeError(
                        f"{long[2]} is perhaps a quotient that repeats after {long[0]}; the longest period is "
                        f"{LONGEST_PERIOD}, so that the sizes cannot stay open"
                    )
                at += added
                continue
            requested = _periods([period for period, _, _ in self.quotients], self.periods) - covered
            if requested:
                covered |= requested
                at = list(
                    dict.fromkeys([*at, *(point for n in sorted(requested) for point in more.with_remainders(n))])
                )
                continue
            found = self.differing(result, [*at, *doubtful, *more.some(CONFIRMING, at)])
            if found is None:
                return at, result
            if found[0] in at:
                raise OpenSizeError(str(found[1]))
            at.append(found[0])
        raise OpenSizeError("the numbers of the program are no simple expressions of its sizes")

    def confirmed(self, at: list[Point], result: bytes, least: Sequence[int]) -> tuple[list[Point], bytes]:
        """Returns the file for the points and for others, where the points alone do not tell expressions apart.

        Raises:
            OpenSizeError: the ops of the program depend on a size.
        """
        more = _MorePoints(at, self.admits, self.nearest)
        for _ in range(MOST_ROUNDS):
            found = self.differing(result, more.some(len(least), at))
            if found is None:
                return at, result
            at = [*at, found[0]]
            result = self.fitted(at, least)
            self.require(result, at)
        raise OpenSizeError("the numbers of the program are no simple expressions of its sizes")

    def extended(self, at: Sequence[Point], result: bytes) -> bytes:
        """Returns the file with lower bounds that are as small as the program allows.

        At the new bounds, the file must say what the compiler makes there: so a slice that ends at 10 is not taken for
        one of fewer elements.
        """
        least = [min(point[i] for point in at) for i in range(len(self.sizes))]
        every = range(len(self.sizes))
        has_quotients = bool(self.quotients)
        for which in [every, *([i] for i in every if 1 < len(self.sizes) <= 4)]:
            for bound in LEAST:
                lower = [max(self.sizes[i].least, bound) if i in which else least[i] for i in every]
                if any(lower[i] >= least[i] for i in which if self.sizes[i].least < least[i]) or lower == least:
                    continue
                requested = tuple(lower[i] if i in which else at[0][i] for i in every)
                lower = [min(pair) for pair in zip(lower, least, strict=True)]
                if (point := self.nearest(requested, lower)) is None:
                    continue
                try:
                    larger = self.fitted(at, lower)
                    # All sizes at their least together can make another program than each of them alone.
                    corner = self.nearest(tuple(lower), lower)
                    self.require(larger, [point] if corner in (None, point) else [point, corner])
                    self.require(larger, self.doubtful(at, _bounds(at, lower)))
                    if has_quotients:
                        between = _MorePoints([tuple(lower), tuple(least)], self.admits, self.nearest)
                        self.require(larger, between.some(BETWEEN, [point]))
                except (ir.MLIRError, ValueError, tt.Error):
                    continue
                result, least = larger, lower
                break
        return result


def meeting(difference: Callable[[int], Any], least: int, most: int) -> tuple[int, int] | None:
    """Returns where two numbers meet, as one size changes: it twice, or the values between which their order changes.

    difference: of the numbers for a value of the size, None where there is none. One that changes its sign once has at
    most one such place; of others, any one is returned. None: it has the same sign at both bounds.
    """
    first, last = difference(least), difference(most)
    if first is None or last is None:
        return None
    if first == 0 or last == 0:
        return (least, least) if first == 0 else (most, most)
    if (first > 0) == (last > 0):
        return None
    while most - least > 1:
        middle = (least + most) // 2
        found = difference(middle)
        if found is None:
            return None
        if found == 0:
            return middle, middle
        least, most = (middle, most) if (found > 0) == (first > 0) else (least, middle)
    return least, most


def near_meeting(difference: Callable[[int], Any], least: int, most: int) -> list[int]:
    """Returns the values within bounds at which two numbers meet or have changed order, and their neighbours."""
    found = meeting(difference, least, most)
    if found is None:
        return []
    low, high = found
    return [n for n in dict.fromkeys((low, high, high + 1, low - 1)) if least <= n <= most]


def _bounds(at: Sequence[Point], least: Sequence[int]) -> list[tuple[int, int]]:
    """Returns the bounds of the sizes of a file for these points."""
    return [(low, max(values)) for low, values in zip(least, zip(*at, strict=True), strict=True)]


def _periods(found: Sequence[int], known: Sequence[int]) -> set[int]:
    """Returns the periods to look at: that of all together, if it is short, else those of pairs.

    known: of expressions of the front end; dimensions that follow from rules need none.
    """
    if all(period == 1 for period in found):
        return set()
    short = {period for period in (*found, *known) if 1 < period <= LONGEST_PERIOD}
    if math.lcm(*short) <= LONGEST_PERIOD:
        return {math.lcm(*short)}
    together = {n for pair in itertools.combinations(short, 2) if (n := math.lcm(*pair)) <= LONGEST_PERIOD} | short
    return {n for n in together if not any(other % n == 0 for other in together - {n})}


def _require_same(binary: Any, expected: Any) -> None:
    """
    Raises:
        tt.Error: a program of an open file, bound to the sizes of another one, is not as in that.
    """
    for program in range(expected.get_num_programs()):
        if not expected.is_program_private(program):
            binary.require_same(expected, program)


Choose: TypeAlias = Callable[[Sequence[Size], Sequence[int]], list[Point]]


def open_flatbuffer(
    lower_at: Callable[[Point], ir.Module],
    sizes: Sequence[Size],
    choose: Choose = points,
    admits: Admits = lambda point: True,
    periods: Sequence[int] = (),
    nearest: Nearest | None = None,
    doubtful: Doubtful = lambda at, bounds: (),
) -> bytes:
    """Compiles one flatbuffer for all sizes within the bounds.

    Args:
        lower_at: returns the module of TTNN programs for given sizes, in the order of `sizes`. It is called once for
            each point.
        choose: returns the points, where not all sizes go together.
        admits: whether sizes go together.
        periods: of the numbers of the program that are quotients of sizes, as far as they are known: the divisors.
            The points have all remainders modulo these.
        nearest: returns sizes that go together near others, none of them below its least value. By default it is
            these others, if they go together.
        doubtful: returns points, for sample points and bounds of the sizes, at which sizes may decide something that
            the sample points do not show. The program is confirmed there.
    Returns:
        The flatbuffer. Its `open_sizes` are `sizes` with the bounds for which the program was found to be the same,
        which can be closer.
    Raises:
        OpenSizeError: the ops of the program depend on a size; names op and attribute.
        ttmlir.ir.MLIRError: `lower_at` or the translation failed.
    """
    nearest = nearest or (lambda point, least: point if admits(point) else None)
    compilation = _Compilation(lower_at, sizes, admits, nearest, sorted({n for n in periods if n > 1}), doubtful)
    refused: OpenSizeError | ir.MLIRError | None = None
    tried: list[list[Point]] = []
    for generic in GENERIC:
        at = choose(sizes, generic)
        if at in tried:
            continue
        tried.append(at)
        try:
            at, result = compilation.certain(at)
        except (OpenSizeError, ir.MLIRError) as error:  # very large tensors are refused, too
            refused = refused or error
            continue
        return compilation.extended(at, result)
    assert refused is not None
    raise refused
