# SPDX-License-Identifier: Apache-2.0
"""Runs a network from a trace while a second command queue writes the next inputs.

python examples/ttnn/traces.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn

ROWS, WIDTH = 64, 512


def main() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(WIDTH, 2 * WIDTH), torch.nn.GELU(), torch.nn.Linear(2 * WIDTH, WIDTH), torch.nn.Softmax(-1)
    ).eval()
    batches = [torch.randn(1, 1, ROWS, WIDTH) for _ in range(4)]
    with torch.no_grad():
        expected = [model(batch) for batch in batches]

    device: Any = ttnn.open_mesh_device(ttnn.MeshShape(1, 1), trace_region_size=1 << 20, num_command_queues=2)
    layers: tuple[Any, ...] = (model[0], model[2])
    up, down = (
        (
            ttnn.from_torch(layer.weight.detach().T, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device),
            ttnn.from_torch(layer.bias.detach(), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device),
        )
        for layer in layers
    )

    def network(x: ttnn.Tensor) -> ttnn.Tensor:
        hidden = ttnn.linear(x, up[0], bias=up[1], activation="gelu", memory_config=ttnn.L1_MEMORY_CONFIG)
        return ttnn.softmax(ttnn.linear(hidden, down[0], bias=down[1]), dim=-1)

    inputs = [ttnn.from_torch(batch, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT) for batch in batches]
    shards = ttnn.create_sharded_memory_config((ROWS, WIDTH), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.HEIGHT)
    in_dram = ttnn.allocate_tensor_on_device(
        inputs[0].shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG
    )

    # Queue 1 writes inputs, queue 0 computes; events keep one from the other's tensors.
    computed = ttnn.record_event(device, 0)
    ttnn.wait_for_event(1, computed)
    ttnn.copy_host_to_device_tensor(inputs[0], in_dram, cq_id=1)
    written = ttnn.record_event(device, 1)
    ttnn.wait_for_event(0, written)
    in_l1: Any = ttnn.to_memory_config(in_dram, shards)
    spec = in_l1.spec
    computed = ttnn.record_event(device, 0)
    network(in_l1).deallocate(True)  # compiles

    in_l1 = ttnn.to_memory_config(in_dram, shards)
    address = in_l1.buffer_address()
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    result = network(in_l1)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    assert in_l1.buffer_address() == address and in_l1.spec == spec

    found = []
    for batch in inputs:
        ttnn.wait_for_event(1, computed)
        ttnn.copy_host_to_device_tensor(batch, in_dram, cq_id=1)
        written = ttnn.record_event(device, 1)
        ttnn.wait_for_event(0, written)
        in_l1 = (
            ttnn.reshard(in_dram, shards, in_l1)
            if in_dram.is_sharded()
            else ttnn.to_memory_config(in_dram, shards, output_tensor=in_l1)
        )
        computed = ttnn.record_event(device, 0)
        ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
        found.append(result.cpu(blocking=False))
    ttnn.synchronize_device(device)
    ttnn.release_trace(device, trace)

    for index, (reference, output) in enumerate(zip(expected, found, strict=True)):
        torch.testing.assert_close(ttnn.to_torch(output).float(), reference, atol=5e-4, rtol=0.02)
        print(f"batch {index}: largest error {float((ttnn.to_torch(output).float() - reference).abs().max()):.6f}")
    ttnn.close_mesh_device(device)


if __name__ == "__main__":
    main()
