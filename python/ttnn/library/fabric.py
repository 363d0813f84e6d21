# SPDX-License-Identifier: Apache-2.0
"""Names chips and cores of meshes, says how chips are connected, and tells a program which process of how many it is.

Simulated chips are connected as a torus, whatever set_fabric_config says, and one process runs all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import CoreCoord

from ..configs import Placement
from ..enums import ENUMS
from ..shape import MeshShape
from .geometry import MeshCoordinate, MeshCoordinateRange
from .modes import (
    DispatchCoreAxis,
    DispatchCoreType,
    FabricConfig,
    FabricManagerMode,
    FabricReliabilityMode,
    FabricTensixConfig,
    FabricType,
    FabricUDMMode,
)
from .records import Record, field

__all__ = [
    "DispatchCoreConfig",
    "FabricNodeId",
    "FabricRouterConfig",
    "MeshCoordinateRangeSet",
    "MeshCoreCoord",
    "MeshId",
    "Rank",
    "Size",
    "SubDeviceManagerId",
    "SubcontextId",
    "TensorTopology",
    "compute_distribution_to_mesh_mapping",
    "distributed_context_allgather_int",
    "distributed_context_barrier",
    "distributed_context_get_rank",
    "distributed_context_get_size",
    "distributed_context_is_initialized",
    "distributed_context_local_to_world_rank",
    "distributed_context_recv_bytes",
    "distributed_context_send_bytes",
    "distributed_context_subcontext_count",
    "distributed_context_subcontext_id",
    "distributed_context_subcontext_size",
    "distributed_context_subcontext_sizes",
    "distributed_context_world_rank",
    "distributed_context_world_size",
    "get_all_fabric_mesh_ids",
    "get_all_mgd_fabric_types",
    "get_fabric_config",
    "get_num_links",
    "get_physical_mesh_shapes",
    "get_usable_topology",
    "init_distributed_context",
    "set_fabric_config",
    "using_distributed_env",
]

_TOPOLOGY = ENUMS["ttcore.topology"]


class _Number(int):
    """Base of numbers of one meaning."""

    def __new__(cls, value: int) -> _Number:
        if type(value) is not int or value < 0:
            raise TypeError(
                f"ttnn.{cls.__name__}: {value!r} of type {type(value).__name__}; expected a number from 0 on"
            )
        return super().__new__(cls, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({int(self)})"

    __str__ = int.__repr__


class Rank(_Number):
    """Names a process."""


class Size(_Number):
    """Counts processes."""


class SubcontextId(_Number):
    """Names a group of processes."""


class MeshId(_Number):
    """Names a mesh."""


class SubDeviceManagerId(_Number):
    """Names a set of sub-devices; `device.create_sub_device_manager` returns it."""


class FabricNodeId(Record):
    """Names a chip of a mesh."""

    mesh_id = field(MeshId, read_only=True)
    chip_id = field(int, read_only=True, least=0)


class FabricRouterConfig(Record):
    """Holds the bytes of the largest packet; None means the fabric's own."""

    max_packet_payload_size_bytes = field(int, None, by_name=True, least=1)


class DispatchCoreConfig(Record):
    """Says which cores dispatch programs, which the simulator needs none for."""

    type = field(DispatchCoreType, DispatchCoreType.WORKER, read_only=True)
    axis = field(DispatchCoreAxis, DispatchCoreAxis.ROW, read_only=True)
    fabric_tensix_config = field(FabricTensixConfig, None)

    def __init__(self, type: Any = None, axis: Any = None, fabric_tensix_config: Any = None) -> None:
        given = {"type": type, "axis": axis, "fabric_tensix_config": fabric_tensix_config}
        super().__init__(**{name: value for name, value in given.items() if value is not None})


class MeshCoreCoord(Record):
    """Names a core of a device of a mesh."""

    device_coord = field(MeshCoordinate)
    core_coord = field(CoreCoord)


