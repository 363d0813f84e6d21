# SPDX-License-Identifier: Apache-2.0
"""Moves tensors between memories and layouts of shards, keeps weights in files, counts what a memory holds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from _ttmlir_runtime import runtime as _runtime
from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import (
    BufferType,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    MemoryConfig,
    ShardOrientation,
    ShardSpec,
    TensorMemoryLayout,
)

from ..constants import DRAM_MEMORY_CONFIG
from ..functions import ops
from ..tensor import from_torch
from .modes import DumpTensorMode
from .prepared import demands


def _check(function: str, name: str, value: Any, kind: type, optional: bool = False) -> None:
    if not (isinstance(value, kind) or (optional and value is None)):
        raise TypeError(
            f"ttnn.{function}: {name} is {value!r} of type {type(value).__name__}; expected ttnn.{kind.__name__}"
        )


def _check_sharded(function: str, tensor: Tensor) -> None:
    _check(function, "input_tensor", tensor, Tensor)
    if not tensor.is_sharded():
        raise ValueError(f"ttnn.{function}: input_tensor lies in {tensor.memory_config()}; expected a sharded tensor")


def _moved(tensor: Tensor, memory: MemoryConfig, dtype: DataType | None, into: Tensor | None = None) -> Tensor:
    if dtype is not None and dtype != tensor.dtype:
        tensor = ops.typecast(tensor, dtype)
    return ops.to_memory_config(tensor, memory, output_tensor=into)


@demands("sharded_memory_config")
def interleaved_to_sharded(
    input_tensor: Tensor,
    sharded_memory_config: Any = None,
    output_dtype: Any = None,
    shard_scheme: TensorMemoryLayout | None = None,
    shard_orientation: ShardOrientation | None = None,
    *placed: Any,
    grid: CoreCoord | CoreRangeSet | None = None,
    shard_shape: Sequence[int] | None = None,
    keep_l1_aligned: bool | None = False,
    preallocated_output: Tensor | None = None,
) -> Tensor:
    """Returns an interleaved tensor sharded over cores.

    Two forms: `(input_tensor, sharded_memory_config, output_dtype=None)`, and
    `(input_tensor, grid, shard_shape, shard_scheme, shard_orientation, output_dtype=None)`.

    Args:
        grid: cores; a CoreCoord has the number of columns and rows.
        shard_shape: (height, width) of a shard in elements.
        preallocated_output: an existing tensor that the result is written to.
        keep_l1_aligned: of the hardware; makes no difference here.
    Raises:
        TypeError: the arguments are of neither form.
        ValueError: the tensor is sharded already, or the config is not.
    """
    name = "interleaved_to_sharded"
    _check(name, "input_tensor", input_tensor, Tensor)
    if isinstance(sharded_memory_config, CoreCoord | CoreRangeSet):
        grid, sharded_memory_config = sharded_memory_config, None
        shard_shape, output_dtype = output_dtype, placed[0] if placed else None
    if sharded_memory_config is None:
        if isinstance(grid, CoreCoord):
            grid = CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(grid.x - 1, grid.y - 1))])
        _check(name, "grid", grid, CoreRangeSet)
        _check(name, "shard_scheme", shard_scheme, TensorMemoryLayout)
        _check(name, "shard_orientation", shard_orientation, ShardOrientation)
        assert isinstance(grid, CoreRangeSet)
        assert shard_orientation is not None
        spec = ShardSpec(grid, list(shard_shape or ()), shard_orientation)
        sharded_memory_config = MemoryConfig(shard_scheme, BufferType.L1, spec)
    _check(name, "sharded_memory_config", sharded_memory_config, MemoryConfig)
    _check(name, "output_dtype", output_dtype, DataType, optional=True)
    if input_tensor.is_sharded():
        raise ValueError(f"ttnn.{name}: input_tensor lies in {input_tensor.memory_config()}; expected it interleaved")
    if not sharded_memory_config.is_sharded():
        raise ValueError(f"ttnn.{name}: sharded_memory_config is {sharded_memory_config}; expected a sharded layout")
    return _moved(input_tensor, sharded_memory_config, output_dtype, preallocated_output)


def sharded_to_interleaved(
    input_tensor: Tensor, memory_config: MemoryConfig | None = None, output_dtype: DataType | None = None
) -> Tensor:
    """Returns a sharded tensor interleaved, in DRAM unless `memory_config` says otherwise.

    An interleaved tensor is moved alike: results that a card leaves in shards may be interleaved here.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the config is sharded, or the tensor on the host.
    """
    name = "sharded_to_interleaved"
    _check(name, "input_tensor", input_tensor, Tensor)
    if not input_tensor.is_on_device():
        raise ValueError(f"ttnn.{name}: input_tensor lies on the host; expected a tensor on a device")
    _check(name, "memory_config", memory_config, MemoryConfig, optional=True)
    _check(name, "output_dtype", output_dtype, DataType, optional=True)
    if memory_config is not None and memory_config.is_sharded():
        raise ValueError(f"ttnn.{name}: memory_config is {memory_config}; expected an interleaved layout")
    return _moved(input_tensor, DRAM_MEMORY_CONFIG if memory_config is None else memory_config, output_dtype)


def reshard(input_tensor: Tensor, output_memory_config: MemoryConfig, output_tensor: Tensor | None = None) -> Tensor:
    """Returns a tensor in other shards; an interleaved one gets them, see sharded_to_interleaved.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the config is not sharded.
    """
    _check("reshard", "input_tensor", input_tensor, Tensor)
    _check("reshard", "output_memory_config", output_memory_config, MemoryConfig)
    if not output_memory_config.is_sharded():
        raise ValueError(f"ttnn.reshard: output_memory_config is {output_memory_config}; expected a sharded layout")
    return _moved(input_tensor, output_memory_config, None, output_tensor)


def reallocate(tensor: Tensor, memory_config: MemoryConfig | None = None) -> Tensor:
    """Returns a copy, in newly allocated memory, and frees the tensor."""
    _check("reallocate", "tensor", tensor, Tensor)
    _check("reallocate", "memory_config", memory_config, MemoryConfig, optional=True)
    own = tensor.memory_config() if tensor.device() is not None else None
    result = ops.assign(tensor, memory_config=own if memory_config is None else memory_config)
    ops.deallocate(tensor)
    return result


def _cache_file(name: str | Path, dtype: DataType | None, layout: Layout | None) -> Path:
    """Returns the file of a weight in a data type and layout, as the library calls it."""
    kind = "None" if dtype is None else dtype.name
    order = "None" if layout is None else layout.name
    return Path(f"{name}_dtype_{kind}_layout_{order}.tensorbin")


def as_tensor(
    tensor: Any,
    dtype: DataType | None = None,
    *,
    layout: Layout | None = Layout.ROW_MAJOR,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    cache_file_name: str | Path | None = None,
    preprocess: Callable[[Any], Any] | None = None,
    mesh_mapper: Any = None,
    cache_dump_mode: DumpTensorMode = DumpTensorMode.DISTRIBUTED_GATHER,
) -> Tensor:
    """Returns a torch tensor as a TTNN tensor, through a file that keeps it in its data type and layout.

    Args:
        tensor: what from_torch takes; None where the file is there.
        dtype, layout, device, memory_config, mesh_mapper: as of from_torch.
        cache_file_name: beginning of the file's name; `_dtype_BFLOAT16_layout_TILE.tensorbin` and the like is added.
            Without it, no file is read or written. With mesh_mapper, parts are not kept, as a mesh may differ.
        preprocess: a function of the torch tensor, called when there is no file.
        cache_dump_mode: the values that a file gets; it makes no difference here.
    Raises:
        TypeError: an argument is of another type; `tensor` is None and there is no file.
        ValueError: memory_config without a device.
    """
    _check("as_tensor", "dtype", dtype, DataType, optional=True)
    _check("as_tensor", "layout", layout, Layout, optional=True)
    _check("as_tensor", "cache_dump_mode", cache_dump_mode, DumpTensorMode)
    if cache_file_name is not None and not isinstance(cache_file_name, str | Path):
        raise TypeError(f"ttnn.as_tensor: cache_file_name is {cache_file_name!r}; expected a path")

    def made(where: Device | None, memory: MemoryConfig | None) -> Tensor:
        given = tensor if preprocess is None else preprocess(tensor)
        if given is None:
            raise TypeError("ttnn.as_tensor: tensor is NoneType; expected torch.Tensor")
        return from_torch(given, dtype, layout=layout, device=where, memory_config=memory, mesh_mapper=mesh_mapper)

    if cache_file_name is None or mesh_mapper is not None:
        return made(device, memory_config)
    file = _cache_file(cache_file_name, dtype, layout)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_name(f".{file.name}.partial")
        ops.dump_tensor(str(partial), made(None, None))
        partial.replace(file)  # whole or not at all, when several processes write it
    kept = ops.load_tensor(str(file))
    if device is None:
        if memory_config is not None:
            raise ValueError(f"ttnn.as_tensor: memory_config is {memory_config}, but no device is given")
        return kept
    return ops.to_device(kept, device, memory_config)


def get_memory_view(device: Device, buffer_type: BufferType) -> Any:
    """Returns what a memory of a device holds: banks, bytes in all, used, free, and free in one piece, of a bank.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the memory is the host's.
    """
    _check("get_memory_view", "device", device, Device)
    _check("get_memory_view", "buffer_type", buffer_type, BufferType)
    views = {re.sub(r"\W", "", kind.name).upper(): view for kind, view in device.get_memory_view().items()}
    if buffer_type.name not in views:
        raise ValueError(f"ttnn.get_memory_view: {buffer_type.name}; expected one of {', '.join(views)}")
    return views[buffer_type.name]


def get_arch_name() -> str:
    """Returns the architecture of a device that is opened without saying which."""
    return str(_runtime.get_arch().name.lower())


def _described(
    function: str, shape: Any, dtype: Any, layout: Any, mesh_device: Any, memory_config: Any, tensor_spec: Any
) -> tuple[Any, ...]:
    """Shape, type, layout, device and memory, of which a spec in the place of the shape may hold all but the device."""
    if hasattr(shape, "memory_config") and tensor_spec is None:
        tensor_spec, shape = shape, None
        mesh_device, dtype = (dtype, None) if mesh_device is None else (mesh_device, dtype)
    _check(function, "mesh_device", mesh_device, Device)
    if tensor_spec is None:
        return shape, dtype, layout, mesh_device, memory_config
    return tensor_spec.shape, tensor_spec.dtype, tensor_spec.layout, mesh_device, tensor_spec.memory_config


@demands("shape", "dtype", "layout", "mesh_device")
def allocate_tensor_on_device(
    shape: Any = None,
    dtype: Any = None,
    layout: Layout | None = None,
    mesh_device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    *,
    tensor_spec: Any = None,
) -> Tensor:
    """Returns a tensor of zeros on a device.

    Two forms: `(tensor_spec, mesh_device)`, and `(shape, dtype, layout, mesh_device, memory_config=None)`.

    Raises:
        TypeError: the arguments are of neither form.
    """
    name = "allocate_tensor_on_device"
    return ops.empty(*_described(name, shape, dtype, layout, mesh_device, memory_config, tensor_spec))


@demands("shape", "dtype", "layout", "mesh_device")
def allocate_tensor_on_host(
    shape: Any = None,
    dtype: Any = None,
    layout: Layout | None = None,
    mesh_device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    *,
    tensor_spec: Any = None,
) -> Tensor:
    """Returns a tensor of zeros on the host, to be copied to a device.

    Two forms: `(tensor_spec, mesh_device)`, and `(shape, dtype, layout, mesh_device, memory_config=None)`.

    Args:
        memory_config: where the tensor is to lie on the device; a tensor on the host has none.
    Raises:
        TypeError: the arguments are of neither form.
    """
    name = "allocate_tensor_on_host"
    shape, dtype, layout, *_ = _described(name, shape, dtype, layout, mesh_device, memory_config, tensor_spec)
    return ops.zeros(shape, dtype=dtype, layout=layout)


def interleaved_to_sharded_partial(
    input_tensor: Tensor,
    grid: CoreCoord | CoreRangeSet,
    shard_shape: Sequence[int],
    num_slices: int,
    slice_index: int,
    shard_scheme: TensorMemoryLayout,
    shard_orientation: ShardOrientation,
    *,
    output_dtype: DataType | None = None,
) -> Tensor:
    """Returns one of num_slices equal parts of an interleaved tensor [..., height, width], sharded over cores.

    The rows of all outer dimensions are divided: the result is [1, 1, rows / num_slices, width].

    Raises:
        TypeError: an argument is of another type.
        ValueError: the rows are not divided evenly, or there is no such part.
    """
    name = "interleaved_to_sharded_partial"
    _check(name, "input_tensor", input_tensor, Tensor)
    part, shape = _slice_of_rows(name, input_tensor, num_slices, slice_index)
    flat, width = ops.reshape(input_tensor, shape), shape[-1]
    begin, end = [0, 0, part * slice_index, 0], [1, 1, part * (slice_index + 1), width]
    taken = ops.slice(flat, begin, end, [1, 1, 1, 1])
    return interleaved_to_sharded(
        taken, grid, shard_shape, shard_scheme, shard_orientation, *(() if output_dtype is None else (output_dtype,))
    )


def sharded_to_interleaved_partial(
    input_tensor: Tensor,
    cache_tensor: Tensor,
    num_slices: int,
    slice_index: int,
    *,
    memory_config: MemoryConfig | None = None,
    output_dtype: DataType | None = None,
) -> Tensor:
    """Writes a sharded tensor to one of num_slices equal parts of the rows of an interleaved one, which is returned.

    Args:
        input_tensor: [1, 1, rows / num_slices, width].
        cache_tensor: [..., height, width]; the rows of all outer dimensions are divided.
        memory_config, output_dtype: of the result; they must be those of cache_tensor, which is the result.
    Raises:
        TypeError: an argument is of another type.
        ValueError: the rows are not divided evenly, there is no such part, or it has another shape.
    """
    name = "sharded_to_interleaved_partial"
    _check_sharded(name, input_tensor)
    _check(name, "cache_tensor", cache_tensor, Tensor)
    if output_dtype not in (None, cache_tensor.dtype):
        raise ValueError(f"ttnn.{name}: output_dtype is {output_dtype!r}; expected {cache_tensor.dtype!r}")
    if memory_config is not None and memory_config != cache_tensor.memory_config():
        raise ValueError(f"ttnn.{name}: memory_config is {memory_config}; expected {cache_tensor.memory_config()}")
    part, flat = _slice_of_rows(name, cache_tensor, num_slices, slice_index)
    width = cache_tensor.shape[-1]
    if tuple(input_tensor.shape) != (1, 1, part, width):
        expected = [1, 1, part, width]
        raise ValueError(f"ttnn.{name}: input_tensor has shape {list(input_tensor.shape)}; expected {expected}")
    whole = ops.reshape(cache_tensor, flat)
    begin, end = part * slice_index, part * (slice_index + 1)
    pieces = [
        ops.slice(whole, [0, 0, begin, 0], [1, 1, end, width], [1, 1, 1, 1])
        for begin, end in ((0, begin), (end, flat[2]))
    ]
    moved = _moved(input_tensor, DRAM_MEMORY_CONFIG, cache_tensor.dtype)
    pieces.insert(1, ops.to_layout(moved, cache_tensor.layout))
    joined = ops.concat([piece for piece in pieces if 0 not in piece.shape], dim=2)
    return ops.typecast(ops.reshape(joined, cache_tensor.shape), cache_tensor.dtype, output_tensor=cache_tensor)


def _slice_of_rows(name: str, tensor: Tensor, num_slices: int, slice_index: int) -> tuple[int, list[int]]:
    """Returns the rows of a part, and the shape of all rows: [1, 1, rows, width]."""
    rows = math.prod(tuple(tensor.shape)[:-1])
    for argument, value in (("num_slices", num_slices), ("slice_index", slice_index)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"ttnn.{name}: {argument} is {value!r}; expected an integer")
    if num_slices < 1 or rows % num_slices:
        raise ValueError(f"ttnn.{name}: num_slices is {num_slices}; expected a divisor of {rows} rows")
    if not 0 <= slice_index < num_slices:
        raise ValueError(f"ttnn.{name}: slice_index is {slice_index}; expected 0 to {num_slices - 1}")
    return rows // num_slices, [1, 1, rows, tensor.shape[-1]]
