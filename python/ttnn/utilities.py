# SPDX-License-Identifier: Apache-2.0
"""Functions of ttnn that compute no tensor: sizes, names of functions, golden functions, semaphores."""

from __future__ import annotations

import csv
from collections.abc import Callable
from os import PathLike
from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import BufferType, CoreRangeSet, DataType, Layout, MemoryConfig, StorageType

from .composites import COMPOSITES, GOLDENS, PLAIN
from .functions import FUNCTIONS
from .in_place import IN_PLACE
from .library.geometry import Tile

_BLOCKS = ("BFLOAT8_B", "BFLOAT4_B", "BFLOAT2_B")


def element_size(dtype: DataType) -> int:
    """Returns the bytes of an element.

    Raises:
        ValueError: the data type is a block format, whose elements share exponents.
    """
    tile = tile_size(dtype)
    if tile % 1024 or dtype.name in _BLOCKS:
        raise ValueError(f"ttnn.element_size: dtype is {dtype!r}, whose elements have no bytes of their own")
    return tile // 1024


def tile_size(dtype: DataType) -> int:
    """Returns the bytes of a tile of 32x32 elements, with the shared exponents of a block format."""
    return Tile().get_tile_size(dtype)


def has_tile_padding(tensor: Tensor, *, dim: int | None = None) -> bool:
    """Returns whether a tensor, or one of its dimensions, is padded to tiles."""
    logical, padded = list(tensor.shape), list(tensor.padded_shape)
    if dim is None:
        return logical != padded
    if not -len(logical) <= dim < len(logical):
        raise ValueError(f"ttnn.has_tile_padding: dim is {dim}; expected {-len(logical)} to {len(logical) - 1}")
    return logical[dim] != padded[dim]


def has_storage_type_of(tensor: Tensor, storage_type: StorageType) -> bool:
    """Returns whether a tensor lies on the host or on a device, as `storage_type` says."""
    return bool(tensor.storage_type() == storage_type)


def get_conv_output_dim(input: int, window: int, stride: int = 1, pad: int = 0, dilation: int = 1) -> int:
    """Returns how many places a window has in a dimension of `input` elements, padded at both ends."""
    return (input + 2 * pad - dilation * (window - 1) - 1) // stride + 1


def ttnn_dtype_to_torch_dtype(dtype: DataType) -> Any:
    """Returns PyTorch's data type for a data type; float32 for block formats."""
    import torch

    names = {"FLOAT32": "float32", "BFLOAT16": "bfloat16", "FLOAT16": "float16", "BOOL": "bool", "UINT8": "uint8"}
    names |= {"UINT16": "uint16", "UINT32": "uint32", "INT32": "int32"} | dict.fromkeys(_BLOCKS, "float32")
    if not isinstance(dtype, DataType) or dtype.name not in names:
        raise ValueError(f"ttnn.ttnn_dtype_to_torch_dtype: dtype is {dtype!r}; PyTorch has no such type")
    return getattr(torch, names[dtype.name])


def query_registered_operations(include_experimental: bool = False) -> list[str]:
    """Returns the names of all functions that compute, with their namespace, in order."""
    names = {f"ttnn.{name}" for name in (*FUNCTIONS, *COMPOSITES, *PLAIN, *IN_PLACE)}
    return sorted(name for name in names if include_experimental or not name.startswith("ttnn.experimental."))


def dump_operations(csv_file: str | PathLike[str], include_experimental: bool = False) -> None:
    """Writes the names of all functions that compute, and whether they have a golden function, as CSV."""
    with open(csv_file, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["python_fully_qualified_name", "has_golden"])
        for name in query_registered_operations(include_experimental):
            writer.writerow([name, bool(GOLDENS.get(name.removeprefix("ttnn.")))])


