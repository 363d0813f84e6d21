# SPDX-License-Identifier: Apache-2.0
"""Tensors and binaries of the runtime: to and from torch, into a program's layouts, and a device to run on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import _ttmlir_runtime as tt_runtime
from golden.optional import dtype_name, torch

from builder.base.builder_utils import DeferredDevice
from builder.base.errors import TTBuilderRuntimeException

from .argument_checks import check_device, check_suffix, checked_arguments, described

runtime, binary = tt_runtime.runtime, tt_runtime.binary

# Name of a torch dtype -> name of the runtime's data type. The device has no 64-bit types: the compiler narrows them.
DATA_TYPES: dict[str, str] = {
    "float32": "Float32",
    "float64": "Float32",
    "float16": "Float16",
    "bfloat16": "BFloat16",
    "int32": "Int32",
    "int64": "Int32",
    "uint32": "UInt32",
    "uint16": "UInt16",
    "uint8": "UInt8",
    "int8": "Int8",
    "int16": "Int16",
    "bool": "Bool",
}
TORCH_DTYPES: dict[str, str] = {
    "Float32": "float32",
    "Float16": "float16",
    "BFloat16": "bfloat16",
    "BFP_BFloat8": "bfloat16",
    "BFP_BFloat4": "bfloat16",
    "BFP_BFloat2": "bfloat16",
    "Int32": "int32",
    "UInt32": "uint32",
    "UInt16": "uint16",
    "UInt8": "uint8",
    "Int8": "int8",
    "Int16": "int16",
    "Int64": "int64",
    "Float64": "float64",
    "Bool": "bool",
}


@checked_arguments
def runtime_dtype_to_torch_dtype(dtype: runtime.DataType | str) -> torch.dtype:
    name = str(dtype).rpartition(".")[2]
    if name not in TORCH_DTYPES:
        raise TTBuilderRuntimeException(f"no torch dtype holds the runtime's {name}")
    return getattr(torch, TORCH_DTYPES[name])


@checked_arguments
def runtime_str_dtype_to_torch_dtype(dtype: str) -> torch.dtype:
    return runtime_dtype_to_torch_dtype(dtype)


@checked_arguments
def torch_dtype_to_runtime_dtype(dtype: torch.dtype) -> Any:
    name = dtype_name(dtype)
    if name not in DATA_TYPES:
        raise TTBuilderRuntimeException(f"the runtime has no data type for {dtype}")
    return getattr(runtime.DataType, DATA_TYPES[name])


@checked_arguments
def json_string_as_dict(json_string: str) -> Any:
    return json.loads(json_string) if json_string else {}


@checked_arguments
def program_inputs_as_dict(bin: binary.Binary, index: int) -> Any:
    return json_string_as_dict(bin.get_program_inputs_as_json(index))


@checked_arguments
def program_outputs_as_dict(bin: binary.Binary, index: int) -> Any:
    return json_string_as_dict(bin.get_program_outputs_as_json(index))


def device_values(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the tensor in a dtype that the runtime has.

    Raises:
        TTBuilderRuntimeException: a 64-bit integer that the chip's 32 bits do not hold.
    """
    tensor = tensor.detach().contiguous()
    kind = DATA_TYPES.get(dtype_name(tensor.dtype) or "")
    if kind is None:
        return tensor
    dtype = getattr(torch, TORCH_DTYPES[kind])
    if tensor.dtype is torch.int64 and tensor.numel():
        least, most = torch.iinfo(dtype).min, torch.iinfo(dtype).max
        low, high = (int(x) for x in torch.aminmax(tensor))
        if low < least or high > most:
            raise TTBuilderRuntimeException(
                f"int64{list(tensor.shape)} has the value {low if low < least else high}; the chip holds 64-bit "
                f"integers in 32 bits, {least} to {most}"
            )
    return tensor.to(dtype)


def host_tensor(tensor: torch.Tensor) -> Any:
    values = device_values(tensor)
    dtype = torch_dtype_to_runtime_dtype(values.dtype)
    return runtime.create_owned_host_tensor(
        values.data_ptr(), list(values.shape), list(values.stride()), values.element_size(), dtype
    )


