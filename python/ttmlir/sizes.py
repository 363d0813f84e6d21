# SPDX-License-Identifier: Apache-2.0
"""Compiles programs with open sizes (symbolic dimensions): one flatbuffer for many lengths, batches and images.

Passes work on static shapes. A program with open sizes is therefore lowered at several sample points, sets of sizes
that have nothing in common. If the lowered programs differ only in numbers, and one expression of the sizes gives each
number at all points, the flatbuffer is valid for all sizes within the bounds. The runtime takes the sizes from the
shapes of the inputs and infers all other shapes with the shape rules that the compiler uses.
"""

from __future__ import annotations

import re
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


# A quotient is certain if the points have all remainders modulo its divisor. Larger divisors are not looked for.
LARGEST_DIVISOR = 64
QUOTIENT = re.compile(r"perhaps a quotient by (\d+)")


def _dense(at: Sequence[Point], divisor: int) -> list[Point]:
    """Returns the points and others, with all remainders of sizes modulo a divisor, also of what is half as large."""
    more = []
    for j in range(2 * divisor):
        point = []
        for place in range(len(at[0])):
            values = [each[place] for each in at]
            least, most = min(values), max(values)
            point.append(least + (j + 1 + 7 * place) % (most - least + 1))
        more.append(tuple(point))
    return list(dict.fromkeys([*at, *more]))


class _Compilation:
    """Compiles a program at sample points, once at each."""

    def __init__(self, lower_at: Callable[[Point], ir.Module], sizes: Sequence[Size]) -> None:
        self.lower_at, self.sizes = lower_at, sizes
        self.files: dict[Point, bytes] = {}

    def file(self, point: Point) -> bytes:
        if point not in self.files:
            self.files[point] = ttnn_to_flatbuffer_bin(self.lower_at(point))
        return self.files[point]

    def opened(self, at: Sequence[Point], least: Sequence[int]) -> bytes:
        """Returns the file for all sizes from `least` to the largest samples.

        Raises:
            OpenSizeError: the ops of the program depend on a size.
        """
        bounds = [(least[i], max(point[i] for point in at)) for i in range(len(self.sizes))]
        files, names = [self.file(point) for point in at], [size.name for size in self.sizes]
        try:
            made: bytes = _translate.open_sizes(files, names, bounds, at)
            for file in files:
                _require_same(made, file)
        except (ValueError, tt.Error) as error:
            raise OpenSizeError(str(error)) from None
        return made

    def certain(self, at: list[Point]) -> tuple[list[Point], bytes]:
        """Returns the file for the points, or for more of them if a number is a quotient, and these points.

        Raises:
            OpenSizeError: the ops of the program depend on a size.
        """
        while True:
            try:
                return at, self.opened(at, [min(point[i] for point in at) for i in range(len(self.sizes))])
            except OpenSizeError as error:
                found = QUOTIENT.search(str(error))
                more = _dense(at, int(found[1])) if found and int(found[1]) <= LARGEST_DIVISOR else at
                if len(more) == len(at):
                    raise
                at = more

    def extended(self, at: Sequence[Point], made: bytes) -> bytes:
        """Returns the file with lower bounds that are as small as the program allows.

        At the new bounds, the file must say what the compiler makes there: so a slice that ends at 10 is not taken for
        one of fewer elements.
        """
        least = [min(point[i] for point in at) for i in range(len(self.sizes))]
        every = range(len(self.sizes))
        for which in [every, *([i] for i in every if 1 < len(self.sizes) <= 4)]:
            for bound in LEAST:
                lower = [max(self.sizes[i].least, bound) if i in which else least[i] for i in every]
                if any(lower[i] >= least[i] for i in which if self.sizes[i].least < least[i]) or lower == least:
                    continue
                point = tuple(lower[i] if i in which else at[0][i] for i in every)
                lower = [min(pair) for pair in zip(lower, least, strict=True)]
                try:
                    file = self.file(point)
                    larger = self.opened(at, lower)
                    _require_same(larger, file)
                except (ir.MLIRError, ValueError, tt.Error):
                    continue
                made, least = larger, lower
                break
        return made


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


def open_flatbuffer(lower_at: Callable[[Point], ir.Module], sizes: Sequence[Size], choose: Choose = points) -> bytes:
    """Compiles one flatbuffer for all sizes within the bounds.

    Args:
        lower_at: returns the module of TTNN programs for given sizes, in the order of `sizes`. It is called once for
            each point.
        choose: returns the points, where not all sizes go together.
    Returns:
        The flatbuffer. Its `open_sizes` are `sizes` with the bounds for which the program was found to be the same,
        which can be closer.
    Raises:
        OpenSizeError: the ops of the program depend on a size; names op and attribute.
        ttmlir.ir.MLIRError: `lower_at` or the translation failed.
    """
    compilation = _Compilation(lower_at, sizes)
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
