# SPDX-License-Identifier: Apache-2.0
"""Functions between chips compared with PyTorch's of all chips' parts: four chips, data types, odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import ttnn
from value_rows import KINDS, compare, exact

Tensor = torch.Tensor
CHIPS = 4
SIZES = [(8, 12, 33), (4, 4, 4), (4, 0, 4)]


@pytest.fixture(scope="module")
def mesh() -> Iterator[ttnn.MeshDevice]:
    with ttnn.create_mesh_device(ttnn.MeshShape(1, CHIPS)) as mesh:
        yield mesh


def put(values: Tensor, kind: str, mesh: Any, dim: int | None = 0) -> ttnn.Tensor:
    """Returns a tensor whose parts along a dimension are on one chip each; the same on all without a dimension."""
    values = values.mul(20).round().int() if kind == "i32" else values
    mapper = ttnn.ReplicateTensorToMesh(mesh) if dim is None else ttnn.ShardTensorToMesh(mesh, dim=dim)
    return ttnn.from_torch(values, KINDS[kind], layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper)


def parts_of(tensor: ttnn.Tensor) -> list[Tensor]:
    return [exact(part) for part in ttnn.get_device_tensors(tensor)]


def chunks(values: Tensor, dim: int) -> list[Tensor]:
    return list(values.chunk(CHIPS, dim)) if values.shape[dim] else [values] * CHIPS


def total(parts: list[Tensor]) -> Tensor:
    return torch.stack(parts).sum(0)


def joined(parts: list[Tensor], dim: int) -> list[Tensor]:
    return [torch.cat(parts, dim)] * CHIPS


# By name: the call of a tensor, and what chips have afterwards, by PyTorch's functions of what they had.
Call = Callable[[Any], Any]
ROWS: dict[str, tuple[Call, Callable[[list[Tensor]], list[Tensor]]]] = {
    **{f"all_gather-{dim}": (partial(ttnn.all_gather, dim=dim),
                             partial(joined, dim=dim)) for dim in (0, 1, -1)},
    "all_reduce-sum": (ttnn.all_reduce, lambda p: [total(p)] * CHIPS),
    "all_reduce-max": (lambda x: ttnn.all_reduce(x, math_op=ttnn.ReduceType.Max),
                       lambda p: [torch.stack(p).amax(0)] * CHIPS),
    "all_reduce-min": (lambda x: ttnn.all_reduce(x, math_op=ttnn.ReduceType.Min),
                       lambda p: [torch.stack(p).amin(0)] * CHIPS),
    "reduce_scatter": (lambda x: ttnn.reduce_scatter(x, 1), lambda p: chunks(total(p), 1)),
    "reduce_scatter-max": (lambda x: ttnn.reduce_scatter(x, 1, math_op=ttnn.ReduceType.Max),
                           lambda p: chunks(torch.stack(p).amax(0), 1)),
    "all_to_all": (
        lambda x: ttnn.all_to_all(x, 1, 0, split_count=CHIPS, replica_groups=[0, 1, 2, 3]),
        lambda p: [torch.cat([chunks(each, 1)[chip] for each in p], 0) for chip in range(CHIPS)]),
    "collective_permute": (lambda x: ttnn.collective_permute(x, [0, 1, 1, 2, 3, 0]),
                           lambda p: [p[3], p[0], p[1], torch.zeros_like(p[0])]),
    "experimental.reduce_scatter_minimal_async": (
        lambda x: ttnn.experimental.reduce_scatter_minimal_async(x, dim=1), lambda p: chunks(total(p), 1)),
    "mesh_partition": (lambda x: ttnn.mesh_partition(ttnn.all_gather(x, 0), 0, cluster_axis=1), lambda p: p),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["f32", "bf16", "bfp8", "i32"])
@pytest.mark.parametrize("name", ROWS)
def test_collectives(name: str, kind: str, mesh: ttnn.MeshDevice) -> None:
    ours, theirs = ROWS[name]
    for sizes in SIZES:
        tensor = put(torch.randn(sizes, generator=torch.Generator().manual_seed(3)), kind, mesh)
        result = ours(tensor)
        expected = theirs(parts_of(tensor))
        for chip, part in enumerate(ttnn.get_device_tensors(result)):
            compare(part, expected[chip], 1.0, f"ttnn.{name}, {sizes}, {kind}, chip {chip}")


@pytest.mark.parametrize("kind", ["f32", "bf16"])
def test_points(kind: str, mesh: ttnn.MeshDevice) -> None:
    tensor = put(torch.randn(8, 33), kind, mesh)
    had = parts_of(tensor)
    found = parts_of(ttnn.point_to_point(tensor, [0, 1], [0, 3]))
    assert torch.equal(found[3], had[1])


@pytest.mark.parametrize("kind", ["f32", "bf16"])
@pytest.mark.parametrize("name", ["distributed_layer_norm", "distributed_rms_norm"])
@pytest.mark.parametrize("rows", [32, 5])
def test_norms_of_parts(name: str, kind: str, rows: int, mesh: ttnn.MeshDevice) -> None:
    generator = torch.Generator().manual_seed(4)
    values, weights = torch.randn(1, 1, rows, 128, generator=generator), torch.randn(128, generator=generator)
    x, w = put(values, kind, mesh, -1), put(weights.reshape(1, 1, 1, -1), kind, mesh, -1)
    whole, weight = torch.cat(parts_of(x), -1), torch.cat(parts_of(w), -1).reshape(-1)
    norm = F.layer_norm if "layer" in name else F.rms_norm
    expected = norm(whole, (128,), weight, eps=1e-5).chunk(CHIPS, -1)
    result = getattr(ttnn, name)(x, weight=w, cluster_axis=1, epsilon=1e-5, device=mesh)
    for chip, part in enumerate(ttnn.get_device_tensors(result)):
        compare(part, expected[chip], 4.0, f"ttnn.{name}, {kind}, chip {chip}")


def test_experts_of_a_chip(mesh: ttnn.MeshDevice) -> None:
    """Scores of a chip's own experts, and which of 16 tokens have any of them."""
    experts, chosen, tokens = 8, 2, 32
    generator = torch.Generator().manual_seed(5)
    scores = torch.rand(1, tokens, 1, experts, generator=generator) + 0.1
    picks = torch.stack([torch.randperm(experts, generator=generator)[:chosen] for _ in range(tokens)])
    owners = torch.eye(CHIPS, dtype=torch.int32).repeat_interleave(experts // CHIPS, 0).reshape(1, 1, experts, CHIPS)
    placed: dict[str, Any] = {"device": mesh, "mesh_mapper": ttnn.ReplicateTensorToMesh(mesh)}
    found, present = ttnn.moe_expert_token_remap(
        ttnn.from_torch(scores.reshape(1, 1, tokens, experts).bfloat16(), **placed),
        ttnn.from_torch(owners, ttnn.uint16, **placed),
        ttnn.from_torch(picks.reshape(1, 1, tokens, chosen).int(), ttnn.uint16, **placed),
        reduction_size=16,
    )
    mask = torch.zeros(tokens, experts).scatter(1, picks, 1.0)
    kept = (scores.reshape(tokens, experts).bfloat16() * mask).chunk(CHIPS, 1)
    for chip in range(CHIPS):
        assert torch.equal(parts_of(found)[chip].reshape(tokens, -1), kept[chip].double())
        reduced = mask.chunk(CHIPS, 1)[chip].reshape(tokens // 16, 16, -1).amax(1)
        assert torch.equal(parts_of(present)[chip].reshape(reduced.shape), reduced.long())
