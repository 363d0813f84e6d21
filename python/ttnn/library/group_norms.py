# SPDX-License-Identifier: Apache-2.0
"""Prepares what group_norm takes: masks of groups, weights in rows, and how cores divide channels."""

from __future__ import annotations

from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import (
    BufferType,
    CoreCoord,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    MemoryConfig,
    ShardOrientation,
    ShardSpec,
    TensorMemoryLayout,
)

from ..functions import ops
from ..mesh import ShardTensor2dMesh
from ..tensor import from_torch

__all__ = [
    "create_group_norm_input_mask",
    "create_group_norm_input_negative_mask",
    "create_group_norm_weight_bias_rm",
    "determine_expected_group_norm_dram_grid_size",
    "determine_expected_group_norm_sharded_config_and_grid_size",
    "dram_group_norm_params_from_torch",
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


def _check_sizes(function: str, channels: int, groups: int, **counts: int) -> None:
    """Checks that whole groups of channels are whole tiles, and that other numbers are positive."""
    _divided(function, "num_channels", channels, "num_groups", groups)
    if channels % _TILE:
        raise ValueError(f"ttnn.{function}: num_channels is {channels}; expected a multiple of {_TILE}")
    for name, value in counts.items():
        _divided(function, name, value, name, 1)


def _grid(function: str, device: Device) -> tuple[int, int]:
    """Returns the columns and rows of cores of a device."""
    if not isinstance(device, Device):
        raise TypeError(f"ttnn.{function}: device is {device!r}; expected an open device")
    rows, columns = device.grid
    return columns, rows


def _most(number: int, limit: int) -> int:
    """Returns the greatest divisor that is not above a limit."""
    return next(each for each in range(min(number, limit), 0, -1) if number % each == 0)


def _columns(cores: int, channels: int, groups: int) -> int:
    """Returns how many cores of a row divide channels: each has whole groups and whole tiles."""
    return next(
        n
        for n in range(min(cores, groups), 0, -1)
        if groups % n == 0 and channels % n == 0 and channels // n % _TILE == 0
    )


def determine_expected_group_norm_dram_grid_size(
    *, device: Device, num_channels: int, num_groups: int, input_nhw: int, num_batches: int = 1
) -> CoreGrid:
    """Returns the largest grid of cores that divides an interleaved tensor evenly, with most columns first.

    Args:
        input_nhw: rows: batch * height * width.
    Raises:
        TypeError: an argument is of another type.
        ValueError: channels are no multiple of 32, or not divided evenly by groups.
    """
    name = "determine_expected_group_norm_dram_grid_size"
    _check_sizes(name, num_channels, num_groups, input_nhw=input_nhw, num_batches=num_batches)
    columns, rows = _grid(name, device)
    tiles = -(-input_nhw // _TILE)
    for x in range(columns, 0, -1):
        apart = _columns(x, num_channels, num_groups)
        for y in range(rows, 0, -1):
            parts = x // apart * y  # of the rows
            # Parts have whole batches, or batches have whole parts.
            if x % apart == 0 and tiles % parts == 0 and (parts <= num_batches or parts % num_batches == 0):
                return CoreGrid(y, x)
    raise AssertionError("one core divides everything")


def determine_expected_group_norm_sharded_config_and_grid_size(
    *,
    device: Device,
    num_channels: int,
    num_groups: int,
    input_nhw: int,
    is_height_sharded: bool,
    is_row_major: bool = False,
) -> tuple[MemoryConfig, CoreGrid]:
    """Returns a memory config in L1 that group_norm takes, and its grid of cores.

    Args:
        input_nhw: rows: batch * height * width.
        is_height_sharded: rows alone are divided among cores; otherwise rows and channels.
        is_row_major: channels are divided among columns of cores; otherwise among rows of them.
    Raises:
        TypeError: an argument is of another type.
        ValueError: channels are no multiple of 32, or not divided evenly by groups.
    """
    name = "determine_expected_group_norm_sharded_config_and_grid_size"
    _check_sizes(name, num_channels, num_groups, input_nhw=input_nhw)
    columns, rows = _grid(name, device)
    tiles = -(-input_nhw // _TILE)
    if is_height_sharded:
        cores = _most(tiles, columns * rows)
        shape, x, y = [tiles // cores * _TILE, num_channels], min(cores, columns), -(-cores // columns)
        layout, row_wise = TensorMemoryLayout.HEIGHT_SHARDED, True
    else:
        of_rows, of_channels = (rows, columns) if is_row_major else (columns, rows)
        parts = _most(tiles, of_rows)
        # Each core has whole groups, and at least 32 channels in multiples of 8.
        apart = next(
            n
            for n in range(of_channels, 0, -1)
            if num_groups % n == 0 and num_channels % (8 * n) == 0 and num_channels // n >= _TILE
        )
        shape = [tiles // parts * _TILE, num_channels // apart]
        x, y = (apart, parts) if is_row_major else (parts, apart)
        layout, row_wise = TensorMemoryLayout.BLOCK_SHARDED, is_row_major
    orientation = ShardOrientation.ROW_MAJOR if row_wise else ShardOrientation.COL_MAJOR
    cores_of = CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(x - 1, y - 1))])
    shape = shape if row_wise else shape[::-1]
    return MemoryConfig(layout, BufferType.L1, ShardSpec(cores_of, shape, orientation)), CoreGrid(y, x)


def dram_group_norm_params_from_torch(
    torch_params: Any,
    channels_per_device: int,
    groups_per_device: int,
    device: Device,
    mesh_axis: int | None = None,
    core_grid: CoreGrid | None = None,
    return_mask: bool = True,
    dtype: DataType = DataType.BFLOAT16,
) -> Any:
    """Returns weights and biases of an interleaved group_norm as rows of 32, and the mask of its groups.

    Args:
        torch_params: a torch tensor, or a list of them, with the channels of all devices.
        mesh_axis: the axis of the mesh whose devices have different channels; all have the same without it.
        core_grid: the cores of group_norm; by default all cores of the device.
        return_mask: whether the mask is returned, too.
    Returns:
        Tensors like torch_params, one or a list; with return_mask, these and the mask.
    Raises:
        TypeError: an argument is of another type.
        ValueError: channels are no multiple of 32, not divided evenly by groups, or not as many.
    """
    name = "dram_group_norm_params_from_torch"
    _check_sizes(name, channels_per_device, groups_per_device)
    columns = _grid(name, device)[0] if core_grid is None else core_grid.x
    apart = _columns(columns, channels_per_device, groups_per_device)
    mesh = tuple(device.get_mesh_shape())
    if mesh_axis is not None and mesh_axis not in (0, 1):
        raise ValueError(f"ttnn.{name}: mesh_axis is {mesh_axis!r}; expected 0 or 1")
    parts = 1 if mesh_axis is None else mesh[mesh_axis]
    mapper = ShardTensor2dMesh(device, None, dims=[0 if axis == mesh_axis else None for axis in range(2)])
    several = isinstance(torch_params, list | tuple)
    produced = []
    for each in torch_params if several else [torch_params]:
        if not hasattr(each, "numel"):
            raise TypeError(f"ttnn.{name}: torch_params has {each!r}; expected torch tensors")
        if each.numel() != parts * channels_per_device:
            raise ValueError(
                f"ttnn.{name}: torch_params has {each.numel()} elements; expected {parts} times {channels_per_device}"
            )
        rows = [create_group_norm_weight_bias_rm(part, channels_per_device, apart) for part in each.chunk(parts)]
        joined = rows[0].new_zeros(parts, *rows[0].shape[1:])
        for at, row in enumerate(rows):
            joined[at] = row[0]
        produced.append(from_torch(joined, dtype, device=device, mesh_mapper=mapper))
    result: Any = produced if several else produced[0]
    if not return_mask:
        return result
    mask = create_group_norm_input_mask(channels_per_device, groups_per_device, apart, dtype)
    return result, ops.to_device(mask, device)
