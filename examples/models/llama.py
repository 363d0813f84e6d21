# SPDX-License-Identifier: Apache-2.0
"""A Llama block (Touvron et al., 2023): RMS norm, rotary embedding, grouped-query attention with a key/value cache.

Prefill runs a whole sequence and fills the cache; decode runs one new row after what the cache holds.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from layers import Layers
from torch import Tensor, nn


def rotary(rows: int, size: int, first: int = 0, base: float = 10000.0) -> tuple[Tensor, Tensor]:
    """cos and sin [1, 1, rows, size] of the angles of rows `first` and on."""
    speeds = base ** (-torch.arange(0, size, 2) / size)
    angles = torch.outer(torch.arange(first, first + rows).float(), speeds)
    angles = torch.cat([angles, angles], dim=-1).reshape(1, 1, rows, size)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    low, high = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-high, low], dim=-1) * sin


class LlamaBlock(nn.Module):
    def __init__(self, width: int = 4096, heads: int = 32, key_heads: int = 8, inner: int = 14336) -> None:
        super().__init__()
        self.heads, self.key_heads, self.size = heads, key_heads, width // heads
        self.norm1, self.norm2 = nn.RMSNorm(width, eps=1e-5), nn.RMSNorm(width, eps=1e-5)
        self.query = nn.Linear(width, width, bias=False)
        self.key, self.value = (nn.Linear(width, key_heads * self.size, bias=False) for _ in range(2))
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)

    def project(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value [batch, heads, rows, size], the first two rotated."""
        query, key, value = (
            layer(x).unflatten(-1, (-1, self.size)).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        return rotate(query, cos, sin), rotate(key, cos, sin), value

    def feed(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.feed(self.norm2(x))


class Prefill(LlamaBlock):
    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, ...]:
        """x [batch, rows, width]; caches [batch, key heads, positions, size]. Returns x and the caches, filled."""
        query, key, value = self.project(self.norm1(x), cos, sin)
        keys, values = keys.clone(), values.clone()
        keys[:, :, : key.shape[2]], values[:, :, : value.shape[2]] = key, value
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        return self.finish(x, attended), keys, values


class Decode(LlamaBlock):
    def forward(
        self, x: Tensor, cos: Tensor, sin: Tensor, keys: Tensor, values: Tensor, position: Tensor
    ) -> tuple[Tensor, ...]:
        """x [1, 1, width], the row at `position` [1]. Returns x and the caches with its key and value."""
        query, key, value = self.project(self.norm1(x), cos, sin)
        keys, values, at = keys.clone(), values.clone(), int(position)
        keys[:, :, at : at + 1], values[:, :, at : at + 1] = key, value
        seen = (torch.arange(keys.shape[2]) <= at).reshape(1, 1, 1, -1)
        attended = F.scaled_dot_product_attention(query, keys, values, seen, enable_gqa=True)
        return self.finish(x, attended), keys, values


class Build:
    """A block with `layers`."""

    def __init__(self, layers: Layers, block: LlamaBlock) -> None:
        self.layers, self.block, self.b = layers, block, layers.builder

    def rotate(self, x: Any, cos: Any, sin: Any) -> Any:
        b, shape = self.b, self.layers.shape(x)
        half = shape[-1] // 2
        low = b.slice(x, begins=[0, 0, 0, 0], ends=[*shape[:3], half], step=[1] * 4)
        high = b.slice(x, begins=[0, 0, 0, half], ends=shape, step=[1] * 4)
        swapped = b.concat([b.neg(high), low], dim=-1)
        return b.add(b.multiply(x, cos), b.multiply(swapped, sin))

    def project(self, x: Any, cos: Any, sin: Any) -> tuple[Any, Any, Any]:
        block = self.block
        x = self.layers.rms_norm(x, block.norm1)
        x = self.layers.projection(x, block.query, block.key, block.value)
        query, key, value = self.layers.heads(x, block.heads, block.key_heads)
        return self.rotate(query, cos, sin), self.rotate(key, cos, sin), value

    def finish(self, x: Any, attended: Any) -> Any:
        """attended: [batch, rows, heads * size]"""
        b, block, layers = self.b, self.block, self.layers
        x = b.add(x, layers.linear(attended, block.out))
        y = layers.rms_norm(x, block.norm2)
        gate = b.silu(layers.linear(y, block.gate))
        return b.add(x, layers.linear(b.multiply(gate, layers.linear(y, block.up)), block.down))


def prefill(layers: Layers, block: Prefill, x: Any, cos: Any, sin: Any, keys: Any, values: Any) -> tuple[Any, ...]:
    build = Build(layers, block)
    query, key, value = build.project(x, cos, sin)
    keys, values = build.b.fill_cache(keys, key), build.b.fill_cache(values, value)
    return build.finish(x, layers.attend(query, key, value, causal=True)), keys, values


def decode(
    layers: Layers, block: Decode, x: Any, cos: Any, sin: Any, keys: Any, values: Any, position: Any
) -> tuple[Any, ...]:
    build, b = Build(layers, block), layers.builder
    query, key, value = build.project(x, cos, sin)
    keys, values = b.update_cache(keys, key, position), b.update_cache(values, value, position)
    by_user = b.permute(query, permutation=[2, 0, 1, 3])
    attended = b.scaled_dot_product_attention_decode(by_user, keys, values, position, is_causal=True)
    attended = b.reshape(attended, shape=layers.shape(x))
    return build.finish(x, attended), keys, values


def prefill_inputs(rows: int, positions: int, width: int, heads: int, key_heads: int) -> list[Tensor]:
    size = width // heads
    caches = [torch.zeros(1, key_heads, positions, size) for _ in range(2)]
    return [torch.randn(1, rows, width), *rotary(rows, size), *caches]


def decode_inputs(row: int, positions: int, width: int, heads: int, key_heads: int) -> list[Tensor]:
    """The row after `row` others, whose keys and values the caches hold."""
    size = width // heads
    caches = [torch.zeros(1, key_heads, positions, size) for _ in range(2)]
    for cache in caches:
        cache[:, :, :row] = torch.randn(1, key_heads, row, size)
    return [torch.randn(1, 1, width), *rotary(1, size, row), *caches, torch.tensor([row], dtype=torch.int32)]
