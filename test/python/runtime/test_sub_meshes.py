# SPDX-License-Identifier: Apache-2.0
"""Parts of a mesh as devices."""

from __future__ import annotations

import _ttmlir_runtime as rt
import pytest
import torch

runtime = rt.runtime
DRAM = runtime.MemoryBufferType.DRAM


def network(b):
    @b.func([(32, 64)], [torch.float32])
    def f(x, b):
        return b.exp(x)


@pytest.fixture
def mesh():
    options = runtime.MeshDeviceOptions()
    options.mesh_shape = (2, 4)
    with runtime.open_mesh_device(options) as device:
        yield device


def test_programs_run_on_parts(mesh, binary):
    first = runtime.create_sub_mesh_device(mesh, (1, 1))
    second = runtime.create_sub_mesh_device(parent_mesh=mesh, mesh_shape=[2, 2], mesh_offset=[0, 2])
    assert (first.get_mesh_offset(), second.get_mesh_offset(), second.get_mesh_shape()) == ([0, 0], [0, 2], [2, 2])
    assert second.parent_mesh.id == mesh.id and mesh.parent_mesh is None and mesh.get_mesh_offset() == [0, 0]
    x = torch.linspace(-1, 1, 32 * 64).reshape(32, 64)
    given = [runtime.create_host_tensor(x)]
    whole = torch.from_dlpack(runtime.to_host(runtime.submit(mesh, binary, 0, given)[0])[0])
    for part in (first, second):
        outputs = runtime.submit(part, binary, 0, given)
        assert torch.equal(torch.from_dlpack(runtime.to_host(outputs[0])[0]), whole)
    runtime.release_sub_mesh_device(second)
    assert not second.is_open
    with pytest.raises(rt.DeviceError, match="is closed"):
        runtime.submit(second, binary, 0, given)
    with pytest.raises(rt.DeviceError, match="is closed"):
        runtime.release_sub_mesh_device(sub_mesh=second)


def test_memory_is_that_of_the_chips(mesh):
    def used(device):
        return device.get_memory_view()[DRAM].total_bytes_allocated_per_bank

    with runtime.create_sub_mesh_device(mesh, (1, 4), (1, 0)) as part:
        other = runtime.create_sub_mesh_device(mesh, (1, 4))
        tensor = runtime.load_tensor(saved(), part)
        assert used(part) > 0 and used(mesh) == used(other) == 0
        shared = runtime.load_tensor(saved(), mesh)
        assert used(other) == used(mesh) > 0 and used(part) > used(mesh)
        assert shared.get_shape() == tensor.get_shape()
    assert not tensor.is_allocated() and shared.is_allocated()


def saved():
    runtime.dump_tensor(runtime.create_host_tensor(torch.ones(64, 64)), "t.tensorbin")
    return "t.tensorbin"


@pytest.mark.parametrize(
    ("shape", "offset", "error", "text"),
    [
        ((2, 2), (1, 0), rt.DeviceError, r"a sub-mesh of 2x2 chips at \[1, 0\] is no part of device"),
        ((1, 2), (0, 1), rt.DeviceError, r"overlaps with device \d+, a sub-mesh of 1x2 chips at \[0, 0\]"),
        ((1, 0), None, rt.DeviceError, "is no part of device"),
        ((2,), None, rt.DeviceError, r"mesh_shape has 1 dimensions; expected \(rows, columns\)"),
        ((1, 1), (0, 0, 0), rt.DeviceError, r"mesh_offset has 3 dimensions; expected \(rows, columns\)"),
        ((1, -1), None, ValueError, "mesh_shape"),
    ],
)
def test_non_part(mesh, shape, offset, error, text):
    held = runtime.create_sub_mesh_device(mesh, (1, 2))
    with pytest.raises(error, match=text):
        runtime.create_sub_mesh_device(mesh, shape, offset)
    with pytest.raises(rt.DeviceError, match="is a sub-mesh itself"):
        runtime.create_sub_mesh_device(held, (1, 1))
    with pytest.raises(rt.DeviceError, match="is no sub-mesh; close it instead"):
        runtime.release_sub_mesh_device(mesh)
    with pytest.raises(rt.DeviceError, match="has a sub-mesh"):
        runtime.reshape_mesh_device(mesh, (4, 2))
