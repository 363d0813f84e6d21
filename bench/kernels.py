"""Single heavy ops beside PyTorch eager."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F

from .device import check, compiled, runner
from .harness import Result, alternate

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
PEER = "torch eager"


def compare(
    name: str, dtype: str, ours: Callable[[], list], peer: Callable[[], torch.Tensor], seconds: float
) -> Result:
    with torch.inference_mode():
        check(ours(), peer(), name)
        ours_ms, peer_ms = alternate(ours, peer, seconds)
    return Result(name, dtype, ours_ms, PEER, peer_ms)


def matmul(name: str, size: int, seconds: float) -> Iterator[Result]:
    """Two arguments, neither a constant that could be prepared."""
    for dtype, kind in DTYPES.items():

        def build(builder, kind=kind):
            @builder.func([(size, size), (size, size)], [kind, kind])
            def main(lhs, rhs, builder):
                return builder.matmul(lhs, rhs)

        a, b = (torch.rand(size, size).sub(0.5).to(kind) for _ in range(2))
        yield compare(name, dtype, runner(compiled(build), [a, b]), functools.partial(torch.matmul, a, b), seconds)


def conv3x3(name: str, channels: int, size: int, seconds: float) -> Iterator[Result]:
    """As a layer of a network has it: the weight is a constant, for both sides, and images are channels-last."""
    for dtype, kind in DTYPES.items():
        image = torch.rand(1, size, size, channels).sub(0.5).to(kind)
        weight = torch.rand(channels, channels, 3, 3).sub(0.5).mul(0.1).to(kind)

        def build(builder, kind=kind, weight=weight):
            @builder.func([(1, size, size, channels)], [kind])
            def main(x, builder):
                return builder.conv2d(
                    x, builder.constant(weight), None, stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1
                )

        planes, prepared = image.permute(0, 3, 1, 2), weight.contiguous(memory_format=torch.channels_last)
        peer = lambda planes=planes, prepared=prepared: F.conv2d(planes, prepared, padding=1)  # noqa: E731
        as_ours = lambda peer=peer: peer().permute(0, 2, 3, 1)  # noqa: E731 - a view: costs nothing
        yield compare(name, dtype, runner(compiled(build), [image]), as_ours, seconds)


BENCHMARKS: dict[str, Callable[[float], Iterator[Result]]] = {
    "matmul 1024x1024x1024": lambda seconds: matmul("matmul 1024x1024x1024", 1024, seconds),
    "conv 3x3 64->64 56x56": lambda seconds: conv3x3("conv 3x3 64->64 56x56", 64, 56, seconds),
}
