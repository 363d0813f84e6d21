# SPDX-License-Identifier: Apache-2.0
"""Sets of cores, memory configs of sharded tensors, moves between them, weights in files, methods of devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import ttnn

A = torch.linspace(-3, 3, 128 * 64).reshape(128, 64)
L1 = ttnn.BufferType.L1
HEIGHT = ttnn.TensorMemoryLayout.HEIGHT_SHARDED
ROWS = ttnn.ShardOrientation.ROW_MAJOR


def at(x: int, y: int) -> Any:
    return ttnn.CoreCoord(x, y)


def cores(*corners: tuple[int, int, int, int]) -> Any:
    return ttnn.CoreRangeSet([ttnn.CoreRange(at(a, b), at(c, d)) for a, b, c, d in corners])


def places(cores: Any) -> list[tuple[int, int]]:
    return [(core.x, core.y) for core in ttnn.corerange_to_cores(cores, row_wise=True)]


@pytest.fixture(scope="module")
def device() -> Iterator[Any]:
    with ttnn.manage_device(0) as opened:
        yield opened


def put(device: Any, values: torch.Tensor = A, **options: Any) -> Any:
    return ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, **options)


def test_sets_of_cores() -> None:
    left, right = cores((0, 0, 1, 3)), cores((1, 2, 4, 3))
    assert left.ranges()[0].grid_size() == at(2, 4)
    assert left.contains(at(1, 3))
    assert not left.contains(at(2, 0))
    assert left.contains(ttnn.CoreRange(at(0, 1), at(1, 2)))
    assert not left.contains(right)
    assert left.merge(right).num_cores() == 8 + 8 - 2
    assert left.subtract(right).num_cores() == 8 - 2
    assert left.merge(right).bounding_box() == ttnn.CoreRange(at(0, 0), at(4, 3))
    assert cores((0, 0, 0, 0), (2, 2, 2, 2)).size() == 2
    assert ttnn.CoreRangeSet([]).empty()
    with pytest.raises(ValueError, match="bounding_box: the set is empty"):
        ttnn.CoreRangeSet([]).bounding_box()


def test_numbers_of_cores() -> None:
    assert ttnn.num_cores_to_corerangeset(11, at(8, 8), row_wise=True) == cores((0, 0, 7, 0), (0, 1, 2, 1))
    assert ttnn.num_cores_to_corerangeset(11, at(8, 8)) == cores((0, 0, 0, 7), (1, 0, 1, 2))
    part = ttnn.num_cores_to_corerangeset_in_subcoregrids(at(1, 1), 4, cores((0, 0, 2, 2)), row_wise=True)
    assert places(part) == [(1, 1), (2, 1), (0, 2), (1, 2)]
    assert [(core.x, core.y) for core in ttnn.grid_to_cores(3, 2, 2, row_wise=True)] == [(0, 0), (1, 0), (0, 1)]
    assert [(core.x, core.y) for core in ttnn.grid_to_cores(at(1, 0), at(1, 2))] == [(1, 0), (1, 1), (1, 2)]
    with pytest.raises(ValueError, match="65 cores requested; expected 1 to 64"):
        ttnn.num_cores_to_corerangeset(65, at(8, 8))
    with pytest.raises(TypeError, match="expected \\(num_cores, grid_size_x, grid_size_y\\) or \\(start, end\\)"):
        ttnn.grid_to_cores("all")


@pytest.mark.parametrize("units", [0, 1, 5, 64, 65, 200])
@pytest.mark.parametrize("row_wise", [False, True])
def test_work_is_divided(units: int, row_wise: bool) -> None:
    count, whole, more, fewer, most, least = ttnn.split_work_to_cores(at(8, 8), units, row_wise)
    assert count == min(units, 64) == whole.num_cores() == more.num_cores() + fewer.num_cores()
    assert more.num_cores() * most + fewer.num_cores() * least == units
    assert not set(places(more)) & set(places(fewer))
    assert set(places(more)) | set(places(fewer)) == set(places(whole))


CONFIGS: list[tuple[Any, Any, list[int]]] = [
    (ttnn.ShardStrategy.HEIGHT, ttnn.CoreGrid(y=1, x=4), [32, 64]),
    (ttnn.ShardStrategy.WIDTH, ttnn.CoreGrid(y=1, x=2), [128, 32]),
    (ttnn.ShardStrategy.BLOCK, ttnn.CoreGrid(y=4, x=2), [32, 32]),
    (ttnn.ShardStrategy.HEIGHT, cores((0, 0, 1, 1)), [32, 64]),
]


@pytest.mark.parametrize("case", CONFIGS, ids=lambda case: case[0].name)
def test_created_configs(case: tuple[Any, Any, list[int]], device: Any) -> None:
    strategy, grid, shard = case
    config = ttnn.create_sharded_memory_config((1, 1, 128, 64), grid, strategy)
    assert list(config.shard_spec.shape) == shard
    assert config == ttnn.create_sharded_memory_config(shard, grid, strategy, ROWS, True)
    assert config == ttnn.create_sharded_memory_config_((128, 64), grid, config.memory_layout, ROWS, False, True)
    x = put(device)
    sharded = ttnn.interleaved_to_sharded(x, config)
    assert sharded.memory_config() == config
    assert ttnn.is_sharded(sharded)
    assert ttnn.get_memory_config(sharded) == config
    back = ttnn.sharded_to_interleaved(sharded, ttnn.L1_MEMORY_CONFIG, ttnn.float32)
    assert back.memory_config() == ttnn.L1_MEMORY_CONFIG
    assert torch.equal(ttnn.to_torch(back), A.bfloat16().float())


LAYOUTS = {
    "HEIGHT": (ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG, [32, 64], 4),
    "WIDTH": (ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG, [128, 32], 2),
    "BLOCK": (ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG, [32, 32], 8),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_functions_choose_the_shards_of_a_layout(name: str, device: Any) -> None:
    config, shard, count = LAYOUTS[name]
    assert config.is_sharded()
    assert config.shard_spec is None
    x = put(device)
    results = [
        put(device, memory_config=config),
        ttnn.to_memory_config(x, config),
        ttnn.relu(x, memory_config=config),
        ttnn.to_device(ttnn.from_torch(A, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT), device, config),
        ttnn.add(x, x, memory_config=config),
    ]
    for result in results:
        spec = result.memory_config().shard_spec
        assert (list(spec.shape), spec.num_cores()) == (shard, count)
    assert torch.equal(ttnn.to_torch(results[2]), A.bfloat16().relu())


@pytest.mark.parametrize("shape", [(7, 5), (3, 40, 70), (1, 2000), (2000, 1), (4, 8, 100, 96), (300, 300), (64, 0)])
@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize("name", LAYOUTS)
def test_shards_of_any_shape(name: str, layout: Any, shape: tuple[int, ...], device: Any) -> None:
    values = torch.rand(shape).bfloat16()
    x = ttnn.from_torch(values, layout=layout, device=device, memory_config=LAYOUTS[name][0])
    assert x.memory_config().shard_spec.num_cores() <= 64
    assert torch.equal(ttnn.to_torch(ttnn.sharded_to_interleaved(x)), values)


def test_other_form_and_reshard(device: Any) -> None:
    x = put(device)
    sharded = ttnn.interleaved_to_sharded(x, at(1, 4), [32, 64], HEIGHT, ROWS)
    named = ttnn.interleaved_to_sharded(
        x, grid=cores((0, 0, 0, 3)), shard_shape=[32, 64], shard_scheme=HEIGHT, shard_orientation=ROWS
    )
    assert sharded.memory_config() == named.memory_config()
    again = ttnn.reshard(
        sharded, ttnn.create_sharded_memory_config((128, 64), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.WIDTH)
    )
    assert list(again.memory_config().shard_spec.shape) == [128, 32]
    assert torch.equal(ttnn.to_torch(again), A.bfloat16())
    assert torch.equal(ttnn.to_torch(ttnn.reallocate(again)), A.bfloat16())
    assert not again.is_allocated()


def test_results_of_shards_are_moved_as_shards_are(device: Any) -> None:
    """On a card, these results have the shards of their operand."""
    sharded = ttnn.interleaved_to_sharded(put(device), at(1, 4), [32, 64], HEIGHT, ROWS)
    result = ttnn.sharded_to_interleaved(ttnn.relu(sharded), ttnn.L1_MEMORY_CONFIG, ttnn.float32)
    assert (result.memory_config(), result.dtype) == (ttnn.L1_MEMORY_CONFIG, ttnn.float32)
    assert torch.equal(ttnn.to_torch(result), A.bfloat16().relu().float())
    columns = ttnn.create_sharded_memory_config((128, 64), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.WIDTH)
    again = ttnn.reshard(ttnn.relu(sharded), columns)
    assert list(again.memory_config().shard_spec.shape) == [128, 32]
    assert torch.equal(ttnn.to_torch(again), A.bfloat16().relu())


WRONG: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda x: ttnn.sharded_to_interleaved(3), TypeError, "input_tensor is 3 of type int; expected ttnn.Tensor"),
    (
        lambda x: ttnn.sharded_to_interleaved(x, ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG),
        ValueError,
        "expected an interleaved layout",
    ),
    (lambda x: ttnn.reshard(x, ttnn.L1_MEMORY_CONFIG), ValueError, "reshard: output_memory_config is"),
    (lambda x: ttnn.interleaved_to_sharded(x, ttnn.L1_MEMORY_CONFIG), ValueError, "expected a sharded layout"),
    (
        lambda x: ttnn.interleaved_to_sharded(x, 3),
        TypeError,
        "sharded_memory_config is 3 of type int; expected ttnn.Me",
    ),
    (lambda x: ttnn.interleaved_to_sharded(x), TypeError, "grid is None of type NoneType; expected ttnn.CoreRangeSet"),
    (
        lambda x: ttnn.create_sharded_memory_config((100, 64), ttnn.CoreGrid(y=1, x=3), ttnn.ShardStrategy.HEIGHT),
        ValueError,
        "100x64 elements do not divide by 3x1 cores",
    ),
    (
        lambda x: ttnn.create_sharded_memory_config((100, 64), 8, ttnn.ShardStrategy.HEIGHT),
        TypeError,
        "core_grid is 8; expected a CoreGrid or a CoreRangeSet",
    ),
    (
        lambda x: ttnn.create_sharded_memory_config((100, 64), ttnn.CoreGrid(y=1, x=1), HEIGHT),
        TypeError,
        "expected a ttnn.ShardStrategy",
    ),
    (lambda x: ttnn.as_tensor(A, cache_file_name=3), TypeError, "cache_file_name is 3; expected a path"),
    (
        lambda x: ttnn.get_memory_view(x.device(), 1),
        TypeError,
        "buffer_type is 1 of type int; expected ttnn.BufferType",
    ),
    (
        lambda x: ttnn.MemoryConfig(
            ttnn.TensorMemoryLayout.INTERLEAVED,
            L1,
            ttnn.ShardSpec(cores((0, 0, 0, 0)), [32, 32], ttnn.ShardOrientation.ROW_MAJOR),
        ),
        ValueError,
        "INTERLEAVED takes no shard_spec",
    ),
]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case[2][:40])
def test_refuses(case: tuple[Callable[[Any], Any], type[Exception], str], device: Any) -> None:
    call, kind, text = case
    with pytest.raises(kind, match=text):
        call(put(device))


def test_weights_are_kept_in_files(device: Any, tmp_path: Path) -> None:
    calls = []

    def preprocess(x: torch.Tensor) -> torch.Tensor:
        calls.append(x)
        return x.T

    options = {"dtype": ttnn.bfloat8_b, "layout": ttnn.TILE_LAYOUT, "device": device}
    for given in (A, None):
        weight = ttnn.as_tensor(given, **options, cache_file_name=tmp_path / "sub" / "w", preprocess=preprocess)
        expected = ttnn.from_torch(A.T, **options)
        assert torch.equal(ttnn.to_torch(weight), ttnn.to_torch(expected))
        assert weight.memory_config() == ttnn.DRAM_MEMORY_CONFIG
    assert len(calls) == 1
    assert [each.name for each in (tmp_path / "sub").iterdir()] == ["w_dtype_BFLOAT8_B_layout_TILE.tensorbin"]
    plain = ttnn.as_tensor(A, dtype=ttnn.bfloat16)
    assert (plain.layout, plain.dtype) == (ttnn.ROW_MAJOR_LAYOUT, ttnn.bfloat16)
    with pytest.raises(TypeError, match="tensor is NoneType; expected torch"):
        ttnn.as_tensor(None, dtype=ttnn.bfloat16, cache_file_name=tmp_path / "none")


def test_devices_have_the_methods_of_the_library(device: Any) -> None:
    assert device.compute_with_storage_grid_size() == at(8, 8)
    assert device.core_grid == ttnn.CoreGrid(y=8, x=8)
    assert device.dram_grid_size() == at(12, 1)
    assert device.shape == ttnn.MeshShape(1, 1)
    assert (device.get_num_devices(), device.get_device_ids()) == (1, [0])
    assert device.arch() is ttnn.Arch.WORMHOLE_B0
    assert device.arch == "wormhole_b0" == ttnn.get_arch_name()
    assert device.id() == device.id
    device.enable_program_cache()
    device.quiesce_devices()
    device.disable_and_clear_program_cache()
    assert device.num_program_cache_entries() == 0
    x = put(device)
    for _ in range(2):
        ttnn.exp(x)
    assert device.num_program_cache_entries() == 1
    with ttnn.create_mesh_device((2, 4), arch="blackhole") as mesh:
        assert mesh.compute_with_storage_grid_size() == at(13, 10)
        assert (mesh.shape, mesh.get_num_devices(), mesh.dram_grid_size()) == ((2, 4), 8, at(8, 1))
        assert mesh.get_device_id(ttnn.MeshCoordinate(1, 2)) == 6
        with pytest.raises(ValueError, match="the mesh has 2x4 devices"):
            mesh.get_device_id(ttnn.MeshCoordinate(2, 0))


def test_memory_views(device: Any) -> None:
    x = put(device, memory_config=ttnn.L1_MEMORY_CONFIG)
    view = ttnn.get_memory_view(device, L1)
    assert view.num_banks == 64
    assert view.total_bytes_allocated_per_bank >= 2048
    del x


def test_tensors_have_the_methods_of_the_library(device: Any) -> None:
    x = put(device, A[:40, :50])
    assert x.to_numpy().tolist() == A[:40, :50].bfloat16().tolist()
    assert x.tile == x.get_tile() == ttnn.Tile()
    assert x.spec == ttnn.TensorSpec([40, 50], ttnn.bfloat16, ttnn.TILE_LAYOUT)
    assert x.to_torch_with_padded_shape().shape == (64, 64)
    assert (x.to_torch_with_padded_shape()[40:] == 0).all()
    padded = x.pad_to_tile(7.0)
    assert padded.shape == (64, 64)
    assert (ttnn.to_torch(padded)[:, 50:] == 7).all()
    assert torch.equal(ttnn.to_torch(padded.unpad_from_tile([40, 50])), A[:40, :50].bfloat16())
    assert x.devices() == [device]
    with pytest.raises(ValueError, match=r"unpad_from_tile: shape is \[65, 50\]; expected at most \[40, 50\]"):
        x.unpad_from_tile([65, 50])


def test_tensors_of_lists(device: Any) -> None:
    x = ttnn.Tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    assert x.to_list() == [[1, 2, 3], [4, 5, 6]]
    assert ttnn.Tensor([7, 8], [2], ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT).to_list() == [7, 8]
    with pytest.raises(ValueError, match=r"data has 3 values; expected 4, of shape \(2, 2\)"):
        ttnn.Tensor([1, 2, 3], [2, 2], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)


def test_specs(device: Any) -> None:
    spec = ttnn.TensorSpec([128, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.BufferType.L1)
    assert spec.memory_config == ttnn.L1_MEMORY_CONFIG
    assert list(spec.height_sharded(cores((0, 0, 3, 0))).memory_config.shard_spec.shape) == [32, 64]
    assert list(spec.width_sharded(cores((0, 0, 1, 0))).memory_config.shard_spec.shape) == [128, 32]
    assert list(spec.block_sharded(cores((0, 0, 1, 1))).memory_config.shard_spec.shape) == [64, 32]
    x = ttnn.allocate_tensor_on_device(spec.height_sharded(cores((0, 0, 3, 0))), device)
    assert x.spec == spec.height_sharded(cores((0, 0, 3, 0)))
    y = ttnn.allocate_tensor_on_device([2, 3], ttnn.float32, ttnn.TILE_LAYOUT, device)
    assert (y.shape, y.dtype, y.layout) == ((2, 3), ttnn.float32, ttnn.TILE_LAYOUT)
    nd = ttnn.NdShardSpec([1, 32, 32], cores((0, 0, 1, 0)))
    assert (nd.num_cores(), nd) == (2, ttnn.NdShardSpec([1, 32, 32], cores((0, 0, 1, 0))))
    with pytest.raises(TypeError, match="TensorSpec: dtype is 3; expected ttnn"):
        ttnn.TensorSpec([1], 3, ttnn.TILE_LAYOUT)
    with pytest.raises(ValueError, match=r"NdShardSpec: shard_shape is \[0\]; expected positive sizes"):
        ttnn.NdShardSpec([0], cores((0, 0, 1, 0)))


def test_places_in_a_mesh() -> None:
    box = ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(0, 1), ttnn.MeshCoordinate([1, 2]))
    assert (box.shape(), box.dims(), len(list(box))) == ([2, 2], 2, 4)
    assert box.contains(ttnn.MeshCoordinate(1, 1))
    assert not box.contains(ttnn.MeshCoordinate(1, 0))
    assert list(ttnn.MeshCoordinateRange(ttnn.MeshShape(1, 2))) == [
        ttnn.MeshCoordinate(0, 0),
        ttnn.MeshCoordinate(0, 1),
    ]
    with pytest.raises(ValueError, match="is no box"):
        ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(1, 1), ttnn.MeshCoordinate(0, 1))
    with pytest.raises(TypeError, match="expected numbers from 0 on"):
        ttnn.MeshCoordinate(-1, 0)
    assert ttnn.Tile().get_tile_size(ttnn.bfloat8_b) == 1088
    assert ttnn.SubDevice([cores((0, 0, 1, 1))]).cores[0].num_cores() == 4


@pytest.mark.parametrize("shape", ["x", [], (64.0, 64)])
def test_shapes_of_sharded_configs_are_integers(shape):
    with pytest.raises(TypeError, match=r"create_sharded_memory_config: shape is .*; expected at least one integer"):
        ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(y=2, x=1), ttnn.ShardStrategy.HEIGHT)


def test_cores_of_shards(device: ttnn.Device) -> None:
    """Shards are on the cores that are named, by rows or by columns; a block's rows go along the columns then."""
    coord, block = ttnn.CoreCoord, ttnn.TensorMemoryLayout.BLOCK_SHARDED
    apart = ttnn.CoreRangeSet([ttnn.CoreRange(coord(1, 1), coord(2, 1)), ttnn.CoreRange(coord(4, 0), coord(4, 1))])
    for layout, cores, shape, orientation in [
        (ttnn.TensorMemoryLayout.HEIGHT_SHARDED, apart, [32, 64], ttnn.ShardOrientation.ROW_MAJOR),
        (
            block,
            ttnn.CoreRangeSet([ttnn.CoreRange(coord(1, 2), coord(4, 3))]),
            [32, 32],
            ttnn.ShardOrientation.COL_MAJOR,
        ),
        (block, ttnn.CoreGrid(y=2, x=4), [32, 32], ttnn.ShardOrientation.COL_MAJOR),
    ]:
        spec = ttnn.ShardSpec(cores, shape, orientation)
        config = ttnn.MemoryConfig(layout, ttnn.BufferType.L1, spec)
        assert config.shard_spec == spec and spec.num_cores() == spec.grid.num_cores()
        assert f"orientation=ShardOrientation::{orientation.name}" in str(config)
        values = torch.rand(128, 64)
        x = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)
        assert x.memory_config() == config and hash(x.memory_config()) == hash(config)
        plain = ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG)
        assert torch.equal(ttnn.to_torch(ttnn.to_memory_config(plain, config)), values)
    first = ttnn.MemoryConfig(
        block, ttnn.BufferType.L1, ttnn.ShardSpec(ttnn.CoreGrid(y=2, x=4), [32, 32], ttnn.ShardOrientation.ROW_MAJOR)
    )
    assert first != config
    with pytest.raises(ValueError, match="has 2 rectangles of cores; expected one for blocks"):
        ttnn.MemoryConfig(block, ttnn.BufferType.L1, ttnn.ShardSpec(apart, [32, 32], ttnn.ShardOrientation.ROW_MAJOR))
    with pytest.raises(ttnn.Error, match=r"has 4 shards of \[32, 32\] along its rows; expected at most 2"):
        ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device, memory_config=first)


