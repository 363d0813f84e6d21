# SPDX-License-Identifier: Apache-2.0
"""The networks of examples, as published, with batch 1. Weights are random: a run takes as long with trained ones."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import torch

from .comparing import Case, both_dtypes
from .harness import Outcome, Settings

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def example(folder: str, name: str) -> ModuleType:
    """A module of an example, which is a folder of scripts and not a package."""
    path = str(EXAMPLES / folder)
    if path not in sys.path:
        sys.path.append(path)
    return importlib.import_module(name)


ZOO = example("models", "zoo").ZOO


def from_zoo(name: str, reduced: bool = False) -> Case:
    model = ZOO[name]
    network, inputs = model.make(reduced)
    build = functools.partial(model.on_chip, network, inputs)
    return Case(name, network, inputs, build, functools.partial(model.chip_inputs, inputs), model.images)


def digits(name: str, batch: int) -> Case:
    torch.manual_seed(0)
    network = example("digits", "network").Network().eval().requires_grad_(False)
    images = torch.rand(batch, 1, 8, 8)
    build = functools.partial(example("digits", "chip").on_chip, network, images)
    return Case(name, network, [images], build, lambda kind: [images.permute(0, 2, 3, 1).to(kind)])


SMALL: dict[str, Callable[[], Case]] = {
    f"digits, batch {batch}": functools.partial(digits, f"digits, batch {batch}", batch) for batch in (1, 360)
}
MODELS: dict[str, Callable[[], Case]] = {name: functools.partial(from_zoo, name) for name in ZOO}
BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {
    name: both_dtypes(make) for name, make in {**SMALL, **MODELS}.items()
}
