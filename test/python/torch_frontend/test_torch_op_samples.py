# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own samples of its ops through the backend: some ops always, all of them with --slow."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import islice
from pathlib import Path

import op_samples
import pytest
import torch
from ttmlir.torch.lowering import GROWING, RULES

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


# Ops whose graphs add two 64-bit integers: single additions are not looked at (docs/torch.md).
ADDITIONS = {"__radd__", "__rsub__", "add", "addcmul", "diff", "rsub", "sub"}
# Ops to which integers say how much memory or time they take, and orders of polynomials.
SIZES = re.compile(r"arange|bincount|full|histc|linspace|logspace|one_hot|repeat|split|tile|fft\.|signal\.|special\.")
LARGE = {torch.int64: 2**31 - 1, torch.int32: 2**31 - 1, torch.float32: 2.0**40}


def enlarged(sample: op_samples.Sample) -> Iterator[op_samples.Sample]:
    """The sample with large values in all tensors, and in one each: others may be places."""
    generator = torch.Generator().manual_seed(0)
    for chosen in (sample.places, *([place] for place in sample.places)):
        other = copy(sample)
        other.leaves = list(sample.leaves)
        for place in chosen:
            leaf = sample.leaves[place]
            if leaf.dtype not in LARGE or leaf.layout is not torch.strided:
                continue
            large = (torch.rand(leaf.shape, generator=generator, dtype=torch.float64) * 2 - 1) * LARGE[leaf.dtype]
            large.view(-1)[:1] = LARGE[leaf.dtype]
            other.leaves[place] = large.to(leaf.dtype)
        yield other


def beyond_32_bits(sample: op_samples.Sample) -> bool:
    try:
        eager = sample.results(sample.call)
    except Exception:
        return False
    return any(x.dtype is torch.int64 and bool(((x >= 2**31) | (x < -(2**31))).any()) for x in eager)


@pytest.mark.long
def test_no_op_gives_less_than_64_bits() -> None:
    """Every op of PyTorch whose integers get beyond 32 bits has PyTorch's values."""
    grown, wrong = set(), []
    for op in op_samples.op_db:
        case = op_samples.Case(op, torch.int64, False)
        if torch.int64 not in op.supported_dtypes("cpu") or SIZES.search(op.name) or op.name.startswith("empty"):
            continue
        given = (op_samples.Sample(case, x) for x in islice(op.sample_inputs("cpu", torch.int64), 6))
        samples = (large for sample in given for large in enlarged(sample) if beyond_32_bits(large))
        for sample in islice(samples, 2):
            grown.add(op.name)
            ended = op_samples.run_sample(case, sample)
            if op.name not in ADDITIONS and ended and ended[0] not in ("passed", "host", "untraced"):
                wrong.append((op.name, *ended))
    assert not wrong, wrong
    assert len(grown) > 50 and {"addbmm", "addr", "bitwise_left_shift", "cumprod", "index_add", "mm", "pow"} <= grown


def test_rules_that_grow_are_known() -> None:
    """Lists all overloads of each op that returns sums or products."""
    of = {name.partition(".")[0] for name in GROWING if not name.startswith("prims.")}
    assert [name for name in RULES if name.partition(".")[0] in of and name not in GROWING] == []


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
