# SPDX-License-Identifier: Apache-2.0
"""The GPT-2 stack (Radford et al., 2019): words in, one score for each word of the vocabulary out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from layers import Layers
from torch import Tensor, nn
from transformer import Block, build_block, scale_down


class Gpt2(nn.Module):
    def __init__(
        self, depth: int = 12, width: int = 768, heads: int = 12, words: int = 50257, rows: int = 1024
    ) -> None:
        super().__init__()
        self.words, self.rows = nn.Embedding(words, width), nn.Embedding(rows, width)
        self.blocks = nn.ModuleList(Block(width, heads, norm_first=True, causal=True, tanh=True) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        scale_down(self)

    def forward(self, words: Tensor) -> Tensor:
        x = self.words(words) + self.rows.weight[: words.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.words.weight.T


def build(layers: Layers, network: Gpt2, words: Any) -> Any:
    b = layers.builder
    table = layers.constant(network.words.weight)  # looked up at the start and multiplied with at the end
    rows = layers.constant(network.rows.weight[: layers.shape(words)[1]])
    x = b.add(b.embedding(words, table), rows)
    for block in cast(Sequence[Block], network.blocks):
        x = build_block(layers, block, x)
    return b.matmul(layers.layer_norm(x, network.norm), table, transpose_b=True)


def inputs(rows: int, words: int, batch: int = 1) -> list[Tensor]:
    return [torch.randint(0, words, (batch, rows), dtype=torch.int32)]
