# SPDX-License-Identifier: Apache-2.0
"""The wheel, installed in an environment of its own: what README.md and docs/jax.md say that it has.

TTMLIR_WHEEL names one that is there; without it, one is built. The first build of a tree takes as long as the project.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.slow
MOST_BYTES = 80e6  # of the file; half of it is the compiler
MODEL = """func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x48xf32>) -> tensor<32x48xf32> {
  %0 = "ttir.matmul"(%x, %w) : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  return %0 : tensor<32x48xf32>
}
"""
BY_JAX = """
import os
os.environ["JAX_PLATFORMS"] = "tt"
import jax, jax.numpy as jnp, numpy as np, ttmlir.jax
step = jax.jit(lambda w, x: w - 0.1 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w))
w = step(jnp.ones(8), np.ones((4, 8), np.float32))
assert {device.platform for device in w.devices()} == {"tt"} and np.isfinite(np.asarray(w)).all()
jax.debug.callback(lambda: print("called"))
compiled = ttmlir.jax.compile(lambda a, b: jax.nn.relu(a @ b), (jnp.ones((4, 5)), jnp.ones((5, 3))))
for suffix in (".ttnn", ".py", ".cpp"):
    compiled.save("layer" + suffix)
"""


def run(folder: Path, *command: str | Path) -> str:
    """In a folder that knows nothing of the source tree; the command is one of the environment or of the machine."""
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "TMPDIR")}
    path = f"{folder / 'env' / 'bin'}:/usr/bin:/bin"
    done = subprocess.run(command, cwd=folder, env=kept | {"PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if given := os.environ.get("TTMLIR_WHEEL"):
        return Path(given)
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    (path,) = folder.glob("ttmlir-*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder with the environment `env`, where the wheel is installed with JAX and without PyTorch."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "env", with_pip=True)
    run(folder, folder / "env/bin/python", "-m", "pip", "install", "--quiet", f"{wheel}[jax]")
    (folder / "model.mlir").write_text(MODEL)
    return folder


def test_contents(wheel):
    assert wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
    ours = (
        "ttmlir", "ttnn", "ttrt", "tt_smi", "torch_ttnn", "builder", "golden", "profiler", "pjrt_plugin_tt", "pybuda",
        "ttl",
    )  # fmt: skip
    for package in ours:
        assert f"{package}/__init__.py" in names
        sources = ROOT / "python" / package
        missing = {f"{package}/{path.relative_to(sources)}" for path in sources.rglob("*.py")} - set(names)
        assert not missing
    expected = {"ttrt/include/ttnn/ttnn.hpp", "pjrt_plugin_tt/pjrt_plugin_tt.so", "ttmlir/_mlir_libs/ttmlir-read"}
    assert expected <= set(names)
    assert {name.rpartition("/")[2] for name in names if "/scripts/" in name} >= {"ttmlir-opt", "ttmlir-translate"}


def test_libraries_are_found_in_it(installed):
    """Nothing of the folder where it was built."""
    for path in installed.glob("env/lib/python*/site-packages/**/*.so"):
        if path.parent.name in ("pjrt_plugin_tt", "_mlir_libs", "lib", "site-packages"):
            found = run(installed, "ldd", path)
            assert "not found" not in found and str(ROOT) not in found, found


def test_tools(installed):
    run(installed, "ttmlir-opt", "--ttir-to-ttnn-backend-pipeline", "model.mlir", "-o", "ttnn.mlir")
    run(installed, "ttmlir-translate", "--ttnn-to-flatbuffer", "ttnn.mlir", "-o", "model.ttnn")
    assert "output_0" in run(installed, "ttrt", "run", "model.ttnn", "--non-zero")
    assert '"board": "n150"' in run(installed, "tt-smi", "-s", "-f", "-")
    assert "FILE.onnx" in run(installed, "ttmlir-import-onnx", "--help")


def test_bytecode_is_read_by_another_process(installed):
    program = """
import io
from ttmlir import apart, ir
with ir.Context() as context:
    written = io.BytesIO()
    ir.Module.parse("func.func @f() { return }").operation.write_bytecode(written)
    print(apart.PROGRAM, "func.func @f" in str(apart.read(context, written.getvalue())))
    try:
        apart.read(context, written.getvalue()[:20])
    except ir.MLIRError:
        print("refused")
"""
    path, is_read, refused = run(installed, "python", "-c", program).split()
    assert Path(path).is_relative_to(installed) and is_read == "True" and refused == "refused"


def test_packages(installed):
    program = """
import importlib, sys
for name in ("ttmlir", "ttmlir.dialects.ttir", "ttmlir.passes", "ttnn", "ttrt", "builder", "golden", "profiler"):
    print(importlib.import_module(name).__file__)
import torch_ttnn
try:
    torch_ttnn.backend
except ModuleNotFoundError as error:
    assert "ttmlir[torch]" in str(error), error
else:
    raise AssertionError("torch is there")
"""
    files = run(installed, "python", "-c", program).split()
    assert len(files) == 8 and all(Path(file).is_relative_to(installed) for file in files)


def test_jax_and_emitted_code(installed):
    assert "called" in run(installed, "python", "-c", BY_JAX)
    assert "output_0" in run(installed, "ttrt", "run", "layer.ttnn", "--non-zero")
    assert "4, 3" in run(installed, "python", "layer.py")
    flags = run(installed, "python", "-c", "import ttnn; print(*ttnn.config.compile_flags())").split()
    assert str(installed) in " ".join(flags)
    run(installed, "c++", *flags, "layer.cpp", "-o", "layer")
    assert "4, 3" in run(installed, installed / "layer")


def test_programs_that_run_images(installed):
    """docs/pybuda.md, "From C++": what they include and link. Images are made where PyTorch is."""
    (installed / "embedded.cpp").write_text("""
#include "io_utils.h"
#include "tt_backend.hpp"
#include "tt_backend_api.hpp"
#include <iostream>
int main() {
  try {
    tt::tt_device_image("none.tti", "out");
  } catch (const std::runtime_error &error) {
    std::cout << error.what() << "\\n";
  }
}
""")
    flags = run(installed, "python", "-c", "import ttnn; print(*ttnn.config.backend_flags())").split()
    assert str(installed) in " ".join(flags)
    run(installed, "c++", "-std=c++17", "embedded.cpp", *flags, "-o", "embedded")
    assert "none.tti" in run(installed, installed / "embedded")
