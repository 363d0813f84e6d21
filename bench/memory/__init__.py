# SPDX-License-Identifier: Apache-2.0
"""Peak memory of loading and running a network, of torch doing the same, and of compiling it; each in a new process."""

from __future__ import annotations

import functools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from ..comparing import DTYPES
from ..device import compiled
from ..harness import Absent, Measure, Outcome, Settings
from ..isolated import output_of
from ..models import ZOO
from ..names import EAGER

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = "<= 1.3"


def child(*words: str) -> dict[str, Any]:
    """Returns the results of `python -m bench.memory.child`."""
    return json.loads(output_of([sys.executable, "-m", "bench.memory.child", *words]))


def measured(name: str, dtype: str, work: Sequence[str], what: str, expected: str = "") -> Outcome:
    more = ""
    try:
        found = child(*work)
        if work[0] == "run":
            more = f", in addition to {child('code', *work[1:])['code'] / 1e6:.1f} MB of code of shared libraries"
    except RuntimeError as error:
        return Absent(name, dtype, what, str(error))
    needed = found["weights"] + found["activations"]
    note = (
        f"{what}: {found['peak'] / 1e6:.0f} MB for {found['weights'] / 1e6:.0f} MB of weights"
        f" and {found['activations'] / 1e6:.1f} MB of activations{more}"
    )
    return Measure(name, dtype, found["peak"] / needed, "x needed", expected, note)


def memory(model: str, settings: Settings) -> Iterator[Outcome]:
    """Over what the process had before it touched the network, but for the code of shared libraries (see
    child.py); activations: inputs, outputs, and what our plan of memory holds at once."""
    network, inputs = ZOO[model].make()
    for dtype, kind in DTYPES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.ttnn"
            compiled(ZOO[model].on_chip(network, inputs, kind)).store(path)
            with settings.quiet():
                yield measured(f"memory, {model}", dtype, ["run", str(path)], "run", EXPECTED)
                if EAGER in settings.peers:
                    weights, saved = Path(folder) / "network.pt", ZOO[model].make()[0].to(kind)
                    torch.save(saved, weights)
                    arguments = ["torch", str(weights), str(path), model, dtype]
                    yield measured(f"memory, {model}, torch", dtype, arguments, EAGER)
                    del saved
                yield measured(f"memory, compile {model}", dtype, ["compile", model, dtype], "compile")


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {
    f"memory, {model}": functools.partial(memory, model) for model in ZOO
}
