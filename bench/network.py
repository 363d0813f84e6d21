"""The network of examples/digits beside PyTorch eager."""

from __future__ import annotations

import copy
import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import torch

from .device import compiled, runner
from .harness import Result
from .kernels import DTYPES, compare

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "digits"
BATCHES = (1, 360)


def example(name: str) -> ModuleType:
    """A module of the example, which is a folder of scripts and not a package."""
    if str(EXAMPLE) not in sys.path:
        sys.path.insert(0, str(EXAMPLE))
    return importlib.import_module(name)


def digits(batch: int, seconds: float) -> Iterator[Result]:
    """With weights as they are at the start: how long a run takes does not depend on their training."""
    torch.manual_seed(0)
    network = example("network").Network().eval()
    images = torch.rand(batch, 1, 8, 8)
    for dtype, kind in DTYPES.items():
        binary = compiled(example("chip").on_chip(network, images, kind))
        # Both get the images as they like them best: the chip channels-last, torch as its layers are written.
        ours = runner(binary, [images.permute(0, 2, 3, 1).to(kind)])
        eager, pixels = copy.deepcopy(network).to(kind), images.to(kind)
        yield compare(f"digits, batch {batch}", dtype, ours, functools.partial(eager, pixels), seconds)


BENCHMARKS: dict[str, Callable[[float], Iterator[Result]]] = {
    f"digits, batch {batch}": lambda seconds, batch=batch: digits(batch, seconds) for batch in BATCHES
}
