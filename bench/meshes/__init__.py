# SPDX-License-Identifier: Apache-2.0
"""Models on 32 chips compared with their chips' own work: the time of the mesh's run over the sum of its chips' times.

Each model is split where its inputs say so, and by estimated time. The peer is the program of one chip, run once for
each chip in the same process with as many threads, without what chips exchange (programs.py).
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import torch
from builder.base.builder_apis import get_optimal_module_least_time

from ..comparing import profile
from ..harness import Absent, Measure, Outcome, Profile, Result, Settings, alternate
from ..models import example
from .programs import mesh_device, sides

MESH = (8, 4)
CHIPS = "its chips alone"
EXPECTED = "<= 1.15"
ZOO = example("meshes", "mesh_models")
# Sizes at which a run takes some tenths of a second on a few cores, and chips have some milliseconds of work.
MODELS: dict[str, Callable[[], Any]] = {
    "Llama block": lambda: ZOO.llama(
        batch=8, sequence=128, hidden=1024, heads=16, kv_heads=8, ffn=2816, vocabulary=4096
    ),
    "BERT": lambda: ZOO.bert(layers=2, batch=32, sequence=128, hidden=512, heads=8, ffn=2048, vocabulary=1024),
    "ResNet-50": lambda: ZOO.resnet50(batch=32, side=96),
    "mixture of experts": lambda: ZOO.experts(tokens=1024, hidden=512, ffn=2048, count=8),
    "training step of an MLP": lambda: ZOO.training(batch=4096, sizes=(512, 1024, 1024, 512), steps=1),
}
WAYS = ("annotated", "automatic")


def text_of(model: Any, way: str) -> str:
    """Returns the module with a sharding at every argument."""
    if way == "annotated":
        return model.text(MESH, annotate=True, everywhere=True)
    return str(get_optimal_module_least_time(model.text(), MESH).module)


def benchmark(name: str, way: str, settings: Settings) -> Iterator[Outcome]:
    title = f"{MESH[0]}x{MESH[1]} {name}, {way}"
    if importlib.util.find_spec("jax") is None:
        yield Absent(title, "f32", CHIPS, "jax is not installed: pip install 'ttmlir[jax]'")
        return
    model = MODELS[name]()
    values = [torch.from_numpy(value) for value in model.values()]
    is_trained = name.startswith("training")
    weights = [i >= model.inputs and not is_trained for i in range(len(values))]
    found = sides(text_of(model, way), values, weights, MESH)
    with settings.quiet():
        ours, theirs = alternate([found.mesh, found.chips], settings.seconds)
        text = profile(found.mesh, on=mesh_device(MESH))
    note = f"{found.collectives} collectives, {found.sent / 1e6:.1f} MB sent"
    yield Result(title, "f32", ours, CHIPS, theirs)
    yield Measure(f"{title}, time", "f32", ours / theirs, "x its chips alone", EXPECTED, note)
    yield Profile(title, "f32", text)


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {
    f"8x4 {name}, {way}": functools.partial(benchmark, name, way) for name in MODELS for way in WAYS
}
