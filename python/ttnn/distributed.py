# SPDX-License-Identifier: Apache-2.0
"""Provides what programs on meshes use: devices, mappers and composers of tensors, and pictures of both as text."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Sequence
from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor

from .device import (
    MeshDevice,
    close_mesh_device,
    create_mesh_device,
    get_device_ids,
    get_num_devices,
    open_mesh_device,
)
from .library.hosts import MeshToTensor, TensorToMesh
from .library.modes import DispatchCoreType
from .library.sessions import get_num_pcie_devices, get_pcie_device_ids
from .mesh import (
    ConcatMesh2dToTensor,
    ConcatMeshToTensor,
    ReplicateTensorToMesh,
    ReplicateTensorToMeshWrapper,
    ShardTensor2dMesh,
    ShardTensorToMesh,
    distribute,
)
from .tensor import get_device_tensors

__all__ = [
    "ColorPalette",
    "ConcatMesh2dToTensor",
    "ConcatMeshToTensor",
    "DispatchCoreType",
    "MeshDevice",
    "MeshToTensor",
    "ReplicateTensorToMesh",
    "ReplicateTensorToMeshWrapper",
    "ShardTensor2dMesh",
    "ShardTensorToMesh",
    "TensorShardingInfo",
    "TensorToMesh",
    "close_mesh_device",
    "create_mesh_device",
    "create_system_mesh_table",
    "distribute",
    "get_device_ids",
    "get_num_devices",
    "get_num_pcie_devices",
    "get_pcie_device_ids",
    "open_mesh_device",
    "visualize_mesh_device",
    "visualize_system_mesh",
    "visualize_tensor",
]


class ColorPalette:
    """Makes colours that differ, as text: "#9bb2c9"."""

    DEFAULT_COLOR = "#cccccc"

    def hsv_to_hex(self, h: float, s: float, v: float) -> str:
        """Returns the colour of a hue, a saturation and a value, from 0 to 1 each.

        Raises:
            ValueError: one is not from 0 to 1.
        """
        for name, value in (("h", h), ("s", s), ("v", v)):
            if not 0 <= value <= 1:
                raise ValueError(f"ColorPalette.hsv_to_hex: {name} is {value}; expected 0 to 1")
        return "#" + "".join(f"{round(255 * each):02x}" for each in colorsys.hsv_to_rgb(h, s, v))

    def generate_muted_colors(self, n: int) -> list[str]:
        """Returns n colours of little saturation, whose hues are equally far apart.

        Raises:
            ValueError: n is negative.
        """
        if n < 0:
            raise ValueError(f"ColorPalette.generate_muted_colors: n is {n}; expected 0 or more")
        return [self.hsv_to_hex(each / n, 0.35, 0.85) for each in range(n)]


class TensorShardingInfo:
    """Says which devices have equal parts of a tensor.

    Args:
        tensor: the tensor.
        shards: its parts, as get_device_tensors returns them.
    """

    def __init__(self, tensor: Tensor, shards: Sequence[Tensor]) -> None:
        self.tensor, self.shards = tensor, list(shards)
        contents = [(tuple(each.shape), each.to_list()) for each in self.shards]
        # By device: the first one that has the same part.
        self.same_as = [contents.index(each) for each in contents]


def _picture(title: str, shape: tuple[int, int], cell: Callable[[int, int], list[str]]) -> str:
    """Returns a table with a cell of lines for each device."""
    rows, columns = shape
    cells = [[cell(row, column) for column in range(columns)] for row in range(rows)]
    width = max(len(line) for row in cells for lines in row for line in lines)
    height = max(len(lines) for row in cells for lines in row)
    edge = "+" + ("-" * (width + 2) + "+") * columns
    text = [title, edge]
    for row in cells:
        for at in range(height):
            line = " | ".join((lines[at] if at < len(lines) else "").center(width) for lines in row)
            text.append(f"| {line} |")
        text.append(edge)
    return "\n".join(text)


def create_system_mesh_table() -> str:
    """Returns a table of the first chips, and how many can be open at once; all are alike."""
    count = get_num_devices()
    title = f"SystemMesh of {count} chips"
    return _picture(title, (1, min(count, 8)), lambda row, column: [f"chip {column}", f"({row}, {column})"])


def visualize_system_mesh() -> None:
    """Prints what create_system_mesh_table returns."""
    print(create_system_mesh_table())


def visualize_mesh_device(mesh_device: Device) -> None:
    """Prints a table of the devices of a mesh: their numbers and places.

    Raises:
        TypeError: what is given is no device.
    """
    if not isinstance(mesh_device, Device):
        raise TypeError(f"ttnn.visualize_mesh_device: mesh_device is {mesh_device!r}; expected an open device")
    rows, columns = mesh_device.get_mesh_shape()
    title = f"MeshDevice {[rows, columns]}, {mesh_device.arch}"
    print(
        _picture(title, (rows, columns), lambda row, column: [f"device {row * columns + column}", f"({row}, {column})"])
    )


def visualize_tensor(tensor: Tensor) -> None:
    """Prints a table of the devices of a tensor: the shape of each part, and which devices have the same one.

    Raises:
        TypeError: what is given is no tensor.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"ttnn.visualize_tensor: tensor is {tensor!r}; expected a ttnn.Tensor")
    info: Any = TensorShardingInfo(tensor, get_device_tensors(tensor))
    device = tensor.device()
    rows, columns = (1, len(info.shards)) if device is None else device.get_mesh_shape()

    def cell(row: int, column: int) -> list[str]:
        at = row * columns + column
        first = info.same_as[at]
        same = "" if at == first else f"as ({first // columns}, {first % columns})"
        return [f"({row}, {column})", str(list(info.shards[at].shape)), same]

    title = f"Tensor {list(tensor.shape)} {tensor.dtype.name} {tensor.layout.name}"
    print(_picture(title, (rows, columns), cell))