class MeshCoordinateRangeSet:
    """Holds boxes of places in a mesh.

    Raises:
        TypeError: the argument is no MeshCoordinateRange.
    """

    def __init__(self, range: MeshCoordinateRange | None = None) -> None:
        self._ranges: list[MeshCoordinateRange] = []
        if range is not None:
            self.merge(range)

    def merge(self, range: MeshCoordinateRange) -> None:
        """Adds the places of a box."""
        if not isinstance(range, MeshCoordinateRange):
            raise TypeError(f"ttnn.MeshCoordinateRangeSet: {range!r}; expected a ttnn.MeshCoordinateRange")
        if not all(self._has(place) for place in range):
            self._ranges = [each for each in self._ranges if not all(range.contains(place) for place in each)]
            self._ranges.append(range)

    def _has(self, place: MeshCoordinate) -> bool:
        return any(each.contains(place) for each in self._ranges)

    def _places(self) -> set[MeshCoordinate]:
        return {place for each in self._ranges for place in each}

    def __iter__(self) -> Iterator[MeshCoordinateRange]:
        return iter(self._ranges)

    def __len__(self) -> int:
        return len(self._ranges)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeshCoordinateRangeSet) and self._places() == other._places()

    def __hash__(self) -> int:
        return hash(frozenset(self._places()))

    def __repr__(self) -> str:
        return f"MeshCoordinateRangeSet({self._ranges})"


class TensorTopology:
    """Says how the parts of a tensor are spread over a mesh.

    Args:
        distribution_shape: into how many parts each placement cuts or copies.
        placements: PlacementShard or PlacementReplicate, one for each size of the shape.
        mesh_coords: the device of each part.
    Raises:
        TypeError: an argument is of another type.
        ValueError: numbers of sizes, placements and devices differ.
    """

    def __init__(
        self, distribution_shape: MeshShape, placements: Sequence[Any], mesh_coords: Sequence[MeshCoordinate]
    ) -> None:
        if not isinstance(distribution_shape, MeshShape):
            raise TypeError(f"ttnn.TensorTopology: distribution_shape is {distribution_shape!r}; expected a MeshShape")
        for name, values, kind in (("placements", placements, Placement), ("mesh_coords", mesh_coords, MeshCoordinate)):
            wrong = [each for each in values if not isinstance(each, kind)]
            if wrong:
                raise TypeError(f"ttnn.TensorTopology: {name} has {wrong[0]!r}; expected {kind.__name__}")
        if len(placements) > len(distribution_shape) or len(mesh_coords) != distribution_shape.mesh_size():
            raise ValueError(
                f"ttnn.TensorTopology: {len(placements)} placements and {len(mesh_coords)} mesh_coords for "
                f"{distribution_shape!r}"
            )
        self._values = (distribution_shape, list(placements), list(mesh_coords))

    def distribution_shape(self) -> MeshShape:
        """Returns into how many parts each placement cuts or copies."""
        return self._values[0]

    def placements(self) -> list[Any]:
        """Returns what is done along each size."""
        return self._values[1]

    def mesh_coords(self) -> list[MeshCoordinate]:
        """Returns the device of each part."""
        return self._values[2]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorTopology) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shape, placements, coords = self._values
        return f"TensorTopology(distribution_shape={shape!r}, placements={placements}, mesh_coords={coords})"


def compute_distribution_to_mesh_mapping(distribution_shape: MeshShape, mesh_shape: MeshShape) -> list[MeshCoordinate]:
    """Returns the device of each part of a tensor, row by row.

    Raises:
        ValueError: there are more parts than devices, or rows or columns do not fit and the parts fill no whole mesh.
    """
    parts, mesh = MeshShape(distribution_shape), MeshShape(mesh_shape)
    if all(a <= b for a, b in zip(parts, mesh, strict=True)):
        return [MeshCoordinate(row, column) for row in range(parts[0]) for column in range(parts[1])]
    if parts.mesh_size() > mesh.mesh_size():
        raise ValueError(
            f"ttnn.compute_distribution_to_mesh_mapping: {parts.mesh_size()} parts; {mesh!r} has {mesh.mesh_size()}"
        )
    return [MeshCoordinate(*divmod(at, mesh[1])) for at in range(parts.mesh_size())]


# The fabric.

_config = [FabricConfig.DISABLED]
_RINGS = {
    FabricConfig.FABRIC_1D_RING: (True, True),
    FabricConfig.FABRIC_2D_TORUS_X: (False, True),
    FabricConfig.FABRIC_2D_TORUS_Y: (True, False),
    FabricConfig.FABRIC_2D_TORUS_XY: (True, True),
}


