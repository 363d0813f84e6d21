# SPDX-License-Identifier: Apache-2.0
"""Divides a Llama block over a 2x4 mesh: sequences over its rows, heads and inner dimensions over its columns.

python examples/ttnn/llama_tensor_parallel.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn

GROUPS, PARTS = 2, 4  # rows and columns of the mesh
BATCH, ROWS, WIDTH, HEADS, KV_HEADS, HEAD, INNER, EPSILON = 2, 64, 256, 8, 4, 32, 512, 1e-5


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = (torch.nn.RMSNorm(WIDTH, eps=EPSILON) for _ in range(2))
        self.query = torch.nn.Linear(WIDTH, HEADS * HEAD, bias=False)
        self.key, self.value = (torch.nn.Linear(WIDTH, KV_HEADS * HEAD, bias=False) for _ in range(2))
        self.out = torch.nn.Linear(HEADS * HEAD, WIDTH, bias=False)
        self.gate, self.up = (torch.nn.Linear(WIDTH, INNER, bias=False) for _ in range(2))
        self.down = torch.nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        hidden = self.norm1(x)
        q, k, v = (f(hidden).unflatten(-1, (-1, HEAD)).transpose(1, 2) for f in (self.query, self.key, self.value))
        q, k = (heads * cos + halves_swapped(heads) * sin for heads in (q, k))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        hidden = self.norm2(x)
        return x + self.down(torch.nn.functional.silu(self.gate(hidden)) * self.up(hidden))


def halves_swapped(heads: torch.Tensor) -> torch.Tensor:
    low, high = heads.chunk(2, -1)
    return torch.cat([-high, low], -1)


class ChipBlock:
    """Column-parallel products first (queries, keys, values; gate, up), row-parallel ones after (out; down)."""

    def __init__(self, block: Block, cos: torch.Tensor, sin: torch.Tensor, mesh: Any) -> None:
        self.mesh = mesh
        # Each column has its own query, key and value heads next to each other.
        parts = [torch.chunk(f.weight.detach(), PARTS) for f in (block.query, block.key, block.value)]
        joined = torch.cat([part for column in zip(*parts, strict=True) for part in column])
        self.qkv, self.gate, self.up = (
            self.divide(weight.T, -1) for weight in (joined, block.gate.weight, block.up.weight)
        )
        self.out, self.down = (self.divide(layer.weight.T, -2) for layer in (block.out, block.down))
        self.norm1, self.norm2 = (self.copy(norm.weight[None]) for norm in (block.norm1, block.norm2))
        self.cos, self.sin = self.copy(cos[None, None]), self.copy(sin[None, None])

    def divide(self, weight: Any, dim: int) -> Any:
        """Places a weight with a dimension over the columns of the mesh, the same in every row."""
        mapper = ttnn.ShardTensor2dMesh(self.mesh, mesh_shape=(GROUPS, PARTS), dims=(None, dim))
        return self.place(weight, mapper, ttnn.bfloat8_b)

    def copy(self, values: Any) -> Any:
        return self.place(values, ttnn.ReplicateTensorToMesh(self.mesh))

    def place(self, values: Any, mapper: Any, dtype: Any = ttnn.bfloat16) -> Any:
        return ttnn.from_torch(
            values.detach()[None, None] if values.ndim == 2 else values.detach(),
            dtype=dtype,
            layout=ttnn.TILE_LAYOUT,
            device=self.mesh,
            mesh_mapper=mapper,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
        )

    def gathered_sum(self, partial: Any) -> Any:
        """Adds the products of all columns: each adds a quarter of the width, then all receive every quarter."""
        quarter = ttnn.reduce_scatter(partial, 3, cluster_axis=1, topology=ttnn.Topology.Linear, num_links=1)
        ttnn.deallocate(partial)
        return ttnn.all_gather(quarter, 3, cluster_axis=1, topology=ttnn.Topology.Linear, num_links=1)

    def __call__(self, x: Any) -> Any:
        hidden = ttnn.rms_norm(x, weight=self.norm1, epsilon=EPSILON)
        query, key, value = ttnn.experimental.nlp_create_qkv_heads(
            ttnn.linear(hidden, self.qkv),
            num_heads=HEADS // PARTS,
            num_kv_heads=KV_HEADS // PARTS,
            transpose_k_heads=False,
        )
        query, key = (ttnn.experimental.rotary_embedding(heads, self.cos, self.sin) for heads in (query, key))
        attended = ttnn.transformer.scaled_dot_product_attention(query, key, value, is_causal=True)
        partial = ttnn.linear(ttnn.experimental.nlp_concat_heads(attended), self.out)
        x = ttnn.add(x, self.gathered_sum(partial))
        hidden = ttnn.rms_norm(x, weight=self.norm2, epsilon=EPSILON)
        product = ttnn.mul(
            ttnn.linear(hidden, self.gate),
            ttnn.linear(hidden, self.up),
            input_tensor_a_activations=[ttnn.UnaryOpType.SILU],
        )
        return ttnn.add(x, self.gathered_sum(ttnn.linear(product, self.down)))


def main() -> None:
    torch.manual_seed(0)
    block = Block().eval()
    angles = torch.outer(torch.arange(ROWS), 10000.0 ** (-torch.arange(0, HEAD, 2) / HEAD)).repeat(1, 2)
    x = torch.randn(BATCH, ROWS, WIDTH)
    with torch.no_grad():
        expected = block(x, angles.cos(), angles.sin())

    mesh: Any = ttnn.open_mesh_device(ttnn.MeshShape(GROUPS, PARTS))
    on_chips = ChipBlock(block, angles.cos(), angles.sin(), mesh)
    shared = ttnn.from_torch(
        x[:, None],
        dtype=ttnn.bfloat16,
        layout=ttnn.TILE_LAYOUT,
        device=mesh,
        mesh_mapper=ttnn.ShardTensor2dMesh(mesh, mesh_shape=(GROUPS, PARTS), dims=(0, None)),
    )
    result = on_chips(shared)
    # Every column holds the same sequences: the chips are joined along a dimension of 1 to compare them all.
    joined = ttnn.ConcatMesh2dToTensor(mesh, mesh_shape=(GROUPS, PARTS), dims=(0, 1))
    found = ttnn.to_torch(result, mesh_composer=joined).float()
    for column in range(PARTS):
        added = torch.stack([(values - x).flatten() for values in (found[:, column], expected)])
        assert torch.corrcoef(added)[0, 1] > 0.995
        torch.testing.assert_close(found[:, column], expected, atol=0.06, rtol=0.03)
    error = float((found[:, 0] - expected).abs().max())
    print(f"{mesh.get_num_devices()} chips of a mesh of {GROUPS}x{PARTS} agree: largest error {error:.4f}")
    ttnn.close_mesh_device(mesh)


if __name__ == "__main__":
    main()