def attach_golden_function(operation: Callable[..., Any], golden_function: Callable[..., Any]) -> None:
    """Gives a function a golden function, which get_golden_function returns from then on.

    Raises:
        TypeError: one of both is no function.
    """
    for name, value in (("operation", operation), ("golden_function", golden_function)):
        if not callable(value):
            raise TypeError(f"ttnn.attach_golden_function: {name} is {value!r}; expected a function")
    own: Any = getattr(operation, "__wrapped__", operation)  # of a function whose calls are watched
    own.golden_function = golden_function


def register_python_operation(
    *, name: str, golden_function: Callable[..., Any] | None = None, doc: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator that gives a function its public name, a golden function and documentation.

    Raises:
        ValueError: name does not begin with "ttnn.".
    """
    if not name.startswith("ttnn."):
        raise ValueError(f'ttnn.register_python_operation: name is {name!r}; expected "ttnn." and a name')

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        function.python_fully_qualified_name = name  # type: ignore[attr-defined]
        if doc is not None:
            function.__doc__ = doc
        if golden_function is not None:
            attach_golden_function(function, golden_function)
        return function

    return decorate


def empty_like(
    tensor: Tensor,
    *,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Returns a tensor without values, in what is not given like another."""
    options = {"dtype": dtype or tensor.dtype, "layout": tensor.layout if layout is None else layout}
    place = device or tensor.device()
    if memory_config is None and place is not None:
        memory_config = MemoryConfig(buffer_type=tensor.memory_config().buffer_type)
    result: Tensor = FUNCTIONS["empty"](tensor.shape, **options, device=place, memory_config=memory_config)
    return result


class GlobalSemaphore:
    """Holds a counter in L1 that the cores of a device share; made by create_global_semaphore."""

    def __init__(self, device: Device, cores: CoreRangeSet, value: int, buffer_type: BufferType) -> None:
        self.cores = cores
        options = {"dtype": DataType.UINT32, "layout": Layout.ROW_MAJOR, "device": device}
        memory = MemoryConfig(buffer_type=buffer_type)
        self.tensor: Tensor = FUNCTIONS["full"]([1], value, memory_config=memory, **options)


def create_global_semaphore(
    mesh_device: Device, cores: CoreRangeSet, initial_value: int, buffer_type: BufferType = BufferType.L1
) -> GlobalSemaphore:
    """Allocates a counter that the cores of a device share, with a first value."""
    if type(initial_value) is not int or not 0 <= initial_value < 2**32:
        raise ValueError(f"ttnn.create_global_semaphore: initial_value is {initial_value!r}; expected 0 to {2**32 - 1}")
    return GlobalSemaphore(mesh_device, cores, initial_value, buffer_type)


def get_global_semaphore_address(global_semaphore: GlobalSemaphore) -> int:
    """Returns where a counter lies, in bytes."""
    return int(_semaphore("get_global_semaphore_address", global_semaphore).tensor.buffer_address())


def reset_global_semaphore_value(global_semaphore: GlobalSemaphore, reset_value: int) -> None:
    """Writes a value to a counter."""
    tensor = _semaphore("reset_global_semaphore_value", global_semaphore).tensor
    value = FUNCTIONS["full"](
        [1], reset_value, dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, device=tensor.device()
    )  # fmt: skip
    FUNCTIONS["assign"](value, output_tensor=tensor)


def _semaphore(function: str, value: Any) -> GlobalSemaphore:
    if not isinstance(value, GlobalSemaphore):
        raise TypeError(f"ttnn.{function}: global_semaphore is {value!r}; expected one of create_global_semaphore")
    return value


UTILITIES = {
    each.__name__: each
    for each in (
        attach_golden_function, create_global_semaphore, dump_operations, element_size, empty_like,
        get_conv_output_dim, get_global_semaphore_address, has_storage_type_of, has_tile_padding,
        query_registered_operations, register_python_operation, reset_global_semaphore_value, tile_size,
        ttnn_dtype_to_torch_dtype,
    )
}  # fmt: skip
