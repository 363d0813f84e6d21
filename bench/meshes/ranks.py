# SPDX-License-Identifier: Apache-2.0
"""A program on a mesh that two ranks share, of one thread each, compared with one process of one thread.

Efficiency is the time of one process over twice that of two ranks; by processor time, the time of one process over the
sum of what both took, waiting for each other included: that is the same on a machine that others use, too.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ttmlir import ir
from ttmlir.passes import (
    stablehlo_pipeline,
    stablehlo_to_ttir_pipeline,
    ttir_to_ttnn_backend_pipeline,
    ttnn_to_flatbuffer_bin,
)

from ..harness import Absent, Measure, Outcome, Settings
from ..isolated import output_of

ROOT = Path(__file__).resolve().parents[2]
MESH, RANKS, LAYERS, ROWS, NARROW, WIDE = (2, 4), 2, 8, 1024, 1024, 4096
EXPECTED = ">= 0.8"
# A row of the mesh belongs to a rank: sums over its columns stay inside, those over its rows go across.
AXES = {"sums inside of ranks": ("x", "y"), "sums across ranks": ("y", "x")}


def mlp(rows: str, columns: str) -> str:
    """Layers whose rows are split along one axis, and whose hidden dimension along the other."""
    full, hidden = f"tensor<{ROWS}x{NARROW}xf32>", f"tensor<{ROWS}x{WIDE}xf32>"
    up, down = f"tensor<{NARROW}x{WIDE}xf32>", f"tensor<{WIDE}x{NARROW}xf32>"

    def argument(name: str, type: str, first: str, second: str) -> str:
        dims = ", ".join(f'{{"{axis}", ?}}' if axis else "{?}" for axis in (first, second))
        return f"%{name}: {type} {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"

    arguments, lines, value = [argument("x", full, rows, "")], [], "%x"
    for i in range(LAYERS):
        arguments += [argument(f"u{i}", up, "", columns), argument(f"d{i}", down, columns, "")]
        lines += [
            f"%a{i} = stablehlo.dot_general {value}, %u{i}, contracting_dims = [1] x [0] : ({full}, {up}) -> {hidden}",
            f"%b{i} = stablehlo.tanh %a{i} : {hidden}",
            f"%c{i} = stablehlo.dot_general %b{i}, %d{i}, contracting_dims = [1] x [0] : ({hidden}, {down}) -> {full}",
        ]
        value = f"%c{i}"
    body = "\n".join(lines)
    return (
        f'module {{\nsdy.mesh @mesh = <["x"={MESH[0]}, "y"={MESH[1]}]>\n'
        f"func.func @main({', '.join(arguments)}) -> {full} {{\n{body}\nreturn {value} : {full}\n}}\n}}"
    )


def store(text: str, path: Path) -> None:
    with ir.Context():
        module = ir.Module.parse(text)
        stablehlo_pipeline(module, "result-presharded=1")
        stablehlo_to_ttir_pipeline(module)
        ttir_to_ttnn_backend_pipeline(module, {"mesh-shape": MESH})
        path.write_bytes(ttnn_to_flatbuffer_bin(module))


def measured(launcher: list[str], path: Path, seconds: float) -> list[dict[str, float]]:
    program = [sys.executable, "-m", "bench.meshes.ranks_child", str(path), f"{MESH[0]}x{MESH[1]}", str(seconds)]
    paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    environment: dict[str, Any] = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths}
    return json.loads(output_of([*launcher, *program], environment))


def benchmark(way: str, settings: Settings) -> Iterator[Outcome]:
    name = f"{RANKS} ranks, MLP layers, {way}"
    if shutil.which("mpirun") is None:
        yield Absent(name, "f32", "one process", "mpirun is missing: apt-get install openmpi-bin")
        return
    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS)]
    with tempfile.TemporaryDirectory() as folder, settings.quiet():
        path = Path(folder) / "mlp.ttnn"
        store(mlp(*AXES[way]), path)
        [alone] = measured([], path, settings.seconds)
        ranks = measured(launcher, path, settings.seconds)
    slowest = max(rank["median"] for rank in ranks)
    used = sum(rank["processor"] for rank in ranks)
    yield Measure(
        f"{name}, efficiency",
        "f32",
        alone["median"] / (RANKS * slowest),
        "of 1",
        EXPECTED,
        f"{alone['median']:.3f} s in one process, {slowest:.3f} s by ranks",
    )
    yield Measure(
        f"{name}, efficiency by processor time",
        "f32",
        alone["processor"] / used,
        "of 1",
        EXPECTED,
        f"{alone['processor']:.3f} s in one process, {used:.3f} s by ranks",
    )


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {
    f"{RANKS} ranks, MLP layers, {way}": functools.partial(benchmark, way) for way in AXES
}
