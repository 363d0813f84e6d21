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
        (lambda: ttnn.ConcatMesh2dToTensor(mesh, None, dims=(0, 1, 2)), r"dims is \(0, 1, 2\); expected one dimension"),
        (lambda: ttnn.ShardTensor2dMesh(mesh, None, dims=(0, 1, 2)), r"dims is \(0, 1, 2\); expected one dimension"),
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


def parts_of(tensor: ttnn.Tensor) -> list[torch.Tensor]:
    return [ttnn.to_torch(part) for part in ttnn.get_device_tensors(tensor)]


def in_bytes(mesh: ttnn.MeshDevice) -> int:
    return sum(view.total_bytes_allocated_per_bank for view in mesh.get_memory_view().values())


def test_target_without_mapper_stays_where_it_is(mesh: ttnn.MeshDevice) -> None:
    """Its address, what else holds it, and traces that read it see the results; memory is held once."""
    x = ttnn.from_torch(VALUES, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
    out = ttnn.full([1, 16], 3.0, device=mesh, dtype=ttnn.float32, layout=x.layout)
    alias, copy = ttnn.to_device(out, mesh), ttnn.from_device(out)
    trace = ttnn.begin_trace_capture(mesh)
    doubled = ttnn.multiply(out, 2.0)
    ttnn.end_trace_capture(mesh, trace)
    address, used = out.buffer_address(), in_bytes(mesh)
    ttnn.add(x, x, output_tensor=out)
    assert (out.buffer_address(), in_bytes(mesh)) == (address, used)
    expected = list((2 * VALUES).chunk(8))
    for tensor, factor in ((out, 1), (alias, 1)):
        assert all(torch.equal(a, factor * b) for a, b in zip(parts_of(tensor), expected, strict=True))
    assert torch.equal(ttnn.to_torch(copy), torch.full((1, 16), 3.0))
    where = doubled.buffer_address()
    for _ in range(2):
        ttnn.execute_trace(mesh, trace)
        assert all(torch.equal(a, 2 * b) for a, b in zip(parts_of(doubled), expected, strict=True))
    assert doubled.buffer_address() == where
    ttnn.release_trace(mesh, trace)


@pytest.mark.parametrize("mapped", [True, False], ids=["mapper", "results"])
def test_equal_results_in_a_target_with_a_value_for_each_chip(mesh: ttnn.MeshDevice, mapped: bool) -> None:
    if mapped:
        out = ttnn.from_torch(VALUES, device=mesh, mesh_mapper=ttnn.ReplicateTensorToMesh(mesh))
    else:
        out = ttnn.full([8, 16], 3.0, device=mesh, dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT)
        chips = ttnn.from_torch(torch.arange(8.0).reshape(8, 1), device=mesh,
                                mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))  # fmt: skip
        ttnn.add(out, chips, output_tensor=out)
        assert [part[0, 0].item() for part in parts_of(out)] == [3.0 + chip for chip in range(8)]
    whole = ttnn.from_torch(VALUES, device=mesh)
    calls = {
        "add": (lambda: ttnn.add(whole, whole, output_tensor=out), 2 * VALUES),
        "reshape": (lambda: ttnn.reshape(ttnn.from_torch(VALUES.reshape(16, 8), device=mesh), [8, 16]), VALUES),
        "in place": (lambda: ttnn.add_(out, 1.0), 2 * VALUES + 1),
        "concat": (lambda: ttnn.concat([whole[:4], whole[4:]], 0, output_tensor=out), VALUES),
        "neg": (lambda: ttnn.neg(whole, output_tensor=out), -VALUES),
    }
    address = out.buffer_address()
    for name, (call, expected) in calls.items():
        found = call()
        assert all(torch.equal(part, expected) for part in parts_of(found)), name
    assert out.buffer_address() == address


def test_an_operand_as_its_own_target(mesh: ttnn.MeshDevice) -> None:
    """Collectives that read a tensor with one value for all chips, and write it."""
    whole = ttnn.from_torch(VALUES, device=mesh)
    address = whole.buffer_address()
    with pytest.raises(TypeError, match="output_tensor"):
        ttnn.all_reduce(whole, cluster_axis=1, output_tensor=whole)
    scattered = ttnn.reduce_scatter(whole, 1, cluster_axis=1)
    out = ttnn.full([8, 4], 0.0, device=mesh, dtype=ttnn.float32, layout=whole.layout)
    ttnn.reduce_scatter(whole, 1, cluster_axis=1, output_tensor=out)
    for found, expected in zip(parts_of(out), parts_of(scattered), strict=True):
        assert torch.equal(found, expected)
    chips = ttnn.from_torch(torch.arange(8.0).reshape(8, 1), device=mesh,
                            mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))  # fmt: skip
    ttnn.multiply_(whole, chips)
    assert all(torch.equal(part, chip * VALUES) for chip, part in enumerate(parts_of(whole)))
    assert whole.buffer_address() == address


