# SPDX-License-Identifier: Apache-2.0
"""A transformer block written by hand against TTNN, compared with the same block in PyTorch.

    python examples/ttnn/transformer_block.py [--rows 128] [--width 256] [--heads 8]

Activations are bfloat16 tiles, those that come and go in the L1 of the chip; weights are bfloat16, or bfloat8_b with
--weights bfloat8_b.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
if (ROOT / "build" / "python_packages").is_dir():  # in a checkout; a wheel has installed it
    sys.path.insert(0, str(ROOT / "build" / "python_packages"))
import ttnn  # noqa: E402


class Block(torch.nn.Module):
    """The original: attention and a perceptron, each with a norm before and a shortcut."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, rows, width = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, rows, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = torch.nn.functional.scaled_dot_product_attention(*parts)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, rows, width))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))


class ChipBlock:
    """The block on a device."""

    def __init__(self, block: Block, device: ttnn.Device, weights: ttnn.DataType = ttnn.bfloat16) -> None:
        self.heads = block.heads

        def tile(values: torch.Tensor, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
            return ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)

        def linear(layer: torch.nn.Linear) -> dict[str, Any]:
            # TTNN multiplies by [in, out], PyTorch keeps [out, in].
            return {"input_tensor_b": tile(layer.weight.T, weights), "bias": tile(layer.bias)}

        def norm(layer: torch.nn.LayerNorm) -> dict[str, Any]:
            return {"weight": tile(layer.weight), "bias": tile(layer.bias), "epsilon": layer.eps}

        self.norm1, self.norm2 = norm(block.norm1), norm(block.norm2)
        self.qkv, self.out = linear(block.qkv), linear(block.out)
        self.up, self.down = linear(block.up), linear(block.down)

    def __call__(self, x: ttnn.Tensor) -> ttnn.Tensor:
        x = x + self.attention(ttnn.layer_norm(x, **self.norm1, memory_config=ttnn.L1_MEMORY_CONFIG))
        hidden = ttnn.layer_norm(x, **self.norm2, memory_config=ttnn.L1_MEMORY_CONFIG)
        return x + ttnn.linear(ttnn.linear(hidden, **self.up, activation="gelu"), **self.down)

    def attention(self, x: ttnn.Tensor) -> ttnn.Tensor:
        query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(
            ttnn.linear(x, **self.qkv), num_heads=self.heads, transpose_key=True
        )
        scores = (query @ key) * (1 / math.sqrt(query.shape[-1]))
        attended = ttnn.softmax(scores, dim=-1) @ value
        return ttnn.linear(ttnn.transformer.concatenate_heads(attended), **self.out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in {"batch": 2, "rows": 128, "width": 256, "heads": 8}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--weights", choices=["bfloat16", "bfloat8_b", "bfloat4_b"], default="bfloat16")
    options = parser.parse_args()

    torch.manual_seed(0)
    block = Block(options.width, options.heads).eval()
    values = torch.randn(options.batch, options.rows, options.width)
    with ttnn.manage_device(device_id=0) as device, torch.no_grad():
        on_chip = ChipBlock(block, device, getattr(ttnn, options.weights))
        x = ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        result, milliseconds = on_chip(x), math.inf
        for _ in range(10):
            started = time.perf_counter()
            result = on_chip(x)
            milliseconds = min(milliseconds, (time.perf_counter() - started) * 1e3)
        print(result)

        expected, found = block(values).flatten(), ttnn.to_torch(result).float().flatten()
        pcc = float(torch.corrcoef(torch.stack([expected, found]))[0, 1])
        error = float((expected - found).abs().max())
        print(f"correlation with PyTorch in float32: {pcc:.6f}; largest error {error:.3f}")
        print(f"{milliseconds:.2f} ms here; in L1 at most {l1_peak(device):,} bytes of each bank")
    if pcc < (0.98 if options.weights == "bfloat4_b" else 0.999):
        sys.exit("the chip disagrees with PyTorch")


def l1_peak(device: ttnn.Device) -> int:
    views = {memory.name: view for memory, view in device.get_memory_view().items()}
    return views["L1"].peak_bytes_allocated_per_bank


if __name__ == "__main__":
    main()
