# SPDX-License-Identifier: Apache-2.0
"""Adds tensors on a device: layouts, data types, broadcasts, memories, slices and a golden function.

python examples/ttnn/add_tensors.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn


def main() -> None:
    torch.manual_seed(0)
    device: Any = ttnn.open_device(device_id=0)
    grid = device.compute_with_storage_grid_size()
    print(f"{device.arch()}: {grid.x} x {grid.y} cores")

    a, b = torch.rand(3, 64, 128), torch.rand(3, 64, 128)
    on_device = ttnn.from_torch(a, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    other = ttnn.from_torch(b, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    other = ttnn.to_device(other, device, memory_config=ttnn.L1_MEMORY_CONFIG)

    total = on_device + other
    assert total.layout == ttnn.TILE_LAYOUT and total.dtype == ttnn.bfloat16
    torch.testing.assert_close(ttnn.to_torch(total).float(), a + b, atol=2e-2, rtol=1e-2)

    # A scalar, a row and a column are broadcast.
    for shape in [(1, 1, 1), (1, 1, 128), (1, 64, 1)]:
        c = torch.rand(shape)
        broadcast = ttnn.add(on_device, ttnn.from_torch(c, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device))
        torch.testing.assert_close(ttnn.to_torch(broadcast).float(), a + c, atol=2e-2, rtol=1e-2)

    # An activation is fused, and the result goes to a tensor that exists.
    out = ttnn.empty([3, 64, 128], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.add(on_device, -1.0, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)], output_tensor=out)
    assert not ttnn.to_torch(out).any()
    ttnn.add_(out, other)
    torch.testing.assert_close(ttnn.to_torch(out), ttnn.to_torch(other))

    # Integers, one tile that is padded, and rows without tiles.
    counts = torch.arange(15, dtype=torch.int32).reshape(3, 5)
    for layout in [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT]:
        numbers = ttnn.from_torch(counts, dtype=ttnn.int32, layout=layout, device=device)
        doubled = ttnn.add(numbers, numbers)
        print(doubled.shape, doubled.padded_shape, doubled.memory_config().buffer_type)
        torch.testing.assert_close(ttnn.to_torch(doubled), counts * 2)

    part = total[:1, 32:, :64]
    assert tuple(part.shape) == (1, 32, 64)
    rows = ttnn.to_layout(ttnn.from_device(part), ttnn.ROW_MAJOR_LAYOUT)
    torch.testing.assert_close(ttnn.to_torch(rows), ttnn.to_torch(total)[:1, 32:, :64])

    golden = ttnn.get_golden_function(ttnn.add)
    torch.testing.assert_close(ttnn.to_torch(total).float(), golden(a, b), atol=2e-2, rtol=1e-2)
    print(total)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
