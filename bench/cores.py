# SPDX-License-Identifier: Apache-2.0
"""Programs of kernels on the simulated cores (target ttmetal), compared with the same on target ttnn."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from builder.execution.device_tensors import fetched

from .comparing import DTYPES, EXPECTED
from .device import check, compiled, runner
from .harness import Outcome, Result, Settings, alternate
from .names import TTNN

SIZE = 1024
# With the builder in front.
ROWS: dict[str, Callable[..., Any]] = {
    "add and relu": lambda b, x, y: b.relu(b.add(x, y)),
    "chain of 6 ops": lambda b, x, y: b.maximum(b.relu(b.subtract(b.multiply(b.abs(b.add(x, y)), x), y)), x),
    "matmul": lambda b, x, y: b.matmul(x, y),
}


def cores(name: str, ours: Callable[..., Any], settings: Settings) -> Iterator[Outcome]:
    """The inputs are on the host, for both targets: a program of kernels takes them from there."""
    for dtype, kind in DTYPES.items():
        inputs = [torch.randn(SIZE, SIZE).to(kind) for _ in range(2)]

        def module(builder: Any, kind: torch.dtype = kind) -> None:
            @builder.func([(SIZE, SIZE)] * 2, [kind] * 2)
            def main(x: Any, y: Any, builder: Any) -> Any:
                return ours(builder, x, y)

        kernels = runner(compiled(module, target="ttmetal"), inputs, on_host=True)
        library = runner(compiled(module), inputs)
        check(fetched(kernels()[0])[0], fetched(library()[0])[0], EXPECTED[dtype], f"{name} {dtype}")
        with settings.quiet():
            ours_ms, peer_ms = alternate([kernels, library], settings.seconds)
        yield Result(name, dtype, ours_ms, TTNN, peer_ms)


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {
    f"cores, {name} {SIZE}": functools.partial(cores, f"cores, {name} {SIZE}", ours) for name, ours in ROWS.items()
}
