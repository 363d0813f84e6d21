# SPDX-License-Identifier: Apache-2.0
"""Methods of devices and tensors as ttnn 0.81.1 has them, and counters that processes share."""

from __future__ import annotations

import multiprocessing
import os
from typing import Any

import pytest
import torch
import ttnn

COLUMNS = {"wormhole_b0": list(range(18, 26)), "blackhole": [*range(1, 8), *range(10, 16)]}
ROWS = {"wormhole_b0": list(range(18, 26)), "blackhole": list(range(2, 12))}
BANKS = {"wormhole_b0": [(0, 11), (5, 7)], "blackhole": [(17, 14), (18, 23)]}  # the first and the last


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
def test_places_on_the_network(arch: str) -> None:
    with ttnn.open_device(device_id=0, arch=arch) as device:
        rows, columns = device.grid
        for x in range(columns):
            for y in range(rows):
                place = device.worker_core_from_logical_core(ttnn.CoreCoord(x, y))
                assert (place.x, place.y) == (COLUMNS[arch][x], ROWS[arch][y])
                assert device.logical_core_from_worker_core(place) == ttnn.CoreCoord(x, y)
        last = device.dram_grid_size().x - 1
        found = [device.dram_core_from_logical_core(ttnn.CoreCoord(each, 0)) for each in (0, last)]
        assert [(core.x, core.y) for core in found] == BANKS[arch]
        for call, text in (
            (lambda: device.worker_core_from_logical_core(ttnn.CoreCoord(columns, 0)), f"{columns}x{rows} cores"),
            (lambda: device.logical_core_from_worker_core(ttnn.CoreCoord(0, 0)), "no place of a worker core"),
            (lambda: device.dram_core_from_logical_core(ttnn.CoreCoord(last + 1, 0)), f"there are {last + 1}x1 banks"),
        ):
            with pytest.raises(ValueError, match=text):
                call()
        nearest = device.get_optimal_dram_bank_to_logical_worker_assignment(ttnn.NOC.NOC_0)
        assert nearest == ttnn.get_optimal_dram_bank_to_logical_worker_assignment(device, ttnn.NOC.NOC_0)
        by_bank = device.get_optimal_dram_bank_to_logical_worker_assignment(ttnn.NOC.NOC_0, ttnn.MeshCoordinate(0, 0))
        assert by_bank == dict(enumerate(nearest))


def test_numbers_of_a_device(device: Any) -> None:
    assert (device.sfpu_eps(), device.sfpu_inf(), device.sfpu_nan()) == (
        1.1920899822825959e-07, 1.7013999693950742e38, 7.0039998997052e19,
    )  # fmt: skip
    node = device.get_fabric_node_id(ttnn.MeshCoordinate(0, 0))
    assert (int(node.mesh_id), node.chip_id, device.get_system_mesh_id()) == (0, 0, 0)
    with pytest.raises(ValueError, match="the mesh has 1x1 devices"):
        device.get_fabric_node_id(ttnn.MeshCoordinate(0, 1))


def test_managers_of_sub_devices(device: Any) -> None:
    parts = [
        ttnn.SubDevice([ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, y), ttnn.CoreCoord(3, y))])])
        for y in (0, 1)
    ]
    manager = device.create_sub_device_manager(parts, 0)
    assert manager != device.create_sub_device_manager(parts[:1], 0)
    with pytest.raises(ValueError, match="there are 1 sub-devices"):
        device.set_sub_device_stall_group([ttnn.SubDeviceId(1)])
    device.load_sub_device_manager(manager)
    device.set_sub_device_stall_group([ttnn.SubDeviceId(0), ttnn.SubDeviceId(1)])
    device.reset_sub_device_stall_group()
    with pytest.raises(ValueError, match="the manager is loaded; clear_loaded_sub_device_manager first"):
        device.remove_sub_device_manager(manager)
    device.clear_loaded_sub_device_manager()
    device.remove_sub_device_manager(manager)
    with pytest.raises(ValueError, match="expected one of this device"):
        device.load_sub_device_manager(manager)
    with pytest.raises(TypeError, match=r"sub_devices\[0\] is 3; expected a ttnn.SubDevice"):
        device.create_sub_device_manager([3], 0)


# By shape, data type and layout: bytes of a page, pages, and bytes from one to the next, as of an n150.
PAGES = {
    "bfloat16 rows": ([3, 7], "bfloat16", "ROW_MAJOR", (14, 3, 32)),
    "float32 rows": ([2, 3, 7], "float32", "ROW_MAJOR", (28, 6, 32)),
    "long rows": ([1, 40], "bfloat16", "ROW_MAJOR", (80, 1, 96)),
    "tiles": ([1, 1, 64, 64], "bfloat16", "TILE", (2048, 4, 2048)),
}


@pytest.mark.parametrize("name", PAGES)
def test_pages_of_buffers(device: Any, name: str) -> None:
    shape, dtype, layout, expected = PAGES[name]
    tensor = ttnn.zeros(shape, dtype=getattr(ttnn, dtype), layout=ttnn.Layout[layout], device=device)
    found = tensor.buffer_page_size(), tensor.buffer_num_pages(), tensor.buffer_aligned_page_size()
    assert found == expected
    assert tensor.device_coords() == [ttnn.MeshCoordinate(0, 0)]
    assert tensor.tensor_id == tensor.get_global_id()


