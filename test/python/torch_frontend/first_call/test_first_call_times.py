# SPDX-License-Identifier: Apache-2.0
"""Where the time of a first call goes, as reports say it."""

from __future__ import annotations

import time

import pytest
import torch
from torch import nn
from ttmlir.torch.report import record

PARTS = ["dynamo", "capture", "import", "passes", "flatbuffer", "preparation", "first run"]


def model() -> nn.Module:
    return nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.GELU()) for _ in range(4)])


@pytest.mark.parametrize("training", [False, True], ids=["inference", "training"])
def test_the_parts_are_most_of_the_first_call(training: bool) -> None:
    torch._dynamo.reset()
    net, x = model(), torch.rand(64, 512)
    with record() as reports:
        compiled = torch.compile(net, backend="tt", dynamic=False)
        started = time.perf_counter()
        with torch.set_grad_enabled(training):
            result = compiled(x)
            if training:
                result.sum().backward()
        took = time.perf_counter() - started
    times = reports.times
    assert list(times) == PARTS and all(seconds > 0 for seconds in times.values()), times
    assert 0.5 * took < sum(times.values()) < 1.1 * took
    for report in reports:
        for program in report.programs:
            t = program.times
            assert min(t.import_graph, t.passes, t.flatbuffer, t.preparation, t.first_run) > 0
    before = reports.times
    compiled(x)  # a later call, and graphs of others, change nothing
    torch.compile(lambda x: x + 1, backend="tt")(x)
    assert reports.times == before


def test_the_text_has_each_program_and_the_sum() -> None:
    torch._dynamo.reset()
    with record() as reports, torch.no_grad():
        torch.compile(model(), backend="tt", dynamic=False)(torch.rand(2, 512))
        torch.compile(lambda x: x * 2, backend="tt", dynamic=False)(torch.rand(3))
    head, *programs, total = reports.text().splitlines()
    assert head.split() == " ".join(PARTS).split()
    assert [line.split(" ops")[0].split() for line in programs] == [
        ["forward,", str(report.ops.total())] for report in reports
    ]
    assert total.startswith(f"sum, {sum(reports.times.values()):.3f} s")
    assert [float(x) for x in total.split()[3:]] == [round(x, 3) for x in reports.times.values()]


def test_a_block_without_graphs_took_nothing() -> None:
    with record() as reports:
        pass
    assert not reports and sum(reports.times.values()) == 0
    assert reports.text().splitlines()[1].split() == ["sum,", "0.000", "s", *["0.000"] * len(PARTS)]
