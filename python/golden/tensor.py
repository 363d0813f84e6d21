# SPDX-License-Identifier: Apache-2.0
"""Golden values on a mesh: one torch tensor for each device."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .optional import torch


class GoldenMapTensor:
    """The shards of a value, by device id in row-major order of the mesh.

    A value that is not distributed (a function argument, a result gathered to the host, any value on a 1x1 mesh) has
    the single shard 0. Torch functions apply to each shard: `torch.add(a, b)` with GoldenMapTensors is one, too.
    """

    def __init__(self, shard_map: dict[int, torch.Tensor], mesh_shape: Sequence[int] = (1, 1)):
        if not shard_map:
            raise ValueError("a GoldenMapTensor needs at least one shard")
        devices = mesh_shape[0] * mesh_shape[1]
        wrong = [d for d in shard_map if not 0 <= d < devices]
        if wrong:
            raise ValueError(
                f"shards of devices {wrong}, but a mesh of {mesh_shape[0]}x{mesh_shape[1]} ends at {devices - 1}"
            )
        first = next(iter(shard_map.values()))
        for device, shard in shard_map.items():
            if not isinstance(shard, torch.Tensor):
                raise TypeError(f"shard {device} is a {type(shard).__name__}, expected a torch.Tensor")
            if shard.dtype != first.dtype:
                raise ValueError(f"shard {device} is {shard.dtype}, others are {first.dtype}")
        self._shards = dict(sorted(shard_map.items()))
        self._mesh_shape = (int(mesh_shape[0]), int(mesh_shape[1]))

    @classmethod
    def of(
        cls, value: GoldenMapTensor | torch.Tensor | dict[int, torch.Tensor], mesh_shape: Sequence[int] = (1, 1)
    ) -> GoldenMapTensor:
        """Returns `value` in this form; a plain tensor becomes shard 0."""
        if isinstance(value, GoldenMapTensor):
            return value
        return cls(value if isinstance(value, dict) else {0: value}, mesh_shape)

    @property
    def shard_map(self) -> dict[int, torch.Tensor]:
        return self._shards

    @property
    def mesh_shape(self) -> tuple[int, int]:
        return self._mesh_shape

    @property
    def is_distributed(self) -> bool:
        return len(self._shards) > 1

    @property
    def shape(self) -> torch.Size:
        """Returns shape of a shard."""
        return next(iter(self._shards.values())).shape

    @property
    def dtype(self) -> torch.dtype:
        return next(iter(self._shards.values())).dtype

    def golden_map_tensor_as_torch_tensors(self) -> dict[int, torch.Tensor]:
        return {d: t.contiguous() for d, t in self._shards.items()}

    def zeros_like_builder(self, shape: Sequence[int]) -> GoldenMapTensor:
        """Returns zeros of `shape` on the same devices, with the same dtype."""
        return self.map(lambda t: torch.zeros(tuple(shape), dtype=t.dtype))

    def map(self, function: Callable[[torch.Tensor], torch.Tensor]) -> GoldenMapTensor:
        """Applies to each shard; a tensor that several devices share is computed once and stays shared."""
        done: dict[int, torch.Tensor] = {}
        shards = {}
        for device, tensor in self._shards.items():
            if id(tensor) not in done:
                done[id(tensor)] = function(tensor)
            shards[device] = done[id(tensor)]
        return GoldenMapTensor(shards, self._mesh_shape)

    @staticmethod
    def apply_shardwise(input_tensor: GoldenMapTensor, func: Callable[[torch.Tensor], torch.Tensor]) -> GoldenMapTensor:
        return input_tensor.map(func)

    def shard_at(self, device_id: int) -> torch.Tensor:
        """Returns the tensor of one device; a value that is not distributed is the same on all of them."""
        if device_id in self._shards:
            return self._shards[device_id]
        if not self.is_distributed:
            return next(iter(self._shards.values()))
        raise KeyError(f"device {device_id} has no shard; there are {sorted(self._shards)}")

    def agreed(self, devices: Sequence[int] | None = None) -> torch.Tensor:
        """Returns the tensor that all devices, or those given, have.

        Raises:
            ValueError: names the devices whose values differ from those of the first.
        """
        first, *others = sorted(self._shards) if devices is None else devices
        expected = self.shard_at(first)
        wrong = [d for d in others if not same_values(expected, self.shard_at(d))]
        if wrong:
            raise ValueError(f"expected the same values on chips {[first, *others]}, but {wrong} differ from {first}")
        return expected

    def clone(self) -> GoldenMapTensor:
        return self.map(torch.clone)

    def contiguous(self) -> GoldenMapTensor:
        return self.map(torch.Tensor.contiguous)

    def group_by_axis(self, axis: int) -> list[dict[int, torch.Tensor]]:
        """Returns devices that a collective along mesh axis `axis` joins: the rows (1) or the columns (0) of the
        mesh."""
        rows, columns = self._mesh_shape
        if axis == 0:
            groups = [[r * columns + c for r in range(rows)] for c in range(columns)]
        elif axis == 1:
            groups = [[r * columns + c for c in range(columns)] for r in range(rows)]
        else:
            raise ValueError(f"cluster axis {axis}: a mesh has the axes 0 and 1")
        return [{d: self.shard_at(d) for d in group} for group in groups]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GoldenMapTensor)
            and self._shards.keys() == other._shards.keys()
            and all(torch.equal(t, other._shards[d]) for d, t in self._shards.items())
        )

    __hash__ = None  # type: ignore[assignment]  # equal by value, and values are tensors

    def __repr__(self) -> str:
        rows, columns = self._mesh_shape
        return f"GoldenMapTensor({len(self._shards)} x {tuple(self.shape)} {self.dtype}, mesh {rows}x{columns})"

    @classmethod
    def __torch_function__(cls, func: Callable, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return shardwise(func, *args, **(kwargs or {}))

    def __getattr__(self, name: str) -> Any:
        """Applies methods of torch.Tensor to each shard: golden.reshape(2, 3)."""
        function = getattr(torch.Tensor, name, None) if not name.startswith("_") else None
        if function is None or not callable(function):
            raise AttributeError(f"GoldenMapTensor has no attribute {name!r}")
        return lambda *args, **kwargs: shardwise(function, self, *args, **kwargs)


def same_values(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Returns equal but for rounding: the order of a sum may differ from device to device."""
    if a is b:
        return True
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return torch.allclose(a, b, equal_nan=True) if a.is_floating_point() else torch.equal(a, b)


