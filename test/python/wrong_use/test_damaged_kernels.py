# SPDX-License-Identifier: Apache-2.0
"""TTMetal files that are damaged outside of their kernels' text: they are refused, or run to an end or an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ttmlir import ir, passes

COUNT, MANY = 150, 2500  # of each part; with --slow
# A product whose operands are multicast, a broadcast sum with a function, a reduction, a copy between cores.
PROGRAM = """
func.func @main(%a: tensor<64x96xf32>, %b: tensor<96x64xf32>, %c: tensor<1x64xf32>) -> tensor<64x64xf32> {
  %0 = "ttir.matmul"(%a, %b) : (tensor<64x96xf32>, tensor<96x64xf32>) -> tensor<64x64xf32>
  %1 = "ttir.add"(%0, %c) : (tensor<64x64xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %2 = "ttir.exp"(%1) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = "ttir.sum"(%2) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %4 = "ttir.div"(%2, %3) : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %5 = "ttir.permute"(%4) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %5 : tensor<64x64xf32>
}
"""


def check(folder: Path, count: int, seed: int) -> None:
    with ir.Context():
        module = ir.Module.parse(PROGRAM)
        passes.ttir_to_ttmetal_pipeline(module)
        path = folder / "whole.ttm"
        path.write_bytes(passes.ttmetal_to_flatbuffer_bin(module))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(Path(__file__).with_name("damage_kernels.py")), str(path), str(count), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    lines = done.stdout.split("\n")[:-1]
    last = next((line for line in reversed(lines) if line.isdigit()), "none")
    assert done.returncode == 0, f"--seed {seed}, file {last}: status {done.returncode}\n{done.stderr[-2000:]}"
    ran = lines.count("ran")
    assert count // 10 < ran < count, f"--seed {seed}: {ran} of {count} ran"


@pytest.mark.long
def test_damaged_files(tmp_path: Path, seed: int) -> None:
    check(tmp_path, COUNT, seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_many_damaged_files(tmp_path: Path, part: int, seed: int) -> None:
    check(tmp_path, MANY, seed + 100 + part)
