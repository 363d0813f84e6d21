# SPDX-License-Identifier: Apache-2.0
"""Denoises with a small UNet as Stable Diffusion has it: residual blocks, cross attention to text, down and up.

python examples/ttnn/unet.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn

SIZE, CHANNELS, GROUPS, HEADS, TIME, TEXT, TOKENS, IMAGE = 16, 128, 4, 4, 64, 96, 64, 4
HEAD, EPSILON = CHANNELS // HEADS, 1e-5


class Residual(torch.nn.Module):
    """Two convolutions with norms; the time is added between them."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        # A group has 32 channels: one tile.
        self.norm1 = torch.nn.GroupNorm(channels // 32, channels, eps=EPSILON)
        self.conv1 = torch.nn.Conv2d(channels, CHANNELS, 3, padding=1)
        self.time = torch.nn.Linear(TIME, CHANNELS)
        self.norm2 = torch.nn.GroupNorm(GROUPS, CHANNELS, eps=EPSILON)
        self.conv2 = torch.nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
        self.shortcut = torch.nn.Conv2d(channels, CHANNELS, 1) if channels != CHANNELS else None

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        silu = torch.nn.functional.silu
        y = self.conv1(silu(self.norm1(x))) + self.time(silu(time))[:, :, None, None]
        y = self.conv2(silu(self.norm2(y)))
        return y + (x if self.shortcut is None else self.shortcut(x))


class Attention(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = torch.nn.Linear(CHANNELS, CHANNELS, bias=False)
        self.key, self.value = (torch.nn.Linear(width, CHANNELS, bias=False) for _ in range(2))
        self.out = torch.nn.Linear(CHANNELS, CHANNELS)

    def forward(self, x: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        parts = (self.query(x), self.key(source), self.value(source))
        q, k, v = (part.unflatten(-1, (HEADS, HEAD)).transpose(1, 2) for part in parts)
        return self.out(torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class Transformer(torch.nn.Module):
    """Attention of the picture to itself and to the text, and a gated perceptron."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.GroupNorm(GROUPS, CHANNELS, eps=EPSILON)
        self.enter, self.leave = (torch.nn.Linear(CHANNELS, CHANNELS) for _ in range(2))
        self.norm1, self.norm2, self.norm3 = (torch.nn.LayerNorm(CHANNELS) for _ in range(3))
        self.own, self.cross = Attention(CHANNELS), Attention(TEXT)
        self.up, self.down = torch.nn.Linear(CHANNELS, 8 * CHANNELS), torch.nn.Linear(4 * CHANNELS, CHANNELS)

    def forward(self, x: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        y = self.enter(self.norm(x).flatten(2).transpose(1, 2))
        hidden = self.norm1(y)
        y = y + self.own(hidden, hidden)
        y = y + self.cross(self.norm2(y), text)
        values, gate = self.up(self.norm3(y)).chunk(2, -1)
        y = self.leave(y + self.down(values * torch.nn.functional.gelu(gate)))
        return x + y.transpose(1, 2).unflatten(2, x.shape[2:])


class UNet(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.time1, self.time2 = torch.nn.Linear(CHANNELS, TIME), torch.nn.Linear(TIME, TIME)
        self.first = torch.nn.Conv2d(IMAGE, CHANNELS, 3, padding=1)
        self.down, self.down_text = Residual(CHANNELS), Transformer()
        self.smaller = torch.nn.Conv2d(CHANNELS, CHANNELS, 3, stride=2, padding=1)
        self.middle, self.middle_text = Residual(CHANNELS), Transformer()
        self.larger = torch.nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
        self.up = Residual(2 * CHANNELS)
        self.norm = torch.nn.GroupNorm(GROUPS, CHANNELS, eps=EPSILON)
        self.last = torch.nn.Conv2d(CHANNELS, IMAGE, 3, padding=1)

    def forward(self, picture: torch.Tensor, time: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        silu = torch.nn.functional.silu
        time = self.time2(silu(self.time1(time)))
        kept = self.down_text(self.down(self.first(picture), time), text)
        x = self.middle_text(self.middle(self.smaller(kept), time), text)
        x = self.larger(torch.nn.functional.interpolate(x, scale_factor=2.0, mode="nearest"))
        x = self.up(torch.cat([x, kept], 1), time)
        return self.last(silu(self.norm(x)))


class ChipUNet:
    """The network on a device; pictures are [1, 1, height * width, channels]."""

    def __init__(self, model: UNet, device: Any) -> None:
        self.model, self.device = model, device
        self.placed: dict[Any, Any] = {}

    def place(self, values: torch.Tensor, dtype: Any = ttnn.bfloat16, layout: Any = ttnn.TILE_LAYOUT) -> Any:
        return ttnn.from_torch(values.detach(), dtype=dtype, layout=layout, device=self.device)

    def linear(self, x: Any, layer: torch.nn.Linear, **rest: Any) -> Any:
        if layer not in self.placed:
            bias = None if layer.bias is None else self.place(layer.bias[None])
            self.placed[layer] = {"input_tensor_b": self.place(layer.weight.T), "bias": bias}
        return ttnn.linear(x, **self.placed[layer], **rest)

    def layer_norm(self, x: Any, norm: torch.nn.LayerNorm) -> Any:
        return ttnn.layer_norm(
            x, weight=self.place(norm.weight[None]), bias=self.place(norm.bias[None]), epsilon=norm.eps
        )

    def group_norm(self, x: Any, norm: torch.nn.GroupNorm) -> Any:
        """Normalizes with rows of the picture on two cores, and a mask of the channels of each group."""
        by_rows = ttnn.create_sharded_memory_config(
            (1, 1, x.shape[2], norm.num_channels), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.HEIGHT
        )
        rows = ttnn.to_memory_config(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), by_rows)
        weight, bias = (
            self.place(values.reshape(1, 1, -1, 32), layout=ttnn.ROW_MAJOR_LAYOUT)
            for values in (norm.weight, norm.bias)
        )
        y = ttnn.group_norm(
            rows,
            num_groups=norm.num_groups,
            epsilon=norm.eps,
            input_mask=self.place(torch.ones(1, norm.num_groups, 32, 32), ttnn.bfloat8_b),
            weight=weight,
            bias=bias,
            memory_config=by_rows,
            core_grid=ttnn.CoreGrid(y=1, x=2),
            inplace=False,
            output_layout=ttnn.ROW_MAJOR_LAYOUT,
        )
        return ttnn.to_layout(ttnn.to_memory_config(y, ttnn.DRAM_MEMORY_CONFIG), ttnn.TILE_LAYOUT)

    def convolution(self, x: Any, layer: torch.nn.Conv2d, size: int) -> Any:
        assert layer.bias is not None
        y = ttnn.conv2d(
            input_tensor=x,
            weight_tensor=ttnn.from_torch(layer.weight.detach(), dtype=ttnn.bfloat16),
            bias_tensor=ttnn.from_torch(layer.bias.detach().reshape(1, 1, 1, -1), dtype=ttnn.bfloat16),
            device=self.device,
            in_channels=layer.in_channels,
            out_channels=layer.out_channels,
            batch_size=1,
            input_height=size,
            input_width=size,
            kernel_size=layer.kernel_size,
            stride=layer.stride,
            padding=(layer.kernel_size[0] // 2, layer.kernel_size[0] // 2),
        )
        return ttnn.to_memory_config(y, ttnn.DRAM_MEMORY_CONFIG)

    def residual(self, x: Any, time: Any, block: Residual, size: int) -> Any:
        y = self.convolution(ttnn.silu(self.group_norm(x, block.norm1)), block.conv1, size)
        y = ttnn.add(y, self.linear(ttnn.silu(time), block.time))
        y = self.convolution(ttnn.silu(self.group_norm(y, block.norm2)), block.conv2, size)
        return ttnn.add(y, x if block.shortcut is None else self.convolution(x, block.shortcut, size))

    def attention(self, x: Any, source: Any, block: Attention) -> Any:
        query = self.linear(x, block.query)
        key_value = ttnn.concat([self.linear(source, layer) for layer in (block.key, block.value)], dim=-1)
        query, key, value = ttnn.experimental.nlp_create_qkv_heads(
            query, key_value, num_heads=HEADS, num_kv_heads=HEADS, transpose_k_heads=False
        )
        y = ttnn.transformer.scaled_dot_product_attention(query, key, value, is_causal=False)
        return self.linear(ttnn.experimental.nlp_concat_heads(y), block.out)

    def transformer(self, x: Any, text: Any, block: Transformer) -> Any:
        y = self.linear(self.group_norm(x, block.norm), block.enter)
        hidden = self.layer_norm(y, block.norm1)
        y = ttnn.add(y, self.attention(hidden, hidden, block.own))
        y = ttnn.add(y, self.attention(self.layer_norm(y, block.norm2), text, block.cross))
        gated = ttnn.geglu(self.linear(self.layer_norm(y, block.norm3), block.up), dim=-1)
        y = self.linear(ttnn.add(y, self.linear(gated, block.down)), block.leave)
        return ttnn.add(x, y)

    def __call__(self, picture: Any, time: Any, text: Any) -> Any:
        model, half = self.model, SIZE // 2
        time = self.linear(self.linear(time, model.time1, activation="silu"), model.time2)
        x = self.residual(self.convolution(picture, model.first, SIZE), time, model.down, SIZE)
        kept = self.transformer(x, text, model.down_text)
        x = self.residual(self.convolution(kept, model.smaller, SIZE), time, model.middle, half)
        x = self.transformer(x, text, model.middle_text)
        x = ttnn.reshape(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), (1, half, half, CHANNELS))
        x = ttnn.reshape(ttnn.upsample(x, 2), (1, 1, SIZE * SIZE, CHANNELS))
        x = self.convolution(x, model.larger, SIZE)
        x = self.residual(ttnn.concat([x, kept], dim=-1), time, model.up, SIZE)
        return self.convolution(ttnn.silu(self.group_norm(x, model.norm)), model.last, SIZE)


def main() -> None:
    torch.manual_seed(0)
    model = UNet().eval()
    picture, text = torch.randn(1, IMAGE, SIZE, SIZE), torch.randn(1, TOKENS, TEXT)
    angles = 500 * 10000.0 ** (-torch.arange(0, CHANNELS, 2) / CHANNELS)
    time = torch.cat([angles.cos(), angles.sin()])[None]
    with torch.no_grad():
        expected = model(picture, time, text)

    device: Any = ttnn.open_device(device_id=0, l1_small_size=32768)
    on_chip = ChipUNet(model, device)
    rows = on_chip.place(picture.permute(0, 2, 3, 1).reshape(1, 1, SIZE * SIZE, IMAGE), layout=ttnn.ROW_MAJOR_LAYOUT)
    noise = on_chip(rows, on_chip.place(time[None, None]), on_chip.place(text[None]))
    found = ttnn.to_torch(noise).float()[..., :IMAGE].reshape(1, SIZE, SIZE, IMAGE).permute(0, 3, 1, 2)
    pcc = float(torch.corrcoef(torch.stack([expected.flatten(), found.flatten()]))[0, 1])
    print(f"PCC {pcc:.5f}, largest error {float((found - expected).abs().max()):.4f}")
    assert pcc > 0.999
    torch.testing.assert_close(found, expected, atol=0.05, rtol=0.05)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
