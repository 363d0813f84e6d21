# SPDX-License-Identifier: Apache-2.0
"""Checks that packages and commands load what they use, and no large library before it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SMALL = """module {
  func.func @main(%a: tensor<32x64xbf16>, %b: tensor<32x64xbf16>) -> tensor<32x64xbf16> {
    %0 = "ttir.add"(%a, %b) : (tensor<32x64xbf16>, tensor<32x64xbf16>) -> tensor<32x64xbf16>
    return %0 : tensor<32x64xbf16>
  }
}"""
FRAMEWORKS = ("torch", "jax", "onnx", "transformers")
COMPILER = ("ttmlir._mlir_libs._mlir",)
RUNTIME = ("_ttmlir_runtime",)
BUILD = """
import numpy as np
from builder.base.builder_apis import *

def module(builder):
    @builder.func([(32, 64), (64, 48)], [np.float32, np.dtype("float32")])
    def layer(x, w, builder):
        return builder.softmax(builder.matmul(x, w), dimension=1)

build_module(module, "ttir")
"""
# Statements, and modules that they do not load.
PROGRAMS = {
    "builder": ("from builder.base.builder_apis import *", (*FRAMEWORKS, "ttnn", "rich")),
    "builder, build": (BUILD, (*FRAMEWORKS, "ttnn", "rich")),
    "builder, build, no PyTorch": (f"import sys\nsys.modules['torch'] = None\n{BUILD}", ()),
    "golden": ("import golden", (*FRAMEWORKS, *COMPILER, *RUNTIME)),
    "jax plugin": ("import pjrt_plugin_tt", (*FRAMEWORKS, *COMPILER, *RUNTIME, "numpy")),
    "onnx": ("import ttmlir.onnx", (*FRAMEWORKS, *COMPILER, *RUNTIME, "numpy")),
    "passes": ("import ttmlir.passes", (*FRAMEWORKS, *RUNTIME)),
    "profiler": ("import profiler", (*FRAMEWORKS, *COMPILER, "numpy")),
    "runtime": ("import _ttmlir_runtime", (*FRAMEWORKS, *COMPILER, "numpy")),
    "stablehlo": ("import ttmlir.stablehlo", (*FRAMEWORKS, "ttnn", "builder", "rich")),
    "torch": ("import ttmlir.torch", ("jax", "onnx", "transformers", "torch._inductor", "ttnn", "builder", "rich")),
    "torch, name": ("import torch_ttnn", ("jax", "onnx", "transformers", "ttnn", *COMPILER, *RUNTIME)),
    "pybuda": ("import pybuda", ("jax", "onnx", "transformers", "torch._inductor", "ttnn", "builder", "rich")),
    "ttl": ("import ttl", (*FRAMEWORKS, *COMPILER, "numpy")),
    "ttmlir": ("import ttmlir", (*FRAMEWORKS, *COMPILER, *RUNTIME, "numpy")),
    "ttnn": ("import ttnn", (*FRAMEWORKS, *COMPILER, "numpy")),
}


def loaded(program: str, names: tuple[str, ...]) -> list[str]:
    """Returns which of the modules a new process has loaded at the end of a program."""
    end = f"\nimport sys\nprint('loaded:', *[name for name in {names!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", program + end], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return found.stdout.rpartition("loaded:")[2].split()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_does_not_load(name: str) -> None:
    program, names = PROGRAMS[name]
    assert loaded(program, names) == []


def test_names_are_those_of_modules() -> None:
    """Each would be found."""
    names = tuple(
        sorted({name for _, names in PROGRAMS.values() for name in names} - {"transformers", "torch._inductor"})
    )
    assert loaded("".join(f"import {name}\n" for name in names), names) == list(names)


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("query", (*FRAMEWORKS, *COMPILER, "numpy", "importlib.metadata")),
        ("read {file}", (*FRAMEWORKS, *COMPILER, "numpy", "importlib.metadata")),
        ("check {file}", (*FRAMEWORKS, *COMPILER, "numpy", "importlib.metadata")),
        ("run {file}", (*FRAMEWORKS, *COMPILER, "builder.goldens", "importlib.metadata")),
        ("perf {file}", (*FRAMEWORKS, *COMPILER, "builder.goldens", "importlib.metadata")),
    ],
)
def test_command_does_not_load(command: str, names: tuple[str, ...], tmp_path: Path) -> None:
    from ttmlir import ir, passes

    with ir.Context():
        module = ir.Module.parse(SMALL)
        passes.ttir_to_ttnn_backend_pipeline(module)
        file = tmp_path / "small.ttnn"
        passes.ttnn_to_flatbuffer_file(module, str(file))
    words = command.format(file=file).split()
    assert loaded(f"from ttrt.__main__ import main\nassert main({words!r}) == 0", names) == []


def test_calls_inside_of_the_compiler_need_no_look_up() -> None:
    """One by name for each call would be half the time of the import."""
    import ttmlir

    library = Path(ttmlir.__file__).parent / "_mlir_libs" / "libTTMLIRPythonCAPI.so"
    text = subprocess.run(["readelf", "-rW", library], capture_output=True, text=True, check=True).stdout
    calls = [line.split()[3:5] for line in text.splitlines() if "JUMP_SLO" in line]
    assert calls
    assert [name for value, name in calls if int(value, 16)] == []
