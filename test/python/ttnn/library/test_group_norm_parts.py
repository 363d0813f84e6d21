# SPDX-License-Identifier: Apache-2.0
"""Masks and weights of group_norm compared with those of ttnn 0.81.1; tensors of buffers and parts of tensors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import ttnn

# By channels, groups and cores: columns of the library's mask, and the first channel of some groups in it.
MASKS = {
    (480, 8, 1): (96, [0, 28, 24, 20, 16, 12, 8, 4]),
    (96, 4, 2): (64, [0, 24, 0, 24]),
    (80, 8, 1): (64, [0, 10, 20, 30, 8, 18, 28, 6]),
    (320, 32, 2): (64, [0, 10, 20, 30, 8, 18, 28, 6, 16]),
    (64, 4, 2): (32, [0, 16, 0, 16]),
    (1, 1, 1): (32, [0]),
}


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.Device]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@pytest.mark.parametrize(("sizes", "expected"), MASKS.items(), ids=["-".join(map(str, sizes)) for sizes in MASKS])
def test_masks_are_those_of_the_library(sizes: tuple[int, int, int], expected: tuple[int, list[int]]) -> None:
    columns, starts = expected
    channels, groups, _ = sizes
    mask = ttnn.create_group_norm_input_mask(*sizes)
    assert (mask.dtype, mask.layout) == (ttnn.bfloat16, ttnn.TILE_LAYOUT)
    values = ttnn.to_torch(mask)
    assert values.shape == (1, groups, 32, columns)
    for group, start in enumerate(starts):
        on = torch.zeros(columns)
        on[start : start + channels // groups] = 1
        assert torch.equal(values[0, group].float(), on.expand(32, -1)), group
    negative = ttnn.to_torch(ttnn.create_group_norm_input_negative_mask(*sizes, data_type=ttnn.bfloat8_b))
    assert torch.equal(negative.float(), 1 - values.float())
    # Once more, of five rows.
    more = ttnn.to_torch(ttnn.create_group_norm_input_mask(*sizes, rows_in_last_tile=5))
    assert torch.equal(more[:, :groups], values)
    assert torch.equal(more[:, groups:, :5], values[:, :, :5]) and not more[:, groups:, 5:].any()


def test_weights_are_rows_of_each_cores_channels() -> None:
    weights = torch.arange(80.0) + 1
    rows = ttnn.create_group_norm_weight_bias_rm(weights, 80, 2)
    expected = torch.stack([F.pad(part, (0, 24)) for part in weights.chunk(2)]).reshape(1, 1, 4, 32)
    assert torch.equal(rows, expected)
    assert torch.equal(
        ttnn.create_group_norm_weight_bias_rm(weights[:64].bfloat16(), 64, 1).flatten().float(), weights[:64]
    )


def test_cores_across_channels() -> None:
    grid, layouts = ttnn.CoreGrid(y=3, x=5), ttnn.TensorMemoryLayout
    row, column = ttnn.ShardOrientation.ROW_MAJOR, ttnn.ShardOrientation.COL_MAJOR
    cores = ttnn.get_group_norm_cores_across_channel
    assert [cores(layouts.BLOCK_SHARDED, grid, each) for each in (None, row, column)] == [3, 5, 3]
    assert [cores(layouts.HEIGHT_SHARDED, grid, each) for each in (None, row, column)] == [1, 1, 1]
    assert [cores(layout, grid) for layout in (layouts.WIDTH_SHARDED, layouts.INTERLEAVED)] == [15, 15]


def test_group_norm_takes_what_is_prepared(device: ttnn.Device) -> None:
    torch.manual_seed(0)
    x, weight, bias = torch.randn(1, 1, 64, 320), torch.rand(320), torch.rand(320)
    rows = [
        ttnn.from_torch(ttnn.create_group_norm_weight_bias_rm(each, 320, 1), dtype=ttnn.bfloat16, device=device)
        for each in (weight, bias)
    ]
    mask = ttnn.to_device(ttnn.create_group_norm_input_mask(320, 32, 1), device)
    result = ttnn.group_norm(
        ttnn.from_torch(x, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device),
        num_groups=32, input_mask=mask, weight=rows[0], bias=rows[1], epsilon=1e-5,
    )  # fmt: skip
    expected = F.group_norm(x.bfloat16().float()[0].permute(0, 2, 1), 32, weight, bias, 1e-5).permute(0, 2, 1)
    torch.testing.assert_close(ttnn.to_torch(result).float()[0], expected, rtol=2e-2, atol=2e-2)


def test_tensors_of_buffers(device: ttnn.Device) -> None:
    values = torch.tensor([[1.5, float("nan"), -0.0], [float("inf"), 3.0, -2.0]])
    for layout in (None, ttnn.TILE_LAYOUT):
        tensor = ttnn.from_buffer(values.flatten().tolist(), [2, 3], ttnn.float32, device, layout)
        assert tensor.is_on_device() and tensor.layout == (layout or ttnn.ROW_MAJOR_LAYOUT)
        assert torch.equal(ttnn.to_torch(tensor).view(torch.int32), values.view(torch.int32))
    assert tuple(ttnn.from_buffer([], [0, 3], ttnn.int32, device).shape) == (0, 3)
    whole = ttnn.from_buffer(range(4), ttnn.Shape([4]), ttnn.uint32, device, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert whole.memory_config().buffer_type == ttnn.BufferType.L1 and ttnn.to_torch(whole).tolist() == [0, 1, 2, 3]


def test_sizes_of_tensors_of_lists() -> None:
    rows = ttnn.ROW_MAJOR_LAYOUT
    for shape in ([0], [0, 3], [2, 0, 5]):
        assert tuple(ttnn.Tensor([], shape, ttnn.float32, rows).shape) == tuple(shape)
    for shape in ([-1, -3], [2**40, 2**40, 3]):
        with pytest.raises(ValueError, match=r"shape is .*; expected no negative|shape is .*, which has 2"):
            ttnn.Tensor([1.0, 2.0, 3.0], shape, ttnn.float32, rows)


def test_tensors_on_the_host(device: ttnn.Device) -> None:
    tensor = ttnn.allocate_tensor_on_host(ttnn.Shape([2, 5]), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    spec = ttnn.TensorSpec(ttnn.Shape([2, 5]), ttnn.bfloat16, ttnn.TILE_LAYOUT)
    for each in (tensor, ttnn.allocate_tensor_on_host(spec, device)):
        assert not each.is_on_device() and (each.dtype, each.layout) == (ttnn.bfloat16, ttnn.TILE_LAYOUT)
        assert torch.equal(ttnn.to_torch(each), torch.zeros(2, 5).bfloat16())


@pytest.mark.parametrize("dtype", [None, ttnn.bfloat16])
def test_a_part_of_a_tensor_is_sharded(device: ttnn.Device, dtype: Any) -> None:
    x = torch.randn(2, 1, 64, 64)
    tensor = ttnn.from_torch(x, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
    for index in range(2):
        part = ttnn.interleaved_to_sharded_partial(
            tensor, ttnn.CoreCoord(1, 2), [32, 64], 2, index,
            ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.ShardOrientation.ROW_MAJOR, output_dtype=dtype,
        )  # fmt: skip
        assert part.is_sharded() and part.dtype == (dtype or ttnn.float32)
        expected = x[index : index + 1].to(torch.bfloat16 if dtype else torch.float32)
        assert torch.equal(ttnn.to_torch(part), expected)


def test_wrong_arguments_are_errors(device: ttnn.Device) -> None:
    with pytest.raises(
        ValueError, match=r"create_group_norm_input_mask: num_groups is 7; expected a divisor of num_ch"
    ):
        ttnn.create_group_norm_input_mask(80, 7, 1)
    with pytest.raises(
        ValueError, match=r"num_cores_across_channel is 3; expected a divisor of num_groups, which is 8"
    ):
        ttnn.create_group_norm_input_negative_mask(80, 8, 3)
    with pytest.raises(ValueError, match="num_groups is 0; expected 1 or more"):
        ttnn.create_group_norm_input_mask(80, 0, 1)
    with pytest.raises(TypeError, match=r"num_channel is 80\.0; expected an integer"):
        ttnn.create_group_norm_input_mask(80.0, 8, 1)
    with pytest.raises(ValueError, match="rows_in_last_tile is 32; expected 0 to 31"):
        ttnn.create_group_norm_input_mask(80, 8, 1, rows_in_last_tile=32)
    with pytest.raises(ValueError, match="input_tensor has 3 elements; expected 80"):
        ttnn.create_group_norm_weight_bias_rm(torch.ones(3), 80, 2)
    with pytest.raises(ValueError, match="data has 3 values; expected 4"):
        ttnn.from_buffer([1, 2, 3], [4], ttnn.int32, device)
    with pytest.raises(TypeError, match="from_buffer: device is None; expected a Device"):
        ttnn.from_buffer([1], [1], ttnn.int32, None)
    with pytest.raises(ValueError, match="has more than 67108864 elements"):
        ttnn.create_group_norm_input_mask(2**62, 1, 1)
    with pytest.raises(ValueError, match="num_groups is 4611686018427387904; expected at most 67108864"):
        ttnn.create_group_norm_input_mask(2**62, 2**62, 1)
    with pytest.raises(TypeError, match="input_tensor is None; expected a torch tensor"):
        ttnn.create_group_norm_weight_bias_rm(None, 64, 1)
    with pytest.raises(TypeError, match="from_buffer: buffer is 5; expected a sequence of numbers"):
        ttnn.from_buffer(5, [1], ttnn.int32, device)
    with pytest.raises(TypeError, match="from_buffer: shape is 5; expected a sequence of numbers"):
        ttnn.from_buffer([1, 2], 5, ttnn.int32, device)
    x = ttnn.from_torch(torch.ones(64, 32), layout=ttnn.TILE_LAYOUT, device=device)
    scheme, orientation = ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.ShardOrientation.ROW_MAJOR
    with pytest.raises(ValueError, match="num_slices is 3; expected a divisor of 64 rows"):
        ttnn.interleaved_to_sharded_partial(x, ttnn.CoreCoord(1, 1), [32, 32], 3, 0, scheme, orientation)
    with pytest.raises(ValueError, match="slice_index is 2; expected 0 to 1"):
        ttnn.interleaved_to_sharded_partial(x, ttnn.CoreCoord(1, 1), [32, 32], 2, 2, scheme, orientation)


def grids() -> list[list[Any]]:
    """Returns channels, groups and rows with what ttnn 0.81.1 gives for them on 8x8 cores.

    Three shard shapes and grids, (x, y): height shards, blocks in rows and in columns; three grids of interleaved
    tensors, of 1, 2 and 3 batches.
    """
    return [json.loads(line) for line in (Path(__file__).parent / "group_norm_grids.jsonl").read_text().splitlines()]


def test_grids_are_those_of_the_library(device: Any) -> None:
    for channels, groups, rows, *rest in grids():
        options = {"device": device, "num_channels": channels, "num_groups": groups, "input_nhw": rows}
        for (height, row_wise), expected in zip(((True, False), (False, True), (False, False)), rest[:3], strict=True):
            memory, grid = ttnn.determine_expected_group_norm_sharded_config_and_grid_size(
                **options, is_height_sharded=height, is_row_major=row_wise
            )
            spec = memory.shard_spec
            assert [list(spec.shape), grid.x, grid.y] == expected, options
            assert spec.grid.num_cores() == grid.x * grid.y
            assert (spec.orientation is ttnn.ShardOrientation.ROW_MAJOR) == (height or row_wise)
        for batches, expected in zip((1, 2, 3), rest[3:], strict=True):
            grid = ttnn.determine_expected_group_norm_dram_grid_size(**options, num_batches=batches)
            assert [grid.x, grid.y] == expected, (options, batches)


@pytest.mark.parametrize(
    ("channels", "groups", "rows", "text"),
    [
        (48, 2, 32, "num_channels is 48; expected a multiple of 32"),
        (64, 3, 32, "num_groups is 3; expected a divisor of num_channels, which is 64"),
        (64, 2, 0, "input_nhw is 0; expected 1 or more"),
    ],
    ids=["tiles", "groups", "rows"],
)
def test_grids_that_are_not(device: Any, channels: int, groups: int, rows: int, text: str) -> None:
    options = {"device": device, "num_channels": channels, "num_groups": groups, "input_nhw": rows}
    with pytest.raises(ValueError, match=text):
        ttnn.determine_expected_group_norm_dram_grid_size(**options)
    with pytest.raises(ValueError, match=text):
        ttnn.determine_expected_group_norm_sharded_config_and_grid_size(**options, is_height_sharded=True)


def test_weights_of_interleaved_tensors(device: Any) -> None:
    numbers = torch.arange(128.0)
    (weight, bias), mask = ttnn.dram_group_norm_params_from_torch([numbers, -numbers], 128, 2, device)
    assert torch.equal(ttnn.to_torch(weight).float(), numbers.reshape(1, 1, 4, 32))
    assert torch.equal(ttnn.to_torch(bias).float(), -numbers.reshape(1, 1, 4, 32))
    assert torch.equal(ttnn.to_torch(mask), ttnn.to_torch(ttnn.create_group_norm_input_mask(128, 2, 2)))
    one = ttnn.dram_group_norm_params_from_torch(numbers, 128, 2, device, return_mask=False, dtype=ttnn.float32)
    assert (one.shape, one.dtype) == ((1, 1, 4, 32), ttnn.float32)
    with ttnn.open_mesh_device(ttnn.MeshShape(1, 2)) as mesh:
        apart = ttnn.dram_group_norm_params_from_torch(numbers, 64, 2, mesh, mesh_axis=1, return_mask=False)
        parts = [ttnn.to_torch(part).flatten().tolist() for part in ttnn.get_device_tensors(apart)]
    assert parts == [numbers[:64].tolist(), numbers[64:].tolist()]
    with pytest.raises(ValueError, match="torch_params has 128 elements; expected 1 times 64"):
        ttnn.dram_group_norm_params_from_torch(numbers, 64, 2, device)
    with pytest.raises(ValueError, match="mesh_axis is 2; expected 0 or 1"):
        ttnn.dram_group_norm_params_from_torch(numbers, 64, 2, device, mesh_axis=2)
