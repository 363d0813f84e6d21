# SPDX-License-Identifier: Apache-2.0
"""Programs that leave sizes open: one flatbuffer for many lengths, batches and images.

Passes work with numbers. So a program is lowered for some points, which are sizes that have nothing in common; where
the programs differ in numbers only, and each number is one expression of the sizes for all points, the flatbuffer
holds for every size between the bounds. The runtime takes the sizes from the shapes of the inputs and infers the others
by the same shape rules as the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import _ttmlir_runtime as tt

from . import ir
from ._mlir_libs._ttmlir import translate as _translate
from .passes import ttnn_to_flatbuffer_bin

# Sizes of the points, from a small one to a large one: no multiples of tiles, with different remainders for what sizes
# are divided by. A program that is the same for all of them depends on no threshold between them. Where it is not, the
# next ones are taken: without small sizes, whose tiles are mostly padding, then without very large ones.
GENERIC = ((13, 46, 92, 335, 131103), (37, 92, 335, 1046, 131103), (37, 92, 335, 1046, 8211), (37, 50, 92, 335, 1047))


class OpenSizeError(ValueError):
    """A size decides what is computed: it cannot stay open. The message names the op and what depends on the size."""


@dataclass(frozen=True)
class Size:
    """A size that a program takes from `least` to `most`.

    least: at least 2. Ops broadcast what is 1, and compute nothing of what is 0: these are programs of their own.
    most: None for no bound but the program's own.
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
    """A value of a size for each point."""
    most = generic[-1] if size.most is None else min(size.most, generic[-1])
    chosen = [value for value in generic[:-1] if size.least <= value < most]
    count = len(generic)
    if len(chosen) == count - 1:
        return [*chosen, most]
    # Few generic values are between the bounds: others at growing distances.
    span = most - size.least
    spread = sorted({size.least + round(span * (i / (count - 1)) ** 2) for i in range(count)})
    if len(spread) < 3:
        raise OpenSizeError(
            f"size {size.name} goes from {size.least} to {most}, which are few: each is a program of its own"
        )
    return (spread * count)[:count]


def points(sizes: Sequence[Size], generic: Sequence[int] = GENERIC[0]) -> list[tuple[int, ...]]:
    """Sizes that a program is lowered for: values of each size, turned against those of the others.

    Raises:
        OpenSizeError: a size has so few values that there is nothing to leave open.
    """
    count = len(generic)
    values = [_values(size, generic) for size in sizes]

    def value(place: int, point: int) -> int:
        """Of sizes that have the same values, each has another one at every point."""
        turned, shift = values[place][(point + place) % count], place // count
        return turned + shift if turned + shift <= max(values[place]) else turned

    return [tuple(value(place, point) for place in range(len(sizes))) for point in range(count)]


def open_flatbuffer(lower_at: Callable[[tuple[int, ...]], ir.Module], sizes: Sequence[Size]) -> bytes:
    """One flatbuffer of a program for all sizes between the bounds.

    Args:
        lower_at: gives the module of TTNN programs for some sizes, in the order of `sizes`.
    Returns:
        A flatbuffer whose `open_sizes` are the sizes. The most of a size is the largest one that the program was
        lowered for.
    Raises:
        OpenSizeError: a size decides what is computed; names op and attribute.
        ttmlir.ir.MLIRError: as `lower_at` and the translation do.
    """
    refused: OpenSizeError | None = None
    tried: list[list[tuple[int, ...]]] = []
    for generic in GENERIC:
        at = points(sizes, generic)
        if at in tried:
            continue
        tried.append(at)
        files = [ttnn_to_flatbuffer_bin(lower_at(point)) for point in at]
        bounds = [(size.least, max(point[place] for point in at)) for place, size in enumerate(sizes)]
        try:
            made: bytes = _translate.open_sizes(files, [size.name for size in sizes], bounds, at)
            binary = tt.binary.load_binary_from_bytes(made)
            for file in files:
                expected = tt.binary.load_binary_from_bytes(file)
                for program in range(expected.get_num_programs()):
                    if not expected.is_program_private(program):
                        binary.require_same(expected, program)
        except (ValueError, tt.Error) as error:
            refused = refused or OpenSizeError(str(error))
            continue
        return made
    assert refused is not None
    raise refused
