# SPDX-License-Identifier: Apache-2.0
"""How long a new process takes to its first result, and what a file of 1 GB takes in addition to its run.

python -m bench --module bench.frontends.starting [--only 'start, torch*']

Each time is the least of several processes, which take turns. If TTMLIR_BENCH_BEFORE names the folder of the Python
packages of another build, their imports run in turns with those of this one.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from ..harness import Measure, Outcome, Result, Settings
from ..isolated import output_of
from ..names import JAX_CPU

ROOT = Path(__file__).resolve().parents[2]
RUNS = 7
IMPORTS = {
    "builder": "from builder.base.builder_apis import *",
    "ttnn": "import ttnn",
    "ttmlir.passes": "import ttmlir.passes",
    "ttmlir.onnx": "import ttmlir.onnx",
    "ttmlir.jax": "import ttmlir.jax",
    "ttmlir.torch": "import ttmlir.torch",
    "pybuda": "import pybuda",
}
# What an import takes that is not ours: the framework, which the program loads in any case.
FRAMEWORK = {"ttmlir.torch": "import torch", "pybuda": "import torch", "ttmlir.jax": "import jax"}
MODEL = """module {
  func.func @main(%a: tensor<32x64xbf16>, %b: tensor<64x48xbf16>) -> tensor<32x48xbf16> {
    %0 = "ttir.matmul"(%a, %b) <{transpose_a = false, transpose_b = false}> : (tensor<32x64xbf16>, tensor<64x48xbf16>) -> tensor<32x48xbf16>
    return %0 : tensor<32x48xbf16>
  }
}"""  # noqa: E501
TORCH = """
import sys, time, torch
from torch import nn
torch.manual_seed(0)
model, x = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4)), torch.rand(8, 16)
start = time.perf_counter()
with torch.no_grad():
    torch.compile(model, backend={backend!r})(x)
print(time.perf_counter() - start)
"""
JAX = """
import os, time
os.environ["JAX_PLATFORMS"] = {platform!r}
import jax, jax.numpy as jnp
import numpy as np
x, w = np.ones((64, 8), np.float32), np.ones((8, 8), np.float32)
start = time.perf_counter()
jax.jit(lambda x, w: jnp.tanh(x @ w).sum())(x, w).block_until_ready()
print(time.perf_counter() - start)
"""
LOAD = """
import json, sys, time
from pathlib import Path
import _ttmlir_runtime as rt
from bench.memory.child import forget_peak, status, zeros_for
device = rt.runtime.open_mesh_device(rt.runtime.MeshDeviceOptions())
found = []
def measure(work):
    forget_peak()
    before, start = status("VmRSS"), time.perf_counter()
    result = work()
    found.append([time.perf_counter() - start, status("VmHWM") - before])
    return result
binary = measure(lambda: rt.binary.load_from_path(sys.argv[1]))
inputs = zeros_for(binary)
for _ in range(2):
    measure(lambda: rt.runtime.submit(device, binary, 0, inputs))
