"""How long building and compiling take, by the number of ops: a chain of them, which must cost the same for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from .device import compiled
from .harness import Result, median_of

SIZES = (100, 1000, 4000)
# torch.export of a longer chain takes minutes.
LARGEST_PEER = 100
SHAPE = (32, 32)
# Ops that no pattern folds or fuses into each other.
CYCLE = ("sigmoid", "exp", "tanh", "cos")


def chain(length: int) -> Callable[..., None]:
    def build(builder):
        @builder.func([SHAPE], [torch.float32])
        def main(x, builder):
            for i in range(length):
                x = getattr(builder, CYCLE[i % len(CYCLE)])(x)
            return x

    return build


class Chain(torch.nn.Module):
    def __init__(self, length: int):
        super().__init__()
        self.length = length

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in range(self.length):
            x = getattr(torch, CYCLE[i % len(CYCLE)])(x)
        return x


def per_op(length: int) -> Iterator[Result]:
    """Milliseconds for one op: builder calls, pipeline and flatbuffer; the peer's is torch.export."""
    repeats = 3 if length <= 1000 else 1
    ours = median_of(lambda: compiled(chain(length)), repeats) / length
    peer = None
    if length <= LARGEST_PEER:
        peer = median_of(lambda: torch.export.export(Chain(length), (torch.rand(SHAPE),)), repeats) / length
    yield Result(f"build+compile, op of {length}", "f32", ours, "torch.export" if peer else None, peer)


BENCHMARKS: dict[str, Callable[[float], Iterator[Result]]] = {
    f"build+compile, op of {length}": lambda seconds, length=length: per_op(length) for length in SIZES
}
