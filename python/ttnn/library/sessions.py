# SPDX-License-Identifier: Apache-2.0
"""Opens devices by the library's older names, keeps a default device, marks places in command queues.

Every call has finished when it returns: queues hold nothing, and an event has passed when it is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from _ttmlir_runtime import DeviceError
from _ttmlir_runtime.runtime import Device

from ..configs import CONFIGS
from ..device import close_device, get_device_ids, get_num_devices, open_device
from ..enums import ENUMS
from .modes import Arch, ThrottleLevel

_COMPUTE = CONFIGS["ttnn.device_compute_kernel_config"]
_default: list[Device] = []
_queue = [0]


class QueueId(int):
    """Names a command queue by its number."""

    def __new__(cls, number: int) -> QueueId:
        if type(number) is not int or not 0 <= number < 256:
            raise TypeError(f"ttnn.QueueId: {number!r}; expected a number from 0 to 255")
        return super().__new__(cls, number)


@dataclass(frozen=True)
class MeshEvent:
    """Marks a place in a command queue of a device."""

    device: Device
    cq_id: int = 0


def CreateDevice(
    device_id: int,
    num_command_queues: int = 1,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    dispatch_core_config: Any = None,
    *,
    worker_l1_size: int = 0,
) -> Device:
    """Opens a device; parameters and errors are those of open_device."""
    return open_device(
        device_id=device_id,
        num_command_queues=num_command_queues,
        l1_small_size=l1_small_size,
        trace_region_size=trace_region_size,
        dispatch_core_config=dispatch_core_config,
        worker_l1_size=worker_l1_size,
    )


def CreateDevices(
    device_ids: Sequence[int],
    num_command_queues: int = 1,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    dispatch_core_config: Any = None,
    *,
    worker_l1_size: int = 0,
) -> dict[int, Device]:
    """Opens devices, by number; parameters and errors are those of open_device."""
    options = (num_command_queues, l1_small_size, trace_region_size, dispatch_core_config)
    return {number: CreateDevice(number, *options, worker_l1_size=worker_l1_size) for number in device_ids}


def CloseDevice(device: Device) -> None:
    """Closes a device; errors are those of close_device."""
    close_device(device)


def CloseDevices(devices: Mapping[int, Device]) -> None:
    """Closes devices that CreateDevices opened."""
    for device in devices.values():
        close_device(device)


def SetDefaultDevice(device: Device | None = None) -> None:
    """Keeps a device as the default, or none.

    Raises:
        TypeError: the argument is no device.
    """
    if device is not None and not isinstance(device, Device):
        raise TypeError(f"ttnn.SetDefaultDevice: device is {device!r}; expected an open device")
    _default[:] = [] if device is None else [device]


def GetDefaultDevice() -> Device | None:
    """Returns the device that SetDefaultDevice kept, or None."""
    return _default[0] if _default else None


def GetNumAvailableDevices() -> int:
    """Returns the number of chips that can be open at once."""
    return get_num_devices()


def GetNumPCIeDevices() -> int:
    """Returns the number of chips that can be open at once: each has its own bus here."""
    return get_num_devices()


def GetPCIeDeviceID(device_id: int) -> int:
    """Returns the number of the chip that leads to a chip: itself.

    Raises:
        DeviceError: there is no such chip.
    """
    if device_id not in get_device_ids():
        raise DeviceError(f"GetPCIeDeviceID: device_id is {device_id!r}; expected 0 to {get_num_devices() - 1}")
    return device_id


def get_num_pcie_devices() -> int:
    """Returns what GetNumPCIeDevices does."""
    return GetNumPCIeDevices()


def get_pcie_device_ids() -> list[int]:
    """Returns what open_device takes."""
    return get_device_ids()


def _open(function: str, device: Any) -> Device:
    if not isinstance(device, Device):
        raise TypeError(f"ttnn.{function}: {device!r} of type {type(device).__name__}; expected an open device")
    if not device.is_open:
        raise DeviceError(f"{function}: device {device.id} is closed")
    return device


def record_event(
    mesh_device: Device, cq_id: int | None = None, sub_device_ids: Sequence[Any] = (), device_range: Any = None
) -> MeshEvent:
    """Returns an event, which has passed when the function returns.

    Args:
        sub_device_ids, device_range: of the hardware; make no difference here.
    Raises:
        TypeError, DeviceError: no device, or a closed one.
    """
    return MeshEvent(_open("record_event", mesh_device), _queue[0] if cq_id is None else int(cq_id))


def _check_event(function: str, event: Any) -> None:
    if not isinstance(event, MeshEvent):
        raise TypeError(f"ttnn.{function}: mesh_event is {event!r}; expected what record_event returns")
    _open(function, event.device)


def wait_for_event(cq_id: int | None = None, mesh_event: MeshEvent | None = None) -> None:
    """Lets a command queue wait for an event, which has passed.

    Raises:
        TypeError, DeviceError: no event, or one of a closed device.
    """
    _check_event("wait_for_event", mesh_event)


def event_synchronize(mesh_event: MeshEvent) -> None:
    """Waits for an event, which has passed.

    Raises:
        TypeError, DeviceError: no event, or one of a closed device.
    """
    _check_event("event_synchronize", mesh_event)


@contextmanager
def command_queue(cq_id: int) -> Iterator[None]:
    """Sets the command queue of calls within a `with` block, which get_current_command_queue_id_for_thread returns."""
    before, _queue[0] = _queue[0], int(QueueId(cq_id))
    try:
        yield
    finally:
        _queue[0] = before


def get_current_command_queue_id_for_thread() -> int:
    """Returns the number of the command queue that command_queue set; 0 outside."""
    return _queue[0]


def init_device_compute_kernel_config(
    arch: Arch,
    device_kernel_config: Any = None,
    *,
    math_fidelity: Any = ENUMS["ttnn.math_fidelity"].LoFi,
    math_approx_mode: bool = True,
    fp32_dest_acc_en: bool = False,
    packer_l1_acc: bool = False,
    dst_full_sync_en: bool = False,
    throttle_level: ThrottleLevel = ThrottleLevel.NO_THROTTLE,
) -> Any:
    """Returns a compute config for an architecture, or `device_kernel_config` where it is given.

    Args:
        throttle_level: of the hardware; makes no difference here.
    Raises:
        TypeError: an argument is of another type.
    """
    if not isinstance(arch, Arch):
        raise TypeError(f"ttnn.init_device_compute_kernel_config: arch is {arch!r}; expected a ttnn.Arch")
    if device_kernel_config is not None:
        if not isinstance(device_kernel_config, _COMPUTE):
            raise TypeError(
                f"ttnn.init_device_compute_kernel_config: device_kernel_config is {device_kernel_config!r}; expected a "
                "compute config"
            )
        return device_kernel_config
    return _COMPUTE(
        math_fidelity=math_fidelity,
        math_approx_mode=math_approx_mode,
        fp32_dest_acc_en=fp32_dest_acc_en,
        packer_l1_acc=packer_l1_acc,
        dst_full_sync_en=dst_full_sync_en,
    )


def dump_device_memory_state(device: Device, prefix: str = "") -> None:
    """Prints all buffers of a device, each line behind a prefix."""
    for line in _open("dump_device_memory_state", device).memory_report().splitlines():
        print(f"{prefix}{line}")