print(json.dumps(found))
"""
LAYERS, SIZE = 16, 4096  # 1 GiB of weights


def process(command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[float, str]:
    """Returns the seconds of a process, and what it printed."""
    start = time.perf_counter()
    text = output_of(command, environment)
    return time.perf_counter() - start, text


def python(*words: str) -> list[str]:
    return [sys.executable, *words]


def sides() -> dict[str, dict[str, str]]:
    """The environments that are compared: this build, and the packages of another one if there are some."""
    found = {"": dict(os.environ)}
    if before := os.environ.get("TTMLIR_BENCH_BEFORE"):
        if not (Path(before) / "ttmlir").is_dir():
            raise RuntimeError(f"TTMLIR_BENCH_BEFORE: {before} has no Python packages of a build")
        found["before"] = {**os.environ, "PYTHONPATH": os.pathsep.join([before, str(ROOT / "tools")])}
    return found


def least(
    commands: Mapping[str, list[str]], printed: bool = False, older: bool = False
) -> dict[tuple[str, str], float]:
    """Returns the least milliseconds by command and side: of the process, or what it prints. older: also of the other
    build."""
    found: dict[tuple[str, str], float] = {}
    environments: dict[str, dict[str, str] | None] = {**sides()} if older else {"": None}
    for _ in range(RUNS):
        for name, command in commands.items():
            for side, environment in environments.items():
                seconds, text = process(command, environment)
                ms = 1e3 * (float(text.split()[-1]) if printed else seconds)
                found[name, side] = min(ms, found.get((name, side), ms))
    return found


def outcomes(times: Mapping[tuple[str, str], float], less: Mapping[str, str], what: str) -> Iterator[Outcome]:
    """less: by name, the one whose time is taken off."""
    for (name, side), ms in times.items():
        if side or name in less.values():
            continue
        rest = ms - times[less[name], ""] if name in less else ms
        before = times.get((name, "before"))
        note = f"{ms:.0f} ms with {less[name]}" if name in less else ""
        if before is not None:
            taken = times[less[name], "before"] if name in less else 0.0
            note = ", ".join(filter(None, (note, f"before {before - taken:.0f} ms")))
        yield Measure(f"{what}{name}", "", rest, "ms", note=note)


def imports(settings: Settings) -> Iterator[Outcome]:
    commands = {name: python("-c", text) for name, text in IMPORTS.items()}
    commands |= {text: python("-c", text) for text in FRAMEWORK.values()}
    with settings.quiet():
        yield from outcomes(least(commands, older=True), FRAMEWORK, "start, import ")


def tools(settings: Settings) -> Iterator[Outcome]:
    from ttmlir import ir, passes

    with tempfile.TemporaryDirectory() as folder, ir.Context():
        text, file = Path(folder) / "model.mlir", Path(folder) / "model.ttnn"
        text.write_text(MODEL)
        module = ir.Module.parse(MODEL)
        passes.ttir_to_ttnn_backend_pipeline(module)
        passes.ttnn_to_flatbuffer_file(module, str(file))
        commands = {f"ttrt {name}": python("-m", "ttrt", name, str(file)) for name in ("run", "check", "read")}
        commands["ttmlir-opt"] = [str(ROOT / "build/bin/ttmlir-opt"), "--ttir-to-ttnn-backend-pipeline", str(text)]
        with settings.quiet():
            yield from outcomes(least(commands), {}, "start, ")


def first_of_torch(settings: Settings) -> Iterator[Outcome]:
    names = {"torch.compile": "tt", "Dynamo alone": "eager"}
    commands = {name: python("-c", TORCH.format(backend=backend)) for name, backend in names.items()}
    with settings.quiet():
        yield from outcomes(least(commands, printed=True), {"torch.compile": "Dynamo alone"}, "start, first result of ")


def first_of_jax(settings: Settings) -> Iterator[Outcome]:
    commands = {name: python("-c", JAX.format(platform=name)) for name in ("tt", "cpu")}
    with settings.quiet():
        times = least(commands, printed=True)
    yield Result("start, first result of JAX", "f32", times["tt", ""], JAX_CPU, times["cpu", ""])


def large_file(settings: Settings) -> Iterator[Outcome]:
    import numpy as np
    from builder.base.builder_apis import build_module
    from ttmlir import passes

    def build(builder: object) -> None:
        @builder.func([(128, SIZE)], [np.float32])  # type: ignore[attr-defined]
        def main(x, builder):  # type: ignore[no-untyped-def]
            for i in range(LAYERS):
                weights = np.random.default_rng(i).random((SIZE, SIZE), np.float32) / SIZE
                x = builder.matmul(x, builder.constant(weights))
            return x

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.ttnn"
        module, _ = build_module(build, "ttir")
        passes.ttir_to_ttnn_backend_pipeline(module)
        passes.ttnn_to_flatbuffer_file(module, str(file))
        del module
        with settings.quiet():
            found = json.loads(process(python("-c", LOAD, str(file)))[1])
        size = file.stat().st_size
    for name, (seconds, peak) in zip(("load", "first run", "second run"), found, strict=True):
        note = f"{peak / 1e6:.0f} MB more at its peak; the file has {size / 1e6:.0f} MB"
        yield Measure(f"start, {name} of 1 GB", "f32", 1e3 * seconds, "ms", note=note)


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {
    "start, import": imports,
    "start, tools": tools,
    "start, torch.compile": first_of_torch,
    "start, JAX": first_of_jax,
    "start, 1 GB": large_file,
}
