# SPDX-License-Identifier: Apache-2.0
"""How tensors of the host are spread over a mesh of chips, and put together again.

A mapper cuts a torch tensor into one part for each device, row by row; a composer is its inverse.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from _ttmlir_runtime.runtime import Device

from .configs import CONFIGS, PlacementReplicate, PlacementShard, PlacementType
from .library.prepared import demands
from .shape import MeshShape

if TYPE_CHECKING:
    import torch

    from ttnn import MeshComposerConfig, MeshMapperConfig, Placement


class MeshMapper:
    """Cuts (a dimension) or copies (None) along each axis of the mesh: rows, columns."""

    def __init__(self, mesh_device: Device | MeshShape, dims: tuple[int | None, int | None]) -> None:
        self.mesh_shape = MeshShape(mesh_device.get_mesh_shape() if isinstance(mesh_device, Device) else mesh_device)
        self.dims = dims

    def map(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """Returns the part of each device, row by row."""
        for dim in dict.fromkeys(self.dims):
            if dim is not None:
                self._check(tensor, dim)
        parts = [tensor]
        for count, dim in zip(self.mesh_shape, self.dims, strict=True):
            parts = [
                cut for part in parts for cut in ([part] * count if dim is None else part.tensor_split(count, dim))
            ]
        return parts

    def config(self) -> MeshMapperConfig:
        """Returns what each axis of the mesh does, as a config."""
        placements = [PlacementReplicate() if dim is None else PlacementShard(dim) for dim in self.dims]
        found: MeshMapperConfig = CONFIGS["ttnn.mesh_mapper_config"](placements=placements)
        return found

    def unwrap(self) -> MeshMapper:
        """Returns the mapper itself, as ReplicateTensorToMeshWrapper does."""
        return self

    def _attribute(self) -> tuple[str, dict[str, Any]]:
        """Lets distribute_tensor accept a mapper, too."""
        config: Any = self.config()
        found: tuple[str, dict[str, Any]] = config._attribute()
        return found

    def _check(self, tensor: torch.Tensor, dim: int) -> None:
        if not -tensor.dim() <= dim < tensor.dim():
            raise ValueError(f"{type(self).__name__}: there is no dimension {dim} in shape {list(tensor.shape)}")
        count = math.prod(n for n, cut in zip(self.mesh_shape, self.dims, strict=True) if cut == dim)
        if tensor.shape[dim] % count:
            raise ValueError(
                f"{type(self).__name__}: dimension {dim} of shape {list(tensor.shape)} cannot be cut into {count} "
                "equal parts"
            )


class ReplicateTensorToMesh(MeshMapper):
    """Every device gets the whole tensor."""

    def __init__(self, mesh_device: Device) -> None:
        super().__init__(mesh_device, (None, None))


class ReplicateTensorToMeshWrapper:
    """Holds a mapper; from_torch takes it in the place of the mapper.

    Raises:
        TypeError: it is no mapper.
    """

    def __init__(self, mapper: MeshMapper) -> None:
        if not isinstance(mapper, MeshMapper):
            raise TypeError(f"ReplicateTensorToMeshWrapper: mapper is {mapper!r}; expected a mapper of tensors")
        self._mapper = mapper

    def unwrap(self) -> MeshMapper:
        """Returns the mapper."""
        return self._mapper


class ShardTensorToMesh(MeshMapper):
    """The devices, row by row, get equal parts along a dimension."""

    def __init__(self, mesh_device: Device, dim: int) -> None:
        super().__init__(mesh_device, (dim, dim))


class ShardTensor2dMesh(MeshMapper):
    """dims[0] is cut over the rows of the mesh and dims[1] over its columns; None copies."""

    def __init__(self, mesh_device: Device, mesh_shape: Sequence[int] | None, dims: Sequence[int | None]) -> None:
        _require_mesh(mesh_device, mesh_shape, type(self).__name__)
        super().__init__(mesh_device, _two(dims, type(self).__name__))


class MeshComposer:
    """Puts the parts of the devices together along a dimension for each axis of the mesh: rows, columns.

    override: rows and columns that are taken, from the first on; the others are left out.
    """

    def __init__(self, mesh_device: Device, dims: tuple[int, int], override: Sequence[int] | None = None) -> None:
        self.mesh_shape = MeshShape(mesh_device.get_mesh_shape())
        self.dims = dims
        self.override = None if override is None else tuple(override)
        if self.override is not None and not (
            len(self.override) == 2 and all(1 <= n <= m for n, m in zip(self.override, self.mesh_shape, strict=True))
        ):
            raise ValueError(
                f"{type(self).__name__}: mesh_shape_override is {self.override}; expected at most "
                f"{tuple(self.mesh_shape)}"
            )

    def compose(self, parts: list[torch.Tensor]) -> torch.Tensor:
        """Returns one tensor of the parts of the devices, row by row."""
        import torch

        rows, columns = self.mesh_shape
        if len(parts) == 1:  # the same values on all devices
            parts = parts * (rows * columns)
        if len(parts) != rows * columns:
            raise ValueError(f"{type(self).__name__}: {len(parts)} parts for a mesh of {rows}x{columns} devices")
        taken, width = self.override or (rows, columns)
        cut = [torch.cat(parts[row * columns : row * columns + width], self.dims[1]) for row in range(taken)]
        return torch.cat(cut, self.dims[0])

    def _attribute(self) -> tuple[str, dict[str, Any]]:
        """Lets aggregate_tensor accept a composer, too."""
        override = None if self.override is None else list(self.override)
        return CONFIGS["ttnn.mesh_composer_config"](dims=list(self.dims), mesh_shape_override=override)._attribute()


class ConcatMeshToTensor(MeshComposer):
    """The parts of the devices, row by row, concatenated along a dimension."""

    def __init__(self, mesh_device: Device, dim: int) -> None:
        super().__init__(mesh_device, (dim, dim))


class ConcatMesh2dToTensor(MeshComposer):
    """dims[0] is joined over the rows of the mesh and dims[1] over its columns."""

    def __init__(self, mesh_device: Device, mesh_shape: Sequence[int] | None, dims: Sequence[int]) -> None:
        _require_mesh(mesh_device, mesh_shape, type(self).__name__)
        rows, columns = _two(dims, type(self).__name__)
        if rows == columns:
            raise ValueError(f"{type(self).__name__}: dims {tuple(dims)}; expected two different dimensions")
        super().__init__(mesh_device, (rows, columns))


@demands("mesh_device", "config")
def create_mesh_mapper(
    mesh_device: Device | MeshShape | None = None,
    config: MeshMapperConfig | None = None,
    *,
    mesh_shape: MeshShape | None = None,
) -> MeshMapper:
    """Returns a mapper that does with each axis of a mesh, or of meshes of a shape, what the config says.

    Raises:
        TypeError: neither a mesh nor a shape is given, or no config.
        ValueError: the config has not one placement for the rows and one for the columns.
    """
    mesh: Any = mesh_device if mesh_shape is None else mesh_shape
    if not isinstance(mesh, Device | MeshShape) or (mesh_shape is not None and mesh_device is not None):
        raise TypeError(
            f"create_mesh_mapper: mesh_device is {mesh_device!r} and mesh_shape {mesh_shape!r}; expected one of them"
        )
    if not isinstance(config, CONFIGS["ttnn.mesh_mapper_config"]):
        raise TypeError(f"create_mesh_mapper: config is {config!r}; expected a MeshMapperConfig")
    dims = [_dim_of(placement) for placement in config.placements]
    if len(dims) != 2:
        raise ValueError(
            f"create_mesh_mapper: {len(dims)} placements; expected one for the rows and one for the columns"
        )
    return MeshMapper(mesh, (dims[0], dims[1]))


def create_mesh_composer(mesh_device: Device, config: MeshComposerConfig) -> MeshComposer:
    """Returns a composer that joins along the dimensions of the config."""
    if len(config.dims) != 2:
        raise ValueError(
            f"create_mesh_composer: {len(config.dims)} dims; expected one for the rows and one for the columns"
        )
    composer = ConcatMesh2dToTensor(mesh_device, None, dims=config.dims)
    return MeshComposer(mesh_device, composer.dims, config.mesh_shape_override)


def _dim_of(placement: Placement) -> int | None:
    return placement.dim if placement.type is PlacementType.SHARD else None


def _require_mesh(mesh_device: Device, mesh_shape: Sequence[int] | None, what: str) -> None:
    found = MeshShape(mesh_device.get_mesh_shape())
    if mesh_shape is not None and MeshShape(mesh_shape) != found:
        raise ValueError(f"{what}: mesh_shape is {tuple(mesh_shape)}, but the device is a mesh of {tuple(found)}")


def _two(dims: Any, what: str) -> Any:
    """Returns the dimension of the rows of a mesh and that of its columns."""
    if not isinstance(dims, list | tuple) or len(dims) != 2:
        raise ValueError(f"{what}: dims is {dims!r}; expected one dimension for the rows and one for the columns")
    return tuple(dims)


# What from_torch and to_torch do with tensors of a mesh inside of `with distribute(...)`.
DEFAULT_MAPPER: ContextVar[MeshMapper | None] = ContextVar("mesh_mapper", default=None)
DEFAULT_COMPOSER: ContextVar[MeshComposer | None] = ContextVar("mesh_composer", default=None)


@contextmanager
def distribute(default: MeshMapper | ReplicateTensorToMeshWrapper | MeshComposer) -> Iterator[None]:
    """Gives from_torch a mapper, or to_torch a composer, inside of a `with` block, where a call names none.

    Raises:
        TypeError: what is given is neither.
    """
    chosen: Any
    if isinstance(default, MeshMapper | ReplicateTensorToMeshWrapper):
        variable: ContextVar[Any] = DEFAULT_MAPPER
        chosen = default.unwrap()
    elif isinstance(default, MeshComposer):
        variable, chosen = DEFAULT_COMPOSER, default
    else:
        raise TypeError(f"ttnn.distribute: default is {default!r}; expected a mapper or a composer of tensors")
    token = variable.set(chosen)
    try:
        yield
    finally:
        variable.reset(token)
