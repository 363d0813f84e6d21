# SPDX-License-Identifier: Apache-2.0
"""The core of the wheel works where PyTorch is not installed; what needs it names the extra that brings it."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

# Makes PyTorch as absent as if it had never been installed, and builds one module.
BEGIN = """
import sys
sys.path[:0] = {path!r}

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
import ml_dtypes
import numpy as np
from builder.base.builder_apis import *
from builder.base.builder_runtime import *

def module(builder):
    @builder.func([(32, 64), (64, 48)], [ml_dtypes.bfloat16, np.dtype("float32")])
    def layer(x, w, builder):
        shift = builder.constant(np.linspace(-1, 1, 48, dtype=np.float32).reshape(1, 48))
        w = builder.typecast(builder.add(w, shift), output_type=ml_dtypes.bfloat16)
        return builder.softmax(builder.matmul(x, w), dimension=1)
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    text = BEGIN.format(path=sys.path) + textwrap.dedent(program)
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)


def output(program: str) -> str:
    found = run(program)
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_packages_are_imported():
    """Every module of every package but `golden`, of which those that hold the expressions need it."""
    output("""
        import importlib, pkgutil
        import builder, profiler, ttmlir.passes, ttmlir.dialects.ttir, ttnn, ttrt
        for package in (builder, profiler, ttnn, ttrt):
            for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
                importlib.import_module(found.name)
        assert "torch" not in sys.modules
    """)


def test_pytest_starts_with_the_plugin():
    """An installed wheel has pytest load it, in projects that know nothing of it."""
    output("""
        import pytest
        from pathlib import Path
        Path("test_user.py").write_text("def test_passes(): pass")
        assert pytest.main(["-p", "no:cacheprovider", "--rootdir=.", "--torch-ttnn-metrics=found", "test_user.py"]) == 0
    """)


@pytest.mark.long
@pytest.mark.parametrize(
    "use, said",
    [
        ("from torch_ttnn import backend", "ttmlir.torch"),
        ("import torch_ttnn; torch_ttnn.TorchTtnnOption", "ttmlir.torch"),
        ("import ttmlir.torch", "ttmlir.torch"),
        ("import pybuda", "pybuda"),
    ],
)
def test_requirement_is_stated(use, said):
    done = run(use)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(f"{said} needs PyTorch: pip install 'ttmlir[torch]'")


def test_a_module_is_built_compiled_and_run():
    assert "output_0" in output("""
        from ttrt.__main__ import main
        assert "tensor<32x64xbf16>" in str(build_module(module, "ttir")[0])
        path = compile_ttir_to_flatbuffer(module, output_root="made")[1]
        assert main(["run", path, "--non-zero", "--save-outputs", "found.npz"]) == 0
        found = np.load("found.npz")["layer.output_0"]
        assert found.shape == (32, 48) and found.dtype == np.float32 and np.allclose(found.sum(axis=1), 1, atol=0.05)
    """)


@pytest.mark.parametrize("target", ["ttnn", "emitc", "emitpy", "ttmetal"])
def test_targets(target):
    output(f"""
        def sum_of(builder):
            @builder.func([(32, 64), (32, 64)], [np.float32, np.float32])
            def main(a, b, builder):
                return builder.add(a, b)
        assert compile_ttir_to_flatbuffer(sum_of, target={target!r}, artifact_dir=None)[1]
    """)


@pytest.mark.parametrize(
    "program",
    [
        "module, b = build_module(module, 'ttir'); b.golden_map[0][0]['output_0']",
        "compile_and_execute_ttir(module)",
        "from golden import find_op",
        "from golden import get_golden_function",
    ],
)
def test_requirement_of_torch_is_stated(program):
    found = run(program)
    last = found.stderr.splitlines()[-1]
    assert found.returncode == 1 and last.startswith("ModuleNotFoundError: "), found.stderr
    assert "needs PyTorch: pip install 'ttmlir[torch]'" in last


def test_element_types_by_numpy_are_those_by_torch():
    """In this process, with PyTorch: a module is the same whichever of the two its dtypes and constants come from."""
    import ml_dtypes
    import numpy as np
    import torch
    from builder.base.builder_apis import build_module
    from builder.base.builder_utils import ELEMENT_TYPES

    def text(dtypes, constants):
        def described(builder):
            @builder.func([(2, 3)] * len(dtypes), dtypes)
            def main(*arguments):
                return [arguments[-1].constant(c) for c in constants]

        return str(build_module(described, "ttir")[0])

    names = list(ELEMENT_TYPES)
    ours = [np.dtype(getattr(ml_dtypes, name, name)) for name in names]
    theirs = [getattr(torch, name) for name in names]
    values = [0, 1, 0, 1, 1, 0]
    numpy_constants = [np.array(values).astype(d).reshape(2, 3) for d in ours if d.kind != "c"]
    torch_constants = [torch.tensor(values).to(d).reshape(2, 3) for d in theirs if not d.is_complex]
    assert text(ours, numpy_constants) == text(theirs, torch_constants)
    splats = [np.full((2, 3), 3).astype(d) for d in ours if d.kind != "c"]
    assert text([], splats) == text([], [torch.full((2, 3), 3).to(d) for d in theirs if not d.is_complex])