def set_fabric_config(
    config: Any,
    reliability_mode: Any = FabricReliabilityMode.STRICT_INIT,
    num_planes: int | None = None,
    fabric_tensix_config: Any = FabricTensixConfig.DISABLED,
    fabric_udm_mode: Any = FabricUDMMode.DISABLED,
    fabric_manager_mode: Any = FabricManagerMode.DEFAULT,
    router_config: FabricRouterConfig | None = None,
) -> None:
    """Keeps how chips are connected, which get_usable_topology follows.

    Args:
        reliability_mode, num_planes, fabric_tensix_config, fabric_udm_mode, fabric_manager_mode, router_config: of the
            hardware; make no difference here.
    Raises:
        TypeError: an argument is of another type.
    """
    for name, value, kind in (
        ("config", config, FabricConfig),
        ("reliability_mode", reliability_mode, FabricReliabilityMode),
        ("fabric_tensix_config", fabric_tensix_config, FabricTensixConfig),
        ("fabric_udm_mode", fabric_udm_mode, FabricUDMMode),
        ("fabric_manager_mode", fabric_manager_mode, FabricManagerMode),
        ("num_planes", num_planes, int | None),
        ("router_config", router_config, FabricRouterConfig | None),
    ):
        if not isinstance(value, kind):
            expected = getattr(kind, "__name__", kind)
            raise TypeError(f"ttnn.set_fabric_config: {name} is {value!r}; expected {expected}")
    _config[0] = config


def get_fabric_config() -> Any:
    """Returns what set_fabric_config kept; DISABLED before."""
    return _config[0]


def _axis(function: str, device: Device, cluster_axis: int | None) -> list[int]:
    shape = list(device.get_mesh_shape())
    if cluster_axis is None:
        return shape
    if cluster_axis not in (0, 1):
        raise ValueError(f"ttnn.{function}: cluster_axis is {cluster_axis!r}; expected None, 0 or 1")
    return [shape[cluster_axis]]


def get_num_links(mesh_device: Device, cluster_axis: int | None = None) -> int:
    """Returns the links between neighbours of a mesh: one, or none along an axis of a single device.

    Raises:
        TypeError: mesh_device is no device.
        ValueError: cluster_axis is neither None, 0 nor 1.
    """
    if not isinstance(mesh_device, Device):
        raise TypeError(f"ttnn.get_num_links: mesh_device is {mesh_device!r}; expected an open device")
    return int(max(_axis("get_num_links", mesh_device, cluster_axis)) > 1)


