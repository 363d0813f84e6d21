# SPDX-License-Identifier: Apache-2.0
"""Values that PCC says nothing of, and goldens that are freed, in ttrt."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest
import torch


def sums(builder: Any) -> None:
    """All but constant, and positions of which many stand for equal elements."""

    @builder.func([(32, 9)], [torch.float32])
    def sums(x, builder):
        return builder.sum(builder.softmax(x, dimension=0), dim_arg=[0])


def ranks(builder: Any) -> None:
    @builder.func([(100, 132)], [torch.bfloat16])
    def ranks(x, builder):
        return builder.topk(builder.sigmoid(x), k=66, dim=0, largest=False)


def chain(builder: Any) -> None:
    @builder.func([(64, 64)], [torch.float32])
    def chain(x, builder):
        for _ in range(40):
            x = builder.sin(builder.transpose(x, 0, 1))
        return x


def test_values_that_vary_by_rounding_only(ttrt, flatbuffer) -> None:
    file = flatbuffer(sums)
    (report,) = json.loads(ttrt("run", file, "--golden", "--ops", "--json", "-").out)["programs"]
    (output,) = report["outputs"]
    assert output["passed"] and output["note"].startswith("the golden varies by rounding only (")
    softmax = next(row for row in report["ops_checked"] if "softmax" in row["op"])
    assert softmax["passed"] and not softmax["note"]
    assert output["note"] in " ".join(ttrt("run", file, "--golden", "--pcc", "0.99").out.split())
    found = ttrt("run", file, "--golden", "--atol", "0", "--rtol", "0")
    assert found.code == (0 if output["max_abs_error"] == 0 else 1)


def test_positions_of_equal_elements(ttrt, flatbuffer) -> None:
    found = ttrt("run", flatbuffer(ranks), "--golden", "--ops")
    assert found.code == 0, found.err


@pytest.mark.long
def test_goldens_are_freed(ttrt, flatbuffer, monkeypatch, live_goldens) -> None:
    """Frees goldens of a long chain of ops, unless they are inspected."""
    from builder.goldens.evaluation import Evaluation

    counts: list[int] = []
    compute = Evaluation.compute

    def counted(*arguments: Any) -> Any:
        counts.append(live_goldens())
        return compute(*arguments)

    monkeypatch.setattr(Evaluation, "compute", counted)
    file = flatbuffer(chain)
    for options, most in ((["--golden"], 6), (["--golden", "--ops"], 200)):
        gc.collect()
        before = live_goldens()
        counts.clear()
        assert ttrt("run", file, *options).code == 0
        assert len(counts) >= 40 and max(counts) - before <= most
    assert max(counts) - before > 40
