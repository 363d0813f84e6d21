# SPDX-License-Identifier: Apache-2.0
"""Prepares what group_norm takes: masks of groups, weights in rows, and how cores divide channels."""

from __future__ import annotations

from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import CoreGrid, DataType, Layout, ShardOrientation, TensorMemoryLayout

__all__ = [
    "create_group_norm_input_mask",
    "create_group_norm_input_negative_mask",
    "create_group_norm_weight_bias_rm",
    "get_group_norm_cores_across_channel",
]
_TILE = 32
_MOST = 1 << 26  # elements of a mask


def get_group_norm_cores_across_channel(
    memory_layout: TensorMemoryLayout, core_grid: CoreGrid, shard_orientation: ShardOrientation | None = None
) -> int:
    """Returns the cores that channels are divided among.

    Shards of blocks have rows of cores for channels, or columns with ShardOrientation.ROW_MAJOR.
    """
    if memory_layout is TensorMemoryLayout.HEIGHT_SHARDED:
        return 1
    if memory_layout is TensorMemoryLayout.BLOCK_SHARDED:
        return core_grid.x if shard_orientation is ShardOrientation.ROW_MAJOR else core_grid.y
    return core_grid.x * core_grid.y


def _divided(function: str, whole: str, number: int, by: str, parts: int) -> int:
    for name, value in ((whole, number), (by, parts)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"ttnn.{function}: {name} is {value!r}; expected an integer")
        if value < 1:
            raise ValueError(f"ttnn.{function}: {name} is {value}; expected 1 or more")
    if number % parts:
        raise ValueError(f"ttnn.{function}: {by} is {parts}; expected a divisor of {whole}, which is {number}")
    return number // parts


def _mask(
    function: str, channels: int, groups: int, cores: int, dtype: DataType, tile: tuple[int, int], rows: int, value: int
) -> Tensor:
    """Returns [1, groups, tile height, columns]: `value` at the channels of each group, else the other of 0 and 1.

    With `rows`, groups follow once more of which only so many rows have their channels.
    """
    size = _divided(function, "num_channel", channels, "num_groups", groups)
    if groups > _MOST:
        raise ValueError(f"ttnn.{function}: num_groups is {groups}; expected at most {_MOST}")
    of_core = _divided(function, "num_groups", groups, "num_cores_across_channel", cores)
    height, width = tile
    for name, number in (("tile_height", height), ("tile_width", width)):
        if number != _TILE:
            raise ValueError(f"ttnn.{function}: {name} is {number}; expected {_TILE}")
    if not isinstance(rows, int) or not 0 <= rows < height:
        raise ValueError(f"ttnn.{function}: rows_in_last_tile is {rows!r}; expected 0 to {height - 1}")
    # The first channel of a group within its tile: groups of a core follow each other.
    starts = [group % of_core * size % width for group in range(groups)]
    columns = -(-(max(starts) + size) // width) * width
    if groups * height * columns > _MOST:
        raise ValueError(
            f"ttnn.{function}: a mask of {groups} groups and {columns} columns has more than {_MOST} elements"
        )
    values: list[float] = []
    for count in (height, rows)[: 2 if rows else 1]:
        for start in starts:
            row = [float(value if start <= column < start + size else 1 - value) for column in range(columns)]
            values += row * count + [1.0 - value] * (columns * (height - count))
    return Tensor(values, [1, len(values) // (height * columns), height, columns], dtype, Layout.TILE)


def create_group_norm_input_mask(
    num_channel: int,
    num_groups: int,
    num_cores_across_channel: int,
    data_type: DataType = DataType.BFLOAT16,
    tile_height: int = _TILE,
    tile_width: int = _TILE,
    rows_in_last_tile: int = 0,
) -> Tensor:
    """Returns 1 at the channels of each group, counted from the tile that the group begins in, and 0 elsewhere.

    A host tensor [1, num_groups, 32, columns] in tiles. With `rows_in_last_tile`, num_groups more masks follow that
    have only so many rows.

    Raises:
        TypeError: a number is no integer.
        ValueError: channels are not divided evenly by groups, or groups by cores.
    """
    name = "create_group_norm_input_mask"
    tile = (tile_height, tile_width)
    return _mask(name, num_channel, num_groups, num_cores_across_channel, data_type, tile, rows_in_last_tile, 1)


def create_group_norm_input_negative_mask(
    num_channel: int,
    num_groups: int,
    num_cores_across_channel: int,
    data_type: DataType = DataType.BFLOAT16,
    tile_height: int = _TILE,
    tile_width: int = _TILE,
) -> Tensor:
    """Returns 0 where create_group_norm_input_mask has 1, and 1 where it has 0.

    Raises:
        TypeError: a number is no integer.
        ValueError: channels are not divided evenly by groups, or groups by cores.
    """
    name = "create_group_norm_input_negative_mask"
    return _mask(name, num_channel, num_groups, num_cores_across_channel, data_type, (tile_height, tile_width), 0, 0)


def create_group_norm_weight_bias_rm(input_tensor: Any, num_channels: int, num_cores_x: int) -> Any:
    """Returns a torch tensor of weights or biases as rows of 32, [1, 1, rows, 32].

    The channels of each of num_cores_x cores are filled up with zeros to a multiple of 32.

    Raises:
        TypeError: a number is no integer.
        ValueError: channels are not divided evenly by cores, or the tensor has another number of them.
    """
    name = "create_group_norm_weight_bias_rm"
    size = _divided(name, "num_channels", num_channels, "num_cores_x", num_cores_x)
    if not hasattr(input_tensor, "numel"):
        raise TypeError(f"ttnn.{name}: input_tensor is {input_tensor!r}; expected a torch tensor")
    if input_tensor.numel() != num_channels:
        raise ValueError(f"ttnn.{name}: input_tensor has {input_tensor.numel()} elements; expected {num_channels}")
    rows = input_tensor.new_zeros(num_cores_x, -(-size // _TILE) * _TILE)
    rows[:, :size] = input_tensor.reshape(num_cores_x, size)
    return rows.reshape(1, 1, -1, _TILE)
