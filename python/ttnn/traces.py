# SPDX-License-Identifier: Apache-2.0
"""Traces: calls on a device, recorded once and run again into the same tensors.

    trace = ttnn.begin_trace_capture(device, cq_id=0)
    result = step(slot)
    ttnn.end_trace_capture(device, trace, cq_id=0)

    ttnn.copy_host_to_device_tensor(next_input, slot)
    ttnn.execute_trace(device, trace, cq_id=0)

The runtime runs the calls; no Python of `step` runs again. Tensors of the trace keep their addresses until it is
released, or its id is dropped.
"""

from __future__ import annotations

from _ttmlir_runtime import ttnn as _native
from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import MeshTraceId

from .arguments import described


def _check(function: str, name: str, value: object, kind: type, expected: str) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{function}: {name} is {described(value)}; expected {expected}")


def _check_trace(function: str, mesh_device: object, trace_id: object) -> None:
    _check(function, "mesh_device", mesh_device, Device, "an open device")
    _check(function, "trace_id", trace_id, MeshTraceId, "what begin_trace_capture returns")


def begin_trace_capture(mesh_device: Device, *, cq_id: int | None = None) -> MeshTraceId:
    """Records the calls on a device from now on.

    The calls run as they always do. What is deallocated meanwhile stays until the trace is released.

    Args:
        cq_id: of the hardware; makes no difference here.
    Raises:
        DeviceError: the device is closed, or records a trace already.
    """
    _check("begin_trace_capture", "mesh_device", mesh_device, Device, "an open device")
    return _native.begin_trace(mesh_device)


def is_trace_capture_active(device: Device) -> bool:
    """Returns whether the calls on a device are recorded. Raises DeviceError for a closed one."""
    _check("is_trace_capture_active", "device", device, Device, "an open device")
    return _native.records_trace(device)


def end_trace_capture(mesh_device: Device, trace_id: MeshTraceId, *, cq_id: int | None = None) -> None:
    """Ends a recording. Raises DeviceError for one that has ended, or is of another device."""
    _check_trace("end_trace_capture", mesh_device, trace_id)
    _native.end_trace(mesh_device, trace_id)


def execute_trace(
    mesh_device: Device, trace_id: MeshTraceId, *, cq_id: int | None = None, blocking: bool = True
) -> None:
    """Runs the recorded calls again: they read and write the tensors that they had.

    Args:
        cq_id: of the hardware; makes no difference here.
        blocking: every run has finished when the function returns.
    Raises:
        DeviceError: the trace is still recorded, was released, or is of another device.
    """
    _check_trace("execute_trace", mesh_device, trace_id)
    _native.execute_trace(mesh_device, trace_id)


def release_trace(mesh_device: Device, trace_id: MeshTraceId) -> None:
    """Lets go of the tensors that a trace keeps. Raises DeviceError for one that was released."""
    _check_trace("release_trace", mesh_device, trace_id)
    _native.release_trace(mesh_device, trace_id)


def copy_device_to_host_tensor(
    device_tensor: Tensor, host_tensor: Tensor, blocking: bool = True, cq_id: int | None = None
) -> None:
    """Writes the values of a tensor on a device to a host tensor.

    Args:
        blocking, cq_id: of the hardware; make no difference here.
    Raises:
        TypeError, ValueError: what is given is no tensor, or a tensor in the other place.
        OpError: the shapes, data types or layouts differ.
    """
    for name, tensor, on_device in (("device_tensor", device_tensor, True), ("host_tensor", host_tensor, False)):
        _check("copy_device_to_host_tensor", name, tensor, Tensor, "a tensor")
        if tensor.is_on_device() != on_device:
            found, expected = ("the host", "a device") if on_device else ("a device", "the host")
            raise ValueError(f"copy_device_to_host_tensor: {name} lies on {found}; expected a tensor on {expected}")
    _native.copy_values(device_tensor, host_tensor, "copy_device_to_host_tensor")
