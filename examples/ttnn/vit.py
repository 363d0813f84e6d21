# SPDX-License-Identifier: Apache-2.0
"""Classifies images with a vision transformer whose layers stay sharded in L1, by block and by height.

python examples/ttnn/vit.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn

SIZE, PATCH, WIDTH, HEADS, LAYERS, CLASSES, BATCH = 128, 16, 768, 12, 2, 1000, 8
TOKENS = (SIZE // PATCH) ** 2 + 1
PADDED = -(-TOKENS // 32) * 32
GRID = ttnn.CoreGrid(y=BATCH, x=6)  # an image for each row of cores
ROWS_T, WIDTH_T, HEAD_T = PADDED // 32, WIDTH // 32, WIDTH // HEADS // 32
CONFIGS: dict[str, Any] = {
    "norm": ttnn.LayerNormShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=(GRID.x, GRID.y),
        subblock_w=WIDTH_T // GRID.x,
        block_h=ROWS_T,
        block_w=WIDTH_T // GRID.x,
        inplace=False,
    ),
    "qkv": ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(GRID.x, GRID.y),
        in0_block_w=WIDTH_T // GRID.x,
        out_subblock_h=1,
        out_subblock_w=WIDTH_T // GRID.x,
        per_core_M=ROWS_T,
        per_core_N=3 * WIDTH_T // GRID.x,
        transpose_mcast=False,
        fused_activation=None,
    ),
    "scores": ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=(GRID.x, GRID.y),
        in0_block_w=HEAD_T,
        out_subblock_h=1,
        out_subblock_w=ROWS_T,
        per_core_M=HEADS * ROWS_T // GRID.x,
        per_core_N=ROWS_T,
    ),
    "softmax": ttnn.SoftmaxShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=(GRID.x, GRID.y),
        subblock_w=ROWS_T,
        block_h=HEADS * ROWS_T // GRID.x,
        block_w=ROWS_T,
    ),
    "context": ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=(GRID.x, GRID.y),
        in0_block_w=ROWS_T,
        out_subblock_h=1,
        out_subblock_w=HEAD_T,
        per_core_M=HEADS * ROWS_T // GRID.x,
        per_core_N=HEAD_T,
    ),
    "out": ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(GRID.x, GRID.y),
        in0_block_w=WIDTH_T // GRID.x,
        out_subblock_h=1,
        out_subblock_w=WIDTH_T // GRID.x,
        per_core_M=ROWS_T,
        per_core_N=WIDTH_T // GRID.x,
        transpose_mcast=False,
        fused_activation=None,
    ),
    "up": ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(GRID.x, GRID.y),
        in0_block_w=WIDTH_T // GRID.x,
        out_subblock_h=1,
        out_subblock_w=4,
        per_core_M=ROWS_T,
        per_core_N=4 * WIDTH_T // GRID.x,
        transpose_mcast=False,
        fused_activation=(ttnn.UnaryOpType.GELU, True),
    ),
    "down": ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(GRID.x, GRID.y),
        in0_block_w=4 * WIDTH_T // GRID.x,
        out_subblock_h=1,
        out_subblock_w=WIDTH_T // GRID.x,
        per_core_M=ROWS_T,
        per_core_N=WIDTH_T // GRID.x,
        transpose_mcast=False,
        fused_activation=None,
    ),
}


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = torch.nn.LayerNorm(WIDTH, 1e-12), torch.nn.LayerNorm(WIDTH, 1e-12)
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.before(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = x + self.out(y)
        return x + self.down(torch.nn.functional.gelu(self.up(self.after(x))))


class Transformer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = torch.nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.cls = torch.nn.Parameter(torch.randn(1, 1, WIDTH) * 0.1)
        self.positions = torch.nn.Parameter(torch.randn(1, TOKENS, WIDTH) * 0.1)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = torch.nn.LayerNorm(WIDTH, 1e-12)
        self.head = torch.nn.Linear(WIDTH, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.patches(x).flatten(2).mT
        x = torch.cat([self.cls.expand(BATCH, -1, -1), x], 1) + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])


def embeddings(images: ttnn.Tensor, *, parameters: Any) -> ttnn.Tensor:
    """Returns [batch, tokens, width] of images [batch, size, size / patch, 4 * patch], with a channel of zeros."""
    folded = ttnn.fold(images, PATCH, 1)
    ttnn.deallocate(images)
    folded = ttnn.to_layout(folded, layout=ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b)
    patches = ttnn.linear(
        folded,
        parameters["patches"],
        bias=parameters["patches_bias"],
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
        core_grid=ttnn.CoreGrid(y=8, x=8),
    )
    patches = ttnn.to_layout(patches, layout=ttnn.ROW_MAJOR_LAYOUT)
    patches = ttnn.reshape(patches, (BATCH, TOKENS - 1, WIDTH))
    tokens = ttnn.concat([parameters["cls"], patches], 1, memory_config=ttnn.L1_MEMORY_CONFIG)
    tokens = ttnn.to_layout(tokens, layout=ttnn.TILE_LAYOUT)
    return ttnn.add(tokens, parameters["positions"], memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16)


def attention(x: ttnn.Tensor, mask: ttnn.Tensor, *, parameters: Any) -> ttnn.Tensor:
    qkv = ttnn.linear(
        x,
        parameters["qkv"],
        bias=parameters["qkv_bias"],
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        program_config=CONFIGS["qkv"],
    )
    query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(
        qkv, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG, num_heads=HEADS
    )
    ttnn.deallocate(qkv)
    scores = ttnn.matmul(
        query,
        key,
        memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
        program_config=CONFIGS["scores"],
    )
    ttnn.deallocate(query)
    ttnn.deallocate(key)
    scores = ttnn.mul_(scores, (WIDTH // HEADS) ** -0.5)
    scores = ttnn.add_(scores, mask)
    weights = ttnn.softmax_in_place(scores, program_config=CONFIGS["softmax"])
    context = ttnn.matmul(
        weights,
        value,
        memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        program_config=CONFIGS["context"],
    )
    ttnn.deallocate(weights)
    ttnn.deallocate(value)
    context = ttnn.transformer.concatenate_heads(context, memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG)
    blocks = ttnn.create_sharded_memory_config(context.padded_shape, core_grid=GRID, strategy=ttnn.ShardStrategy.BLOCK)
    context = ttnn.to_memory_config(context, blocks)
    output = ttnn.linear(
        context,
        parameters["out"],
        bias=parameters["out_bias"],
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
        program_config=CONFIGS["out"],
    )
    ttnn.deallocate(context)
    return output


def layer(x: ttnn.Tensor, mask: ttnn.Tensor, *, parameters: Any) -> ttnn.Tensor:
    def norm(x: ttnn.Tensor, name: str) -> ttnn.Tensor:
        return ttnn.layer_norm(
            x,
            weight=parameters[name],
            bias=parameters[f"{name}_bias"],
            epsilon=1e-12,
            memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
            program_config=CONFIGS["norm"],
        )

    attended = attention(norm(x, "before"), mask, parameters=parameters)
    x = ttnn.add(attended, x, memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG, dtype=ttnn.bfloat16)
    ttnn.deallocate(attended)
    hidden = ttnn.linear(
        norm(x, "after"),
        parameters["up"],
        bias=parameters["up_bias"],
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        program_config=CONFIGS["up"],
    )
    output = ttnn.linear(
        hidden,
        parameters["down"],
        bias=parameters["down_bias"],
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
        program_config=CONFIGS["down"],
    )
    ttnn.deallocate(hidden)
    return ttnn.add(output, x, memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG, dtype=ttnn.bfloat16)


def vit(images: ttnn.Tensor, mask: ttnn.Tensor, *, parameters: Any) -> ttnn.Tensor:
    x = embeddings(images, parameters=parameters)
    blocks = ttnn.create_sharded_memory_config(x.padded_shape, core_grid=GRID, strategy=ttnn.ShardStrategy.BLOCK)
    x = ttnn.to_memory_config(x, blocks)
    for each in parameters["layers"]:
        x = layer(x, mask, parameters=each)
    x = ttnn.layer_norm(
        x,
        weight=parameters["norm"],
        bias=parameters["norm_bias"],
        epsilon=1e-12,
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        program_config=CONFIGS["norm"],
    )
    x = ttnn.sharded_to_interleaved(x, ttnn.L1_MEMORY_CONFIG)
    first = ttnn.slice(x, [0, 0, 0], [BATCH, 1, WIDTH])
    return ttnn.linear(first, parameters["head"], bias=parameters["head_bias"], dtype=ttnn.bfloat16)


def main() -> None:
    torch.manual_seed(0)
    model = Transformer().eval()
    images = torch.rand(BATCH, 3, SIZE, SIZE)
    with torch.no_grad():
        expected = model(images)
    device: Any = ttnn.open_device(device_id=0)

    def tile(values: torch.Tensor, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
        return ttnn.from_torch(values.detach(), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)

    def linear(name: str, module: torch.nn.Linear) -> dict[str, ttnn.Tensor]:
        return {name: tile(module.weight.T, ttnn.bfloat8_b), f"{name}_bias": tile(module.bias[None], ttnn.bfloat8_b)}

    def norm(name: str, module: torch.nn.LayerNorm) -> dict[str, ttnn.Tensor]:
        return {name: tile(module.weight[None]), f"{name}_bias": tile(module.bias[None])}

    # Each pixel has four channels for the alignment of reads, the fourth is zero.
    kernel = torch.nn.functional.pad(model.patches.weight.permute(2, 3, 1, 0), (0, 0, 0, 1))
    layers: list[Any] = list(model.layers)
    parameters: dict[str, Any] = {
        "patches": tile(kernel.reshape(-1, WIDTH), ttnn.bfloat8_b),
        "patches_bias": tile(model.patches.bias[None]),  # type: ignore[index]
        "cls": ttnn.from_torch(model.cls.detach().expand(BATCH, -1, -1), dtype=ttnn.bfloat16, device=device),
        "positions": tile(model.positions.expand(BATCH, -1, -1)),
        "layers": [
            {
                **norm("before", each.before),
                **norm("after", each.after),
                **linear("qkv", each.qkv),
                **linear("out", each.out),
                **linear("up", each.up),
                **linear("down", each.down),
            }
            for each in layers
        ],
        **norm("norm", model.norm),
        **linear("head", model.head),
    }
    pixels = torch.nn.functional.pad(images.permute(0, 2, 3, 1), (0, 1))
    pixels = pixels.reshape(BATCH, SIZE, SIZE // PATCH, 4 * PATCH)
    x = ttnn.from_torch(pixels, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    mask = tile(torch.zeros(BATCH, 1, 1, TOKENS))
    found = ttnn.to_torch(vit(x, mask, parameters=parameters)).float()[:, 0]
    pcc = float(torch.corrcoef(torch.stack([expected.flatten(), found.flatten()]))[0, 1])
    print(f"PCC {pcc:.5f}; classes {found.argmax(-1).tolist()}, PyTorch {expected.argmax(-1).tolist()}")
    torch.testing.assert_close(found, expected, atol=0.08, rtol=0.05)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
