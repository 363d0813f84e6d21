# SPDX-License-Identifier: Apache-2.0
"""Simulated devices: one chip, or a mesh of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from _ttmlir_runtime import DeviceError
from _ttmlir_runtime import runtime as _runtime
from _ttmlir_runtime.runtime import Device

from .library.geometry import SubDeviceId
from .shape import MeshShape

MeshDevice = Device


def open_device(
    *,
    device_id: int,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    num_command_queues: int = 1,
    dispatch_core_config: Any = None,
    worker_l1_size: int | None = None,
    arch: str = "wormhole_b0",
    exact: bool = False,
    strict: bool | None = None,
) -> Device:
    """Opens one simulated chip.

    Args:
        device_id: number of the chip; all chips are equal, and each call opens an unused one.
        l1_small_size: bytes per core kept for BufferType.L1_SMALL.
        trace_region_size: bytes of DRAM kept for BufferType.TRACE.
        num_command_queues, dispatch_core_config, worker_l1_size: of the hardware; make no difference here.
        arch: "wormhole_b0" or "blackhole".
        exact: compute with the chip's arithmetic, bit for bit where it is published; slow, and wormhole_b0 only.
        strict: refuse calls that Tenstorrent's library refuses, such as exp of integers and products of row-major
            tensors. By default, exact devices are strict.
    Raises:
        DeviceError: no such chip, an unknown arch, one without exact arithmetic, or regions larger than the memory.
    """
    available = _runtime.get_num_available_devices()
    if not isinstance(device_id, int):
        raise TypeError(
            f"open_device: device_id is {device_id!r} of type {type(device_id).__name__}; expected an integer"
        )
    if not 0 <= device_id < available:
        raise DeviceError(f"open_device: device_id is {device_id}; expected 0 to {available - 1}")
    return _open(MeshShape(1, 1), l1_small_size, trace_region_size, arch, exact, strict)


def open_mesh_device(
    mesh_shape: MeshShape | Sequence[int] | None = None,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    num_command_queues: int = 1,
    dispatch_core_config: Any = None,
    offset: Any = None,
    physical_device_ids: Sequence[int] = (),
    worker_l1_size: int = 0,
    *,
    arch: str = "wormhole_b0",
    exact: bool = False,
    strict: bool | None = None,
) -> Device:
    """Opens a mesh of simulated chips, MeshShape(rows, columns); see open_device for the other arguments."""
    return _open(MeshShape(mesh_shape or (1, 1)), l1_small_size, trace_region_size, arch, exact, strict)


def _open(
    mesh_shape: MeshShape, l1_small_size: int, trace_region_size: int, arch: str, exact: bool, strict: bool | None
) -> Device:
    strict = exact if strict is None else strict
    for name, value in (("exact", exact), ("strict", strict)):
        if not isinstance(value, bool):
            raise TypeError(f"opening a device: {name} is {value!r}; expected True or False")
    options = _runtime.MeshDeviceOptions()
    options.mesh_shape = list(mesh_shape)
    options.l1_small_size = l1_small_size
    options.trace_region_size = trace_region_size
    options.arch = arch
    options.exact = exact
    options.strict = strict
    options.library_memory = True
    return _runtime.open_mesh_device(options)


def _check_device(function: str, parameter: str, device: Any) -> None:
    if not isinstance(device, Device):
        raise TypeError(f"{function}: {parameter} is {device!r} of type {type(device).__name__}; expected a device")


def close_device(device: Device) -> None:
    """Frees a device's memory; tensors on it become unusable. Closing twice raises DeviceError."""
    _check_device("close_device", "device", device)
    _runtime.close_mesh_device(device)


def close_mesh_device(mesh_device: Device) -> None:
    """Frees a mesh's memory; tensors on it become unusable. Closing twice raises DeviceError."""
    _check_device("close_mesh_device", "mesh_device", mesh_device)
    _runtime.close_mesh_device(mesh_device)


@contextmanager
def manage_device(device_id: int, **options: Any) -> Iterator[Device]:
    """Opens a device within a `with` block; arguments are those of open_device."""
    with open_device(device_id=device_id, **options) as device:
        yield device


@contextmanager
def create_mesh_device(mesh_shape: MeshShape | Sequence[int], **options: Any) -> Iterator[Device]:
    """Opens a mesh within a `with` block; arguments are those of open_mesh_device."""
    with open_mesh_device(mesh_shape, **options) as device:
        yield device


def synchronize_device(device: Device, cq_id: int | None = None, sub_device_ids: Sequence[SubDeviceId] = ()) -> None:
    """Waits for a device. Every call has finished when it returns, so this only checks that the device is open.

    Args:
        cq_id, sub_device_ids: of the hardware; make no difference here.
    Raises:
        DeviceError: the device is closed.
    """
    if not device.is_open:
        raise DeviceError(f"synchronize_device: device {device.id} is closed")


def get_num_devices() -> int:
    """Returns chips that can be open at once."""
    return _runtime.get_num_available_devices()


def get_device_ids() -> list[int]:
    """Returns what open_device takes."""
    return list(range(get_num_devices()))
