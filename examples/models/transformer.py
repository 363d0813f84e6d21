# SPDX-License-Identifier: Apache-2.0
"""The block that BERT, GPT-2 and ViT are stacks of: attention and two linear layers, each with a shortcut."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from layers import Layers
from torch import Tensor, nn


class Block(nn.Module):
    """norm_first: norms before attention and linear layers (GPT-2, ViT), or after their shortcuts (BERT).
    causal: rows see the rows before them only. tanh: gelu by its tanh form."""

    def __init__(
        self, width: int, heads: int, norm_first: bool, causal: bool = False, tanh: bool = False, eps: float = 1e-5
    ) -> None:
        super().__init__()
        self.heads, self.norm_first, self.causal, self.tanh = heads, norm_first, causal, tanh
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width, eps), nn.LayerNorm(width, eps)
        self.grow, self.shrink = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x: Tensor, mask: Tensor | None) -> Tensor:
        query, key, value = (
            layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        attended = F.scaled_dot_product_attention(query, key, value, mask, is_causal=self.causal)
        return self.out(attended.transpose(1, 2).flatten(2))

    def feed(self, x: Tensor) -> Tensor:
        return self.shrink(F.gelu(self.grow(x), approximate="tanh" if self.tanh else "none"))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.norm_first:
            x = x + self.attend(self.norm1(x), mask)
            return x + self.feed(self.norm2(x))
        x = self.norm1(x + self.attend(x, mask))
        return self.norm2(x + self.feed(x))


def build_block(layers: Layers, block: Block, x: Any, mask: Any = None) -> Any:
    b = layers.builder

    def attend(x: Any) -> Any:
        query, key, value = layers.heads(layers.projection(x, block.query, block.key, block.value), block.heads)
        return layers.linear(layers.attend(query, key, value, mask, block.causal), block.out)

    def feed(x: Any) -> Any:
        x = layers.linear(x, block.grow)
        return layers.linear(layers.gelu_tanh(x) if block.tanh else b.gelu(x), block.shrink)

    if block.norm_first:
        x = b.add(x, attend(layers.layer_norm(x, block.norm1)))
        return b.add(x, feed(layers.layer_norm(x, block.norm2)))
    x = layers.layer_norm(b.add(x, attend(x)), block.norm1)
    return layers.layer_norm(b.add(x, feed(x)), block.norm2)


def scale_down(network: nn.Module, deviation: float = 0.02) -> None:
    """Weights as these networks start their training: normal, of a small deviation; with biases that do something."""
    for module in network.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=deviation)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.normal_(module.bias, std=deviation)
        if isinstance(module, nn.LayerNorm):
            with torch.no_grad():
                module.weight.add_(torch.randn_like(module.weight) * deviation)
                module.bias.add_(torch.randn_like(module.bias) * deviation)
