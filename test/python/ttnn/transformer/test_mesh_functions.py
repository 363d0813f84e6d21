# SPDX-License-Identifier: Apache-2.0
"""Functions of the devices of a line, ttnn.distributed, and nonzero, compared with PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import ttnn


@pytest.fixture(scope="module")
def mesh() -> Iterator[Any]:
    with ttnn.open_mesh_device(ttnn.MeshShape(2, 2)) as device:
        yield device


@pytest.fixture(scope="module")
def line() -> Iterator[Any]:
    with ttnn.open_mesh_device(ttnn.MeshShape(1, 4)) as device:
        yield device


def parts(tensor: Any) -> list[torch.Tensor]:
    return [ttnn.to_torch(each) for each in ttnn.get_device_tensors(tensor)]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
@pytest.mark.parametrize("shape", [[3, 5], [1], [2, 0]], ids=str)
def test_all_devices_have_what_one_has(mesh: Any, dtype: str, shape: list[int]) -> None:
    numbers = torch.arange(4 * max(1, torch.Size(shape).numel()))[: 4 * torch.Size(shape).numel()]
    values = numbers.reshape([4, *shape]).to(getattr(torch, dtype))
    tensor = ttnn.from_torch(values, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0))
    for axis in (0, 1):
        found = ttnn.all_broadcast(tensor, cluster_axis=axis)
        assert len(found) == 2
        for at, each in enumerate(found):
            own = ttnn.broadcast(tensor, ttnn.MeshCoordinate(at, at), cluster_axis=axis)
            for device, (part, same) in enumerate(zip(parts(each), parts(own), strict=True)):
                source = at * 2 + device % 2 if axis == 0 else device // 2 * 2 + at
                assert torch.equal(part, values[source : source + 1]), (axis, at, device)
                assert torch.equal(part, same)


def test_a_line_needs_no_axis(mesh: Any, line: Any) -> None:
    values = torch.rand(4, 3)
    tensor = ttnn.from_torch(values, device=line, mesh_mapper=ttnn.ShardTensorToMesh(line, 0))
    found = ttnn.broadcast(tensor, ttnn.MeshCoordinate(0, 2), memory_config=ttnn.L1_MEMORY_CONFIG)
    assert found.memory_config() == ttnn.L1_MEMORY_CONFIG
    assert torch.equal(ttnn.to_torch(found), values[2:3])
    assert [torch.equal(ttnn.to_torch(x), values[k : k + 1]) for k, x in enumerate(ttnn.all_broadcast(tensor))] == [
        True
    ] * 4
    tensor = ttnn.from_torch(values, device=mesh)
    with pytest.raises(ValueError, match="cluster_axis is None; expected 0 or 1 on a mesh of 2x2 devices"):
        ttnn.all_broadcast(tensor)
    with pytest.raises(ValueError, match="the mesh has 2x2 devices"):
        ttnn.broadcast(tensor, ttnn.MeshCoordinate(2, 0), cluster_axis=0)
    with pytest.raises(ValueError, match="cluster_axis is 2; expected 0 or 1"):
        ttnn.broadcast(tensor, ttnn.MeshCoordinate(1, 0), cluster_axis=2)
    with pytest.raises(ValueError, match="input_tensor lies on the host; expected a tensor on a device"):
        ttnn.all_broadcast(ttnn.ones([2]))


@pytest.mark.parametrize("layout", ["TILE", "ROW_MAJOR"])
def test_experts_are_divided(line: Any, layout: str) -> None:
    weights = torch.zeros(1, 40)
    chosen = torch.tensor([0, 2, 10, 13, 14, 18, 22, 39])
    weights[0, chosen] = torch.tensor([1.0, -2, 3, 4, 5, 6, 7, 8])
    tensor = ttnn.from_torch(weights, ttnn.bfloat16, layout=ttnn.Layout[layout], device=line)
    found = parts(ttnn.moe_routing_remap(tensor, 8, 4, 1))
    for device, part in enumerate(found):
        expected = torch.zeros(1, 40)
        own = chosen[2 * device : 2 * device + 2]
        expected[0, own] = weights[0, own]
        assert torch.equal(part.float(), expected)
    for arguments, text in (
        ((6, 4, 1), "non_zero_weight_size is 6; expected a multiple of 4, at most 40"),
        ((8, 2, 1), "expert_parallel_size is 2; the axis has 4 devices"),
    ):
        with pytest.raises(ValueError, match=text):
            ttnn.moe_routing_remap(tensor, *arguments)


def test_states_of_attention_are_joined(line: Any) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, rows, 16, generator=generator) for rows in (8, 40, 40))
    scores = q @ k.mT
    values, sums, most = [], [], []
    for part in range(4):
        own = scores[..., part * 10 : part * 10 + 10]
        greatest = own.amax(-1, True)
        weights = ((own - greatest) * 0.5).exp()
        values.append(weights @ v[:, part * 10 : part * 10 + 10])
        sums.append(weights.sum(-1, True).expand(2, 8, 32))
        most.append(greatest.expand(2, 8, 32))

    def spread(states: list[torch.Tensor]) -> Any:
        """Returns the two heads side by side, as those of two cores."""
        whole = torch.stack([torch.cat(list(state), -1) for state in states])
        mapper = ttnn.ShardTensorToMesh(line, 0)
        return ttnn.from_torch(whole, layout=ttnn.TILE_LAYOUT, device=line, mesh_mapper=mapper)

    own = [spread(states) for states in (values, sums, most)]
    target = spread([torch.zeros(2, 8, 16)] * 4)
    found = ttnn.reduce_to_root(*own, ttnn.MeshCoordinate(0, 1), scale_fp32=0.5, output_tensor_l=target)
    expected = torch.cat(list((scores * 0.5).softmax(-1) @ v), -1)
    for result in (found[0], target):
        torch.testing.assert_close(ttnn.to_torch(result)[0], expected, atol=1e-5, rtol=1e-5)
    greatest = torch.cat(list(scores.amax(-1, True).expand(2, 8, 32)), -1)
    torch.testing.assert_close(ttnn.to_torch(found[2])[0], greatest, atol=0, rtol=0)
    with pytest.raises(ValueError, match="input tensors have shapes"):
        ttnn.reduce_to_root(own[0], own[1], own[0], ttnn.MeshCoordinate(0, 1))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("given", [False, True])
def test_rms_norm_of_columns_on_devices(line: Any, dtype: str, given: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    x, more = (torch.randn(1, 1, 5, 128, generator=generator).to(getattr(torch, dtype)) for _ in range(2))
    weight = torch.rand(128, generator=generator)

    def spread(tensor: torch.Tensor, dim: int, **options: Any) -> Any:
        return ttnn.from_torch(tensor, device=line, mesh_mapper=ttnn.ShardTensorToMesh(line, dim), **options)

    options = {}
    if given:
        rows = spread(weight.reshape(4, 32), 0)
        options = {"residual_input_tensor": spread(more, 3, layout=ttnn.TILE_LAYOUT), "weight": rows}
    found = ttnn.fused_rms_minimal(spread(x, 3, layout=ttnn.TILE_LAYOUT), None, 1, line, None, epsilon=1e-5, **options)
    total = x + more if given else x
    expected = torch.nn.functional.rms_norm(total.float(), (128,), weight if given else None, 1e-5)
    close = 1e-5 if dtype == "float32" else 2e-2
    result = ttnn.to_torch(found, mesh_composer=ttnn.ConcatMeshToTensor(line, 3))
    torch.testing.assert_close(result.float(), expected, atol=close, rtol=close)


@pytest.mark.parametrize("layout", ["TILE", "ROW_MAJOR"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "uint32"])
@pytest.mark.parametrize("shape", [[1, 1, 2, 5], [2, 3, 1, 4], [1, 1, 1, 1], [1, 2, 0, 3], [1, 1, 1, 2500]], ids=str)
def test_places_of_nonzero(device: Any, layout: str, dtype: str, shape: list[int]) -> None:
    values = torch.randint(0, 3, shape, generator=torch.Generator().manual_seed(0)).float()
    if dtype in ("float32", "bfloat16") and values.numel() > 3:
        values.view(-1)[:3] = torch.tensor([-0.0, torch.nan, -torch.inf])
    tensor = ttnn.from_torch(values, getattr(ttnn, dtype), layout=ttnn.Layout[layout], device=device)
    count, places = ttnn.nonzero(tensor)
    expected = torch.nonzero(values).int()
    assert (count.dtype, places.dtype) == (ttnn.uint32, ttnn.uint32)
    assert ttnn.to_torch(count).tolist() == [[[[len(expected), *[0] * 7]]]]
    found = ttnn.to_torch(places).int()
    assert found.shape == (1, 1, 1, 4 * values.numel())
    assert torch.equal(found.flatten()[: expected.numel()], expected.flatten())
    assert not found.flatten()[expected.numel() :].any()


def test_nonzero_takes_four_dimensions(device: Any) -> None:
    with pytest.raises(ValueError, match=r"input_tensor has shape \[4\]; expected four dimensions"):
        ttnn.nonzero(ttnn.ones([4], device=device))


def test_mappers_of_a_block(mesh: Any) -> None:
    values = torch.arange(8.0).reshape(4, 2)
    mapper, composer = ttnn.ShardTensorToMesh(mesh, 0), ttnn.ConcatMeshToTensor(mesh, 0)
    with ttnn.distribute(ttnn.ReplicateTensorToMeshWrapper(mapper)), ttnn.distribute(composer):
        tensor = ttnn.from_torch(values, device=mesh)
        assert tensor.shape == (1, 2)
        assert torch.equal(ttnn.to_torch(tensor), values)
        assert ttnn.from_torch(values, device=mesh, mesh_mapper=ttnn.ReplicateTensorToMesh(mesh)).shape == (4, 2)
        assert torch.equal(ttnn.to_torch(ttnn.from_torch(values, mesh_mapper=mapper)), values)
    assert ttnn.from_torch(values, device=mesh).shape == (4, 2)
    with pytest.raises(ValueError, match="differ"):
        ttnn.to_torch(tensor)
    assert [type(each).__name__ for each in mapper.config().placements] == ["PlacementShard"] * 2
    with pytest.raises(TypeError, match="default is 3; expected a mapper or a composer"), ttnn.distribute(3):
        pass
    with pytest.raises(TypeError, match="mapper is 3; expected a mapper of tensors"):
        ttnn.ReplicateTensorToMeshWrapper(3)


def test_pictures_of_meshes(mesh: Any, capsys: Any) -> None:
    ttnn.visualize_mesh_device(mesh)
    values = torch.arange(4.0).reshape(2, 2)
    ttnn.visualize_tensor(
        ttnn.from_torch(values, device=mesh, mesh_mapper=ttnn.ShardTensor2dMesh(mesh, (2, 2), (0, None)))
    )
    ttnn.visualize_tensor(ttnn.ones([3]))
    ttnn.visualize_system_mesh()
    first, spread, plain = capsys.readouterr().out.split("Tensor ")
    assert first.splitlines()[2:4] == ["| device 0 | device 1 |", "|  (0, 0)  |  (0, 1)  |"]
    assert "as (0, 0)" in spread
    assert "as (1, 0)" in spread
    assert plain.splitlines()[:4] == ["[3] BFLOAT16 ROW_MAJOR", "+--------+", "| (0, 0) |", "|  [3]   |"]
    info = ttnn.distributed.TensorShardingInfo(None, [ttnn.ones([2]), ttnn.zeros([2]), ttnn.ones([2])])
    assert info.same_as == [0, 1, 0]
    assert ttnn.distributed.create_system_mesh_table().startswith(f"SystemMesh of {ttnn.get_num_devices()} chips")


def test_colours() -> None:
    palette = ttnn.distributed.ColorPalette()
    assert palette.hsv_to_hex(0.0, 1.0, 1.0) == "#ff0000"
    assert len(set(palette.generate_muted_colors(7))) == 7
    with pytest.raises(ValueError, match="s is 2; expected 0 to 1"):
        palette.hsv_to_hex(0, 2, 1)
