# SPDX-License-Identifier: Apache-2.0
"""Tensors over a mesh of chips."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import ttnn


@pytest.fixture(scope="module")
def mesh() -> Iterator[ttnn.MeshDevice]:
    with ttnn.create_mesh_device(ttnn.MeshShape(2, 4)) as mesh:
        yield mesh


VALUES = torch.arange(8.0 * 16).reshape(8, 16)


def test_replicated(mesh: ttnn.MeshDevice) -> None:
    for mapper in (None, ttnn.ReplicateTensorToMesh(mesh)):
        tensor = ttnn.from_torch(VALUES, device=mesh, mesh_mapper=mapper)
        assert tensor.shape == (8, 16)
        joined = ttnn.to_torch(tensor * 2, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0))
        assert torch.equal(joined, torch.cat([VALUES * 2] * 8))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cut_along_one_dimension(mesh: ttnn.MeshDevice, dim: int) -> None:
    tensor = ttnn.from_torch(VALUES, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=dim))
    parts = ttnn.get_device_tensors(tensor)
    for part, expected in zip(parts, VALUES.chunk(8, dim), strict=True):
        assert torch.equal(ttnn.to_torch(part), expected)
    assert torch.equal(ttnn.to_torch(tensor + 1, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=dim)), VALUES + 1)


def test_cut_along_two_dimensions(mesh: ttnn.MeshDevice) -> None:
    mapper = ttnn.ShardTensor2dMesh(mesh, mesh_shape=(2, 4), dims=(0, 1))
    config = ttnn.MeshMapperConfig(placements=[ttnn.PlacementShard(0), ttnn.PlacementShard(1)])
    composer = ttnn.ConcatMesh2dToTensor(mesh, mesh_shape=(2, 4), dims=(0, 1))
    for each in (mapper, ttnn.create_mesh_mapper(mesh, config)):
        tensor = ttnn.from_torch(VALUES, device=mesh, mesh_mapper=each)
        assert tensor.shape == (4, 4)
        assert torch.equal(ttnn.to_torch(tensor, mesh_composer=composer), VALUES)
    rows = ttnn.from_torch(VALUES, device=mesh, mesh_mapper=ttnn.ShardTensor2dMesh(mesh, None, dims=(0, None)))
    assert rows.shape == (4, 16)
    assert torch.equal(ttnn.to_torch(ttnn.get_device_tensors(rows)[5]), VALUES[4:])


def test_distribute_and_aggregate(mesh: ttnn.MeshDevice) -> None:
    mapper = ttnn.ShardTensor2dMesh(mesh, None, dims=(0, 1))
    tensor = ttnn.distribute_tensor(ttnn.from_torch(VALUES), mapper, mesh)
    assert torch.equal(ttnn.to_torch(tensor, mesh_composer=ttnn.ConcatMesh2dToTensor(mesh, None, dims=(0, 1))), VALUES)
    composer = ttnn.create_mesh_composer(mesh, ttnn.MeshComposerConfig(dims=[0, 1]))
    assert torch.equal(ttnn.to_torch(ttnn.aggregate_tensor(tensor, composer, mesh_device=mesh)), VALUES)
    rows = ttnn.distribute_tensor(ttnn.from_torch(VALUES), ttnn.ShardTensor2dMesh(mesh, None, dims=(None, 1)), mesh)
    first = ttnn.create_mesh_composer(mesh, ttnn.MeshComposerConfig(dims=[0, 1], mesh_shape_override=[1, 4]))
    assert torch.equal(ttnn.to_torch(ttnn.aggregate_tensor(rows, first, mesh_device=mesh)), VALUES)
    assert torch.equal(ttnn.to_torch(rows, mesh_composer=first), VALUES)


def test_what_a_device_is_named_for_lies_on_it(mesh: ttnn.MeshDevice) -> None:
    mapper = ttnn.ShardTensor2dMesh(mesh, None, dims=(0, 1))
    host = ttnn.from_torch(VALUES)
    placed = ttnn.distribute_tensor(host, mapper, mesh)
    assert placed.memory_config().buffer_type == ttnn.BufferType.DRAM
    small = ttnn.distribute_tensor(host, mapper, mesh, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert small.memory_config().buffer_type == ttnn.BufferType.L1
    composer = ttnn.create_mesh_composer(mesh, ttnn.MeshComposerConfig(dims=[0, 1]))
    whole = ttnn.aggregate_tensor(placed, composer)
    assert whole.storage_type() == ttnn.StorageType.HOST
    # The joined tensor goes on being one that each chip has.
    joined = ttnn.aggregate_tensor(placed, composer, memory_config=ttnn.DRAM_MEMORY_CONFIG)
    parts = ttnn.mesh_partition(joined, 1, cluster_axis=1)
    assert parts.shape == (8, 4)
    again = ttnn.distribute_tensor(joined, mapper, mesh)
    assert again.memory_config().buffer_type == ttnn.BufferType.DRAM


def test_collectives(mesh: ttnn.MeshDevice) -> None:
    tensor = ttnn.from_torch(VALUES, device=mesh, mesh_mapper=ttnn.ShardTensor2dMesh(mesh, None, dims=(0, 1)))
    gathered = ttnn.all_gather(tensor, dim=1, cluster_axis=1)
    assert gathered.shape == (4, 16)
    reduced = ttnn.all_reduce(tensor, cluster_axis=0, math_op=ttnn.ReduceType.Sum)
    assert torch.equal(ttnn.to_torch(ttnn.get_device_tensors(reduced)[0]), VALUES[:4, :4] + VALUES[4:, :4])


def test_what_all_chips_agree_on_is_one_tensor(mesh: ttnn.MeshDevice) -> None:
    tensor = ttnn.from_torch(VALUES, device=mesh, mesh_mapper=ttnn.ReplicateTensorToMesh(mesh))
    assert torch.equal(ttnn.to_torch(tensor), VALUES)
    assert tensor.to_list() == VALUES.tolist()
    # Of a value that is the same everywhere, too, each chip gets a result of its own.
    for whole in (tensor, ttnn.from_torch(VALUES, device=mesh)):
        total = ttnn.all_reduce(whole, cluster_axis=1, math_op=ttnn.ReduceType.Sum)
        assert len(ttnn.get_device_tensors(total)) == 8
        assert torch.equal(ttnn.to_torch(total), 4 * VALUES)
        gathered = ttnn.all_gather(whole, dim=0, cluster_axis=0)
        assert torch.equal(ttnn.to_torch(gathered), torch.cat([VALUES] * 2))
        part = ttnn.mesh_partition(whole, dim=0)
        assert [ttnn.to_torch(t).tolist() for t in ttnn.get_device_tensors(part)] == [[row] for row in VALUES.tolist()]


def test_errors(mesh: ttnn.MeshDevice) -> None:
    tensor = ttnn.from_torch(VALUES, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
    for wrong, text in [
        (lambda: ttnn.to_torch(tensor), "all 8 chips, but chips 1, 2, 3, 4, 5, 6 and 7 differ from chip 0"),
        (lambda: tensor.to_list(), "chips 1, 2, 3, 4, 5, 6 and 7 differ from chip 0; give a mesh_composer"),
        (
            lambda: ttnn.from_torch(VALUES[:3], device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0)),
            r"dimension 0 of shape \[3, 16\] cannot be cut into 8 equal parts",
        ),
        (
            lambda: ttnn.from_torch(VALUES, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=2)),
            r"there is no dimension 2 in shape \[8, 16\]",
        ),
        (
            lambda: ttnn.ShardTensor2dMesh(mesh, mesh_shape=(4, 2), dims=(0, 1)),
            r"mesh_shape is \(4, 2\), but the device is .*\(2, 4\)",
        ),
        (lambda: ttnn.ConcatMesh2dToTensor(mesh, None, dims=(1, 1)), "expected two different dimensions"),
    ]:
        with pytest.raises(ValueError, match=text):
            wrong()
    with (
        ttnn.manage_device(0) as other,
        pytest.raises(ttnn.DeviceError, match=r"8 shards, for a mesh of 2x4; .* is 1x1"),
    ):
        ttnn.from_torch(VALUES, device=other, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))


TARGETS = {
    "all_gather": (
        [4, 16],
        lambda x, out: ttnn.all_gather(x, 0, cluster_axis=1, output_tensor=out),
        lambda parts: [VALUES[:4]] * 4 + [VALUES[4:]] * 4,
    ),
    "reduce_scatter": (
        [1, 4],
        lambda x, out: ttnn.reduce_scatter(x, 1, cluster_axis=1, output_tensor=out),
        lambda parts: [piece for row in (parts[:4], parts[4:]) for piece in sum(row).chunk(4, 1)],
    ),
    "add": (
        [1, 16],
        lambda x, out: ttnn.add(x, x, output_tensor=out),
        lambda parts: [2 * part for part in parts],
    ),
    "concat": (
        [2, 16],
        lambda x, out: ttnn.concat([x, x], 0, output_tensor=out),
        lambda parts: [torch.cat([part, part]) for part in parts],
    ),
    "add_": ([1, 16], lambda x, out: ttnn.add_(out, x), lambda parts: [3 + part for part in parts]),
}


@pytest.mark.parametrize("name", TARGETS)
def test_target_without_mapper(mesh: ttnn.MeshDevice, name: str) -> None:
    shape, call, expected = TARGETS[name]
    parts = list(VALUES.chunk(8))
    x = ttnn.from_torch(VALUES, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
    out = ttnn.full(shape, 3.0, device=mesh, dtype=ttnn.float32, layout=x.layout)
    result = call(x, out)
    for tensor in (out, result):
        found = [ttnn.to_torch(part) for part in ttnn.get_device_tensors(tensor)]
        assert all(torch.equal(a, b) for a, b in zip(found, expected(parts), strict=True))


def test_target_without_mapper_and_wrong_shape(mesh: ttnn.MeshDevice) -> None:
    x = ttnn.from_torch(VALUES, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
    out = ttnn.full([5, 16], 3.0, device=mesh, dtype=ttnn.float32, layout=x.layout)
    with pytest.raises(ttnn.Error, match=r"output_tensor has shape \[5, 16\]; expected \[4, 16\]"):
        ttnn.all_gather(x, 0, cluster_axis=1, output_tensor=out)
    assert torch.equal(ttnn.to_torch(ttnn.get_device_tensors(out)[3]), torch.full((5, 16), 3.0))


def test_a_written_operand_with_one_value_for_all_chips(mesh: ttnn.MeshDevice) -> None:
    """Refuses values that differ between chips; a target that was created with a mapper takes them."""

    def placed(values: torch.Tensor, mapper: object = None) -> ttnn.Tensor:
        return ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper)

    tokens = torch.arange(8.0).reshape(8, 1, 1, 1).expand(8, 1, 32, 64)
    update = placed(tokens, ttnn.ShardTensorToMesh(mesh, dim=0))
    with pytest.raises(
        ttnn.Error,
        match=r"ttnn\.fill_cache: cache_tensor has one value for all chips, .* for each of 8; .*ReplicateTensorToMesh",
    ):
        ttnn.fill_cache(placed(torch.zeros(1, 1, 32, 64)), update, 0)
    cache = placed(torch.zeros(1, 1, 32, 64), ttnn.ReplicateTensorToMesh(mesh))
    ttnn.fill_cache(cache, update, 0)
    assert torch.equal(ttnn.to_torch(cache, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0)).float(), tokens)
