# SPDX-License-Identifier: Apache-2.0
"""Tiles, places in a mesh, and groups of cores."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from _ttmlir_runtime.ttnn import CoreRangeSet, DataType

_BITS = {
    DataType.FLOAT32: 32, DataType.UINT32: 32, DataType.INT32: 32, DataType.BFLOAT16: 16, DataType.FLOAT16: 16,
    DataType.UINT16: 16, DataType.UINT8: 8, DataType.BOOL: 8, DataType.BFLOAT8_B: 8, DataType.BFLOAT4_B: 4,
    DataType.BFLOAT2_B: 2, DataType.FLOAT8_B: 8, DataType.FLOAT4_B: 4, DataType.FLOAT2_B: 2,
}  # fmt: skip
_WITH_EXPONENTS = ("BFLOAT8_B", "BFLOAT4_B", "BFLOAT2_B", "FLOAT8_B", "FLOAT4_B", "FLOAT2_B")


class Tile:
    """Holds the shape of a tile, (height, width), which the simulated chip has as 32x32 alone.

    Raises:
        TypeError, ValueError: the shape is no pair of numbers, or not (32, 32).
    """

    def __init__(self, tile_shape: Sequence[int] = (32, 32), transpose_tile: bool = False) -> None:
        if not isinstance(tile_shape, list | tuple) or not all(type(size) is int for size in tile_shape):
            raise TypeError(f"ttnn.Tile: tile_shape is {tile_shape!r}; expected two numbers")
        if list(tile_shape) != [32, 32] or transpose_tile:
            what = f"tile_shape is {list(tile_shape)}" if not transpose_tile else "transpose_tile is True"
            raise ValueError(f"ttnn.Tile: {what}; the simulated chip has tiles of 32x32 that are not transposed")

    @property
    def tile_shape(self) -> list[int]:
        """Returns (height, width) in elements."""
        return [32, 32]

    @property
    def face_shape(self) -> list[int]:
        """Returns (height, width) of a face in elements."""
        return [16, 16]

    @property
    def num_faces(self) -> int:
        """Returns the number of faces."""
        return 4

    narrow_tile = partial_face = transpose_of_faces = transpose_within_face = False

    def get_tile_size(self, dtype: DataType) -> int:
        """Returns the bytes of a tile, with the shared exponents of a block format."""
        if not isinstance(dtype, DataType):
            raise TypeError(f"ttnn.Tile.get_tile_size: dtype is {dtype!r}; expected a ttnn.DataType")
        exponents = 64 if dtype.name in _WITH_EXPONENTS else 0  # one of a byte for 16 elements
        return 1024 * _BITS[dtype] // 8 + exponents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tile)

    def __hash__(self) -> int:
        return 32

    def __repr__(self) -> str:
        return "Tile with shape: [32, 32]"


class MeshCoordinate:
    """Holds the place of a device in a mesh: `MeshCoordinate(row, column)`, or of a list.

    Raises:
        TypeError: a coordinate is no number that is not negative.
    """

    def __init__(self, *coords: Any) -> None:
        given = coords[0] if len(coords) == 1 and isinstance(coords[0], Sequence) else coords
        if not given or not all(type(each) is int and each >= 0 for each in given):
            raise TypeError(f"ttnn.MeshCoordinate: coordinates are {coords!r}; expected numbers from 0 on")
        self._coords = tuple(given)

    def dims(self) -> int:
        """Returns the number of dimensions."""
        return len(self._coords)

    def __getitem__(self, dim: int) -> int:
        return self._coords[dim]

    def __iter__(self) -> Iterator[int]:
        return iter(self._coords)

    def __len__(self) -> int:
        return len(self._coords)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeshCoordinate) and self._coords == other._coords

    def __hash__(self) -> int:
        return hash(self._coords)

    def __repr__(self) -> str:
        return f"MeshCoordinate({list(self._coords)})"


class MeshCoordinateRange:
    """Holds a box of places in a mesh: from `start` to `end`, or all places of a mesh's shape.

    Raises:
        TypeError: an argument is of another type.
        ValueError: `end` is before `start`.
    """

    def __init__(self, start: Any, end: MeshCoordinate | None = None) -> None:
        if end is None and not isinstance(start, MeshCoordinate):
            sizes = list(start)
            start, end = MeshCoordinate([0] * len(sizes)), MeshCoordinate([size - 1 for size in sizes])
        if not isinstance(start, MeshCoordinate) or not isinstance(end, MeshCoordinate):
            raise TypeError(f"ttnn.MeshCoordinateRange: from {start!r} to {end!r}; expected two MeshCoordinates")
        if start.dims() != end.dims() or any(low > high for low, high in zip(start, end, strict=True)):
            raise ValueError(f"ttnn.MeshCoordinateRange: from {start!r} to {end!r} is no box")
        self.start, self.end = start, end

    def dims(self) -> int:
        """Returns the number of dimensions."""
        return self.start.dims()

    def shape(self) -> list[int]:
        """Returns the size in each dimension."""
        return [high - low + 1 for low, high in zip(self.start, self.end, strict=True)]

    def contains(self, coord: MeshCoordinate) -> bool:
        """Tells whether a place is in the box."""
        return coord.dims() == self.dims() and all(
            low <= at <= high for low, at, high in zip(self.start, coord, self.end, strict=True)
        )

    def __iter__(self) -> Iterator[MeshCoordinate]:
        axes = [range(low, high + 1) for low, high in zip(self.start, self.end, strict=True)]
        return (MeshCoordinate(place) for place in itertools.product(*axes))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeshCoordinateRange) and (self.start, self.end) == (other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __repr__(self) -> str:
        return f"MeshCoordinateRange(start={self.start!r}, end={self.end!r})"


@dataclass(frozen=True)
class SubDeviceId:
    """Names a sub-device by its number."""

    id: int

    def __post_init__(self) -> None:
        if type(self.id) is not int or self.id < 0:
            raise TypeError(f"ttnn.SubDeviceId: {self.id!r}; expected a number from 0 on")


@dataclass(frozen=True)
class SubDevice:
    """Holds the cores of a part of a device, on which calls may run by themselves."""

    cores: Sequence[CoreRangeSet]

    def __post_init__(self) -> None:
        if not isinstance(self.cores, Sequence) or not all(isinstance(each, CoreRangeSet) for each in self.cores):
            raise TypeError(f"ttnn.SubDevice: cores is {self.cores!r}; expected a list of CoreRangeSet")
