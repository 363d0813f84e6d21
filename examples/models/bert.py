# SPDX-License-Identifier: Apache-2.0
"""The BERT encoder (Devlin et al., 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from layers import Layers
from torch import Tensor, nn
from transformer import Block, build_block, scale_down


class Bert(nn.Module):
    def __init__(self, depth: int = 12, width: int = 768, heads: int = 12, words: int = 30522, rows: int = 512) -> None:
        super().__init__()
        self.words, self.rows, self.kinds = (
            nn.Embedding(words, width),
            nn.Embedding(rows, width),
            nn.Embedding(2, width),
        )
        self.norm = nn.LayerNorm(width, 1e-12)
        self.blocks = nn.ModuleList(Block(width, heads, norm_first=False, eps=1e-12) for _ in range(depth))
        scale_down(self)

    def forward(self, words: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        """words, kinds [batch, rows]; mask [batch, 1, rows, rows] of 0 or large negative numbers."""
        x = self.words(words) + self.kinds(kinds) + self.rows.weight[: words.shape[1]]
        x = self.norm(x)
        for block in self.blocks:
            x = block(x, mask)
        return x


def build(layers: Layers, network: Bert, words: Any, kinds: Any, mask: Any) -> Any:
    b = layers.builder
    rows = layers.constant(network.rows.weight[: layers.shape(words)[1]])
    x = b.add(layers.embedding(words, network.words), layers.embedding(kinds, network.kinds))
    x = layers.layer_norm(b.add(x, rows), network.norm)
    for block in cast(Sequence[Block], network.blocks):
        x = build_block(layers, block, x, mask)
    return x


def inputs(rows: int, words: int, batch: int = 1) -> list[Tensor]:
    """Sentences of two parts whose last quarter is padding."""
    kinds = (torch.arange(rows) >= rows // 2).int().repeat(batch, 1)
    hidden = torch.arange(rows) >= rows - rows // 4
    mask = torch.zeros(batch, 1, rows, rows).masked_fill(hidden, -1e4)
    return [torch.randint(0, words, (batch, rows), dtype=torch.int32), kinds, mask]
