# SPDX-License-Identifier: Apache-2.0
"""Gives devices the methods of the library.

`device.arch` and `device.id` are values in this project and methods in the library: they can be called, too.
"""

from __future__ import annotations

from typing import Any

from _ttmlir_runtime.runtime import Device
from _ttmlir_runtime.ttnn import CoreCoord, CoreGrid

from ..shape import MeshShape
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


def enable_program_cache(self: Device) -> None:
    """Keeps kernels of calls, which is done in any case."""


def quiesce_devices(self: Device) -> None:
    """Waits for the devices. Every call has finished when it returns, so there is nothing to wait for."""


def _core_grid(self: Device) -> CoreGrid:
    """Rows (y) and columns (x) of worker cores of a chip."""
    rows, columns = self.grid
    return CoreGrid(rows, columns)


def _shape(self: Device) -> MeshShape:
    """Rows and columns of chips."""
    return MeshShape(self.get_mesh_shape())


_METHODS = (
    compute_with_storage_grid_size, dram_grid_size, get_num_devices, get_device_id, enable_program_cache,
    quiesce_devices,
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
