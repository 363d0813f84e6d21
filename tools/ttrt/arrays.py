# SPDX-License-Identifier: Apache-2.0
"""Values as numpy arrays, one for each device of a mesh: to and from the runtime, and to torch for goldens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from .machine import Mesh

if TYPE_CHECKING:
    import torch
    from golden import GoldenMapTensor

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# numpy dtype -> name of the runtime's data type, and back; block formats come to the host as bf16.
DATA_TYPES = {
    "float32": "Float32",
    "float16": "Float16",
    "bfloat16": "BFloat16",
    "int32": "Int32",
    "uint32": "UInt32",
    "uint16": "UInt16",
    "uint8": "UInt8",
    "int8": "Int8",
    "int16": "Int16",
    "int64": "Int64",
    "float64": "Float64",
    "bool": "Bool",
}
NUMPY_DTYPES = {name: dtype for dtype, name in DATA_TYPES.items()} | {
    f"BFP_{kind}{bits}": "bfloat16" for kind in ("Float", "BFloat") for bits in (8, 4, 2)
}


def numpy_dtype(name: str) -> np.dtype:
    """Returns the dtype of a name like "float32", with "bfloat16"."""
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


@dataclass(frozen=True)
class Shards:
    """A value: by device, in row-major order of the mesh; under 0 alone when all devices have the same."""

    arrays: Mapping[int, np.ndarray]
    mesh: Mesh = (1, 1)

    @property
    def is_distributed(self) -> bool:
        return len(self.arrays) > 1

    def golden(self) -> GoldenMapTensor:
        from golden import GoldenMapTensor

        return GoldenMapTensor({device: to_torch(array) for device, array in self.arrays.items()}, self.mesh)

    def on_host(self) -> Any:
        """Returns a host tensor of the runtime."""
        import _ttmlir_runtime as rt

        shards = [host_tensor(array) for array in self.arrays.values()]
        if len(shards) == 1:
            return shards[0]
        return rt.runtime.create_multi_device_host_tensor_from_shards(shards, {}, list(self.mesh))


def host_tensor(array: np.ndarray) -> Any:
    import _ttmlir_runtime as rt

    array = np.ascontiguousarray(array).reshape(array.shape)  # the former makes a scalar a list of one
    strides = [stride // array.itemsize for stride in array.strides]
    dtype = getattr(rt.runtime.DataType, DATA_TYPES[array.dtype.name])
    return rt.runtime.create_owned_host_tensor(array.ctypes.data, list(array.shape), strides, array.itemsize, dtype)


def placed(device: Any, binary: Any, program_index: int, inputs: Sequence[Shards]) -> list[Any]:
    """Returns inputs on the device, in the layouts that the program declares."""
    import _ttmlir_runtime as rt

    layouts = (rt.runtime.get_layout(binary, program_index, i) for i in range(len(inputs)))
    return [
        rt.runtime.to_layout(value.on_host(), device, layout, True)
        for value, layout in zip(inputs, layouts, strict=True)
    ]


def fetched(tensor: Any) -> list[np.ndarray]:
    """Returns a tensor's value on each device that has its own, or the one of all."""
    import _ttmlir_runtime as rt

    found = []
    for shard in rt.runtime.to_host(tensor, untilize=True):
        dtype = str(shard.get_dtype()).rpartition(".")[2]
        array = np.empty(tuple(shard.get_shape()), numpy_dtype(NUMPY_DTYPES[dtype]))
        if array.size:
            rt.runtime.memcpy(array.ctypes.data, shard)
        found.append(array)
    return found


def to_torch(array: np.ndarray) -> torch.Tensor:
    import torch

    if array.dtype == BFLOAT16:  # torch takes no array of it, but its bits
        return torch.from_numpy(np.ascontiguousarray(array).reshape(array.shape).view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def from_torch(tensor: torch.Tensor) -> np.ndarray:
    import torch

    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(BFLOAT16)
    return tensor.numpy()
