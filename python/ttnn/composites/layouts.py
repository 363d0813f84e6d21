# SPDX-License-Identifier: Apache-2.0
"""Changes of layout. Padding of tiles holds no values here: what fills it makes no difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType, Layout

from .frame import composite, ops

_BLOCKS = (DataType.BFLOAT8_B, DataType.BFLOAT4_B, DataType.BFLOAT2_B)
_SAME = "input_tensor.clone()"


def _tiled(tensor: Tensor, dtype: DataType | None) -> Tensor:
    return ops.to_layout(tensor, Layout.TILE, dtype=dtype)


def _rows(tensor: Tensor) -> Tensor:
    """Returns the tensor in rows; block formats, which tiles alone have, become bfloat16."""
    return ops.to_layout(tensor, Layout.ROW_MAJOR, dtype=DataType.BFLOAT16 if tensor.dtype in _BLOCKS else None)


@composite("memory_config sub_core_grids", golden=_SAME, wide=False)
def tilize(
    input_tensor: Tensor,
    *,
    dtype: DataType | None = None,
    use_multicore: bool = True,
    use_low_perf: bool = False,
    tile: Any = None,
) -> Tensor:
    """Returns the tensor in tiles. `use_multicore`, `use_low_perf` and `tile` are of the hardware."""
    del use_multicore, use_low_perf, tile
    return _tiled(input_tensor, dtype)


@composite("memory_config sub_core_grids", golden=_SAME, wide=False)
def tilize_with_val_padding(
    input_tensor: Tensor,
    output_tensor_shape: Sequence[int],
    pad_value: float,
    *,
    dtype: DataType | None = None,
    use_multicore: bool = True,
) -> Tensor:
    """Returns the tensor in tiles, whose padding has a value on the hardware.

    Raises:
        ValueError: output_tensor_shape is not of the tensor's rank, or smaller in a dimension.
    """
    del pad_value, use_multicore
    shape = list(input_tensor.shape)
    if len(shape) != len(output_tensor_shape) or any(
        new < old for old, new in zip(shape, output_tensor_shape, strict=True)
    ):
        raise ValueError(f"output_tensor_shape is {list(output_tensor_shape)}; expected at least {shape}")
    return _tiled(input_tensor, dtype)


@composite("memory_config sub_core_grids", golden=_SAME, wide=False)
def tilize_with_zero_padding(
    input_tensor: Tensor, *, output_dtype: DataType | None = None, use_multicore: bool = True
) -> Tensor:
    """Returns the tensor in tiles, padded with zeros."""
    del use_multicore
    return _tiled(input_tensor, output_dtype)


@composite("memory_config sub_core_grids", golden=_SAME, wide=False)
def untilize(input_tensor: Tensor, *, use_multicore: bool = True) -> Tensor:
    """Returns the tensor in rows. Block formats become bfloat16."""
    del use_multicore
    return _rows(input_tensor)


@composite(
    "memory_config sub_core_grids",
    golden="input_tensor[tuple(slice(0, end + 1) for end in output_tensor_end)]",
    wide=False,
)
def untilize_with_unpadding(
    input_tensor: Tensor, output_tensor_end: Sequence[int], *, use_multicore: bool = True
) -> Tensor:
    """Returns the elements up to `output_tensor_end`, which is the last of each dimension, in rows.

    Raises:
        ValueError: output_tensor_end is not of the tensor's rank, or outside of it.
    """
    del use_multicore
    shape = list(input_tensor.shape)
    if len(shape) != len(output_tensor_end) or any(
        not 0 <= end < size for size, end in zip(shape, output_tensor_end, strict=True)
    ):
        raise ValueError(f"output_tensor_end is {list(output_tensor_end)}; the tensor has shape {shape}")
    return _rows(input_tensor)[tuple(slice(0, end + 1) for end in output_tensor_end)]


@composite("memory_config", golden=_SAME, wide=False)
def fill_implicit_tile_padding(input_tensor: Tensor, fill_value: float) -> Tensor:
    """Returns the tensor, whose padding has a value on the hardware."""
    del fill_value
    return ops.assign(input_tensor)
