# SPDX-License-Identifier: Apache-2.0
"""Multiplies matrices with the default plan, with program configs, block formats, fidelities and a fused activation.

python examples/ttnn/matmul.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn

TILE = ttnn.TILE_SIZE


def pcc(expected: torch.Tensor, found: torch.Tensor) -> float:
    return float(torch.corrcoef(torch.stack([expected.flatten(), found.flatten()]))[0, 1])


def main() -> None:
    torch.manual_seed(0)
    device: Any = ttnn.open_device(device_id=0)
    device.enable_program_cache()
    m, k, n = 512, 1024, 512
    a, b = torch.randn(m, k), torch.randn(k, n) * k**-0.5
    expected = a @ b
    left = ttnn.from_torch(a, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    right = ttnn.from_torch(b, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

    def check(name: str, product: ttnn.Tensor, reference: torch.Tensor = expected, tolerance: float = 0.05) -> None:
        found = ttnn.to_torch(product).float()
        torch.testing.assert_close(found, reference, atol=tolerance, rtol=0.05)
        print(f"{name}: PCC {pcc(reference, found):.6f}, {product.memory_config()}")

    check("operator", left @ right)
    check("cores", ttnn.matmul(left, right, memory_config=ttnn.L1_MEMORY_CONFIG, core_grid=ttnn.CoreGrid(y=8, x=8)))

    fidelity = ttnn.WormholeComputeKernelConfig(
        math_fidelity=ttnn.MathFidelity.HiFi4,
        math_approx_mode=False,
        fp32_dest_acc_en=True,
        packer_l1_acc=True,
    )
    check("HiFi4", ttnn.matmul(left, right, compute_kernel_config=fidelity), tolerance=0.03)

    # Blocks over both dimensions: 8 x 8 cores, each 2 x 2 tiles of the result.
    plane = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(8, 8),
        in0_block_w=4,
        out_subblock_h=2,
        out_subblock_w=2,
        per_core_M=m // TILE // 8,
        per_core_N=n // TILE // 8,
        transpose_mcast=False,
        fused_activation=None,
    )
    check("2D", ttnn.matmul(left, right, program_config=plane))

    # Blocks over columns, with GELU in the kernel.
    columns = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=(8, 2),
        in0_block_w=2,
        out_subblock_h=4,
        out_subblock_w=1,
        per_core_M=m // TILE,
        per_core_N=1,
        fuse_batch=True,
        fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, True),
        mcast_in0=True,
    )
    fused = ttnn.linear(left, right, program_config=columns)
    check("1D with GELU", fused, torch.nn.functional.gelu(expected))

    # Activations in the L1 of the cores that multiply, blocks of 32 x 32 x 32.
    shards = ttnn.create_sharded_memory_config((m, k), ttnn.CoreGrid(y=8, x=8), ttnn.ShardStrategy.BLOCK)
    sharded = ttnn.to_memory_config(left, shards)
    product = ttnn.matmul(
        sharded, right, program_config=plane, memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG, dtype=ttnn.bfloat16
    )
    assert product.is_sharded()
    check("sharded", ttnn.sharded_to_interleaved(product, ttnn.DRAM_MEMORY_CONFIG))

    for dtype, tolerance in [(ttnn.bfloat8_b, 0.1), (ttnn.bfloat4_b, 0.8)]:
        weight = ttnn.from_torch(b, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)
        check(f"{dtype}", ttnn.linear(left, weight, dtype=ttnn.bfloat16), tolerance=tolerance)

    batch = torch.randn(2, 4, 64, 96)
    many = ttnn.from_torch(batch, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    check("batch", ttnn.matmul(many, many, transpose_b=True), batch @ batch.mT, 0.5)
    reuse = ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=(4, 2),
        in0_block_w=3,
        out_subblock_h=2,
        out_subblock_w=2,
        per_core_M=2,
        per_core_N=2,
    )
    turned = ttnn.permute(many, (0, 1, 3, 2))
    check("batch, reuse", ttnn.matmul(many, turned, program_config=reuse), batch @ batch.mT, 0.5)
    print(f"{device.num_program_cache_entries()} programs in the cache")
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
