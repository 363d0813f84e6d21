# SPDX-License-Identifier: Apache-2.0
"""Random graphs under random configurations: placed whole and without overlaps, or refused with a reason."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pybuda
import pytest
import torch
from modules import read
from netlists import check_netlist, check_program
from pybuda import op
from pybuda.capture.formats import DataFormat
from pybuda.config import PIPELINE, _get_global_compiler_config
from pybuda.enums import BACKWARD, FORWARD, BackendDevice, DRAMPlacementAlgorithm
from pybuda.placement.build import chip_order
from pybuda.placement.chip import chip_of
from pybuda.placement.graph import TILE, Graph, Op, Operand, PlacementError
from pybuda.placement.memory import allocate, edges_through_memory
from pybuda.placement.place import Placer
from pybuda.placement.summary import Result
from pybuda.placement.times import Clock

POLICIES = ("default", "NLP", "Ribbon", "MaximizeTMinimizeGrid", "MinimizeGrid", "Random")
FORMATS = (DataFormat.Float16_b, DataFormat.Bfp8_b, DataFormat.Float32)
CUTS = ("FastCut", "ConsumerOperandDataEdgesFirst", "ProducerUserDataEdgesFirst")


def random_graph(draw: random.Random, count: int, largest: Sequence[int] = (24, 96, 640)) -> Graph:
    """Products, elementwise ops, reductions and moves over tensors of few sizes, some of them large."""
    graph = Graph("random", microbatch=draw.choice([1, 4]))
    sizes = [1, 2, 3, 4, 7, 12, draw.choice(largest)]
    nodes = []
    for i in range(2):
        shape = (draw.choice([1, 1, 6]), draw.choice(sizes) * TILE, draw.choice(sizes) * TILE)
        nodes.append(graph.queue(f"in_{i}", shape, draw.choice(FORMATS), "input"))
    for i in range(count):
        x = draw.choice(nodes[-6:])
        kind = draw.choice(["matmul", "matmul", "unary", "unary", "binary", "reduce", "splice"])
        operands, shape, inner, attributes = [Operand(x, x.shape)], x.shape, 0, {}
        z, r, c = x.shape
        if kind == "matmul":
            n = draw.choice(sizes) * TILE
            weights = graph.queue(f"w_{i}", (1, c, n), draw.choice(FORMATS), "parameter")
            operands.append(Operand(weights, weights.shape))
            shape, inner, kind = (z, r, n), -(-c // TILE), "matmul"
        elif kind == "binary":
            others = [n for n in nodes if n.shape == x.shape]
            operands.append(Operand(draw.choice(others), x.shape))
            kind = draw.choice(["add", "multiply", "subtract"])
        elif kind == "unary":
            kind = draw.choice(["exp", "gelu", "sqrt", "relu"])
        elif kind == "reduce":
            dim = draw.choice("rcz")
            attributes["dim"] = dim
            kind = "reduce_sum"
            shape = {"r": (z, 1, c), "c": (z, r, 1), "z": (1, r, c)}[dim]
        else:
            operands.append(Operand(x, x.shape))
            shape, attributes["dim"] = (z, r, 2 * c), ""
            if 2 * c > 2000 * TILE:
                continue
        kind_of_epoch = FORWARD if i < count * 3 // 4 else BACKWARD
        result = Op(
            graph.unique(f"op_{i}"), shape, draw.choice(FORMATS), kind, operands, kind_of_epoch, f"op_{i}", inner,
            attributes, draw.choice(["LoFi", "HiFi2", "HiFi3", "HiFi4"]), draw.choice(FORMATS),
        )  # fmt: skip
        graph.ops.append(result)
        nodes.append(result)
    read = {x.source for o in graph.ops for x in o.operands}
    for result in [o for o in graph.ops if o not in read]:
        graph.queue(f"out_{result.name}", result.shape, result.df, "output", result)
    return graph


def place(graph: Graph, chips: list[int]) -> Result:
    """As `pybuda.placement.place`, of a graph that is there."""
    config = _get_global_compiler_config()
    chip = chip_of(BackendDevice.Wormhole_B0, config)
    placer = Placer(graph, chip, chip_order(chips, config), config)
    placement = placer.run()
    graph.ops = [x.op for epoch in placement.epochs for x in epoch.placed]
    edges_through_memory(graph, placement, config.insert_queues)
    layouts = allocate(graph, placement, chip, chips, config)
    clock = Clock(chip, placement.epochs, graph.written(), config)
    return Result("random", graph, chip, chips, placer.policy, placement, layouts, clock, [], {})


def overridden(draw: random.Random, graph: Graph) -> dict[str, tuple[int, int]]:
    """Sizes of grids that were requested, right and wrong ones."""
    requested = {}
    for result in draw.sample(graph.ops, 3):
        requested[result.name] = (draw.choice([1, 2, 3, 4]), draw.choice([1, 2, 4]))
        pybuda.override_op_size(result.name, requested[result.name])
    return requested


@pytest.mark.parametrize("number", range(60))
def test_random_graphs(number: int, request: pytest.FixtureRequest) -> None:
    seed = request.config.getoption("--seed", default=None) or number
    draw = random.Random(seed)
    graph = random_graph(draw, draw.choice([1, 5, 40]))
    config = _get_global_compiler_config()
    config.balancer_policy = draw.choice(POLICIES)
    config.graph_solver_self_cut_type = draw.choice(CUTS)
    config.enable_auto_fusing = draw.random() < 0.5
    config.use_interactive_placer = draw.random() < 0.7
    config.enable_auto_transposing_placement = draw.random() < 0.3
    config.dram_placement_algorithm = draw.choice(list(DRAMPlacementAlgorithm))
    chips = draw.choice([[0], [0], [0, 1, 2]])
    requested = overridden(draw, graph) if len(graph.ops) > 3 and draw.random() < 0.5 else {}
    before = [o.name for o in graph.ops]
    try:
        result = place(graph, chips)
    except PlacementError as error:
        assert any(name in str(error) for name in requested) and "No valid grids for op" in str(error), (
            f"seed {seed}: {error}"
        )
        return
    check_netlist(result.netlist())
    assert sorted(o.name for o in graph.ops) == sorted(before), f"seed {seed}"
    for name, grid in requested.items():
        assert result.placed(name).model.grid == grid, f"seed {seed}"
    for epoch in result.epochs:
        assert epoch.chip in chips
    order = {x.op: e.number for e in result.epochs for x in e.placed}
    by_time = [e.temporal for e in result.epochs]
    assert by_time == sorted(by_time) and len(order) == len(graph.ops)


def test_the_work_of_placing_grows_with_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times the ops are tried on the grid about four times as often."""
    tried = [0]
    put = Placer._put

    def counted(self: Placer, *args: Any) -> Any:
        tried[0] += 1
        return put(self, *args)

    monkeypatch.setattr(Placer, "_put", counted)
    taken = []
    for count in (500, 2000):
        tried[0] = 0
        place(random_graph(random.Random(1), count, [12]), [0])
        taken.append(tried[0])
    assert 2000 <= taken[1] < 6 * taken[0], taken


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
