# SPDX-License-Identifier: Apache-2.0
"""MobileNetV2 (Sandler et al., 2018): inverted residuals of depthwise convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from layers import Layers
from torch import Tensor, nn

# Expansion, channels, blocks, stride of the first block.
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class ConvNorm(nn.Module):
    def __init__(self, before: int, after: int, size: int = 1, stride: int = 1, groups: int = 1, clip: bool = True):
        super().__init__()
        self.conv = nn.Conv2d(before, after, size, stride, size // 2, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(after)
        self.clip = clip

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.conv(x))
        return nn.functional.relu6(x) if self.clip else x


class InvertedResidual(nn.Module):
    def __init__(self, before: int, after: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = before * expansion
        self.steps = nn.ModuleList([ConvNorm(before, wide)] if expansion > 1 else [])
        self.steps.append(ConvNorm(wide, wide, 3, stride, groups=wide))
        self.steps.append(ConvNorm(wide, after, clip=False))
        self.residual = stride == 1 and before == after

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for step in self.steps:
            y = step(y)
        return x + y if self.residual else y


class MobileNetV2(nn.Module):
    def __init__(
        self,
        stages: Sequence[tuple[int, int, int, int]] = STAGES,
        first: int = 32,
        last: int = 1280,
        classes: int = 1000,
    ) -> None:
        super().__init__()
        self.stem = ConvNorm(3, first, 3, 2)
        self.blocks = nn.ModuleList()
        channels = first
        for expansion, width, count, stride in stages:
            for i in range(count):
                self.blocks.append(InvertedResidual(channels, width, 1 if i else stride, expansion))
                channels = width
        self.head = ConvNorm(channels, last)
        self.classify = nn.Linear(last, classes)

    def forward(self, images: Tensor) -> Tensor:
        x = self.stem(images)
        for block in self.blocks:
            x = block(x)
        return self.classify(self.head(x).mean((2, 3)))


def build_conv(layers: Layers, step: ConvNorm, x: Any) -> Any:
    x = layers.batch_norm(layers.conv(x, step.conv), step.norm)
    return layers.builder.relu6(x) if step.clip else x


def build(layers: Layers, network: MobileNetV2, images: Any) -> Any:
    x = build_conv(layers, network.stem, images)
    for block in cast(Sequence[InvertedResidual], network.blocks):
        y = x
        for step in cast(Sequence[ConvNorm], block.steps):
            y = build_conv(layers, step, y)
        x = layers.builder.add(x, y) if block.residual else y
    return layers.linear(layers.global_pool(build_conv(layers, network.head, x)), network.classify)
