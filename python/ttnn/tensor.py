# SPDX-License-Identifier: Apache-2.0
"""Tensors from and to PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from _ttmlir_runtime import RangeError
from _ttmlir_runtime import runtime as _runtime
from _ttmlir_runtime import ttnn as _native
from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import DataType, Layout, MemoryConfig

from .library.geometry import Tile
from .mesh import DEFAULT_COMPOSER, DEFAULT_MAPPER, MeshComposer, MeshMapper, ReplicateTensorToMeshWrapper
from .shape import Shape

if TYPE_CHECKING:
    import torch

_native.set_shape_type(Shape)

# The torch dtype that holds the stored values of a data type; block formats are stored as bfloat16.
_STORED = {
    DataType.FLOAT32: "float32",
    DataType.FLOAT16: "float16",
    DataType.UINT32: "uint32",
    DataType.UINT16: "uint16",
    DataType.UINT8: "uint8",
    DataType.INT32: "int32",
    DataType.BOOL: "bool",
}
# What torch dtypes become that are not a data type themselves, as in the library.
_BECOMES = {
    "torch.float16": DataType.BFLOAT16,
    "torch.int64": DataType.UINT32,
    "torch.int16": DataType.UINT16,
    "torch.bool": DataType.UINT8,
}


def from_torch(
    tensor: torch.Tensor | None,
    dtype: DataType | None = None,
    *,
    spec: Any = None,
    tile: Tile | None = None,
    pad_value: float | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    mesh_mapper: MeshMapper | ReplicateTensorToMeshWrapper | None = None,
    cq_id: int | None = None,
    preserve_nan_values: bool = False,
    col_tilize: bool = False,
    enable_bfloat_opt: bool = False,
) -> Tensor:
    """Copies a torch tensor to a TTNN tensor, on the host or on a device. None stays None.

    Args:
        tensor: on the CPU, of any dtype and strides.
        dtype: data type of the result; values are rounded to it. By default that of `tensor`; float16 becomes BFLOAT16,
            float64 FLOAT32, int64 UINT32, int16 UINT16, bool UINT8 and int8 INT32.
        layout: ROW_MAJOR_LAYOUT unless `dtype` is a block format, which lies in tiles.
        device: where the result lies; on the host when left out.
        memory_config: which memory of the device; by default interleaved DRAM.
        mesh_mapper: how the tensor is spread over a mesh; by default as `with ttnn.distribute` says, or every device
            has all of it.
        spec: a TensorSpec, which says dtype, layout and, with a device, memory_config instead.
        pad_value: fills the padding of tiles, which no function reads here.
        tile, cq_id, preserve_nan_values, enable_bfloat_opt: of the hardware; make no difference here.
        col_tilize: False alone: tiles come row by row.
    Raises:
        TypeError: `tensor` is no torch tensor; an argument is of another type.
        ValueError: a block format in ROW_MAJOR_LAYOUT, a memory_config without a device; `spec` and what it says; a
            spec of another shape.
        OutOfMemoryError: the memory of the device has no room for it.
        RangeError: an integer that the data type has no room for; it is a ValueError, too.
    """
    torch = _torch("from_torch")
    if tensor is None:
        return None  # type: ignore[return-value]  # what callers of the library rely on for absent weights
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"from_torch: tensor is {type(tensor).__name__}; expected torch.Tensor")
    if col_tilize:
        raise ValueError("from_torch: col_tilize is True; expected False: tiles come row by row here")
    if spec is not None:
        dtype, layout, memory_config = _specified(tensor, spec, dtype, layout, memory_config, device)
    for name, value, kind in (
        ("tile", tile, Tile),
        ("pad_value", pad_value, int | float),
        ("dtype", dtype, _native.DataType),
        ("layout", layout, _native.Layout),
        ("memory_config", memory_config, _native.MemoryConfig),
    ):
        if value is not None and not isinstance(value, kind):
            expected = f"ttnn.{kind.__name__}" if isinstance(kind, type) else "a number"
            raise TypeError(f"from_torch: {name} is {value!r} of type {type(value).__name__}; expected {expected}")
    if isinstance(device, (int, str)):
        raise TypeError(f"from_torch: device is {device!r}; expected what ttnn.open_device returns")
    tensor = tensor.detach()
    if dtype is None and (becomes := _BECOMES.get(str(tensor.dtype))) is not None:
        try:
            return from_torch(
                tensor, becomes, layout=layout, device=device, memory_config=memory_config, mesh_mapper=mesh_mapper
            )
        except RangeError as error:
            raise RangeError(f"{error}; say another dtype than {becomes.name}, which {tensor.dtype} becomes") from None
    mapper = DEFAULT_MAPPER.get() if mesh_mapper is None else mesh_mapper.unwrap()
    if mapper is None:
        return _native.from_array(_plain(tensor), dtype, layout, device, memory_config)
    result: dict[int, Tensor] = {}  # a part that several devices have is converted once
    shards = []
    for part in mapper.map(tensor):
        if id(part) not in result:
            result[id(part)] = _native.from_array(_plain(part), dtype, layout, None, None)
        shards.append(result[id(part)])
    if len(shards) == 1:
        return _native.from_array(_plain(tensor), dtype, layout, device, memory_config)
    return _native.from_shards(shards, mapper.mesh_shape, device, memory_config)


def _specified(
    tensor: Any, spec: Any, dtype: Any, layout: Any, memory_config: Any, device: Any
) -> tuple[Any, Any, Any]:
    """Returns what a TensorSpec says, after checks that nothing else says it."""
    if not all(hasattr(spec, each) for each in ("shape", "dtype", "layout", "memory_config")):
        raise TypeError(f"from_torch: spec is {spec!r} of type {type(spec).__name__}; expected ttnn.TensorSpec")
    for name, value in (("dtype", dtype), ("layout", layout), ("memory_config", memory_config)):
        if value is not None:
            raise ValueError(f"from_torch: {name} and spec are given; expected one of them")
    if spec.shape != tuple(tensor.shape):
        raise ValueError(f"from_torch: spec has shape {list(spec.shape)}; expected {list(tensor.shape)}, the tensor's")
    return spec.dtype, spec.layout, None if device is None else spec.memory_config


def to_torch(
    tensor: Tensor,
    dtype: torch.dtype | None = None,
    *,
    torch_rank: int | None = None,
    mesh_composer: MeshComposer | None = None,
    device: Device | None = None,
    cq_id: int | None = None,
) -> torch.Tensor:
    """Copies the values of a tensor, on the host or on a device, to a torch tensor.

    Args:
        tensor: block formats become float32, the others keep their type.
        dtype: of the result, instead.
        torch_rank: dimensions of size 1 are taken from the front until this many are left.
        mesh_composer: how the parts of a tensor that is distributed over a mesh are put together, by default as `with
            ttnn.distribute` says. Without one, they must be the same on all chips.
        device, cq_id: of the hardware; make no difference here.
    Raises:
        ValueError: without a composer, chips whose values differ (names them).
    """
    torch = _torch("to_torch")
    if not isinstance(tensor, Tensor):
        raise TypeError(f"to_torch: tensor is {type(tensor).__name__}; expected ttnn.Tensor")
    if mesh_composer is None and tensor.get_num_shards() > 1:
        mesh_composer = DEFAULT_COMPOSER.get()
    tensor = _native.single(tensor) if mesh_composer is None else _native.gathered(tensor)
    parts = [_shard_to_torch(torch, tensor, shard, dtype) for shard in range(tensor.get_num_shards())]
    result = parts[0] if mesh_composer is None else mesh_composer.compose(parts)
    if torch_rank is not None:
        while result.dim() > torch_rank:
            if result.shape[0] != 1:
                raise ValueError(f"to_torch: shape {list(result.shape)} cannot be given rank {torch_rank}")
            result = result.squeeze(0)
    return result


def _shard_to_torch(torch: Any, tensor: Tensor, shard: int, dtype: torch.dtype | None) -> torch.Tensor:
    stored = getattr(torch, _STORED.get(tensor.dtype, "bfloat16"))
    result = torch.empty(tuple(tensor.shape), dtype=stored)
    _native.copy_to_host(tensor, shard, result.data_ptr())
    if dtype is None and stored is torch.bfloat16 and tensor.dtype is not DataType.BFLOAT16:
        dtype = torch.float32
    return result if dtype is None else result.to(dtype)


def get_device_tensors(tensor: Tensor) -> list[Tensor]:
    """Returns the part of each device, row by row, as host tensors that share the tensor's values.

    A tensor without a mapper has the whole on each device of its mesh. One on the host has as many parts as shards.
    """
    return _runtime.get_device_tensors(tensor)


def is_tensor_storage_on_device(tensor: Tensor) -> bool:
    return tensor.is_on_device()


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """Returns contiguous values in memory, which are copied fastest."""
    return tensor.resolve_conj().resolve_neg().contiguous()


def _torch(function: str) -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"ttnn.{function} needs PyTorch: pip install 'ttmlir[torch]'") from error
    return torch
