# SPDX-License-Identifier: Apache-2.0
"""target="ttmetal": kernels that several elementwise ops share, and operands that are broadcast within kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from builder.base.builder_apis import build_module
from op_cases import clone
from test_ttmetal_grid import Build, check
from ttmlir import passes

# A shape and those that are broadcast to it: rows, columns, values, batches of whole tiles and of parts of tiles.
BROADCASTS: list[tuple[tuple[int, ...], list[tuple[int, ...]]]] = [
    ((40, 70), [(1, 70), (70,), (40, 1), (1, 1), (1,), ()]),
    ((2, 64, 96), [(1, 64, 96), (64, 96), (2, 1, 96), (2, 64, 1), (1, 64, 1), (64, 1), (1, 1, 96), (96,)]),
    ((2, 33, 50), [(1, 33, 50), (2, 1, 50), (2, 33, 1), (33, 1), (1, 1, 50), (2, 1, 1)]),
    ((3, 2, 32, 1), [(1, 2, 32, 1), (3, 1, 32, 1), (2, 1, 1), (1, 1, 1, 1)]),
    ((2, 3, 32, 40), [(2, 1, 32, 40), (1, 3, 32, 1), (3, 32, 40), (2, 1, 1, 40), (2, 3, 1, 1), (32, 40)]),
    ((1024, 1056), [(1, 1056), (1024, 1), (1, 1)]),
    ((1, 1), [(1,), ()]),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32], ids=str)
def test_broadcasts(dtype: torch.dtype) -> None:
    """Both operands of a subtraction, on both sides, and an explicit broadcast."""

    def explicit(shape: Sequence[int], other: Sequence[int]) -> Build:
        padded = [1] * (len(shape) - len(other)) + list(other)
        sizes = [whole // size for whole, size in zip(shape, padded, strict=True)]
        return lambda b, x: b.broadcast(x, broadcast_dimensions=sizes)

    cases: list[tuple[str, Sequence[tuple[int, ...]], Build]] = []
    for shape, others in BROADCASTS:
        for other in others:
            cases.append((f"{shape} - {other}", [shape, other], lambda b, x, y: b.subtract(x, y)))
            cases.append((f"{other} - {shape}", [other, shape], lambda b, x, y: b.subtract(x, y)))
            if len(other) == len(shape):
                cases.append((f"{other} to {shape}", [other], explicit(shape, other)))
    check(cases, dtype)


def both(b: Any, x: Any, y: Any) -> Any:
    """The two operands are each broadcast."""
    return b.maximum(b.exp(x), y)


def shared(b: Any, x: Any, y: Any) -> Any:
    """Values that several ops of a kernel read, an operand of them and a result."""
    square = b.multiply(x, x)
    return b.add(b.subtract(square, b.neg(x)), b.multiply(square, b.add(y, square)))


def deep(b: Any, x: Any, y: Any) -> Any:
    """More values at a time than there are registers, in whatever order."""
    leaves = [b.add(x, y), b.subtract(x, y), b.multiply(x, y), b.maximum(x, y)] * 4
    values = [op(leaf) for op, leaf in zip([b.neg, b.abs, b.sigmoid, b.tanh] * 4, leaves, strict=True)]
    while len(values) > 1:
        values = [b.add(first, second) for first, second in zip(values[::2], values[1::2], strict=True)]
    return values[0]


def mixed(b: Any, x: Any, y: Any) -> Any:
    """A sum in bf16 and its exponential in f32."""
    total = b.typecast(
        b.add(b.typecast(x, output_type=torch.bfloat16), b.typecast(y, output_type=torch.bfloat16)),
        output_type=torch.float32,
    )
    return b.add(b.exp(b.multiply(total, total)), x)


def choice(b: Any, x: Any, y: Any) -> Any:
    return b.where(b.lt(x, y), b.sin(x), b.clamp_scalar(y, min_arg=-0.5, max_arg=0.25))


CHAINS: list[tuple[str, Sequence[tuple[int, ...]], Build]] = [
    (f"{build.__name__} {shapes}", shapes, build)
    for build in (both, shared, deep, mixed, choice)
    for shapes in ([(50, 70), (50, 70)], [(50, 70), (1, 70)], [(2, 32, 1), (2, 32, 40)])
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_chains(dtype: torch.dtype) -> None:
    check(CHAINS, dtype)


def test_chains_of_integers() -> None:
    check([(name, shapes, build) for name, shapes, build in CHAINS if name.startswith("shared")], torch.int32)


@pytest.mark.parametrize("name", ["sum", "max"])
def test_more_tiles_of_a_core_than_its_buffers_hold(name: str) -> None:
    """Each core joins many pairs of tiles, whose order the loads keep."""
    shapes = [(2, 352, 3), (3, 544, 40), (33, 2, 16, 3)]
    dims = [0, 0, 1]
    check(
        [
            (f"{name} {shape}", [shape], lambda b, x, dim=dim: getattr(b, name)(x, dim_arg=[dim], keep_dim=True))
            for shape, dim in zip(shapes, dims, strict=True)
        ],
        torch.float32,
    )


def test_reductions_of_whole_tiles_without_the_dimensions() -> None:
    cases: list[tuple[str, Sequence[tuple[int, ...]], Build]] = []
    for shape in [(32, 32), (64, 96), (2, 32, 64), (1, 64)]:
        for dims in ([-1], [-2], [-2, -1]):
            if shape[dims[0]] > 1:
                cases.append(
                    (f"{shape} {dims}", [shape], lambda b, x, dims=dims: b.sum(x, dim_arg=dims, keep_dim=False))
                )
    check(cases, torch.float32)


def test_numbers_of_kernels() -> None:
    """Softmax, a norm and a biased activation take few kernels besides those that make and undo tiles."""

    def norm(b: Any, x: Any, w: Any) -> Any:
        mean = b.mean(x, dim_arg=[1], keep_dim=True)
        centred = b.subtract(x, mean)
        variance = b.mean(b.multiply(centred, centred), dim_arg=[1], keep_dim=True)
        return b.multiply(b.multiply(centred, b.rsqrt(variance)), w)

    found = {}
    for name, build in {
        "bias": lambda b, x, w: b.gelu(b.add(x, w)),
        "norm": norm,
        "softmax": lambda b, x, w: b.softmax(b.multiply(x, w), dimension=1),
    }.items():

        def module(builder: Any, build: Build = build) -> None:
            @builder.func([(128, 256), (1, 256)], [torch.float32] * 2)
            def f(x: Any, w: Any, b: Any) -> Any:
                return build(b, x, w)

        built, _ = build_module(module, "ttir")
        metal = clone(built)
        passes.ttir_to_ttmetal_pipeline(metal)
        found[name] = str(metal).count("ttmetal.enqueue_program")
    assert found == {"bias": 4, "norm": 12, "softmax": 7}
