"""The networks of examples/models, as published and with batch 1, beside PyTorch eager."""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from .device import compiled, runner
from .harness import Result
from .kernels import DTYPES, compare

sys.path.append(str(Path(__file__).resolve().parent.parent / "examples" / "models"))

from zoo import ZOO


def in_dtype(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return x.to(dtype) if x.is_floating_point() else x


def first(outputs: Any) -> torch.Tensor:
    """What is compared: the other outputs are caches."""
    return outputs[0] if isinstance(outputs, tuple) else outputs


def model(name: str, seconds: float) -> Iterator[Result]:
    """Weights are random: how long a run takes does not depend on their training."""
    chosen = ZOO[name]
    network, inputs = chosen.make()
    for dtype, kind in DTYPES.items():
        ours = runner(compiled(chosen.on_chip(network, inputs, kind)), chosen.chip_inputs(inputs, kind))
        eager, given = copy.deepcopy(network).to(kind), [in_dtype(x, kind) for x in inputs]
        if chosen.images:  # both get images and filters as they like them best
            eager = eager.to(memory_format=torch.channels_last)
            given[0] = given[0].contiguous(memory_format=torch.channels_last)
        yield compare(name, dtype, ours, lambda eager=eager, given=given: first(eager(*given)), seconds)


BENCHMARKS: dict[str, Callable[[float], Iterator[Result]]] = {name: functools.partial(model, name) for name in ZOO}
