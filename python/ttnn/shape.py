# SPDX-License-Identifier: Apache-2.0
"""Shapes."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import SupportsIndex


class Shape(tuple[int, ...]):
    """The dimensions of a tensor: a tuple that also equals a list of the same numbers."""

    __slots__ = ()

    def __new__(cls, dimensions: Iterable[SupportsIndex] = ()) -> Shape:
        try:
            return super().__new__(cls, (operator.index(d) for d in dimensions))
        except TypeError:
            raise TypeError(f"Shape: {dimensions!r}; expected integers") from None

    @property
    def rank(self) -> int:
        return len(self)

    def volume(self) -> int:
        """Returns number of elements."""
        return math.prod(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, list):
            other = tuple(other)
        return tuple.__eq__(self, other) if isinstance(other, tuple) else NotImplemented

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        return f"Shape({list(self)})"


class MeshShape(tuple[int, int]):
    """Rows and columns of a mesh of chips."""

    __slots__ = ()

    def __new__(cls, rows: int | Iterable[int], columns: int | None = None) -> MeshShape:
        sizes = tuple(rows) if isinstance(rows, Iterable) else (rows, 1 if columns is None else columns)
        if len(sizes) != 2 or any(size < 1 for size in sizes):
            raise ValueError(f"MeshShape: {list(sizes)}; expected two positive sizes, rows and columns")
        return super().__new__(cls, sizes)

    def mesh_size(self) -> int:
        """Returns number of chips."""
        return self[0] * self[1]

    def __repr__(self) -> str:
        return f"MeshShape({self[0]}, {self[1]})"
