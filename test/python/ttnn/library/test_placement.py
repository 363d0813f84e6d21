# SPDX-License-Identifier: Apache-2.0
"""Where memories begin, which cores are next to data, and tensors that are written or joined in part."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import ttnn

LAYOUTS, BUFFERS, ORIENTATIONS = ttnn.TensorMemoryLayout, ttnn.BufferType, ttnn.ShardOrientation
# As ttnn 0.81.1 says of an n150.
NEAREST = [(3, 7), (0, 0), (0, 4), (2, 1), (4, 0), (7, 7), (4, 1), (4, 6), (4, 5), (4, 2), (4, 4), (6, 3)]


def cores(*corners: tuple[int, int]) -> Any:
    """Returns rectangles of cores, of which each two corners are given."""
    places = [ttnn.CoreCoord(*corner) for corner in corners]
    return ttnn.CoreRangeSet([ttnn.CoreRange(*places[at : at + 2]) for at in range(0, len(places), 2)])


def sharded(layout: Any, buffer: Any, grid: Any, shape: list[int], orientation: Any) -> Any:
    return ttnn.MemoryConfig(layout, buffer, ttnn.ShardSpec(grid, shape, orientation))


def test_memories_begin_where_the_library_says() -> None:
    kinds = (BUFFERS.DRAM, BUFFERS.L1, BUFFERS.L1_SMALL, BUFFERS.TRACE)
    for arch, expected in (("wormhole_b0", (1048640, 105824)), ("blackhole", (1048704, 111744))):
        with ttnn.open_device(device_id=0, arch=arch) as device:
            found = [ttnn.get_allocator_base_address(device, kind) for kind in kinds]
            assert found == [expected[0], *[expected[1]] * 3]
            ttnn.ones([64, 64], device=device)
            assert ttnn.get_allocator_base_address(device, BUFFERS.DRAM) == expected[0]
            with pytest.raises(ValueError, match="expected a memory of a device"):
                ttnn.get_allocator_base_address(device, BUFFERS.SYSTEM_MEMORY)


def test_each_bank_has_a_core() -> None:
    function = ttnn.get_optimal_dram_bank_to_logical_worker_assignment
    with ttnn.open_device(device_id=0) as device:
        for noc in (ttnn.NOC.NOC_0, ttnn.NOC.NOC_1):
            assert [(core.x, core.y) for core in function(device, noc)] == NEAREST
    with ttnn.open_device(device_id=0, arch="blackhole") as device:
        both = [[(core.x, core.y) for core in function(device, noc)] for noc in (ttnn.NOC.NOC_0, ttnn.NOC.NOC_1)]
        columns, rows = device.grid[1], device.grid[0]
        assert all(len(set(each)) == device.dram_grid_size().x for each in both)
        assert all(x < columns and y < rows for each in both for x, y in each)
        assert both[0] != both[1]
        with pytest.raises(TypeError, match=r"noc is 0 of type int; expected ttnn.NOC"):
            function(device, 0)


CASES = {
    "dram": (LAYOUTS.WIDTH_SHARDED, BUFFERS.DRAM, ((0, 0), (11, 0)), "ROW_MAJOR", [1, 1, 32, 320], NEAREST[:10]),
    "blocks": (LAYOUTS.BLOCK_SHARDED, BUFFERS.L1, ((1, 1), (3, 2)), "ROW_MAJOR", [1, 1, 64, 96],
               [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (3, 2)]),
    "columns": (LAYOUTS.BLOCK_SHARDED, BUFFERS.L1, ((1, 1), (3, 2)), "COL_MAJOR", [1, 1, 96, 64],
                [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]),
    "one row": (LAYOUTS.BLOCK_SHARDED, BUFFERS.L1, ((1, 1), (3, 2)), "ROW_MAJOR", [1, 1, 32, 96],
                [(1, 1), (2, 1), (3, 1)]),
    "four of six": (LAYOUTS.HEIGHT_SHARDED, BUFFERS.L1, ((1, 1), (3, 2)), "ROW_MAJOR", [1, 1, 128, 32],
                    [(1, 1), (2, 1), (3, 1), (1, 2)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_cores_of_shards(device: Any, name: str) -> None:
    layout, buffer, corners, orientation, shape, expected = CASES[name]
    memory = sharded(layout, buffer, cores(*corners), [32, 32], ORIENTATIONS[orientation])
    tensor = ttnn.empty(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device, memory)
    found = ttnn.get_optimal_worker_cores_for_sharded_tensor(tensor)
    assert [(core.x, core.y) for core in found] == expected


def test_only_shards_have_cores(device: Any) -> None:
    with pytest.raises(ValueError, match="expected a sharded tensor"):
        ttnn.get_optimal_worker_cores_for_sharded_tensor(ttnn.ones([32, 32], device=device))


def test_shards_of_some_cores_are_written(device: Any) -> None:
    """Two batches of 20 rows, which begin a shard each."""
    memory = sharded(LAYOUTS.BLOCK_SHARDED, BUFFERS.L1, cores((1, 1), (3, 2)), [32, 32], ORIENTATIONS.ROW_MAJOR)
    options = {"dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT, "device": device, "memory_config": memory}
    target = ttnn.zeros([1, 2, 20, 96], **options)
    values = torch.rand(1, 2, 20, 96, generator=torch.Generator().manual_seed(0)).bfloat16()
    values[0, 0, 0, 32] = torch.nan
    host = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT)
    address = target.buffer_address()
    ttnn.copy_host_to_device_tensor_partial(host, target, ttnn.CoreRangeSet([]))
    assert not ttnn.to_torch(target).any()
    ttnn.copy_host_to_device_tensor_partial(host, target, cores((2, 1), (2, 1), (3, 2), (3, 2)))
    expected = torch.zeros_like(values)
    expected[0, 0, :, 32:64], expected[0, 1, :, 64:] = values[0, 0, :, 32:64], values[0, 1, :, 64:]
    assert torch.equal(ttnn.to_torch(target).nan_to_num(7), expected.nan_to_num(7))
    assert target.buffer_address() == address
    copy = ttnn.copy_host_to_device_tensor_partial
    with pytest.raises(ValueError, match="host_tensor lies on a device; expected the other place"):
        copy(target, target, cores((0, 0), (0, 0)))
    with pytest.raises(ValueError, match=r"host_tensor has dtype DataType.FLOAT32; expected DataType.BFLOAT16"):
        copy(ttnn.zeros([1, 2, 20, 96], dtype=ttnn.float32), target, cores((0, 0), (0, 0)))
    with pytest.raises(ValueError, match="expected a sharded tensor"):
        copy(ttnn.zeros([4, 4]), ttnn.zeros([4, 4], device=device), cores((0, 0), (0, 0)))


def test_a_part_is_written_to_an_interleaved_tensor(device: Any) -> None:
    values = torch.rand(1, 2, 64, 64, generator=torch.Generator().manual_seed(0))
    whole = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    cache = ttnn.zeros([1, 2, 64, 64], dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
    for part in (3, 1):
        shard = ttnn.interleaved_to_sharded_partial(
            whole, ttnn.CoreCoord(1, 1), [32, 64], 4, part, LAYOUTS.HEIGHT_SHARDED, ORIENTATIONS.ROW_MAJOR
        )
        result = ttnn.sharded_to_interleaved_partial(shard, cache, 4, part)
        assert result.buffer_address() == cache.buffer_address()
    expected = values.reshape(4, 32, 64) * torch.tensor([0.0, 1, 0, 1])[:, None, None]
    assert torch.equal(ttnn.to_torch(cache).reshape(4, 32, 64), expected)
    with pytest.raises(ValueError, match=r"input_tensor has shape \[1, 1, 32, 64\]; expected \[1, 1, 64, 64\]"):
        ttnn.sharded_to_interleaved_partial(shard, cache, 2, 0)
    with pytest.raises(ValueError, match=r"output_dtype is DataType.BFLOAT16; expected DataType.FLOAT32"):
        ttnn.sharded_to_interleaved_partial(shard, cache, 4, 0, output_dtype=ttnn.bfloat16)
    with pytest.raises(ValueError, match="slice_index is 4; expected 0 to 3"):
        ttnn.sharded_to_interleaved_partial(shard, cache, 4, 4)


def test_reciprocals_of_each_core(device: Any) -> None:
    found = ttnn.create_layer_norm_reciprocals(device, cores((0, 0), (2, 1)), 7)
    assert (found.shape, found.dtype, found.layout) == ((6, 7), ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
    assert found.memory_config().memory_layout is LAYOUTS.HEIGHT_SHARDED
    assert torch.equal(ttnn.to_torch(found), (1 / torch.arange(1.0, 8)).repeat(6, 1))
    for width in (0, -1, 2**20, 2**62, 2**70):
        with pytest.raises(ValueError, match=f"width is {width}; expected 1 to \\d+, what the L1 of a core holds"):
            ttnn.create_layer_norm_reciprocals(device, cores((0, 0), (2, 1)), width)


def test_recorded_devices(device: Any) -> None:
    assert not ttnn.is_trace_capture_active(device)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    with ttnn.open_device(device_id=1) as other:
        assert ttnn.is_trace_capture_active(device)
        assert not ttnn.is_trace_capture_active(other)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    assert not ttnn.is_trace_capture_active(device)
    with pytest.raises(ttnn.DeviceError, match=r"is_trace_capture_active: device .* closed"):
        ttnn.is_trace_capture_active(other)
    with pytest.raises(ttnn.DeviceError, match=r"enable_asynchronous_slow_dispatch: device .* is closed"):
        ttnn.enable_asynchronous_slow_dispatch(other)
    ttnn.disable_asynchronous_slow_dispatch(device)


def test_parts_of_a_mesh_are_joined_again() -> None:
    values = torch.arange(8.0).reshape(4, 2)
    with ttnn.open_mesh_device(ttnn.MeshShape(1, 4)) as mesh:
        spread = ttnn.from_torch(values, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0))
        joined = ttnn.combine_device_tensors(tensors=ttnn.get_device_tensors(spread))
        assert torch.equal(ttnn.to_torch(joined, mesh_composer=ttnn.ConcatMeshToTensor(mesh, 0)), values)
        with pytest.raises(ValueError, match=r"tensors\[0\] lies on a device"):
            ttnn.combine_device_tensors(tensors=[spread])
    with pytest.raises(ValueError, match="tensors is empty; expected at least one tensor"):
        ttnn.combine_device_tensors(tensors=[])
