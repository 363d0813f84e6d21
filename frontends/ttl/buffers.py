# SPDX-License-Identifier: Apache-2.0
"""Dataflow buffers: rings of blocks in the L1 of each node, between kernels of one node."""

from __future__ import annotations

import math
from typing import Any

import ttnn

from . import building
from .errors import DefinitionError, ShapeError

TILE_SHAPE = (32, 32)
MOST_BUFFERS = 32


class DataflowBuffer:
    """Holds blocks of one shape, in tiles of a tiled tensor or in elements of a row-major one.

    `wait()` and `reserve()` are for kernels.
    """

    def __init__(self, likeness: ttnn.Tensor, shape: tuple[int, ...], block_count: int, index: int) -> None:
        self.shape, self.block_count, self.index = shape, block_count, index
        self.dtype, self.layout = likeness.dtype, likeness.layout
        self.name = f"dataflow buffer {index}"

    @property
    def tiled(self) -> bool:
        """Tells whether the unit of the shape is a tile."""
        return bool(self.layout == ttnn.TILE_LAYOUT)

    @property
    def pages(self) -> int:
        """Returns the pages of a block: its tiles; one for elements."""
        return math.prod(self.shape) if self.tiled else 1

    @property
    def page_bytes(self) -> int:
        """Returns the bytes of a page."""
        tile = int(ttnn.Tile().get_tile_size(self.dtype))
        return tile if self.tiled else math.prod(self.shape) * (tile // 1024)

    @property
    def bytes(self) -> int:
        """Returns the bytes of L1 that the buffer has on each node."""
        return self.pages * self.page_bytes * self.block_count

    def wait(self, name: str | None = None) -> Any:
        """Raises DefinitionError: only kernels wait for blocks."""
        raise DefinitionError("DataflowBuffer.wait: is for kernels, @ttl.compute and @ttl.datamovement")

    def reserve(self, name: str | None = None) -> Any:
        """Raises DefinitionError: only kernels reserve blocks."""
        raise DefinitionError("DataflowBuffer.reserve: is for kernels, @ttl.compute and @ttl.datamovement")

    def __repr__(self) -> str:
        return (
            f"DataflowBuffer({self.name}, shape={self.shape}, block_count={self.block_count}, dtype={self.dtype.name})"
        )


def make_dataflow_buffer_like(
    likeness_tensor: ttnn.Tensor, shape: tuple[int, ...], block_count: int = 2
) -> DataflowBuffer:
    """Returns a dataflow buffer with the element type and the layout of a tensor.

    Args:
        likeness_tensor: a tensor of ttnn.
        shape: of a block; in tiles for a tiled tensor, in elements for a row-major one.
        block_count: blocks that the buffer holds; 2 let one kernel fill a block while another reads one.
    Raises:
        DefinitionError: it is not called in an operation, or the tensor is none.
        ShapeError: a size is not positive, or the tensor has fewer tiles.
    """
    name = "ttl.make_dataflow_buffer_like"
    operation = building.current(name)
    if not isinstance(likeness_tensor, ttnn.Tensor):
        raise DefinitionError(f"{name}: likeness_tensor is {likeness_tensor!r}; expected a ttnn.Tensor")
    sizes = (shape,) if isinstance(shape, int) else shape
    if not isinstance(sizes, tuple | list) or not sizes or any(type(each) is not int or each < 1 for each in sizes):
        raise ShapeError(f"{name}: shape is {shape!r}; expected sizes of 1 or more")
    if type(block_count) is not int or block_count < 1:
        raise ShapeError(f"{name}: block_count is {block_count!r}; expected 1 or more")
    sizes = tuple(sizes)
    if likeness_tensor.layout == ttnn.TILE_LAYOUT:
        padded = list(likeness_tensor.padded_shape)
        if len(sizes) < 2 or len(sizes) != len(padded):
            raise ShapeError(
                f"{name}: shape {sizes} has {len(sizes)} dimensions, and the tensor {list(likeness_tensor.shape)}; "
                "expected as many, and at least 2 for a tiled tensor"
            )
        there = [*padded[:-2], padded[-2] // TILE_SHAPE[0], padded[-1] // TILE_SHAPE[1]]
        if any(size > most for size, most in zip(sizes, there, strict=True)):
            raise ShapeError(f"{name}: shape {sizes} in tiles is larger than the tensor, which has {tuple(there)}")
    result = DataflowBuffer(likeness_tensor, sizes, block_count, len(operation.buffers))
    operation.buffers.append(result)
    return result
