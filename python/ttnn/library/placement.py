# SPDX-License-Identifier: Apache-2.0
"""Says where memories begin and which cores are next to data; writes and joins parts of tensors."""

from __future__ import annotations

import faulthandler
import math
from collections.abc import Sequence
from typing import Any

from _ttmlir_runtime import DeviceError
from _ttmlir_runtime import ttnn as _native
from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import (
    BufferType,
    CoreCoord,
    CoreRangeSet,
    DataType,
    Layout,
    MemoryConfig,
    ShardOrientation,
    ShardSpec,
    TensorMemoryLayout,
)

from ..functions import ops
from .cores import corerange_to_cores
from .modes import NOC
from .sessions import QueueId

__all__ = [
    "combine_device_tensors",
    "copy_host_to_device_tensor_partial",
    "create_layer_norm_reciprocals",
    "disable_asynchronous_slow_dispatch",
    "dump_stack_trace_on_segfault",
    "enable_asynchronous_slow_dispatch",
    "get_allocator_base_address",
    "get_optimal_dram_bank_to_logical_worker_assignment",
    "get_optimal_worker_cores_for_sharded_tensor",
]
# The worker core next to each bank of DRAM, (x, y), as ttnn 0.81.1 chooses them on an n150 and a p150; on the latter
# the two networks, which run in opposite directions, have cores of their own.
_N150 = "3,7 0,0 0,4 2,1 4,0 7,7 4,1 4,6 4,5 4,2 4,4 6,3"
_NEAREST = {
    ("wormhole_b0", 0): _N150,
    ("wormhole_b0", 1): _N150,
    ("blackhole", 0): "0,9 0,0 0,7 0,3 7,9 7,1 7,6 7,4",
    ("blackhole", 1): "0,0 0,8 0,2 0,5 7,0 7,8 7,2 7,5",
}
_Place = tuple[int, int]