def test_values_of_chips_are_copied_to_a_tensor_without_mapper(mesh: ttnn.MeshDevice) -> None:
    slot = ttnn.from_torch(torch.zeros(1, 16), device=mesh)
    address = slot.buffer_address()
    host = ttnn.from_torch(VALUES, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
    ttnn.copy_host_to_device_tensor(host, slot)
    assert all(torch.equal(a, b) for a, b in zip(parts_of(slot), VALUES.chunk(8), strict=True))
    ttnn.copy_host_to_device_tensor(ttnn.from_torch(VALUES[:1]), slot)
    assert all(torch.equal(part, VALUES[:1]) for part in parts_of(slot))
    assert slot.buffer_address() == address


def test_device_tensors(mesh: ttnn.MeshDevice) -> None:
    """One for each device, also of a tensor without a mapper; of a host tensor one for each shard."""
    for tensor in (
        ttnn.from_torch(VALUES, device=mesh),
        ttnn.ones([8, 16], device=mesh) * 0 + ttnn.from_torch(VALUES, ttnn.bfloat16, device=mesh),
        ttnn.from_torch(VALUES, device=mesh, mesh_mapper=ttnn.ReplicateTensorToMesh(mesh)),
    ):
        parts = parts_of(tensor)
        assert len(parts) == 8 and all(torch.equal(part.float(), VALUES) for part in parts)
    parts = ttnn.get_device_tensors(ttnn.from_torch(VALUES, device=mesh))
    ttnn.fill(parts[0], 5.0, output_tensor=parts[0])
    assert torch.equal(ttnn.to_torch(parts[1]), VALUES)
    assert len(ttnn.get_device_tensors(ttnn.from_torch(VALUES))) == 1
    assert len(ttnn.get_device_tensors(ttnn.from_torch(torch.zeros(0, 4), device=mesh))) == 8
    gone = ttnn.from_torch(VALUES, device=mesh)
    ttnn.deallocate(gone)
    with pytest.raises(ttnn.Error, match=r"get_device_tensors: the tensor of shape \[8, 16\] was deallocated"):
        ttnn.get_device_tensors(gone)


def test_target_without_mapper_and_wrong_shape(mesh: ttnn.MeshDevice) -> None:
    x = ttnn.from_torch(VALUES, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
    out = ttnn.full([5, 16], 3.0, device=mesh, dtype=ttnn.float32, layout=x.layout)
    with pytest.raises(ttnn.Error, match=r"output_tensor has shape \[5, 16\]; expected \[4, 16\]"):
        ttnn.all_gather(x, 0, cluster_axis=1, output_tensor=out)
    assert torch.equal(ttnn.to_torch(ttnn.get_device_tensors(out)[3]), torch.full((5, 16), 3.0))


def test_a_written_operand_with_one_value_for_all_chips(mesh: ttnn.MeshDevice) -> None:
    """Gets a value for each chip, in its place; a call that fails leaves it alone."""

    def placed(values: torch.Tensor, mapper: object = None, device: object = mesh) -> ttnn.Tensor:
        return ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, mesh_mapper=mapper)

    tokens = torch.arange(8.0).reshape(8, 1, 1, 1).expand(8, 1, 32, 64)
    update = placed(tokens, ttnn.ShardTensorToMesh(mesh, dim=0))
    composer = ttnn.ConcatMeshToTensor(mesh, dim=0)
    for mapper in (None, ttnn.ReplicateTensorToMesh(mesh)):
        cache = placed(torch.zeros(1, 1, 32, 64), mapper)
        address = cache.buffer_address()
        if mapper is None:
            with pytest.raises(ttnn.OpError, match=r"ttnn\.fill_cache: batch_idx is 3"):
                ttnn.fill_cache(cache, update, 3)
            assert cache.get_num_shards() == 1
        for _ in range(2):
            ttnn.fill_cache(cache, update, 0)
            assert torch.equal(ttnn.to_torch(cache, mesh_composer=composer).float(), tokens)
        ttnn.fill_cache(cache, placed(torch.ones(1, 1, 32, 64)), 0)
        assert torch.equal(ttnn.to_torch(cache).float(), torch.ones(1, 1, 32, 64))
        assert cache.buffer_address() == address
    with pytest.raises(ttnn.OpError, match=r"cache_tensor lies on the host with one value for all chips, .* each of 8"):
        ttnn.fill_cache(placed(torch.zeros(1, 1, 32, 64), device=None), ttnn.from_device(update), 0)
