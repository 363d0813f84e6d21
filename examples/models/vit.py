# SPDX-License-Identifier: Apache-2.0
"""The vision transformer (Dosovitskiy et al., 2020): an image as a sequence of patches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from layers import Layers
from torch import Tensor, nn
from transformer import Block, build_block, scale_down


class Vit(nn.Module):
    def __init__(
        self, depth: int = 12, width: int = 768, heads: int = 12, image: int = 224, patch: int = 16, classes: int = 1000
    ) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.kind = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.rows = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width, heads, norm_first=True, eps=1e-6) for _ in range(depth))
        self.norm = nn.LayerNorm(width, 1e-6)
        self.classify = nn.Linear(width, classes)
        scale_down(self)

    def forward(self, images: Tensor) -> Tensor:
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.kind.expand(len(x), -1, -1), x], dim=1) + self.rows
        for block in self.blocks:
            x = block(x)
        return self.classify(self.norm(x[:, 0]))


def build(layers: Layers, network: Vit, images: Any) -> Any:
    b = layers.builder
    x = layers.conv(images, network.patches)
    batch, height, across, width = layers.shape(x)
    x = b.reshape(x, shape=[batch, height * across, width])
    x = b.concat([layers.constant(network.kind.expand(batch, -1, -1).contiguous()), x], dim=1)
    x = b.add(x, layers.constant(network.rows))
    for block in cast(Sequence[Block], network.blocks):
        x = build_block(layers, block, x)
    x = b.slice(x, begins=[0, 0, 0], ends=[batch, 1, width], step=[1, 1, 1])
    x = layers.layer_norm(b.reshape(x, shape=[batch, width]), network.norm)
    return layers.linear(x, network.classify)
