# SPDX-License-Identifier: Apache-2.0
"""Shards tensors over the L1 of cores: by height, width and block, with other grids, and through a chain of functions.

python examples/ttnn/sharding.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn


def describe(tensor: ttnn.Tensor) -> None:
    spec = tensor.memory_config().shard_spec
    assert spec is not None
    cores = ttnn.corerange_to_cores(spec.grid)
    print(f"{tensor.memory_config().memory_layout}: {spec.grid.num_cores()} cores from {cores[0]}, shards {spec.shape}")


def main() -> None:
    torch.manual_seed(0)
    device: Any = ttnn.open_device(device_id=0)
    values = torch.randn(1, 1, 256, 512)
    x = ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

    configs = {
        "height": ttnn.create_sharded_memory_config(
            shape=(1, 1, 256, 512),
            core_grid=ttnn.CoreGrid(y=1, x=8),
            strategy=ttnn.ShardStrategy.HEIGHT,
            orientation=ttnn.ShardOrientation.ROW_MAJOR,
        ),
        "width": ttnn.create_sharded_memory_config(x.shape, ttnn.CoreGrid(y=2, x=8), ttnn.ShardStrategy.WIDTH),
        "block": ttnn.create_sharded_memory_config(x.shape, ttnn.CoreGrid(y=4, x=8), ttnn.ShardStrategy.BLOCK),
        "block by columns": ttnn.create_sharded_memory_config(
            x.shape, ttnn.CoreGrid(y=8, x=4), ttnn.ShardStrategy.BLOCK, orientation=ttnn.ShardOrientation.COL_MAJOR
        ),
        "shard shape": ttnn.create_sharded_memory_config(
            shape=(32, 512),
            core_grid=ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 0))}),
            strategy=ttnn.ShardStrategy.HEIGHT,
            use_height_and_width_as_shard_shape=True,
        ),
        "written out": ttnn.MemoryConfig(
            ttnn.TensorMemoryLayout.BLOCK_SHARDED,
            ttnn.BufferType.L1,
            ttnn.ShardSpec(
                ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 1))}),
                [128, 128],
                ttnn.ShardOrientation.ROW_MAJOR,
            ),
        ),
        # Two rows of cores that do not begin at the first one, as in a plan that leaves cores to others.
        "other cores": ttnn.MemoryConfig(
            ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
            ttnn.BufferType.L1,
            ttnn.ShardSpec(
                ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(1, 1), ttnn.CoreCoord(4, 2))}),
                (32, 512),
                ttnn.ShardOrientation.ROW_MAJOR,
            ),
        ),
        "a number of cores": ttnn.create_sharded_memory_config(
            (256, 512),
            ttnn.num_cores_to_corerangeset(4, device.compute_with_storage_grid_size(), row_wise=True),
            ttnn.ShardStrategy.HEIGHT,
        ),
    }
    for name, config in configs.items():
        sharded = ttnn.to_memory_config(x, config)
        assert sharded.is_sharded() and ttnn.get_memory_config(sharded) == sharded.memory_config()
        print(name, end=": ")
        describe(sharded)
        y = ttnn.add(ttnn.gelu(sharded, memory_config=config), sharded, memory_config=config)
        back = ttnn.to_torch(ttnn.sharded_to_interleaved(y, ttnn.DRAM_MEMORY_CONFIG)).float()
        torch.testing.assert_close(back, torch.nn.functional.gelu(values) + values, atol=0.05, rtol=0.02)

    # From one strategy to another, and the result of a function where its plan puts it.
    by_height = ttnn.interleaved_to_sharded(x, configs["height"])
    by_block = ttnn.reshard(by_height, configs["block"])
    torch.testing.assert_close(ttnn.to_torch(by_block), ttnn.to_torch(x))
    normed = ttnn.layer_norm(
        by_block,
        epsilon=1e-5,
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        program_config=ttnn.LayerNormShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=(8, 4), subblock_w=2, block_h=2, block_w=2, inplace=False
        ),
    )
    expected = torch.nn.functional.layer_norm(values, [512])
    torch.testing.assert_close(ttnn.to_torch(normed).float(), expected, atol=0.05, rtol=0.02)
    scores = ttnn.softmax_in_place(
        ttnn.to_memory_config(normed, configs["height"]),
        program_config=ttnn.SoftmaxShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=(8, 1), subblock_w=4, block_h=1, block_w=16
        ),
    )
    describe(scores)
    torch.testing.assert_close(ttnn.to_torch(scores).float(), expected.softmax(-1), atol=0.01, rtol=0.05)

    # Rows, sharded without tiles, and a tensor that is moved to close a gap.
    rows = ttnn.from_torch(
        values.reshape(256, 512),
        dtype=ttnn.bfloat16,
        layout=ttnn.ROW_MAJOR_LAYOUT,
        device=device,
        memory_config=ttnn.create_sharded_memory_config((256, 512), ttnn.CoreGrid(y=8, x=8), ttnn.ShardStrategy.HEIGHT),
    )
    describe(rows)
    ttnn.deallocate(by_height)
    rows = ttnn.reallocate(rows)
    tiled = ttnn.to_layout(rows, ttnn.TILE_LAYOUT)
    torch.testing.assert_close(ttnn.to_torch(tiled), ttnn.to_torch(x)[0, 0])
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
