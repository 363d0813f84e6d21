# SPDX-License-Identifier: Apache-2.0
"""Single heavy ops and a chain of light ones."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .comparing import Case, both_dtypes
from .harness import Outcome, Settings


class Call(nn.Module):
    """A function of tensors as a network. weights: constants, which come after the inputs."""

    def __init__(self, function: Callable[..., Tensor], *weights: Tensor) -> None:
        super().__init__()
        self.function = function
        self.weights = nn.ParameterList([nn.Parameter(w, requires_grad=False) for w in weights])

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.function(*inputs, *self.weights)


def values(*shape: int) -> Tensor:
    return torch.rand(shape).sub(0.5)


def case(
    name: str,
    function: Callable[..., Tensor],
    ours: Callable[..., Any],
    inputs: list[Tensor],
    weights: tuple[Tensor, ...] = (),
    images: bool = False,
) -> Case:
    """function, ours: the same of inputs and weights, for PyTorch and, with the builder in front, for us."""

    def given(kind: torch.dtype) -> list[Tensor]:
        return [(x.permute(0, 2, 3, 1) if images else x).to(kind).contiguous() for x in inputs]

    def build(kind: torch.dtype) -> Callable[[Any], None]:
        shapes = [tuple(x.shape) for x in given(kind)]

        def module(builder: Any) -> None:
            @builder.func(shapes, [kind] * len(inputs))
            def main(*operands: Any) -> Any:
                *values, builder = operands
                return ours(builder, *values, *(builder.constant(w.to(kind)) for w in weights))

        return module

    as_ours = (lambda y: y.permute(0, 2, 3, 1)) if images else (lambda y: y)
    return Case(name, Call(function, *weights), inputs, build, given, images, as_ours)


def matmul(name: str, m: int, k: int, n: int, weight: bool) -> Case:
    """weight: the second operand is a constant, as in a layer, and can be prepared; else it is an argument."""
    a, b = values(m, k), values(k, n)
    inputs, weights = ([a], (b,)) if weight else ([a, b], ())
    return case(name, torch.matmul, lambda b, x, y: b.matmul(x, y), inputs, weights)


def convolution(name: str, channels: int, size: int) -> Case:
    """Returns a convolution of a network: filters are constants for all sides, and images are channels-last."""

    def ours(b: Any, x: Any, filters: Any) -> Any:
        return b.conv2d(x, filters, None, stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1)

    filters = values(channels, channels, 3, 3).mul(0.1)
    return case(
        name,
        functools.partial(F.conv2d, padding=1),
        ours,
        [values(1, channels, size, size)],
        (filters,),
        images=True,
    )


def softmax(name: str, rows: int, width: int) -> Case:
    return case(name, lambda x: x.softmax(-1), lambda b, x: b.softmax(x, dimension=1), [values(rows, width).mul(8)])


def layer_norm(name: str, rows: int, width: int) -> Case:
    def ours(b: Any, x: Any, scale: Any, shift: Any) -> Any:
        return b.layer_norm(x, weight=scale, bias=shift, normalized_shape=[width], epsilon=1e-5)

    weights = (values(width), values(width))
    return case(name, lambda x, s, t: F.layer_norm(x, (width,), s, t), ours, [values(rows, width)], weights)


def chain(name: str, rows: int, width: int) -> Case:
    """max(sqrt(|x y + y| sigmoid(x)) - x, y): eight ops, each of little work for the memory it touches."""

    def torchs(x: Tensor, y: Tensor) -> Tensor:
        return (((x * y + y).abs() * x.sigmoid()).sqrt() - x).maximum(y)

    def ours(b: Any, x: Any, y: Any) -> Any:
        product = b.multiply(b.abs(b.add(b.multiply(x, y), y)), b.sigmoid(x))
        return b.maximum(b.subtract(b.sqrt(product), x), y)

    return case(name, torchs, ours, [values(rows, width), values(rows, width)])


ROWS: dict[str, Callable[[str], Case]] = {
    "matmul 1024x1024x1024": lambda name: matmul(name, 1024, 1024, 1024, weight=False),
    "matmul 128x768x3072": lambda name: matmul(name, 128, 768, 3072, weight=True),
    "conv 3x3 64->64 56x56": lambda name: convolution(name, 64, 56),
    "softmax 1024x4096": lambda name: softmax(name, 1024, 4096),
    "layer_norm 1024x4096": lambda name: layer_norm(name, 1024, 4096),
    "chain of 8 ops, 16 M values": lambda name: chain(name, 4096, 4096),
}
BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {
    name: both_dtypes(functools.partial(make, name)) for name, make in ROWS.items()
}
