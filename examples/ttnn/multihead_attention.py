# SPDX-License-Identifier: Apache-2.0
"""Multi-head attention in three forms: op by op, with the functions for attention, and with fused attention.

python examples/ttnn/multihead_attention.py
"""

from __future__ import annotations

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_linear_bias, preprocess_linear_weight

BATCH, ROWS, HEADS, WIDTH = 2, 384, 16, 1024


def plain(x: ttnn.Tensor, mask: ttnn.Tensor, weights: list[ttnn.Tensor], biases: list[ttnn.Tensor]) -> ttnn.Tensor:
    batch, rows, width = x.shape
    size = width // HEADS
    reshape = ttnn.get_fallback_function(ttnn.reshape)

    def project(index: int) -> ttnn.Tensor:
        y = x @ weights[index] + biases[index]
        y = ttnn.to_layout(y, layout=ttnn.ROW_MAJOR_LAYOUT)
        y = reshape(y, (batch, rows, HEADS, size))
        return ttnn.to_layout(y, layout=ttnn.TILE_LAYOUT)

    query, key, value = (project(index) for index in range(3))
    scores = ttnn.permute(query, (0, 2, 1, 3)) @ ttnn.permute(key, (0, 2, 3, 1))
    scores = scores * (1 / size**0.5)
    scores += mask
    context = ttnn.softmax(scores, dim=-1) @ ttnn.permute(value, (0, 2, 1, 3))
    context = ttnn.to_layout(ttnn.permute(context, (0, 2, 1, 3)), layout=ttnn.ROW_MAJOR_LAYOUT)
    context = ttnn.to_layout(ttnn.reshape(context, (batch, rows, width)), layout=ttnn.TILE_LAYOUT)
    return context @ weights[3] + biases[3]


def optimized(
    x: ttnn.Tensor, mask: ttnn.Tensor, qkv: ttnn.Tensor, qkv_bias: ttnn.Tensor, out: ttnn.Tensor, out_bias: ttnn.Tensor
) -> ttnn.Tensor:
    batch, _, width = x.shape
    grid = ttnn.CoreGrid(y=batch, x=8)
    fused = ttnn.linear(
        x, qkv, bias=qkv_bias, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat8_b, core_grid=grid
    )
    query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(
        fused, memory_config=ttnn.L1_MEMORY_CONFIG, num_heads=HEADS
    )
    ttnn.deallocate(fused)
    scores = ttnn.matmul(query, key, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16, core_grid=grid)
    ttnn.deallocate(query)
    ttnn.deallocate(key)
    weights = ttnn.transformer.attention_softmax_(scores, attention_mask=mask, head_size=width // HEADS)
    context = ttnn.matmul(weights, value, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat8_b, core_grid=grid)
    ttnn.deallocate(weights)
    joined = ttnn.transformer.concatenate_heads(context, memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.deallocate(context)
    return ttnn.linear(
        joined, out, bias=out_bias, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16, core_grid=grid
    )


def fused(
    x: ttnn.Tensor, mask: ttnn.Tensor, qkv: ttnn.Tensor, qkv_bias: ttnn.Tensor, out: ttnn.Tensor, out_bias: ttnn.Tensor
) -> ttnn.Tensor:
    query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(
        ttnn.linear(x, qkv, bias=qkv_bias), num_heads=HEADS, transpose_key=False
    )
    config = ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=(8, 8), q_chunk_size=128, k_chunk_size=128, exp_approx_mode=False
    )
    context = ttnn.transformer.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=False, program_config=config
    )
    return ttnn.linear(ttnn.transformer.concatenate_heads(context), out, bias=out_bias)


def pcc(expected: torch.Tensor, found: torch.Tensor) -> float:
    return float(torch.corrcoef(torch.stack([expected.flatten(), found.flatten()]))[0, 1])


def main() -> None:
    torch.manual_seed(0)
    device = ttnn.open_device(device_id=0)
    layer = torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True).eval()
    for bias in (layer.in_proj_bias, layer.out_proj.bias):
        torch.nn.init.normal_(bias, std=0.1)
    hidden = torch.randn(BATCH, ROWS, WIDTH)
    lengths = torch.tensor([ROWS, 300])
    padded = torch.arange(ROWS) >= lengths[:, None]
    additive = torch.zeros(BATCH, 1, 1, ROWS).masked_fill(padded[:, None, None], -1e9)
    with torch.no_grad():
        expected, _ = layer(hidden, hidden, hidden, key_padding_mask=padded, need_weights=False)

    def tile(values: torch.Tensor) -> ttnn.Tensor:
        return ttnn.from_torch(values.detach(), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

    x, mask = tile(hidden), tile(additive)
    parts = [*layer.in_proj_weight.chunk(3), layer.out_proj.weight]
    part_biases = [*layer.in_proj_bias.chunk(3), layer.out_proj.bias]
    qkv = ttnn.to_device(preprocess_linear_weight(layer.in_proj_weight.detach(), dtype=ttnn.bfloat16), device)
    qkv_bias = preprocess_linear_bias(layer.in_proj_bias.detach(), dtype=ttnn.bfloat16)
    qkv_bias = ttnn.to_device(qkv_bias, device, memory_config=ttnn.L1_MEMORY_CONFIG)
    out = ttnn.to_device(preprocess_linear_weight(layer.out_proj.weight.detach(), dtype=ttnn.bfloat16), device)
    out_bias = preprocess_linear_bias(layer.out_proj.bias.detach(), dtype=ttnn.bfloat16)
    out_bias = ttnn.to_device(out_bias, device, memory_config=ttnn.L1_MEMORY_CONFIG)

    full_mask = tile(additive.expand(BATCH, 1, ROWS, ROWS))
    results = {
        "op by op": plain(x, mask, [tile(part.T) for part in parts], [tile(part[None]) for part in part_biases]),
        "functions for attention": optimized(x, mask, qkv, qkv_bias, out, out_bias),
        "fused": fused(x, full_mask, qkv, qkv_bias, out, out_bias),
    }
    for name, result in results.items():
        found = ttnn.to_torch(result).float()
        print(f"{name}: PCC {pcc(expected, found):.6f}")
        torch.testing.assert_close(found, expected, atol=0.03, rtol=0.05)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