def get_usable_topology(tensor: Tensor, topology: Any = None, cluster_axis: int | None = None) -> Any:
    """Returns how a collective may run: Ring where the fabric closes an axis of more than two devices, else Linear.

    Args:
        topology: the request; Ring becomes Linear where there is no ring.
    Raises:
        TypeError: an argument is of another type.
        ValueError: the tensor lies on the host, or cluster_axis is neither None, 0 nor 1.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"ttnn.get_usable_topology: tensor is {tensor!r}; expected a ttnn.Tensor")
    if not (topology is None or isinstance(topology, _TOPOLOGY)):
        raise TypeError(f"ttnn.get_usable_topology: topology is {topology!r}; expected a ttnn.Topology")
    device = tensor.device()
    if device is None:
        raise ValueError("ttnn.get_usable_topology: tensor lies on the host; expected one on a device")
    sizes = _axis("get_usable_topology", device, cluster_axis)
    rings = _RINGS.get(_config[0], (False, False))
    closed = any(rings) if cluster_axis is None else rings[cluster_axis]
    if topology in (None, _TOPOLOGY.Ring):
        return _TOPOLOGY.Ring if closed and max(sizes) > 2 else _TOPOLOGY.Linear
    return topology


def get_all_fabric_mesh_ids() -> list[MeshId]:
    """Returns the numbers of the meshes of the system: it has one."""
    return [MeshId(0)]


def get_all_mgd_fabric_types() -> list[Any]:
    """Returns how the links of each mesh close to rings: in both directions."""
    return [FabricType.TORUS_XY]


def get_physical_mesh_shapes() -> dict[int, list[int]]:
    """Returns the shape of each mesh of the system: all chips in a row."""
    from ..device import get_num_devices

    return {0: [1, get_num_devices()]}


# Processes. One process runs all chips, as a launch of a single one does.

_begun = [False]
_mail: dict[int, list[bytes]] = {}


def init_distributed_context() -> None:
    """Begins the context of a launch of one process."""
    _begun[0] = True


def distributed_context_is_initialized() -> bool:
    """Tells whether init_distributed_context was called."""
    return _begun[0]


def _context(function: str) -> None:
    if not _begun[0]:
        raise RuntimeError(f"ttnn.{function}: there is no context; call ttnn.init_distributed_context first")


def using_distributed_env() -> bool:
    """Tells whether several processes were launched together, which the simulator does not need."""
    return False


def distributed_context_get_rank() -> Rank:
    """Returns the number of this process."""
    _context("distributed_context_get_rank")
    return Rank(0)


def distributed_context_get_size() -> Size:
    """Returns the number of processes."""
    _context("distributed_context_get_size")
    return Size(1)


def distributed_context_world_rank() -> Rank:
    """Returns the number of this process among all groups."""
    return distributed_context_get_rank()


def distributed_context_world_size() -> Size:
    """Returns the number of processes of all groups."""
    return distributed_context_get_size()


def distributed_context_barrier() -> None:
    """Waits for all processes, of which there is one."""
    _context("distributed_context_barrier")


def distributed_context_allgather_int(value: int) -> list[int]:
    """Returns the numbers that all processes give, in the order of their ranks."""
    _context("distributed_context_allgather_int")
    if type(value) is not int:
        raise TypeError(f"ttnn.distributed_context_allgather_int: value is {value!r}; expected an integer")
    return [value]


def distributed_context_subcontext_count() -> int:
    """Returns the number of groups of processes."""
    _context("distributed_context_subcontext_count")
    return 1


def distributed_context_subcontext_id() -> int | None:
    """Returns the group of this process; None, as there are no groups but all."""
    _context("distributed_context_subcontext_id")
    return None


def distributed_context_subcontext_sizes() -> list[int]:
    """Returns the processes of each group."""
    _context("distributed_context_subcontext_sizes")
    return [1]


def _check_number(function: str, name: str, value: int) -> None:
    _context(function)
    if value != 0:
        raise ValueError(f"ttnn.{function}: {name} is {value!r}; expected 0, as one process is launched")


def distributed_context_subcontext_size(subcontext_id: int) -> Size:
    """Returns the processes of a group.

    Raises:
        ValueError: there is no such group.
    """
    _check_number("distributed_context_subcontext_size", "subcontext_id", subcontext_id)
    return Size(1)


def distributed_context_local_to_world_rank(subcontext_id: int, local_rank: int) -> Rank:
    """Returns the number, among all, of a process of a group.

    Raises:
        ValueError: there is no such group or process.
    """
    _check_number("distributed_context_local_to_world_rank", "subcontext_id", subcontext_id)
    _check_number("distributed_context_local_to_world_rank", "local_rank", local_rank)
    return Rank(0)


def distributed_context_send_bytes(data: bytes, dest: int, tag: int = 0) -> None:
    """Sends bytes to a process, which receives them by distributed_context_recv_bytes.

    Raises:
        ValueError: there is no such process.
    """
    _check_number("distributed_context_send_bytes", "dest", dest)
    _mail.setdefault(tag, []).append(bytes(data))


def distributed_context_recv_bytes(size: int, source: int, tag: int = 0) -> bytes:
    """Returns the first bytes that a process sent with a tag.

    Raises:
        ValueError: there is no such process, or it sent another number of bytes.
        RuntimeError: nothing was sent, so that the call would wait forever.
    """
    _check_number("distributed_context_recv_bytes", "source", source)
    if not _mail.get(tag):
        raise RuntimeError(f"ttnn.distributed_context_recv_bytes: nothing was sent with tag {tag}")
    if len(_mail[tag][0]) != size:
        raise ValueError(f"ttnn.distributed_context_recv_bytes: size is {size}; {len(_mail[tag][0])} bytes were sent")
    return _mail[tag].pop(0)
