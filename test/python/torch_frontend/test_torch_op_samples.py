# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own samples of its ops through the backend: some ops always, all of them with --slow."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import op_samples
import pytest
import torch

# One or two of each family.
OPS = [
    "add", "arange", "argmax", "clamp", "cumsum", "div.floor_rounding", "gather", "index_put", "isnan", "linalg.qr",
    "log_softmax", "masked_fill", "matmul", "nn.functional.conv2d", "nn.functional.layer_norm", "pow",
    "scatter_reduce.amax", "sort", "std", "topk", "uniform", "where",
]  # fmt: skip


@pytest.mark.parametrize("name", OPS)
def test_samples_of_an_op(name: str) -> None:
    cases = list(op_samples.cases(exact=[name]))
    assert cases, f"PyTorch has no samples of {name}"
    rows = [op_samples.run_case(case, limit=3) for case in cases]
    for row in rows:
        assert not row.wrong and not row.error and not row.unlowered and not row.graph, row
    assert sum(row.passed + row.host for row in rows) >= len(rows)
    if name != "linalg.qr":
        assert sum(row.passed for row in rows) > sum(row.host for row in rows)


def test_a_wrong_number_is_found() -> None:
    want = torch.tensor([1.0, torch.inf, torch.nan, 0.0])
    for got in (want * 1.01, want.nan_to_num(0), torch.tensor([1.0, torch.inf, torch.nan, 1e-2])):
        assert op_samples.difference([got], [want], None, torch.float32)
    assert not op_samples.difference([want], [want], None, torch.float32)
    assert op_samples.difference([want], [want.double()], None, torch.float32) == (
        "result 0 is torch.float32[4], expected torch.float64[4]"
    )
    assert op_samples.difference([], [want], None, torch.float32) == "0 results, expected 1"


@pytest.mark.slow
def test_samples_of_all_ops(tmp_path: Path) -> None:
    command = [sys.executable, op_samples.__file__, "--csv", str(tmp_path / "samples.csv"), "--samples", "5"]
    done = subprocess.run([*command, "--jobs", str(os.cpu_count())], capture_output=True, text=True, check=False)
    print(done.stdout)
    rows = op_samples.read_rows(tmp_path / "samples.csv").values()
    bad = [row for row in rows if row.wrong or row.error or row.unlowered]
    assert done.returncode == 0 and not bad, bad
    assert len({row.op for row in rows}) > 500 and sum(row.passed for row in rows) > 10 * sum(row.graph for row in rows)
    assert re.search(r"\d+ ops, \d+ cases", done.stdout)
