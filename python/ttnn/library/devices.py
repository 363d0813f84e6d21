# SPDX-License-Identifier: Apache-2.0
"""Gives devices the methods of the library.

`device.arch` and `device.id` are values in this project and methods in the library: they can be called, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from _ttmlir_runtime import runtime as _runtime
from _ttmlir_runtime.runtime import Device
from _ttmlir_runtime.ttnn import CoreCoord, CoreGrid

from ..shape import MeshShape
from .fabric import FabricNodeId, MeshId, SubDeviceManagerId
from .geometry import SubDevice, SubDeviceId
from .modes import Arch


class ArchName(str):
    """Holds the name of an architecture; a call returns it as a member of Arch."""

    def __call__(self) -> Arch:
        return Arch[self.upper()]


class DeviceId(int):
    """Holds the number of a device; a call returns it as a plain number."""

    def __call__(self) -> int:
        return int(self)


def compute_with_storage_grid_size(self: Device) -> CoreCoord:
    """Returns the columns (x) and rows (y) of worker cores of a chip."""
    rows, columns = self.grid
    return CoreCoord(columns, rows)


def dram_grid_size(self: Device) -> CoreCoord:
    """Returns the banks of DRAM of a chip, as a grid of one row."""
    return CoreCoord(self.get_num_dram_channels(), 1)


def get_num_devices(self: Device) -> int:
    """Returns the number of chips."""
    return MeshShape(self.get_mesh_shape()).mesh_size()


def get_device_id(self: Device, coord: Any) -> int:
    """Returns the number of the chip at a MeshCoordinate.

    Raises:
        ValueError: there is no such chip.
    """
    rows, columns = self.get_mesh_shape()
    row, column = coord
    if row >= rows or column >= columns:
        raise ValueError(f"Device.get_device_id: {coord!r}; the mesh has {rows}x{columns} devices")
    return int(row * columns + column)


# Places of cores on the network as programs of cores name them, by architecture: the columns and rows of worker cores,
# and the core that each bank of DRAM is reached by.
_COLUMNS = {"wormhole_b0": range(18, 26), "blackhole": (*range(1, 8), *range(10, 16))}
_ROWS = {"wormhole_b0": range(18, 26), "blackhole": range(2, 12)}
_BANKS = {
    "wormhole_b0": "0,11 0,1 0,5 0,7 5,1 5,11 5,2 5,9 5,8 5,3 5,5 5,7",
    "blackhole": "17,14 17,15 17,18 17,21 18,14 18,17 18,20 18,23",
}


def worker_core_from_logical_core(self: Device, logical_core: CoreCoord) -> CoreCoord:
    """Returns where a worker core is on the network.

    Kernels take such coordinates on Wormhole. On Blackhole they take logical ones only.

    Raises:
        ValueError: there is no such core.
    """
    columns, rows = _COLUMNS[str(self.arch)], _ROWS[str(self.arch)]
    height, width = self.grid
    if logical_core.x >= width or logical_core.y >= height:
        raise ValueError(f"Device.worker_core_from_logical_core: {logical_core!r}; there are {width}x{height} cores")
    return CoreCoord(columns[logical_core.x], rows[logical_core.y])


def logical_core_from_worker_core(self: Device, virtual_core: CoreCoord) -> CoreCoord:
    """Returns the worker core at a place on the network.

    Raises:
        ValueError: there is none.
    """
    columns, rows = _COLUMNS[str(self.arch)], _ROWS[str(self.arch)]
    if virtual_core.x not in columns or virtual_core.y not in rows:
        raise ValueError(f"Device.logical_core_from_worker_core: {virtual_core!r} is no place of a worker core")
    return CoreCoord(columns.index(virtual_core.x), rows.index(virtual_core.y))


def dram_core_from_logical_core(self: Device, logical_core: CoreCoord) -> CoreCoord:
    """Returns where the core of a bank of DRAM is on the network.

    Raises:
        ValueError: there is no such bank.
    """
    banks = _BANKS[str(self.arch)].split()
    if logical_core.y or logical_core.x >= len(banks):
        raise ValueError(f"Device.dram_core_from_logical_core: {logical_core!r}; there are {len(banks)}x1 banks")
    x, y = map(int, banks[logical_core.x].split(","))
    return CoreCoord(x, y)


def sfpu_eps(self: Device) -> float:
    """Returns the smallest step of the vector unit from 1."""
    return 1.1920899822825959e-07


def sfpu_inf(self: Device) -> float:
    """Returns the number that the vector unit has for infinity."""
    return 1.7013999693950742e38


def sfpu_nan(self: Device) -> float:
    """Returns the number that the vector unit has for what is no number."""
    return 7.0039998997052e19


# Managers of sub-devices, by device and number, and the one that is loaded on a device.
_managers: dict[tuple[int, int], list[SubDevice]] = {}
_loaded: dict[int, int] = {}


def create_sub_device_manager(self: Device, sub_devices: Sequence[SubDevice], local_l1_size: int) -> SubDeviceManagerId:
    """Divides the cores of a device, for load_sub_device_manager. Calls use all cores here in any case.

    Args:
        local_l1_size: bytes of L1 of the sub-devices alone; of the hardware.
    Raises:
        TypeError: an argument is of another type.
    """
    for at, each in enumerate(sub_devices):
        if not isinstance(each, SubDevice):
            raise TypeError(
                f"Device.create_sub_device_manager: sub_devices[{at}] is {each!r}; expected a ttnn.SubDevice"
            )
    if not isinstance(local_l1_size, int) or isinstance(local_l1_size, bool):
        raise TypeError(f"Device.create_sub_device_manager: local_l1_size is {local_l1_size!r}; expected an integer")
    number = 1 + max((manager for device, manager in _managers if device == int(self.id)), default=0)
    _managers[int(self.id), number] = list(sub_devices)
    return SubDeviceManagerId(number)


def _manager(self: Device, method: str, manager: Any) -> int:
    if not isinstance(manager, SubDeviceManagerId) or (int(self.id), int(manager)) not in _managers:
        raise ValueError(f"Device.{method}: sub_device_manager_id is {manager!r}; expected one of this device")
    return int(manager)


def load_sub_device_manager(self: Device, sub_device_manager_id: SubDeviceManagerId) -> None:
    """Lets the sub-devices of a manager be named."""
    _loaded[int(self.id)] = _manager(self, "load_sub_device_manager", sub_device_manager_id)


def clear_loaded_sub_device_manager(self: Device) -> None:
    """Lets the whole device be the only sub-device again."""
    _loaded.pop(int(self.id), None)


def remove_sub_device_manager(self: Device, sub_device_manager_id: SubDeviceManagerId) -> None:
    """Forgets a manager.

    Raises:
        ValueError: it is loaded, or of another device.
    """
    number = _manager(self, "remove_sub_device_manager", sub_device_manager_id)
    if _loaded.get(int(self.id)) == number:
        raise ValueError(
            "Device.remove_sub_device_manager: the manager is loaded; clear_loaded_sub_device_manager first"
        )
    del _managers[int(self.id), number]


def set_sub_device_stall_group(self: Device, sub_device_ids: Sequence[SubDeviceId]) -> None:
    """Says which sub-devices are waited for. Every call has finished when it returns, so there is nothing to wait for.

    Raises:
        ValueError: there is no such sub-device.
    """
    parts = _managers.get((int(self.id), _loaded.get(int(self.id), 0)), [None])
    for each in sub_device_ids:
        if not isinstance(each, SubDeviceId) or each.id >= len(parts):
            raise ValueError(f"Device.set_sub_device_stall_group: {each!r}; there are {len(parts)} sub-devices")


def reset_sub_device_stall_group(self: Device) -> None:
    """Waits for all sub-devices again, which changes nothing."""


def get_fabric_node_id(self: Device, coord: Any) -> FabricNodeId:
    """Returns the chip at a place of the mesh.

    Raises:
        ValueError: there is no such chip.
    """
    return FabricNodeId(MeshId(0), get_device_id(self, coord))


def get_system_mesh_id(self: Device) -> int:
    """Returns the number of the mesh of all chips, of which there is one."""
    return 0


def get_optimal_dram_bank_to_logical_worker_assignment(self: Device, noc: Any, coord: Any = None) -> Any:
    """Returns the worker core next to each bank of DRAM, as the function of this name; by bank with a place."""
    from .placement import get_optimal_dram_bank_to_logical_worker_assignment as nearest

    found = nearest(self, noc)
    if coord is None:
        return found
    get_device_id(self, coord)
    return dict(enumerate(found))


def enable_program_cache(self: Device) -> None:
    """Keeps kernels of calls, which is done in any case."""


def quiesce_devices(self: Device) -> None:
    """Waits for the devices. Every call has finished when it returns, so there is nothing to wait for."""


def create_submesh(self: Device, submesh_shape: MeshShape | Sequence[int], offset: Any = None) -> Device:
    """Returns a rectangle of the chips of a mesh as a device; closing the mesh closes it, and dropping it, too.

    Args:
        offset: MeshCoordinate of its first chip.
    Raises:
        DeviceError: it leaves the mesh, or has a chip of another rectangle.
    """
    return _runtime.create_sub_mesh_device(self, list(submesh_shape), [0, 0] if offset is None else list(offset))


def create_submeshes(self: Device, submesh_shape: MeshShape | Sequence[int]) -> list[Device]:
    """Divides a mesh into rectangles of one shape, row by row.

    Raises:
        ValueError: they do not fill the mesh.
        DeviceError: there are other rectangles of it; it is divided as before then.
    """
    if len(submesh_shape) != 2:
        raise ValueError(f"Device.create_submeshes: submesh_shape is {list(submesh_shape)}; expected (rows, columns)")
    (rows, columns), (height, width) = self.get_mesh_shape(), submesh_shape
    if height < 1 or width < 1 or rows % height or columns % width:
        raise ValueError(
            f"Device.create_submeshes: submesh_shape is {height}x{width}; expected divisors of "
            f"the mesh's {rows}x{columns}"
        )
    return [
        create_submesh(self, submesh_shape, (row, column))
        for row in range(0, rows, height)
        for column in range(0, columns, width)
    ]


def get_submeshes(self: Device) -> list[Device]:
    """Returns the open rectangles of a mesh that something still holds, in the order of their making."""
    return _runtime.get_sub_mesh_devices(self)


def reshape(self: Device, new_shape: MeshShape | Sequence[int]) -> None:
    """Gives a mesh other rows and columns of the same chips.

    Raises:
        DeviceError: there are not as many chips.
    """
    _runtime.reshape_mesh_device(self, list(new_shape))


def _core_grid(self: Device) -> CoreGrid:
    """Rows (y) and columns (x) of worker cores of a chip."""
    rows, columns = self.grid
    return CoreGrid(rows, columns)


def _shape(self: Device) -> MeshShape:
    """Rows and columns of chips."""
    return MeshShape(self.get_mesh_shape())


_METHODS = (
    compute_with_storage_grid_size, dram_grid_size, get_num_devices, get_device_id, enable_program_cache,
    quiesce_devices, worker_core_from_logical_core, logical_core_from_worker_core, dram_core_from_logical_core,
    sfpu_eps, sfpu_inf, sfpu_nan, create_sub_device_manager, load_sub_device_manager, clear_loaded_sub_device_manager,
    remove_sub_device_manager, set_sub_device_stall_group, reset_sub_device_stall_group, get_fabric_node_id,
    get_system_mesh_id, get_optimal_dram_bank_to_logical_worker_assignment, create_submesh, create_submeshes,
    get_submeshes, reshape,
)  # fmt: skip


def extend_devices() -> None:
    """Adds the methods to the class of devices."""
    own: Any = Device
    arch, number = own.arch.fget, own.id.fget
    for method in _METHODS:
        setattr(own, method.__name__, method)
    own.core_grid = property(_core_grid)
    own.shape = property(_shape)
    own.arch = property(lambda self: ArchName(arch(self)), doc="Name of the architecture.")
    own.id = property(lambda self: DeviceId(number(self)), doc="Number of the device.")