@checked_arguments
def create_tensor(tensor_shards: Mapping[int, torch.Tensor], mesh_shape: Sequence[int]) -> Any:
    """Returns a runtime tensor on the host: of one shard, or of one for each device of the mesh."""
    wrong = next((v for v in tensor_shards.values() if not isinstance(v, torch.Tensor)), None)
    if wrong is not None or not tensor_shards:
        given = "empty" if wrong is None else f"a mapping to {described(wrong)}"
        raise TypeError(f"create_tensor: tensor_shards is {given}; expected tensors by device")
    if len(tensor_shards) == 1:
        return host_tensor(next(iter(tensor_shards.values())))
    shards = [host_tensor(tensor_shards[device]) for device in sorted(tensor_shards)]
    return runtime.create_multi_device_host_tensor_from_shards(shards, {}, list(mesh_shape))


def torch_tensor(tensor: Any) -> torch.Tensor:
    """Returns a copy of a host tensor of the runtime."""
    result = torch.empty(tuple(tensor.get_shape()), dtype=runtime_dtype_to_torch_dtype(tensor.get_dtype()))
    if result.numel():
        runtime.memcpy(result.data_ptr(), tensor)
    return result


def fetched(tensor: Any) -> list[torch.Tensor]:
    """Returns the tensor's value on each device that has its own, or the one of all."""
    return [torch_tensor(t) for t in runtime.to_host(tensor, untilize=True)]


@checked_arguments
def convert_input_layouts(
    device: runtime.Device,
    inputs: Sequence[runtime.Tensor],
    template_inputs: Sequence[runtime.Tensor] | None = None,
    fbb: binary.Binary | None = None,
    program_index: int | None = None,
) -> list[Any]:
    """Returns the inputs on the device, in the layouts of `template_inputs`, or those that a program of `fbb`
    declares."""
    if template_inputs is not None:
        layouts = [t.get_layout() for t in template_inputs]
    elif fbb is not None and program_index is not None:
        layouts = [runtime.get_layout(fbb, program_index, i) for i in range(len(inputs))]
    else:
        raise ValueError("convert_input_layouts: template_inputs is None; expected them, or fbb and program_index")
    return [runtime.to_layout(t, device, layout, True) for t, layout in zip(inputs, layouts, strict=True)]


def load_binary(compiled_bin: Any) -> Any:
    """Returns a binary from itself, its bytes, or the path of a .ttnn or .ttm file.

    Raises:
        TTBuilderRuntimeException: what the path names, or the bytes are, is no binary.
        TypeError: it is something else.
    """
    try:
        if isinstance(compiled_bin, (str, os.PathLike)):
            check_suffix("compiled_bin", compiled_bin, ".ttnn")
            return binary.load_binary_from_path(str(compiled_bin))
        if isinstance(compiled_bin, (bytes, bytearray, memoryview)):
            return binary.load_binary_from_bytes(bytes(compiled_bin))
    except (RuntimeError, OSError, ValueError) as error:
        raise TTBuilderRuntimeException(str(error)) from error
    if not isinstance(compiled_bin, binary.Binary):
        raise TypeError(
            f"compiled_bin is {described(compiled_bin)}; expected a binary, its bytes, or the path of its file"
        )
    return compiled_bin


@contextmanager
def device_for(device: Any, mesh_shape: Sequence[int], exact: bool = False) -> Iterator[Any]:
    """Yields the device, or a new one while the block runs. exact: it must have the chip's arithmetic."""
    if isinstance(device, DeferredDevice):
        device.prepare()
        found = device.open()
        try:
            check_device("DeferredDevice.open", found)
            with device_for(found, mesh_shape, exact) as used:
                yield used
        finally:
            device.close(found)
        return
    if device is not None:
        if exact and not device.exact:
            raise ValueError("exact: the device was opened without it; open one with MeshDeviceOptions(exact=True)")
        yield device
        return
    options = runtime.MeshDeviceOptions(exact=exact)
    options.mesh_shape = tuple(mesh_shape)
    own = runtime.open_mesh_device(options)
    try:
        yield own
    finally:
        runtime.close_mesh_device(own)


@contextmanager
def opened(device: Any, executable: Any, exact: bool = False) -> Iterator[Any]:
    """Yields the device, or one with the mesh that the binary requests while the block runs."""
    shape = executable.get_program_mesh_shape(0) if executable.get_num_programs() else (1, 1)
    with device_for(device, shape, exact) as used:
        yield used
