# SPDX-License-Identifier: Apache-2.0
"""Programs of one set of weights share what they keep of it."""

from __future__ import annotations

import gc

import pytest
import torch
from torch import nn

PROGRAMS = 20


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.long
@pytest.mark.parametrize("least", [1, 64], ids=["read in place", "in panels"])
def test_twenty_programs_take_the_memory_of_one(least: int) -> None:
    """Without sharing, each of them would have 34 MB of weights in its own order."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = nn.Sequential(*[nn.Linear(1024, 1024, bias=False) for _ in range(8)]).requires_grad_(False)
    weights = sum(w.nbytes for w in model.parameters())
    compiled = torch.compile(model, backend="tt", dynamic=False)

    with torch.no_grad(), torch._dynamo.config.patch(recompile_limit=64):
        torch.compile(nn.Linear(64, 64), backend="tt")(torch.rand(64, 64))  # what the first program of a process takes
        begin = resident()
        compiled(torch.rand(least, 1024))
        first = resident()
        for rows in range(least + 1, least + PROGRAMS):
            x = torch.rand(rows, 1024)
            torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-4)
        others = resident() - first
    assert first - begin < 1.5 * weights
    # Each has a plan, and a frame of Dynamo's: some 3 MB.
    assert others < 0.2 * (PROGRAMS - 1) * weights


@pytest.mark.parametrize("steps", [False, True], ids=["alone", "with steps"])
def test_a_program_that_runs_again_keeps_panels_unless_steps_read_the_weights_in_place(steps: bool) -> None:
    """As the prompt of a text generation, whose steps of one row need no panels."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = nn.Sequential(*[nn.Linear(1024, 1024, bias=False) for _ in range(16)]).requires_grad_(False)
    weights = sum(w.nbytes for w in model.parameters())
    compiled = torch.compile(model, backend="tt", dynamic=False)
    prompt = torch.rand(100, 1024)
    with torch.no_grad():
        torch.compile(nn.Linear(64, 64), backend="tt")(torch.rand(64, 64))  # what the first program of a process takes
        if steps:
            compiled(torch.rand(1, 1024))
        first = compiled(prompt)
        begin = resident()
        for _ in range(3):
            assert torch.equal(compiled(prompt), first)
        kept = resident() - begin
    torch.testing.assert_close(first, model(prompt), rtol=1e-4, atol=1e-4)
    assert kept < 0.2 * weights if steps else 0.8 * weights < kept < 1.5 * weights
