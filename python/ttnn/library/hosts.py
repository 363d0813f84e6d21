# SPDX-License-Identifier: Apache-2.0
"""Makes tensors on the host and spreads them over meshes; tells how memory is aligned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

from _ttmlir_runtime import ttnn as _native
from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import DataType, Layout, MemoryConfig

from ..configs import CONFIGS
from ..enums import ENUMS
from ..functions import ops
from ..mesh import ConcatMeshToTensor, MeshComposer, MeshMapper, ReplicateTensorToMesh, ShardTensorToMesh
from ..shape import MeshShape
from .memory import get_arch_name

__all__ = [
    "Conv1dConfig",
    "Conv2dDRAMSliceHeight",
    "Conv2dDRAMSliceWidth",
    "Conv2dL1Full",
    "Conv2dL1FullSliceConfig",
    "CppMeshToTensor",
    "CppTensorToMesh",
    "MeshToTensor",
    "Op2DDRAMSliceHeight",
    "Op2DDRAMSliceWidth",
    "Op2DL1Full",
    "Op2DL1FullSliceConfig",
    "Op2DSliceConfig",
    "TensorToMesh",
    "concat_mesh_to_tensor_composer",
    "from_buffer",
    "from_host_shards",
    "get_dram_alignment",
    "get_l1_alignment",
    "get_max_worker_l1_unreserved_size",
    "replicate_tensor_to_mesh_mapper",
    "shard_tensor_to_mesh_mapper",
]

# The library's names of classes that this package has.
CppMeshToTensor = MeshToTensor = MeshComposer
CppTensorToMesh = TensorToMesh = MeshMapper
Conv1dConfig = CONFIGS["ttnn.conv2d_config"]
Op2DSliceConfig = CONFIGS["ttnn.conv2d_slice_config"]
_SLICES = ENUMS["ttnn.conv2d_slice_type"]
Conv2dDRAMSliceHeight = Op2DDRAMSliceHeight = _SLICES.DRAM_HEIGHT
Conv2dDRAMSliceWidth = Op2DDRAMSliceWidth = _SLICES.DRAM_WIDTH
Conv2dL1Full = Op2DL1Full = _SLICES.L1_FULL
Conv2dL1FullSliceConfig = Op2DL1FullSliceConfig = Op2DSliceConfig(slice_type=Op2DL1Full)
Op2DSliceConfig.SliceTypeEnum = SimpleNamespace(
    DRAMSliceHeight=Op2DDRAMSliceHeight, DRAMSliceWidth=Op2DDRAMSliceWidth, L1Full=Op2DL1Full
)


def from_host_shards(tensors: Sequence[Tensor], mesh_shape: MeshShape) -> Tensor:
    """Returns one tensor over a mesh of host tensors, one for each device, row by row.

    Raises:
        TypeError: an element is no tensor.
        ValueError: there are not as many as devices, or one lies on a device.
    """
    shape = MeshShape(mesh_shape)
    for at, each in enumerate(tensors):
        if not isinstance(each, Tensor):
            raise TypeError(f"ttnn.from_host_shards: tensors[{at}] is {each!r}; expected a ttnn.Tensor")
        if each.is_on_device():
            raise ValueError(f"ttnn.from_host_shards: tensors[{at}] lies on a device; expected one on the host")
    if len(tensors) != shape.mesh_size():
        raise ValueError(f"ttnn.from_host_shards: {len(tensors)} tensors; {shape!r} has {shape.mesh_size()} devices")
    return _native.from_shards(list(tensors), shape, None, None)


def from_buffer(
    buffer: Any,
    shape: Sequence[int],
    dtype: DataType,
    device: Device,
    layout: Layout | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Returns a tensor on a device of numbers in a list or another sequence, in order of rows.

    Args:
        layout: ROW_MAJOR unless given.
        memory_config: interleaved in DRAM unless given.
    Raises:
        TypeError: an argument is of another type.
        ValueError: the shape has another number of elements, or the type does not hold a number.
    """
    if not isinstance(device, Device):
        raise TypeError(f"ttnn.from_buffer: device is {device!r}; expected a Device")
    for name, value in (("buffer", buffer), ("shape", shape)):
        if not isinstance(value, Iterable) or isinstance(value, str):
            raise TypeError(f"ttnn.from_buffer: {name} is {value!r}; expected a sequence of numbers")
    tensor = Tensor(list(buffer), list(shape), dtype, Layout.ROW_MAJOR if layout is None else layout)
    return ops.to_device(tensor, device, memory_config=memory_config)


def concat_mesh_to_tensor_composer(mesh_device: Device, dim: int) -> Any:
    """Returns a composer that joins the parts of all devices along a dimension."""
    return ConcatMeshToTensor(mesh_device, dim)


def replicate_tensor_to_mesh_mapper(mesh_device: Device) -> Any:
    """Returns a mapper that gives each device the whole tensor."""
    return ReplicateTensorToMesh(mesh_device)


def shard_tensor_to_mesh_mapper(mesh_device: Device, dim: int) -> Any:
    """Returns a mapper that gives the devices equal parts along a dimension."""
    return ShardTensorToMesh(mesh_device, dim)


def _of_arch(wormhole: int, blackhole: int) -> int:
    return blackhole if get_arch_name() == "blackhole" else wormhole


def get_dram_alignment() -> int:
    """Returns the bytes that addresses in DRAM are multiples of."""
    return _of_arch(32, 64)


def get_l1_alignment() -> int:
    """Returns the bytes that addresses in L1 are multiples of."""
    return 16


def get_max_worker_l1_unreserved_size() -> int:
    """Returns the bytes of L1 that the library leaves to a core at most; the simulator's banks are smaller."""
    return _of_arch(1463968, 1531776)
