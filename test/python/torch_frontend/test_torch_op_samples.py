# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own samples of its ops through the backend: some ops always, all of them with --slow."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
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


@pytest.mark.sampled(4)
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


def test_a_run_of_some_types_in_a_drawn_order_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[list[tuple[str, str, str]]] = []

    def run_part(path: Path, part: int, keys: Sequence[tuple[str, str, str]], options: object) -> None:
        runs.append(list(keys))
        for key in keys[:2] if len(runs) == 1 else keys:  # the first run is stopped
            op_samples.append(path, op_samples.Row(*key, samples=1, passed=1))

    monkeypatch.setattr(op_samples, "run_part", run_part)
    command = ["--csv", str(tmp_path / "samples.csv"), "--ops", "^(abs|add|neg)$", "--dtypes", "float32,int64"]
    assert op_samples.main([*command, "--shuffle", "3"]) == 0
    assert op_samples.main(command) == 0
    first, second = runs
    in_order = [c.key for c in op_samples.cases("^(abs|add|neg)$") if c.key[1] in ("float32", "int64")]
    assert sorted(first) == sorted(in_order) and first != in_order
    assert second == [key for key in in_order if key not in first[:2]]


@pytest.mark.parametrize(
    ("argument", "text", "message"),
    [
        ("--samples", "0", "'0'; expected a number, 1 or more"),
        ("--jobs", "-1", "'-1'; expected a number, 1 or more"),
        ("--ops", "add(", "'add(' is no regular expression: missing )"),
        ("--dtypes", "float32,f64", "f64: known: float32, bfloat16,"),
        ("--again", "bad", "bad: known: passed, host,"),
        ("--shuffle", "x", "invalid int value: 'x'"),
    ],
)
def test_arguments_are_checked(argument: str, text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        op_samples.main(["--csv", "samples.csv", f"{argument}={text}"])
    assert f"argument {argument}: {message}" in capsys.readouterr().err


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
