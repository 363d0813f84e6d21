# SPDX-License-Identifier: Apache-2.0
"""ResNet (He et al., 2015): ResNet-18 of basic blocks, ResNet-50 of bottlenecks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from layers import Layers
from torch import Tensor, nn


class Block(nn.Module):
    """Convolutions with batch norm, relu between them, and a shortcut around them.

    stages: kernel size and channels of each convolution; the first of kernel size 3 has the stride.
    """

    def __init__(self, channels: int, stages: Sequence[tuple[int, int]], stride: int) -> None:
        super().__init__()
        self.convs, self.norms = nn.ModuleList(), nn.ModuleList()
        first = [size for size, _ in stages].index(3)
        before = channels
        for i, (size, after) in enumerate(stages):
            self.convs.append(nn.Conv2d(before, after, size, stride if i == first else 1, size // 2, bias=False))
            self.norms.append(nn.BatchNorm2d(after))
            before = after
        self.shortcut: nn.Conv2d | None = None
        self.shortcut_norm: nn.BatchNorm2d | None = None
        if stride != 1 or channels != before:
            self.shortcut = nn.Conv2d(channels, before, 1, stride, bias=False)
            self.shortcut_norm = nn.BatchNorm2d(before)

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for i, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True)):
            y = norm(conv(y.relu() if i else y))
        if self.shortcut is not None and self.shortcut_norm is not None:
            x = self.shortcut_norm(self.shortcut(x))
        return (y + x).relu()


class ResNet(nn.Module):
    """bottleneck: blocks of 1x1, 3x3 and 1x1 convolutions, the last four times as wide."""

    def __init__(self, blocks: Sequence[int], bottleneck: bool, width: int = 64, classes: int = 1000) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.blocks = nn.ModuleList()
        channels = width
        for stage, count in enumerate(blocks):
            w = width << stage
            for i in range(count):
                stages = [(1, w), (3, w), (1, 4 * w)] if bottleneck else [(3, w), (3, w)]
                self.blocks.append(Block(channels, stages, 2 if stage and not i else 1))
                channels = stages[-1][1]
        self.classify = nn.Linear(channels, classes)

    def forward(self, images: Tensor) -> Tensor:
        x = self.pool(self.norm(self.conv(images)).relu())
        for block in self.blocks:
            x = block(x)
        return self.classify(x.mean((2, 3)))


def build_block(layers: Layers, block: Block, x: Any) -> Any:
    b, y = layers.builder, x
    convs, norms = cast(Sequence[nn.Conv2d], block.convs), cast(Sequence[nn.BatchNorm2d], block.norms)
    for i, (conv, norm) in enumerate(zip(convs, norms, strict=True)):
        y = layers.batch_norm(layers.conv(b.relu(y) if i else y, conv), norm)
    if block.shortcut is not None and block.shortcut_norm is not None:
        x = layers.batch_norm(layers.conv(x, block.shortcut), block.shortcut_norm)
    return b.relu(b.add(y, x))


def build(layers: Layers, network: ResNet, images: Any) -> Any:
    x = layers.builder.relu(layers.batch_norm(layers.conv(images, network.conv), network.norm))
    x = layers.max_pool(x, network.pool)
    for block in cast(Sequence[Block], network.blocks):
        x = build_block(layers, block, x)
    return layers.linear(layers.global_pool(x), network.classify)
