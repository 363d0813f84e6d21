# SPDX-License-Identifier: Apache-2.0
"""Multiplies with each program of a product: grids and blocks, operands sharded over L1, and the fidelity of the math.

python examples/ttnn/matmul_configs.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn

ROWS, INNER, COLUMNS, TILE = 256, 512, 1024, 32
GRID = (8, 4)  # columns and rows of cores


def compute_configs() -> dict[str, Any]:
    return {
        "LoFi, approximate": ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.LoFi, math_approx_mode=True, fp32_dest_acc_en=False, packer_l1_acc=True
        ),
        "HiFi2": ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False, fp32_dest_acc_en=False, packer_l1_acc=True
        ),
        "HiFi4 with 32 bits": ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        ),
    }


def product_configs() -> dict[str, tuple[Any, Any, Any]]:
    """Returns by name where the first operand lies, the program, and where the result lies."""
    columns, rows = GRID
    by_block, by_width = (
        ttnn.create_sharded_memory_config((1, 1, ROWS, INNER), ttnn.CoreGrid(y=y, x=x), strategy)
        for y, x, strategy in ((rows, columns, ttnn.ShardStrategy.BLOCK), (1, columns, ttnn.ShardStrategy.WIDTH))
    )
    two_dimensions = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=GRID,
        in0_block_w=INNER // TILE // columns,
        out_subblock_h=1,
        out_subblock_w=4,
        per_core_M=ROWS // TILE // rows,
        per_core_N=COLUMNS // TILE // columns,
        transpose_mcast=False,
        fused_activation=None,
    )
    one_dimension = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=(columns, 1),
        in0_block_w=INNER // TILE // columns,
        out_subblock_h=1,
        out_subblock_w=4,
        per_core_M=ROWS // TILE,
        per_core_N=COLUMNS // TILE // columns,
        fuse_batch=True,
        fused_activation=None,
        mcast_in0=True,
    )
    return {
        "chosen by the library": (ttnn.DRAM_MEMORY_CONFIG, None, ttnn.DRAM_MEMORY_CONFIG),
        "two dimensions, interleaved": (ttnn.L1_MEMORY_CONFIG, two_dimensions, ttnn.L1_MEMORY_CONFIG),
        "two dimensions, blocks": (by_block, two_dimensions, ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG),
        "one dimension, widths": (by_width, one_dimension, ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG),
    }


def main() -> None:
    torch.manual_seed(0)
    device: Any = ttnn.open_device(device_id=0)
    a, b = torch.randn(1, 1, ROWS, INNER), torch.randn(1, 1, INNER, COLUMNS)
    bias = torch.randn(1, 1, 1, COLUMNS)
    expected = torch.nn.functional.gelu(a @ b + bias)

    def place(values: torch.Tensor, dtype: Any = ttnn.bfloat16, memory_config: Any = ttnn.DRAM_MEMORY_CONFIG) -> Any:
        return ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory_config)

    # LoFi reads five and seven bits of the mantissas of its operands, and its weights have seven in any case.
    for math, compute in compute_configs().items():
        tolerance = 0.02 if "HiFi" in math else 0.05
        weight, shift = place(b, ttnn.bfloat8_b), place(bias)
        for name, (memory, program, result_memory) in product_configs().items():
            y = ttnn.linear(
                ttnn.to_memory_config(place(a), memory),
                weight,
                bias=shift,
                activation=None if program else "gelu",
                program_config=program,
                compute_kernel_config=compute,
                memory_config=result_memory,
                dtype=ttnn.bfloat16,
            )
            assert y.is_sharded() == result_memory.is_sharded(), name
            if program:
                y = ttnn.gelu(ttnn.to_memory_config(y, ttnn.DRAM_MEMORY_CONFIG))
            error = float((ttnn.to_torch(y).float() - expected).norm() / expected.norm())
            print(f"{math}; {name}: relative error {error:.4f}")
            assert error < tolerance, (math, name)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