def test_weights_are_prepared_for_a_memory(device: ttnn.Device) -> None:
    sizes = {"in_channels": 8, "out_channels": 8, "batch_size": 1, "input_height": 8, "input_width": 8}
    weight = ttnn.from_torch(torch.rand(8, 8, 3, 3))
    window = {"kernel_size": (3, 3), "stride": (1, 1), "padding": (1, 1), "dilation": (1, 1), "groups": 1}
    given = {"weights_format": "OIHW", "has_bias": False, "input_dtype": ttnn.float32, "device": device}
    prepared = ttnn.prepare_conv_weights(
        weight_tensor=weight,
        input_memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
        input_layout=ttnn.TILE_LAYOUT,
        **sizes,
        **window,
        **given,
    )
    x = ttnn.from_torch(torch.rand(1, 1, 64, 8), device=device)
    both = [
        ttnn.to_torch(ttnn.conv2d(input_tensor=x, weight_tensor=each, device=device, **sizes, **window))
        for each in (weight, prepared)
    ]
    torch.testing.assert_close(*both)
    with pytest.raises(TypeError, match=r"input_memory_config is 'L1' of type str; expected ttnn\.MemoryConfig"):
        ttnn.prepare_conv_weights(
            weight_tensor=weight, input_memory_config="L1", input_layout=ttnn.TILE_LAYOUT, **sizes, **window, **given
        )
