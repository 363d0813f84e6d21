# SPDX-License-Identifier: Apache-2.0
"""Attends over caches of keys and values in pages: blocks of users of different lengths lie in one pool.

python examples/ttnn/paged_attention.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn

USERS, HEADS, KV_HEADS, HEAD = 4, 8, 2, 64
BLOCK, BLOCKS_OF_USER = 32, 4
LENGTHS = (32, 64, 96, 64)  # of the prompts
STEPS = 4


class Pool:
    """Holds the keys and values of every user, in blocks that a table of pages names."""

    def __init__(self, device: Any) -> None:
        self.device = device
        blocks = USERS * BLOCKS_OF_USER
        empty = torch.zeros(blocks, KV_HEADS, BLOCK, HEAD)
        self.keys, self.values = (
            ttnn.from_torch(empty, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device) for _ in range(2)
        )
        # Any order of blocks will do.
        self.pages = torch.randperm(blocks, dtype=torch.int32).reshape(USERS, BLOCKS_OF_USER)
        self.page_table = ttnn.from_torch(self.pages, dtype=ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)

    def fill(self, user: int, key: torch.Tensor, value: torch.Tensor) -> None:
        for cache, rows in ((self.keys, key), (self.values, value)):
            prompt = ttnn.from_torch(rows[None], dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=self.device)
            ttnn.experimental.paged_fill_cache(cache, prompt, self.page_table, batch_idx=user)


def per_user(values: torch.Tensor, memory_config: Any, device: Any) -> Any:
    """Places heads [users, heads, size] as decoding takes them: [1, users, heads, size], a user on each core."""
    return ttnn.from_torch(
        values[None], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory_config
    )


def main() -> None:
    torch.manual_seed(0)
    device: Any = ttnn.open_device(device_id=0)
    rows = [length + STEPS for length in LENGTHS]
    keys, values = ([torch.randn(KV_HEADS, count, HEAD) for count in rows] for _ in range(2))
    queries = torch.randn(STEPS, USERS, HEADS, HEAD)

    pool = Pool(device)
    for user, length in enumerate(LENGTHS):
        pool.fill(user, keys[user][:, :length], values[user][:, :length])

    cores = ttnn.num_cores_to_corerangeset(USERS, device.compute_with_storage_grid_size(), row_wise=True)
    by_user = ttnn.create_sharded_memory_config(
        (32, HEAD), cores, ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True
    )
    program = ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=device.compute_with_storage_grid_size(),
        q_chunk_size=32,
        k_chunk_size=32,
        exp_approx_mode=False,
    )
    precise = ttnn.WormholeComputeKernelConfig(
        math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=False, packer_l1_acc=False
    )
    for step in range(STEPS):
        now = [length + step for length in LENGTHS]
        positions = ttnn.from_torch(torch.tensor(now, dtype=torch.int32), dtype=ttnn.int32, device=device)
        for cache, source in ((pool.keys, keys), (pool.values, values)):
            row = torch.stack([heads[:, at] for heads, at in zip(source, now, strict=True)])
            ttnn.experimental.paged_update_cache(
                cache, per_user(row, by_user, device), update_idxs_tensor=positions, page_table=pool.page_table
            )
        attended = ttnn.transformer.paged_scaled_dot_product_attention_decode(
            per_user(queries[step], ttnn.DRAM_MEMORY_CONFIG, device),
            pool.keys,
            pool.values,
            pool.page_table,
            cur_pos_tensor=positions,
            scale=HEAD**-0.5,
            program_config=program,
            compute_kernel_config=precise,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
        )
        found = ttnn.to_torch(attended).float()[0, :, :HEADS]
        for user, at in enumerate(now):
            expected = torch.nn.functional.scaled_dot_product_attention(
                queries[step, user, :, None], keys[user][:, : at + 1], values[user][:, : at + 1], enable_gqa=True
            )[:, 0]
            torch.testing.assert_close(found[user], expected, atol=0.04, rtol=0.05)
        print(f"step {step}: positions {now} agree")

    # The blocks of a user, in the order of its pages, hold its keys.
    blocks = ttnn.to_torch(pool.keys).float()
    for user, count in enumerate(rows):
        held = blocks[pool.pages[user].long()].transpose(0, 1).flatten(1, 2)[:, :count]
        torch.testing.assert_close(held, keys[user], atol=0.04, rtol=0.02)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