def test_pages_of_tensors_on_the_host() -> None:
    tensor = ttnn.zeros([3, 7], dtype=ttnn.float32)
    assert (tensor.buffer_page_size(), tensor.buffer_num_pages(), tensor.device_coords()) == (28, 3, [])
    with pytest.raises(ValueError, match="the tensor lies on the host; expected one on a device"):
        tensor.buffer_aligned_page_size()


def test_parts_of_a_tensor() -> None:
    values = torch.arange(6.0).reshape(1, 1, 2, 3)
    tensor = ttnn.from_torch(values)
    assert torch.equal(ttnn.to_torch(tensor.unpad([0, 0, 0, 1], [1, 1, 2, 3])), values[..., 1:])
    with pytest.raises(ValueError, match=r"start is \[0, 0, 0, 1\] and end \[1, 1, 2, 4\]; expected parts of"):
        tensor.unpad([0, 0, 0, 1], [1, 1, 2, 4])


def _add(name: str, count: int) -> None:
    channel = ttnn.InterProcessCounterChannel.connect(name, 5000)
    for _ in range(count):
        channel.inject(2)
    channel.shutdown()


def test_processes_share_a_counter() -> None:
    name = f"counter-{os.getpid()}"
    channel = ttnn.InterProcessCounterChannel(name)
    assert channel.had_clean_prior_shutdown()
    assert (channel.shm_name, channel.pending(), channel.try_consume_all()) == (name, 0, 0)
    workers = [multiprocessing.get_context("fork").Process(target=_add, args=(name, 100)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert (channel.pending(), channel.try_consume_all(), channel.pending()) == (400, 400, 0)
    with pytest.raises(ValueError, match="n is -1; expected 0 or more"):
        channel.inject(-1)
    channel.inject(2**64 - 401)
    with pytest.raises(ValueError, match="n is 1; the count has 64 bits"):
        channel.inject(1)
    channel.shutdown()
    channel.shutdown()
    with pytest.raises(RuntimeError, match="is shut down"):
        channel.pending()
    with pytest.raises(TimeoutError, match="no process has made"):
        ttnn.InterProcessCounterChannel.connect(name, 1)
    with pytest.raises(ValueError, match="shm_name is 'a/b'; expected letters"):
        ttnn.InterProcessCounterChannel("a/b")


def test_rectangles_of_a_mesh() -> None:
    with ttnn.open_mesh_device(ttnn.MeshShape(2, 4)) as mesh:
        rows = mesh.create_submeshes(ttnn.MeshShape(1, 4))
        assert mesh.get_submeshes() == rows and [tuple(row.shape) for row in rows] == [(1, 4), (1, 4)]
        for number, row in enumerate(rows):
            values = torch.arange(4.0)[:, None] + number
            parts = ttnn.from_torch(values, device=row, mesh_mapper=ttnn.ShardTensorToMesh(row, dim=0))
            whole = ttnn.all_gather(parts, dim=0, cluster_axis=1)
            assert torch.equal(ttnn.to_torch(ttnn.get_device_tensors(whole)[3]), values)
        with pytest.raises(ttnn.DeviceError, match="overlaps"):
            mesh.create_submesh(ttnn.MeshShape(1, 1))
        with pytest.raises(ValueError, match="submesh_shape is 2x3; expected divisors of the mesh's 2x4"):
            mesh.create_submeshes(ttnn.MeshShape(2, 3))
        with pytest.raises(ValueError, match=r"submesh_shape is \[1, 1, 2\]; expected \(rows, columns\)"):
            mesh.create_submeshes((1, 1, 2))
        ttnn.close_mesh_device(rows[0])
        with pytest.raises(ttnn.DeviceError, match="overlaps"):
            mesh.create_submeshes(ttnn.MeshShape(1, 2))
        assert mesh.get_submeshes() == [rows[1]]
        pair = mesh.create_submesh(ttnn.MeshShape(1, 2), ttnn.MeshCoordinate(0, 2))
        assert mesh.get_submeshes() == [rows[1], pair]
        for each in (rows[1], pair):
            ttnn.close_mesh_device(each)
        mesh.reshape(ttnn.MeshShape(1, 8))
        assert tuple(mesh.shape) == (1, 8)


def test_a_dropped_rectangle_returns_its_chips() -> None:
    with ttnn.open_mesh_device(ttnn.MeshShape(1, 2)) as mesh:
        for _ in range(2):
            half = mesh.create_submesh(ttnn.MeshShape(1, 1))
            assert mesh.get_submeshes() == [half]
            del half
        assert mesh.get_submeshes() == []


def test_slices_of_convolutions() -> None:
    kinds = ttnn.Conv2dSliceConfig.SliceTypeEnum
    assert ttnn.Conv2dL1FullSliceConfig.slice_type == ttnn.Op2DL1Full == kinds.L1Full
    config = ttnn.Conv2dSliceConfig(slice_type=ttnn.Conv2dDRAMSliceWidth, num_slices=4)
    assert (config.slice_type, config.num_slices) == (kinds.DRAMSliceWidth, 4)