def _check(function: str, name: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(
            f"ttnn.{function}: {name} is {value!r} of type {type(value).__name__}; expected ttnn.{kind.__name__}"
        )


def get_allocator_base_address(device: Device, buffer_type: BufferType) -> int:
    """Returns where a bank's memory for tensors begins, in bytes; all memories but DRAM lie in L1.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the memory is the host's.
    """
    name = "get_allocator_base_address"
    _check(name, "device", device, Device)
    _check(name, "buffer_type", buffer_type, BufferType)
    if buffer_type.name == "SYSTEM_MEMORY":
        raise ValueError(f"ttnn.{name}: buffer_type is {buffer_type!r}; expected a memory of a device")
    in_dram = buffer_type is BufferType.DRAM
    return min(
        int(block["address"])
        for kind, view in device.get_memory_view().items()
        for block in view.block_table
        if (kind.name == "DRAM") == in_dram and kind.name in ("DRAM", "L1", "L1_SMALL")
    )


def get_optimal_dram_bank_to_logical_worker_assignment(device: Device, noc: NOC) -> list[CoreCoord]:
    """Returns the worker core next to each bank of DRAM, by which a kernel reads or writes the bank fastest.

    Raises:
        TypeError: an argument is of another type.
    """
    name = "get_optimal_dram_bank_to_logical_worker_assignment"
    _check(name, "device", device, Device)
    _check(name, "noc", noc, NOC)
    network = 1 if noc in (NOC.NOC_1, NOC.RISCV_1_default) else 0
    cores = _NEAREST[str(device.arch), network].split()
    return [CoreCoord(*map(int, core.split(","))) for core in cores]


def _bounds(cores: CoreRangeSet) -> _Place:
    """Returns the first column and the first row."""
    return min(each.start.x for each in cores.ranges()), min(each.start.y for each in cores.ranges())


def _shards(tensor: Tensor) -> list[list[_Place]]:
    """Returns the core of each shard of a tensor that is seen as a matrix, by rows of shards."""
    memory = tensor.memory_config()
    spec: Any = memory.shard_spec
    padded = tuple(tensor.padded_shape)
    height, width = spec.shape
    rows = -(-math.prod(padded[:-1]) // height)
    columns = -(-padded[-1] // width)
    row_wise = spec.orientation is ShardOrientation.ROW_MAJOR
    if memory.memory_layout is TensorMemoryLayout.BLOCK_SHARDED:
        x, y = _bounds(spec.grid)
        return [[(x + c, y + r) if row_wise else (x + r, y + c) for c in range(columns)] for r in range(rows)]
    places = [(core.x, core.y) for core in corerange_to_cores(spec.grid, rows * columns, row_wise)]
    if memory.memory_layout is TensorMemoryLayout.HEIGHT_SHARDED:
        return [[place] for place in places[:rows]]
    return [places[:columns]]


def get_optimal_worker_cores_for_sharded_tensor(tensor: Tensor, noc: NOC = NOC.RISCV_0_default) -> list[CoreCoord]:
    """Returns the core that has each shard in its L1, or the core next to the shard's bank of DRAM, shard by shard.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the tensor is not sharded on a device.
    """
    name = "get_optimal_worker_cores_for_sharded_tensor"
    _check(name, "tensor", tensor, Tensor)
    _check(name, "noc", noc, NOC)
    device = tensor.device()
    if device is None or not tensor.is_sharded():
        raise ValueError(f"ttnn.{name}: tensor lies in {tensor.memory_config()}; expected a sharded tensor")
    places = [place for row in _shards(tensor) for place in row]
    if tensor.memory_config().buffer_type is BufferType.DRAM:
        nearest = get_optimal_dram_bank_to_logical_worker_assignment(device, noc)
        return [nearest[x] for x, _ in places]
    return [CoreCoord(*place) for place in places]


def copy_host_to_device_tensor_partial(
    host_tensor: Tensor, device_tensor: Tensor, logical_core_filter: CoreRangeSet, cq_id: QueueId | int | None = None
) -> None:
    """Writes those shards of a host tensor to a sharded tensor on a device whose cores are named; none without cores.

    Args:
        cq_id: of the hardware; makes no difference here.
    Raises:
        TypeError: an argument is of another type.
        ValueError: a tensor lies elsewhere, is not sharded, or is of another shape or data type.
    """
    name = "copy_host_to_device_tensor_partial"
    for argument, tensor in (("host_tensor", host_tensor), ("device_tensor", device_tensor)):
        _check(name, argument, tensor, Tensor)
        if tensor.is_on_device() != (argument == "device_tensor"):
            where = "the host" if argument == "device_tensor" else "a device"
            raise ValueError(f"ttnn.{name}: {argument} lies on {where}; expected the other place")
    _check(name, "logical_core_filter", logical_core_filter, CoreRangeSet)
    for what in ("shape", "dtype"):
        ours, theirs = getattr(host_tensor, what), getattr(device_tensor, what)
        if ours != theirs:
            raise ValueError(f"ttnn.{name}: host_tensor has {what} {ours}; expected {theirs}, the device_tensor's")
    chosen = {(core.x, core.y) for core in corerange_to_cores(logical_core_filter)}
    if not chosen or 0 in device_tensor.shape:
        return
    if not device_tensor.is_sharded():
        raise ValueError(
            f"ttnn.{name}: device_tensor lies in {device_tensor.memory_config()}; expected a sharded tensor"
        )
    shape, padded = tuple(device_tensor.shape), tuple(device_tensor.padded_shape)
    spec: Any = device_tensor.memory_config().shard_spec
    height, width = spec.shape
    written = [[float(place in chosen) for place in row] for row in _shards(device_tensor)]
    lines = [[row[column // width] for column in range(shape[-1])] for row in written]
    inner = shape[-2] if len(shape) > 1 else 1
    between = padded[-2] if len(shape) > 1 else 1
    mask: list[float] = []
    for row in range(math.prod(shape[:-1])):
        mask += lines[(row // inner * between + row % inner) // height]
    kept = device_tensor.cpu()
    where = ops.to_layout(Tensor(mask, list(shape), DataType.FLOAT32, Layout.ROW_MAJOR), kept.layout)
    given = ops.to_layout(host_tensor, kept.layout)
    ops.copy_host_to_device_tensor(ops.where(where, given, kept, dtype=kept.dtype), device_tensor)


def create_layer_norm_reciprocals(device: Device, core_range_set: CoreRangeSet, width: int) -> Tensor:
    """Returns 1, 1/2, ... 1/width for each core: float32 [cores, width] in rows, in the L1 of each.

    Raises:
        TypeError: an argument is of another type.
        ValueError: width is not positive, or its numbers do not fit in the L1 of a core.
    """
    name = "create_layer_norm_reciprocals"
    _check(name, "device", device, Device)
    _check(name, "core_range_set", core_range_set, CoreRangeSet)
    if not isinstance(width, int) or isinstance(width, bool):
        raise TypeError(f"ttnn.{name}: width is {width!r}; expected an integer")
    most = device.get_l1_size_per_core() // 4
    if not 1 <= width <= most:
        raise ValueError(f"ttnn.{name}: width is {width}; expected 1 to {most}, what the L1 of a core holds")
    cores = core_range_set.num_cores()
    spec = ShardSpec(core_range_set, [1, width], ShardOrientation.ROW_MAJOR)
    memory = MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1, spec)
    values = [1.0 / place for place in range(1, width + 1)] * cores
    return ops.to_device(Tensor(values, [cores, width], DataType.FLOAT32, Layout.ROW_MAJOR), device, memory)


def combine_device_tensors(*, tensors: Sequence[Tensor]) -> Tensor:
    """Returns one tensor over a line of devices of the parts that get_device_tensors gave, which lie on the host here.

    Raises:
        TypeError: an element is no tensor.
        ValueError: there is none, or one lies on a device.
    """
    name = "combine_device_tensors"
    parts = list(tensors)
    if not parts:
        raise ValueError(f"ttnn.{name}: tensors is empty; expected at least one tensor")
    for at, each in enumerate(parts):
        _check(name, f"tensors[{at}]", each, Tensor)
        if each.is_on_device():
            raise ValueError(f"ttnn.{name}: tensors[{at}] lies on a device; expected a part of get_device_tensors")
    return parts[0] if len(parts) == 1 else _native.from_shards(parts, (1, len(parts)), None, None)


def _is_open(function: str, device: Device) -> None:
    _check(function, "device", device, Device)
    if not device.is_open:
        raise DeviceError(f"ttnn.{function}: device {int(device.id)} is closed")


def enable_asynchronous_slow_dispatch(device: Device) -> None:
    """Lets programs begin before others have ended. Every call has finished when it returns, so nothing changes.

    Raises:
        DeviceError: the device is closed.
    """
    _is_open("enable_asynchronous_slow_dispatch", device)


def disable_asynchronous_slow_dispatch(device: Device) -> None:
    """Lets programs wait for others, which they do in any case.

    Raises:
        DeviceError: the device is closed.
    """
    _is_open("disable_asynchronous_slow_dispatch", device)


def dump_stack_trace_on_segfault() -> None:
    """Prints the stacks of Python's threads when the process ends by a signal such as SIGSEGV."""
    faulthandler.enable()
