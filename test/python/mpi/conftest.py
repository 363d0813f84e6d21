# SPDX-License-Identifier: Apache-2.0
"""Programs for a mesh of 2x4, and what these tests need of the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import launch

PASSES = ["--stablehlo-pipeline", "--stablehlo-to-ttir-pipeline", "--ttir-to-ttnn-backend-pipeline"]
MLP = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%x: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>},
                %up: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y", ?}]>},
                %down: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {?}]>}) -> tensor<8x64xf32> {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32>
  %1 = stablehlo.FUNCTION %0 : tensor<8x256xf32>
  %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0] : (tensor<8x256xf32>, tensor<256x64xf32>) -> tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}
"""  # noqa: E501


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if launch.AVAILABLE:
        return
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="NOT RUN: mpirun is missing; apt-get install openmpi-bin"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not launch.AVAILABLE:
        terminalreporter.write_line("NOT RUN: test/python/mpi, mpirun is missing", red=True, bold=True)


def compiled(folder: Path, name: str, text: str) -> Path:
    optimize = [launch.BIN / "ttmlir-opt", *PASSES]
    module = subprocess.run(optimize, input=text, capture_output=True, text=True, check=True).stdout
    path = folder / f"{name}.ttnn"
    translate = [launch.BIN / "ttmlir-translate", "--ttnn-to-flatbuffer", "-o", path]
    subprocess.run(translate, input=module, text=True, check=True)
    return path


@pytest.fixture(scope="session")
def mlp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("programs"), "mlp", MLP.replace("FUNCTION", "tanh"))


@pytest.fixture(scope="session")
def other_mlp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds a program of the same shapes with other results."""
    return compiled(tmp_path_factory.mktemp("programs"), "mlp", MLP.replace("FUNCTION", "exponential"))