def _golden_maps(value: Any) -> list[GoldenMapTensor]:
    if isinstance(value, GoldenMapTensor):
        return [value]
    return [g for v in value for g in _golden_maps(v)] if isinstance(value, (list, tuple)) else []


def _at(value: Any, device: int) -> Any:
    if isinstance(value, GoldenMapTensor):
        return value.shard_at(device)
    return type(value)(_at(v, device) for v in value) if type(value) in (list, tuple) else value


def shardwise(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls `function` once for each device with that device's shards; results are GoldenMapTensors again.

    Calls whose shards are the very same tensors (replicated values) are made once. Several results come as a list.
    """
    goldens = _golden_maps(list(args) + list(kwargs.values()))
    devices = sorted({d for g in goldens for d in g.shard_map if g.is_distributed}) or [0]
    # A value that is the same everywhere may not know of the mesh.
    mesh_shape = max((g.mesh_shape for g in goldens), key=math.prod, default=(1, 1))
    done: dict[tuple[int, ...], Any] = {}
    results = {}
    for device in devices:
        key = tuple(id(g.shard_at(device)) for g in goldens)
        if key not in done:
            done[key] = function(*_at(args, device), **{k: _at(v, device) for k, v in kwargs.items()})
        results[device] = done[key]
    first = next(iter(results.values()))
    if isinstance(first, torch.Tensor):
        return GoldenMapTensor(results, mesh_shape)
    if isinstance(first, (list, tuple)):
        return [GoldenMapTensor({d: r[i] for d, r in results.items()}, mesh_shape) for i in range(len(first))]
    return first
