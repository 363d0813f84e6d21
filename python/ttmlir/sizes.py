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
from typing import TypeAlias

import _ttmlir_runtime as tt

from . import ir
from ._mlir_libs._ttmlir import translate as _translate
from .passes import ttnn_to_flatbuffer_bin

# Sizes at the sample points, from small to large: no multiples of the tile, and different remainders modulo small
# divisors. If a program has the same ops at all of them, no pass compares a size with a threshold in between. If not,
# the next row is tried, without very large sizes.
GENERIC = ((37, 92, 335, 1046, 131103), (37, 92, 335, 1046, 8211), (37, 50, 92, 335, 1047))
# Lower bounds that are tried, from the smallest: the program must be as at the other points. Slices and pads of small
# sizes are often other ones.
LEAST = (2, 5, 13)


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
        ValueError: a bound is out of range.
    """

    name: str
    least: int = 2
    most: int | None = None

    def __post_init__(self) -> None:
        if self.least < 2:
            raise ValueError(f"size {self.name} has the least value {self.least}; expected 2 or more")
        if self.most is not None and self.most < self.least:
            raise ValueError(f"size {self.name} goes from {self.least} to {self.most}; expected the larger one last")


def _values(size: Size, generic: Sequence[int]) -> list[int]:
    """Returns the values of one size at the sample points."""
    most = generic[-1] if size.most is None else min(size.most, generic[-1])
    chosen = [value for value in generic[:-1] if size.least <= value < most]
    count = len(generic)
    if len(chosen) == count - 1:
        return [*chosen, most]
    # Too few generic values lie within the bounds: take others at growing distances.
    span = most - size.least
    # Not all of one remainder modulo a small divisor.
    apart = [0, 1, 2, *[0] * (count - 3)]
    spread = sorted({min(size.least + round(span * (i / (count - 1)) ** 2) + apart[i], most) for i in range(count)})
    if len(spread) < 3:
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
# Points have all remainders of sizes modulo the periods of quotients, up to this one.
LONGEST_PERIOD = 128
# Sets of remainders of several sizes that are looked at together.
MOST_TOGETHER = 36
# Points that tell quotients from others by chance, and points that confirm a program with quotients.
SEPARATING, CONFIRMING = 16, 16
# Points between two lower bounds, for these programs.
BETWEEN = 6
# How often points are added to.
MOST_ROUNDS = 12


class _MorePoints:
    """Further points of small sizes, for programs with quotients."""

    def __init__(self, at: Sequence[Point], admits: Admits) -> None:
        self.random, self.admits = random.Random(0), admits
        self.bounds = [(min(values), max(values)) for values in zip(*at, strict=True)]

    def some(self, count: int, known: Sequence[Point], span: int = 250) -> list[Point]:
        """Returns up to `count` points that are not known."""
        found: list[Point] = []
        for _ in range(8 * count):
            point = tuple(self.random.randint(least, min(most, least + span)) for least, most in self.bounds)
            if point not in known and point not in found and self.admits(point):
                found.append(point)
                if len(found) == count:
                    break
        return found

    def with_remainders(self, period: int) -> list[Point]:
        """Returns points with all remainders of each size modulo `period`, of all sizes together if these are few."""
        count = len(self.bounds)
        if period**count <= MOST_TOGETHER:
            wanted = list(itertools.product(range(period), repeat=count))
        else:
            turned = [self.random.sample(range(period), period) for _ in self.bounds]
            wanted = list(zip(*turned, strict=True))
        return [point for remainders in wanted if (point := self._with(remainders, period)) is not None]

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


class _Compilation:
    """Compiles a program at sample points, once at each."""

    def __init__(
        self, lower_at: Callable[[Point], ir.Module], sizes: Sequence[Size], admits: Admits, periods: Sequence[int]
    ) -> None:
        self.lower_at, self.sizes, self.admits, self.periods = lower_at, sizes, admits, periods
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
        bounds = [(least[i], max(point[i] for point in at)) for i in range(len(self.sizes))]
        files, names = [self.file(point) for point in at], [size.name for size in self.sizes]
        try:
            made, self.quotients = _translate.open_sizes(files, names, bounds, at)
        except ValueError as error:
            raise OpenSizeError(str(error)) from None
        return bytes(made)

    def differing(self, made: bytes, at: Sequence[Point]) -> tuple[Point, tt.Error] | None:
        """Returns the first point for which the compiler makes another program than the file has, and what differs."""
        for point in at:
            try:
                _require_same(made, self.file(point))
            except tt.Error as error:
                return point, error
        return None

    def require(self, made: bytes, at: Sequence[Point]) -> None:
        """
        Raises:
            OpenSizeError: the compiler makes another program at a point.
        """
        if (found := self.differing(made, at)) is not None:
            raise OpenSizeError(str(found[1]))

    def certain(self, at: list[Point]) -> tuple[list[Point], bytes]:
        """Returns the file for the points, or for more of them if numbers are quotients, and these points.

        Raises:
            OpenSizeError: the ops of the program depend on a size.
        """
        least = [min(values) for values in zip(*at, strict=True)]
        made = self.fitted(at, least)
        if not self.quotients:
            self.require(made, at)
            return at, made
        more, covered = _MorePoints(at, self.admits), set[int]()
        at = [*at, *more.some(SEPARATING, at)]
        for _ in range(MOST_ROUNDS):
            made = self.fitted(at, least)
            if (long := next((q for q in self.quotients if q[0] > LONGEST_PERIOD), None)) is not None:
                added = more.some(SEPARATING, at)
                if not added or len(at) > 4 * SEPARATING:
                    raise OpenSizeError(
                        f"{long[2]} is perhaps a quotient that repeats after {long[0]}; the longest period is "
                        f"{LONGEST_PERIOD}, so that the sizes cannot stay open"
                    )
                at += added
                continue
            wanted = _periods([period for period, _, _ in self.quotients], self.periods) - covered
            if wanted:
                covered |= wanted
                at = list(dict.fromkeys([*at, *(point for n in sorted(wanted) for point in more.with_remainders(n))]))
                continue
            found = self.differing(made, [*at, *more.some(CONFIRMING, at)])
            if found is None:
                return at, made
            if found[0] in at:
                raise OpenSizeError(str(found[1]))
            at.append(found[0])
        raise OpenSizeError("the numbers of the program are no simple expressions of its sizes")

    def extended(self, at: Sequence[Point], made: bytes) -> bytes:
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
                point = tuple(lower[i] if i in which else at[0][i] for i in every)
                lower = [min(pair) for pair in zip(lower, least, strict=True)]
                try:
                    larger = self.fitted(at, lower)
                    self.require(larger, [point])
                    if has_quotients:
                        between = _MorePoints([tuple(lower), tuple(least)], self.admits)
                        self.require(larger, between.some(BETWEEN, [point]))
                except (ir.MLIRError, ValueError, tt.Error):
                    continue
                made, least = larger, lower
                break
        return made


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


def _require_same(made: bytes, file: bytes) -> None:
    """
    Raises:
        tt.Error: a program of an open file, bound to the sizes of another one, is not as in that.
    """
    binary, expected = (tt.binary.load_binary_from_bytes(each) for each in (made, file))
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
) -> bytes:
    """Compiles one flatbuffer for all sizes within the bounds.

    Args:
        lower_at: returns the module of TTNN programs for given sizes, in the order of `sizes`. It is called once for
            each point.
        choose: returns the points, where not all sizes go together.
        admits: whether sizes go together.
        periods: of the numbers of the program that are quotients of sizes, as far as they are known: the divisors.
            The points have all remainders modulo these.
    Returns:
        The flatbuffer. Its `open_sizes` are `sizes` with the bounds for which the program was found to be the same,
        which can be closer.
    Raises:
        OpenSizeError: the ops of the program depend on a size; names op and attribute.
        ttmlir.ir.MLIRError: `lower_at` or the translation failed.
    """
    compilation = _Compilation(lower_at, sizes, admits, sorted({n for n in periods if n > 1}))
    refused: OpenSizeError | ir.MLIRError | None = None
    tried: list[list[Point]] = []
    for generic in GENERIC:
        at = choose(sizes, generic)
        if at in tried:
            continue
        tried.append(at)
        try:
            at, made = compilation.certain(at)
        except (OpenSizeError, ir.MLIRError) as error:  # very large tensors are refused, too
            refused = refused or error
            continue
        return compilation.extended(at, made)
    assert refused is not None
    raise refused
