# SPDX-License-Identifier: Apache-2.0
"""Random numbers. They are PyTorch's own, of its generator and seed: drawn on the host before the program runs, in the
order of the graph, and passed to the program as inputs."""

from __future__ import annotations

from typing import Any

import torch

from ...dialects import ttir
from ..errors import UnsupportedError
from ..lowering import Lowering, Number, Value, rule
from .elementwise import as_values
from .reduction import positions

# Ops whose numbers depend on the shape of their operand at most.
DRAWN = ["rand", "randn", "randint", "randint.low", "randperm", "rand_like", "randn_like", "randint_like",
         "randint_like.low_dtype", "uniform", "normal_functional", "exponential", "cauchy", "geometric", "log_normal",
         "bernoulli.p", "normal.float_float"]  # fmt: skip


def _drawn(name: str) -> None:
    op = torch.ops.aten
    for part in name.split("."):
        op = getattr(op, part)
    overload: Any = op if isinstance(op, torch._ops.OpOverload) else op.default

    def lower(g: Lowering, *args: Any, **kwargs: Any) -> Value:
        strides = g.out().stride()  # numbers are drawn in the order of memory

        def sample() -> torch.Tensor:
            given = [torch.empty_strided(a.shape, strides, dtype=a.dtype) if isinstance(a, Value) else a for a in args]
            return overload(*given, **kwargs)

        return g.draw(sample, g.out())

    rule(name)(lower)


for _name in DRAWN:
    _drawn(_name)


@rule("normal.Tensor_float", "normal.float_Tensor", "normal.Tensor_Tensor")
def normal(g: Lowering, mean: Value | Number, std: Value | Number = 1.0, generator: Any = None) -> Value:
    fake, strides = g.out(), g.out().stride()
    drawn = g.draw(lambda: torch.empty_strided(fake.shape, strides, dtype=fake.dtype).normal_(), fake)
    scaled = g.elementwise(ttir.multiply, *as_values(g, (drawn, std), fake.dtype))
    return g.finish(g.elementwise(ttir.add, *as_values(g, (scaled, mean), fake.dtype)), fake)


@rule("multinomial")
def multinomial(g: Lowering, x: Value, count: int, replacement: bool = False, *, generator: Any = None) -> Value:
    """Places of the largest quotients of chances and exponential numbers, as PyTorch chooses without replacement."""
    if replacement and count != 1:
        raise UnsupportedError("multinomial with replacement: each sample is searched for by its own number")
    if count != 1 and x.dtype not in (torch.float32, torch.float64):
        raise UnsupportedError(
            f"several samples of multinomial in {x.dtype}: the order of equal quotients is PyTorch's"
        )
    fake = g.given[0]
    drawn = g.draw(lambda: torch.empty_strided(fake.shape, fake.stride(), dtype=fake.dtype).exponential_(1), fake)
    quotients = g.div(x, drawn)
    if count == 1:
        return g.finish(positions(g, quotients, x.rank - 1, True, smallest=False), g.out())
    shape = tuple(g.out().shape)
    kinds = [g.type(shape, x.dtype), g.type(shape, torch.int32)]
    found = ttir.topk(quotients.ir, count, dim=x.rank - 1, largest=True, sorted=True, results=kinds)
    return g.finish(Value(found[1], shape, torch.int32), g.out())


@rule("native_dropout")
def native_dropout(g: Lowering, x: Value, p: float, train: bool | None) -> tuple[Value, Value]:
    """The mask is drawn as PyTorch draws it on the CPU; what stays is scaled by 1 / (1 - p)."""
    if not train or p == 0 or not x.size:
        return x, g.full(x.shape, True, torch.bool)
    strides = g.out(1).stride()  # numbers are drawn in the order of memory
    mask = g.draw(lambda: torch.empty_strided(x.shape, strides, dtype=torch.bool).bernoulli_(1 - p), g.out(1))
    kept = g.mul(x, g.cast(mask, x.dtype))
    return g.mul(kept, g.scalar(1 / (1 - p) if p < 1 else 0.0, kept)), mask
