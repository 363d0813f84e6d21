# SPDX-License-Identifier: Apache-2.0
"""Random numbers. They are PyTorch's own, of its generator and seed: drawn on the host before the program runs, in the
order of the graph, and passed to the program as inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttmlir.dialects import ttir

import torch

from ..errors import UnsupportedError
from ..lowering import Lowering, Number, Value, rule
from .elementwise import as_values
from .reduction import positions

# Ops whose numbers depend on the shape of their operand at most.
DRAWN = ["rand", "randn", "randint", "randint.low", "randperm", "rand_like", "randn_like", "randint_like",
         "randint_like.low_dtype", "uniform", "normal_functional", "exponential", "cauchy", "geometric", "log_normal",
         "bernoulli.p", "normal.float_float"]  # fmt: skip


def uninitialized(fake: torch.Tensor, strides: Sequence[int], dtype: torch.dtype | None = None) -> torch.Tensor:
    return torch.empty_strided(fake.shape, strides, dtype=dtype or fake.dtype)


def _drawn(name: str) -> None:
    op = torch.ops.aten
    for part in name.split("."):
        op = getattr(op, part)
    overload: Any = op if isinstance(op, torch._ops.OpOverload) else op.default

    def sample(out: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        strides = out.stride()  # numbers are drawn in the order of memory
        return overload(*(uninitialized(a, strides) if isinstance(a, torch.Tensor) else a for a in args), **kwargs)

    def lower(g: Lowering, *args: Any, **kwargs: Any) -> Value:
        return g.draw(sample, g.out())

    rule(name)(lower)


for _name in DRAWN:
    _drawn(_name)


@rule("normal.Tensor_float", "normal.float_Tensor", "normal.Tensor_Tensor")
def normal(g: Lowering, mean: Value | Number, std: Value | Number = 1.0, generator: Any = None) -> Value:
    fake = g.out()
    drawn = g.draw(lambda out, *args, **kwargs: uninitialized(out, out.stride()).normal_(), fake)
    scaled = g.elementwise(ttir.multiply, *as_values(g, (drawn, std), fake.dtype))
    return g.finish(g.elementwise(ttir.add, *as_values(g, (scaled, mean), fake.dtype)), fake)


@rule("multinomial")
def multinomial(g: Lowering, x: Value, count: int, replacement: bool = False, *, generator: Any = None) -> Value:
    """Returns places of the largest quotients of chances and exponential numbers, as PyTorch chooses without
    replacement."""
    if replacement and count != 1:
        raise UnsupportedError("multinomial with replacement: each sample is searched for by its own number")
    if count != 1 and x.dtype not in (torch.float32, torch.float64):
        raise UnsupportedError(
            f"several samples of multinomial in {x.dtype}: the order of equal quotients is PyTorch's"
        )
    drawn = g.draw(lambda out, x, *args, **kwargs: uninitialized(x, x.stride()).exponential_(1), g.given[0])
    quotients = g.div(x, drawn)
    if count == 1:
        return g.finish(positions(g, quotients, x.rank - 1, True, smallest=False), g.out())
    shape = tuple(g.out().shape)
    kinds = [g.type(shape, x.dtype), g.type(shape, torch.int32)]
    found = ttir.topk(quotients.ir, count, dim=x.rank - 1, largest=True, sorted=True, results=kinds)
    return g.finish(Value(found[1], shape, torch.int32), g.out())


def mask_of(out: Sequence[torch.Tensor], x: torch.Tensor, p: float, train: bool | None) -> torch.Tensor:
    """Returns the mask of a dropout, drawn in the order of memory."""
    return uninitialized(x, out[1].stride(), torch.bool).bernoulli_(1 - p)


@rule("native_dropout")
def native_dropout(g: Lowering, x: Value, p: float, train: bool | None) -> tuple[Value, Value]:
    """Draws the mask as PyTorch does on the CPU; what stays is scaled by 1 / (1 - p). Like `dropout`, draws nothing
    where p is 0 or 1."""
    if train is False or p == 0 or not x.size:
        return x, g.full(x.shape, True, torch.bool)
    if p == 1:
        return g.mul(x, g.scalar(0, x)), g.full(x.shape, False, torch.bool)
    mask = g.draw(mask_of, g.out(1))
    kept = g.mul(x, g.cast(mask, x.dtype))
    return g.mul(kept, g.scalar(1 / (1 - p), kept)), mask
