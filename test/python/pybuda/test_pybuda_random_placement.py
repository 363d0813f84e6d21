# SPDX-License-Identifier: Apache-2.0
"""Random modules under random configurations: placed whole and without overlaps, or refused with a reason."""

from __future__ import annotations

import random

import pybuda
import pytest
import torch
from modules import read
from netlists import check_netlist, check_program
from pybuda import op
from pybuda.capture.formats import DataFormat
from pybuda.config import PIPELINE, _get_global_compiler_config
from pybuda.enums import DRAMPlacementAlgorithm
from pybuda.placement import PlacementError

POLICIES = ("default", "NLP", "Ribbon", "MaximizeTMinimizeGrid", "MinimizeGrid", "Random")
FORMATS = (DataFormat.Float16_b, DataFormat.Bfp8_b, DataFormat.Float32)
CUTS = ("FastCut", "ConsumerOperandDataEdgesFirst", "ProducerUserDataEdgesFirst")


class RandomModule(pybuda.PyBudaModule):
    """Ops of PyBuda in a random order."""

    def __init__(self, seed: int) -> None:
        super().__init__(f"random_{seed}")
        self.draw = random.Random(seed)
        self.w = pybuda.Parameter(torch.rand(96, 96))
        self.seed = seed

    def forward(self, x: pybuda.Tensor) -> pybuda.Tensor:
        draw = random.Random(self.seed)
        values = [x]
        for i in range(12):
            a, b = draw.choice(values[-3:]), draw.choice(values)
            kind = draw.choice(
                ["Matmul", "Add", "Multiply", "Softmax", "Transpose", "Slices", "Gelu", "Layer", "Reduce", "Concat"]
            )
            if kind == "Matmul":
                a = op.Matmul(f"n{i}", a, self.w)
            elif kind in ("Add", "Multiply"):
                a = getattr(op, kind)(f"n{i}", a, b)
            elif kind == "Softmax":
                a = op.Softmax(f"n{i}", a, dim=draw.choice([-1, -2]))
            elif kind == "Transpose":
                a = op.Transpose(f"n{i}", a, -1, -2)
            elif kind == "Slices":
                a = op.HStack(f"n{i}_stack", op.Exp(f"n{i}", op.HSlice(f"n{i}_slice", a, 3)), 3)
            elif kind == "Gelu":
                a = op.Gelu(f"n{i}", a)
            elif kind == "Layer":
                a = op.Gelu(f"n{i}", op.Matmul(f"n{i}_product", a, self.w))
            elif kind == "Reduce":
                a = op.Add(f"n{i}", a, op.ReduceSum(f"n{i}_sum", a, dim=draw.choice([-1, -2])))
            else:
                both = op.Concatenate(f"n{i}_both", a, b, axis=-1)
                a = op.Index(f"n{i}", both, dim=-1, start=48, stop=144)
            values.append(a)
        return op.Add("last", values[-1], x)


@pytest.mark.parametrize("number", range(24))
def test_random_configurations(number: int, request: pytest.FixtureRequest) -> None:
    """The netlist is placed as the program, or the configuration is refused for an op that it names."""
    seed = request.config.getoption("--seed", default=None) or number
    draw = random.Random(seed)
    config = _get_global_compiler_config()
    config.balancer_policy = draw.choice(POLICIES)
    config.graph_solver_self_cut_type = draw.choice(CUTS)
    config.enable_auto_fusing = draw.random() < 0.5
    config.use_interactive_placer = draw.random() < 0.7
    config.enable_auto_transposing_placement = draw.random() < 0.3
    config.dram_placement_algorithm = draw.choice(list(DRAMPlacementAlgorithm))
    config.default_df_override = draw.choice(FORMATS)
    module, x = RandomModule(seed), torch.rand(draw.choice([1, 4]), 96, 96)
    names = draw.sample([f"n{i}" for i in range(12)], 2) if draw.random() < 0.5 else []
    requested = {name: (draw.choice([1, 2, 3, 4]), draw.choice([1, 3])) for name in names}
    for name, size in requested.items():
        pybuda.override_op_size(name, size)
    started = {name: (draw.randrange(7), draw.randrange(7)) for name in names if draw.random() < 0.5}
    for name, start in started.items():
        pybuda.config.override_op_placement(name, start)
    tt0 = pybuda.TTDevice("tt0", module=module, chip_ids=draw.choice([[0], [0], [0, 1, 2]]))
    try:
        pybuda.initialize_pipeline(False, sample_inputs=(x,))
    except PlacementError as error:
        text = str(error)
        assert any(name in text for name in requested), f"seed {seed}: {text}"
        assert "No valid grids for op" in text or "is no op of the netlist" in text, f"seed {seed}: {text}"
        return
    result = tt0.placement
    assert result is not None
    check_netlist(result.netlist())
    check_program(result)
    for name, grid in requested.items():
        assert result.placed(name).model.grid == grid, f"seed {seed}"
    for name, start in started.items():
        placed = result.placed(name)
        assert (placed.row, placed.column) == start, f"seed {seed}"
    by_time = [epoch.temporal for epoch in result.epochs]
    assert by_time == sorted(by_time), f"seed {seed}"
    ran = {name: row.place for row in result.programs[0].ops for name in row.computes}
    for epoch in result.epochs:
        for x in epoch.placed:
            assert ran[x.op.name] == x.op.place, f"seed {seed}: {x.op.name}"


@pytest.mark.parametrize("seed", range(8))
def test_random_modules(seed: int) -> None:
    tt0 = pybuda.TTDevice("tt0", module=RandomModule(seed))
    pybuda.initialize_pipeline(False, sample_inputs=(torch.rand(1, 96, 96),))
    assert tt0.placement is not None
    check_netlist(tt0.placement.netlist())
    check_program(tt0.placement)


@pytest.mark.parametrize("seed", range(8))
def test_random_modules_that_are_not_fused(seed: int) -> None:
    """No op that runs computes two ops of the module that are not equal, all of these run, and the results are those
    of the fused program."""
    x = torch.rand(1, 96, 96)
    results = []
    for options in ({}, dict.fromkeys(PIPELINE, False)):
        pybuda.pybudaglobal.pybuda_reset()
        pybuda.set_configuration_options(default_df_override=DataFormat.Float32, **options)
        torch.manual_seed(seed)
        tt0 = pybuda.TTDevice("tt0", module=RandomModule(seed))
        tt0.push_to_inputs(x)
        results += read(pybuda.run_inference())
    assert tt0.placement is not None
    check_netlist(tt0.placement.netlist())
    check_program(tt0.placement)
    for row in tt0.placement.programs[0].ops:
        assert len(row.computes) <= 1, row
    torch.testing.assert_close(*results, rtol=1e-3, atol=1e-3)
