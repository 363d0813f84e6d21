# SPDX-License-Identifier: Apache-2.0
"""Describes tensors: shape, data type, layout and memory; gives tensors the methods of the library."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from operator import index
from typing import Any, SupportsIndex

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import (
    BufferType,
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    MemoryConfig,
    ShardOrientation,
    ShardSpec,
    TensorMemoryLayout,
)

from ..enums import ENUMS
from ..shape import Shape
from ..tensor import from_torch, to_torch
from .cores import create_sharded_memory_config
from .geometry import MeshCoordinate, Tile
from .modes import ShardStrategy

ShardDistributionStrategy = ENUMS["ttnn.shard_distribution_strategy"]


class NdShardSpec:
    """Says how a tensor of any rank is cut: the shape of a shard, and the cores that shards go round.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a size of the shard is not positive.
    """

    def __init__(
        self,
        shard_shape: Sequence[int],
        grid: CoreRangeSet,
        orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
        shard_distribution_strategy: Any = ShardDistributionStrategy.ROUND_ROBIN_1D,
    ) -> None:
        for name, value, kind in (
            ("grid", grid, CoreRangeSet),
            ("orientation", orientation, ShardOrientation),
            ("shard_distribution_strategy", shard_distribution_strategy, ShardDistributionStrategy),
        ):
            if not isinstance(value, kind):
                raise TypeError(f"ttnn.NdShardSpec: {name} is {value!r}; expected ttnn.{kind.__name__}")
        self.shard_shape = Shape(shard_shape)
        if min(self.shard_shape, default=0) < 1:
            raise ValueError(f"ttnn.NdShardSpec: shard_shape is {list(self.shard_shape)}; expected positive sizes")
        self.grid = grid
        self.orientation = orientation
        self.shard_distribution_strategy = shard_distribution_strategy

    def num_cores(self) -> int:
        """Returns the number of cores of the grid."""
        return int(self.grid.num_cores())

    def _key(self) -> tuple[Any, ...]:
        return tuple(self.shard_shape), self.grid, self.orientation, self.shard_distribution_strategy

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NdShardSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(tuple(self.shard_shape))

    def __repr__(self) -> str:
        return (
            f"NdShardSpec(shard_shape={list(self.shard_shape)}, grid={self.grid}, orientation={self.orientation.name})"
        )


class TensorSpec:
    """Holds the shape, data type, layout and memory of a tensor.

    A sharded memory is said by `memory_layout` and `shard_spec`, or by a method of an interleaved spec:
    `TensorSpec(shape, dtype, layout, ttnn.BufferType.L1).height_sharded(grid)`.

    Raises:
        TypeError: an argument is of another type.
        ValueError: what MemoryConfig refuses.
    """

    def __init__(
        self,
        shape: Sequence[int],
        dtype: DataType,
        layout: Layout,
        memory_layout: TensorMemoryLayout | BufferType = TensorMemoryLayout.INTERLEAVED,
        shard_spec: ShardSpec | None = None,
        buffer_type: BufferType = BufferType.DRAM,
        tile: Tile | None = None,
    ) -> None:
        if isinstance(memory_layout, BufferType):  # the form without a memory layout
            buffer_type, memory_layout = memory_layout, TensorMemoryLayout.INTERLEAVED
        for name, value, kind in (
            ("dtype", dtype, DataType),
            ("layout", layout, Layout),
            ("memory_layout", memory_layout, TensorMemoryLayout),
            ("buffer_type", buffer_type, BufferType),
        ):
            if not isinstance(value, kind):
                raise TypeError(f"ttnn.TensorSpec: {name} is {value!r}; expected ttnn.{kind.__name__}")
        if not (tile is None or isinstance(tile, Tile)):
            raise TypeError(f"ttnn.TensorSpec: tile is {tile!r}; expected ttnn.Tile")
        self.shape = Shape(shape)
        self.dtype = dtype
        self.layout = layout
        self.memory_config = MemoryConfig(memory_layout, buffer_type, shard_spec)
        self.tile = Tile()

    def _sharded(
        self, grid: CoreRange | CoreRangeSet, strategy: ShardStrategy, orientation: ShardOrientation
    ) -> TensorSpec:
        cores = CoreRangeSet([grid]) if isinstance(grid, CoreRange) else grid
        memory = create_sharded_memory_config(
            self.shape, cores, strategy, orientation, tile_layout=self.layout == Layout.TILE
        )
        if self.memory_config.buffer_type != BufferType.L1:
            memory = MemoryConfig(memory.memory_layout, self.memory_config.buffer_type, memory.shard_spec)
        result = TensorSpec(self.shape, self.dtype, self.layout)
        result.memory_config = memory
        return result

    def height_sharded(
        self, grid: CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """Returns the spec with rows cut over cores."""
        return self._sharded(grid, ShardStrategy.HEIGHT, orientation)

    def width_sharded(
        self, grid: CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """Returns the spec with columns cut over cores."""
        return self._sharded(grid, ShardStrategy.WIDTH, orientation)

    def block_sharded(
        self, grid: CoreRange | CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """Returns the spec with rows and columns cut over a rectangle of cores."""
        return self._sharded(grid, ShardStrategy.BLOCK, orientation)

    def _key(self) -> tuple[Any, ...]:
        return tuple(self.shape), self.dtype, self.layout, self.memory_config

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"TensorSpec(shape={self.shape!r}, dtype={self.dtype!s}, layout={self.layout!s}, "
            f"memory_config={self.memory_config!r})"
        )


def spec_of(self: Tensor) -> TensorSpec:
    """Returns shape, data type, layout and memory."""
    result = TensorSpec(self.shape, self.dtype, self.layout)
    result.memory_config = self.memory_config()
    return result


def to_numpy(self: Tensor, mesh_composer: Any = None) -> Any:
    """Returns the values as a numpy array; those of bfloat16 and block formats in float32.

    Args:
        mesh_composer: as of to_torch.
    Raises:
        ValueError: without a composer, chips whose values differ.
    """
    values = to_torch(self, mesh_composer=mesh_composer)
    return (values.float() if str(values.dtype) == "torch.bfloat16" else values).numpy()


def to_torch_with_padded_shape(self: Tensor) -> Any:
    """Returns the values and the padding of tiles, of zeros, as a torch tensor."""
    values = to_torch(self)
    return _padded(values, self.padded_shape, 0)


def _padded(values: Any, shape: Sequence[int], value: float) -> Any:
    values = values.reshape([1] * (len(shape) - values.dim()) + list(values.shape))
    result = values.new_full(tuple(shape), value)
    result[tuple(slice(0, size) for size in values.shape)] = values
    return result


def _again(values: Any, tensor: Tensor, layout: Layout) -> Tensor:
    return from_torch(
        values.contiguous(),
        tensor.dtype,
        layout=layout,
        device=tensor.device(),
        memory_config=tensor.memory_config() if tensor.device() else None,
    )


def pad_to_tile(self: Tensor, value: float) -> Tensor:
    """Returns the tensor with its last two dimensions padded to multiples of 32, in the layout that it has."""
    shape = list(self.shape)
    if len(shape) < 2:
        shape = [1] * (2 - len(shape)) + shape
    padded = [*shape[:-2], *(-(-size // 32) * 32 for size in shape[-2:])]
    return _again(_padded(to_torch(self), padded, value), self, self.layout)


def unpad_from_tile(self: Tensor, shape: Sequence[int]) -> Tensor:
    """Returns the first elements of each dimension, `shape` of them.

    Raises:
        ValueError: the tensor has fewer.
    """
    sizes = list(shape)
    if len(sizes) != len(self.shape) or any(size > own for size, own in zip(sizes, self.shape, strict=True)):
        raise ValueError(f"Tensor.unpad_from_tile: shape is {sizes}; expected at most {list(self.shape)}")
    return _again(to_torch(self)[tuple(slice(0, size) for size in sizes)], self, self.layout)


def devices(self: Tensor) -> list[Device]:
    """Returns the device that the tensor lies on, as a list; an empty one on the host."""
    return [] if self.device() is None else [self.device()]


def get_tile(self: Tensor) -> Tile:
    """Returns the tile."""
    return Tile()


def buffer_page_size(self: Tensor) -> int:
    """Returns the bytes that are moved at a time: of a tile, or of a row of the tensor or of a shard."""
    tile = Tile().get_tile_size(self.dtype)
    if self.layout is Layout.TILE:
        return tile
    spec: Any = self.memory_config().shard_spec
    width = self.padded_shape[-1] if len(self.shape) else 1
    width = width if spec is None else spec.shape[1]
    return int(width * tile // 1024)


def buffer_num_pages(self: Tensor) -> int:
    """Returns how many pieces of buffer_page_size bytes the tensor has."""
    padded = list(self.padded_shape) or [1]
    if self.layout is Layout.TILE:
        return math.prod(padded) // 1024
    spec: Any = self.memory_config().shard_spec
    width = padded[-1] if spec is None else spec.shape[1]
    return math.prod(padded[:-1]) * (-(-padded[-1] // width) if width else 0)


def buffer_aligned_page_size(self: Tensor) -> int:
    """Returns the bytes from one of these pieces to the next: multiples of what addresses are.

    Raises:
        ValueError: the tensor lies on the host.
    """
    device = self.device()
    if device is None:
        raise ValueError("Tensor.buffer_aligned_page_size: the tensor lies on the host; expected one on a device")
    in_dram = self.memory_config().buffer_type.name == "DRAM"
    step = (64 if str(device.arch) == "blackhole" else 32) if in_dram else 16
    return -(-buffer_page_size(self) // step) * step


def device_coords(self: Tensor) -> list[MeshCoordinate]:
    """Returns the places of the devices that have a part of the tensor, row by row; none of a tensor on the host."""
    device = self.device()
    if device is None:
        return []
    rows, columns = device.get_mesh_shape()
    return [MeshCoordinate(row, column) for row in range(rows) for column in range(columns)]


def unpad(self: Tensor, start: Sequence[int], end: Sequence[int]) -> Tensor:
    """Returns the elements from `start` to before `end` of each dimension, on the host.

    Raises:
        ValueError: there are no such elements.
    """
    first, last = list(start), list(end)
    sizes = list(self.shape)
    if (
        len(first) != len(sizes)
        or len(last) != len(sizes)
        or any(not 0 <= a < b <= size for a, b, size in zip(first, last, sizes, strict=True))
    ):
        raise ValueError(f"Tensor.unpad: start is {first} and end {last}; expected parts of {sizes}")
    return _again(to_torch(self)[tuple(map(slice, first, last))], self, self.layout)


def _shifted_right(self: Tensor, places: Any) -> Any:
    """Returns integers shifted to the right; signed ones keep their sign."""
    if not isinstance(places, Tensor):
        if not isinstance(places, SupportsIndex):
            return NotImplemented
        places = index(places)
    return sys.modules["ttnn"].bitwise_right_shift(self, places)


def extend_tensors() -> None:
    """Adds the methods to the class of tensors."""
    own: Any = Tensor
    for method in (
        to_numpy, to_torch_with_padded_shape, pad_to_tile, unpad_from_tile, devices, get_tile, buffer_page_size,
        buffer_num_pages, buffer_aligned_page_size, device_coords, unpad,
    ):  # fmt: skip
        setattr(own, method.__name__, method)
    own.__rshift__ = _shifted_right
    own.tensor_id = property(own.get_global_id, doc="Number of the tensor.")
    own.spec = property(spec_of)
    own.tile = property(get_tile)
