# SPDX-License-Identifier: Apache-2.0
"""Modules on the grid: epochs, queues, the netlist, and what the configuration changes in them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pybuda
import pytest
import torch
from netlists import check_netlist
from pybuda import op
from pybuda.placement.blocks import Model
from pybuda.placement.summary import Result

Setting = Callable[[], None]
config = pybuda.config


class Chain(pybuda.PyBudaModule):
    """Two products, softmax and elementwise ops."""

    def __init__(self, name: str = "chain", size: int = 128, apart: bool = False) -> None:
        super().__init__(name)
        self.a = pybuda.Parameter(torch.rand(size, size))
        self.b = pybuda.Parameter(torch.rand(size, size))
        self.apart = apart

    def forward(self, x: pybuda.Tensor) -> pybuda.Tensor:
        first = op.Matmul("first", x, self.a)
        second = op.Matmul("second", x if self.apart else first, self.b)
        gelu = op.Gelu("gelu", op.Add("other", op.Relu("relu", second), first))
        total = op.Add("total", gelu, first)
        scaled = op.Multiply("scaled", total, first)
        return op.Softmax("softmax", scaled, dim=-1)


def placed(module: pybuda.PyBudaModule | None = None, *inputs: torch.Tensor, **device: Any) -> Result:
    """The placement of a module that is compiled for inference."""
    tt0 = pybuda.TTDevice("tt0", module=module or Chain(), **device)
    pybuda.initialize_pipeline(False, sample_inputs=inputs or (torch.rand(1, 128, 128),))
    assert tt0.placement is not None
    return tt0.placement


def names(result: Result) -> list[list[str]]:
    return [[x.op.name for x in epoch.placed] for epoch in result.epochs]


def flat(result: Result) -> list[str]:
    return [name for epoch in names(result) for name in epoch]


def test_every_op_is_placed_once(tmp_path: Path) -> None:
    result = placed()
    net = check_netlist(result.netlist())
    ops = [name for graph in net["graphs"].values() for name, x in graph.items() if isinstance(x, dict)]
    assert {"first", "_fused_op_0", "softmax"} <= set(ops)
    assert list(net["fused_ops"][0]["schedules"][0][0]) == ["second"]
    assert net["queues"]["x"]["loc"] == "host" and net["queues"]["a"]["loc"] == "dram"
    assert net["queues"]["chain.output_softmax"]["input"] == "softmax"
    assert (tmp_path / "tt_build/chain_netlist.yaml").read_text() == result.netlist()
    summary = json.loads((tmp_path / "tt_build/chain_placement.json").read_text())
    assert [o["name"] for e in summary["epochs"] for o in e["ops"]] == [n for epoch in names(result) for n in epoch]


def test_the_netlist_is_the_same_each_time() -> None:
    first = placed().netlist()
    pybuda.pybudaglobal.pybuda_reset()
    assert placed().netlist() == first


def test_training_has_epochs_of_three_types() -> None:
    pybuda.set_configuration_options(enable_auto_fusing=False)
    adam = pybuda.optimizers.Adam(learning_rate=0.1, device_params=True)
    tt0 = pybuda.TTDevice("tt0", module=Chain(), optimizer=adam)
    tt0.place_loss_module(op.loss.MSELoss("loss"))
    pybuda.initialize_pipeline(
        True, sample_inputs=(torch.rand(1, 128, 128),), sample_targets=(torch.rand(1, 128, 128),)
    )
    result = tt0.placement
    assert result is not None
    net = check_netlist(result.netlist())
    assert {e.type for e in result.epochs} == {"fwd", "bwd", "opt"}
    assert [e.type for e in result.epochs] == sorted((e.type for e in result.epochs), key=["fwd", "bwd", "opt"].index)
    queues = net["queues"]
    assert queues["grad_acc_a"]["type"] == "ram" and queues["opt_a_m"]["input"].startswith("opt_a_")
    assert queues["a"]["input"].startswith("opt_a_"), "the optimizer writes the weight"
    backward = [x for e in result.epochs if e.type == "bwd" for x in e.placed]
    assert any(x.op.name.startswith("bwd_first") and x.op.type == "matmul" for x in backward)


def test_steps_of_optimizers_have_the_cores_that_the_compiler_chooses() -> None:
    def trained() -> Result:
        sgd = pybuda.optimizers.SGD(learning_rate=0.1, device_params=True)
        tt0 = pybuda.TTDevice("tt0", module=Chain(), optimizer=sgd)
        tt0.place_loss_module(op.loss.MSELoss("loss"))
        shape = 1, 128, 128
        pybuda.initialize_pipeline(True, sample_inputs=(torch.rand(shape),), sample_targets=(torch.rand(shape),))
        assert tt0.placement is not None
        return tt0.placement

    name = next(x.name for x in trained().graph.ops if x.epoch_type == "opt")
    pybuda.pybudaglobal.pybuda_reset()
    config.override_op_placement(name, (1, 1))
    with pytest.raises(pybuda.PyBudaError, match=f"op '{name}' is of an optimizer's step, whose cores the compiler"):
        trained()


# Configuration -> what has to be seen of it in the placement.
def _asks(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Setting:
    return lambda: function(*arguments, **keywords)


def block_of_rows(model: Model) -> int:
    """Bytes of a block of a product's first operand."""
    return model.mblock[0] * model.ublock[0] * model.u_kt * 2048


OVERRIDES: dict[str, tuple[Setting, Callable[[Result], bool]]] = {
    "op size": (
        _asks(config.override_op_size, "second", (4, 1)),
        lambda r: r.placed("second").model.grid == (4, 1),
    ),
    "start": (
        _asks(config.override_op_placement, "second", (5, 6)),
        lambda r: (r.placed("second").row, r.placed("second").column) == (5, 6),
    ),
    "turned": (
        lambda: (config.override_op_size("second", (4, 2)), config.override_op_placement("second", transpose_op=True)),  # type: ignore[func-returns-value, return-value]
        lambda r: r.placed("second").size == (2, 4) and "grid_transpose: true" in r.netlist(),
    ),
    "temporal epoch break": (
        _asks(config.override_op_placement, "second", temporal_epoch_break=True),
        lambda r: names(r)[1][0] == "second",
    ),
    "t shape": (
        _asks(config.override_t_stream_shape, "second", (4, 1)),
        lambda r: r.placed("second").model.t == 4 and r.placed("second").model.direction == "r",
    ),
    "t direction": (
        lambda: (config.override_t_stream_shape("second", (1, 2)), config.override_t_stream_dir("second", "C")),  # type: ignore[func-returns-value, return-value]
        lambda r: r.placed("second").model.direction == "c" and "ublock_order: c" in r.netlist(),
    ),
    "u_kt": (
        _asks(config.override_u_kt, "second", 2),
        lambda r: (r.placed("second").model.u_kt, r.placed("second").model.m_k) == (2, 2),
    ),
    "input buffers": (
        _asks(config.override_input_buffer_multiplier, "second", 0, 4),
        lambda r: dict(r.placed("second").model.buffers)["input 0"] == 4 * block_of_rows(r.placed("second").model),
    ),
    "parameters in L1": (
        _asks(config.override_dram_parameters, "second", False),
        lambda r: r.placed("second").model.in_l1 == (1,) and r.placed("first").model.in_l1 == (),
    ),
    "epoch break": (_asks(pybuda.set_epoch_break, "second"), lambda r: names(r)[0] == ["first"]),
    "epoch break of the graph's middle": (
        _asks(pybuda.set_epoch_break, "other"),
        lambda r: [epoch[0] for epoch in names(r)].count("other") == 1,
    ),
    "e2e queue in a channel": (
        lambda: (pybuda.set_epoch_break("second"), config.override_dram_queue_placement("e2e_first_0", channel=3)),  # type: ignore[func-returns-value, return-value]
        lambda r: {c for q, x in r.layouts.items() if q.name == "e2e_first_0" for c, _ in x.places} == {3},
    ),
    "queue in a channel": (
        lambda: config._get_global_compiler_config().place_queue_to_chip_dram.update(a=(0, 5)),
        lambda r: {c for q, x in r.layouts.items() if q.name == "a" for c, _ in x.places} == {5},
    ),
    "queue on an edge": (
        lambda: config._get_global_compiler_config().insert_queues.append(("first", "second", 0)),
        lambda r: r.placed("second").op.operands[0].source.name == "queue_first_second",
    ),
    "nop": (
        _asks(pybuda.insert_nop, "first", ["second"]),
        lambda r: r.placed("second").op.operands[0].source.name == "buffer_0_first_second",
    ),
    "schedule": (
        _asks(config.add_schedule_constraint, ["second", "first"]),
        lambda r: flat(r).index("second") < flat(r).index("first"),
    ),
    "dont fuse": (
        lambda: config._get_global_compiler_config().dont_fuse("relu"),
        lambda r: r.placed("relu").op.type == "relu",
    ),
    "fracture": (
        _asks(config.insert_fracture_group, [("first", -2, 2), ("second", -2, 2)]),
        lambda r: r.placed("fractured_1_second").op.operands[0].source.name == "fractured_1_first",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OVERRIDES)
def test_override(name: str) -> None:
    setting, seen = OVERRIDES[name]
    setting()
    apart = name == "schedule"  # two products that do not read each other
    result = placed(Chain(apart=apart))
    check_netlist(result.netlist())
    assert seen(result), result.netlist()
    pybuda.pybudaglobal.pybuda_reset()
    plain = placed(Chain(apart=apart))
    with contextlib.suppress(KeyError, IndexError, ValueError):
        assert not seen(plain), "the same is seen without it"


def parts(result: Result) -> list[str]:
    """The text before the queues of outputs, and behind it."""
    return result.netlist().split("# output")


OPTIONS: dict[str, tuple[dict[str, Any], Callable[[Result], Any]]] = {
    "place_on_one_row": ({"place_on_one_row": True}, lambda r: max(x.size[0] for e in r.epochs for x in e.placed) == 1),
    "MinimizeGrid": (
        {"balancer_policy": "MinimizeGrid"},
        lambda r: all(x.model.cores == 1 for e in r.epochs for x in e.placed),
    ),
    "MaximizeTMinimizeGrid": ({"balancer_policy": "MaximizeTMinimizeGrid"}, lambda r: r.placed("first").model.t == 4),
    "Ribbon": ({"balancer_policy": "Ribbon"}, lambda r: r.policy == "Ribbon"),
    "enable_auto_fusing": ({"enable_auto_fusing": False}, lambda r: "fused_ops" not in r.netlist()),
    "input_queues_on_host": ({"input_queues_on_host": False}, lambda r: "host: [[" not in parts(r)[0]),
    "output_queues_on_host": ({"output_queues_on_host": False}, lambda r: "host: [[" not in parts(r)[1]),
    "harvested_rows": ({"harvested_rows": [1, 2]}, lambda r: (r.chip.rows, r.chip.columns) == (6, 8)),
    "default_math_fidelity": ({"math_fidelity": pybuda.MathFidelity.LoFi}, lambda r: "fidelity: LoFi" in r.netlist()),
    "default_accumulate_df": ({"accumulate_df": pybuda.DataFormat.Float32}, lambda r: "acc_df: Float32" in r.netlist()),
    "default_df_override": ({"default_df_override": pybuda.DataFormat.Bfp8_b}, lambda r: "df: Bfp8_b" in r.netlist()),
    "backend_opt_level": ({"backend_opt_level": 0}, lambda r: r.clock.launch > 10000),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
def test_option(name: str) -> None:
    options, seen = OPTIONS[name]
    pybuda.set_configuration_options(**options)
    result = placed()
    check_netlist(result.netlist(), (result.chip.rows, result.chip.columns))
    assert seen(result), result.netlist()
    pybuda.pybudaglobal.pybuda_reset()
    assert not seen(placed()), "the same is seen without it"


PLACES: dict[str, tuple[dict[str, Any], int]] = {
    "chain": ({}, 128),
    "large": ({}, 1024),
    "Ribbon": ({"balancer_policy": "Ribbon"}, 256),
    "Random": ({"balancer_policy": "Random"}, 256),
    "MinimizeGrid": ({"balancer_policy": "MinimizeGrid"}, 256),
    "preferred grids": ({"use_interactive_placer": False}, 512),
    "transposed grids": ({"enable_auto_transposing_placement": True, "balancer_policy": "Random"}, 512),
    "fewer cores": ({"harvested_rows": [1, 2, 3]}, 512),
    "more cores": ({"device_config": "wh_n150"}, 1152),
    "one row": ({"place_on_one_row": True}, 256),
}


@pytest.mark.parametrize("name", PLACES)
def test_the_netlist_is_placed_as_the_program(name: str) -> None:
    """Epochs, cores and cycles of the netlist are those that the flatbuffer has of the ops that run."""
    options, size = PLACES[name]
    pybuda.set_configuration_options(**options)
    check_places(placed(Chain(size=size), torch.rand(1, size, size)))


# Requests, of which the program computes more ops.
REQUESTED: dict[str, Setting] = {
    "copies": _asks(pybuda.insert_nop, "first", ["second", "other"]),
    "rows": _asks(config.insert_fracture_group, [("first", -2, 2), ("second", -2, 4)]),
    "columns": _asks(config.insert_fracture_group, [("first", -1, 4), ("total", -1, 4)]),
    "an order": _asks(config.add_schedule_constraint, ["relu", "first"]),
}


@pytest.mark.parametrize("name", REQUESTED)
def test_requested_ops_are_placed_as_the_program(name: str) -> None:
    REQUESTED[name]()
    check_places(placed(Chain(apart=name == "an order")))


def check_places(result: Result) -> None:
    """Checks that each op of the netlist has the epoch, the cores and the cycles of the program's op."""
    check_netlist(result.netlist(), (result.chip.rows, result.chip.columns))
    ran = {op: row.place for row in result.programs[0].ops for op in row.computes}
    last = -1
    epochs = set()
    for epoch in result.epochs:
        for x in epoch.placed:
            place = ran[x.op.name]
            assert place is not None and place.epoch >= last, x.op.name
            last = place.epoch
            epochs.add((epoch.number, place.epoch))
            assert (x.row, x.column) == place.core and x.size == place.size, x.op.name
            assert x.model.cycles == place.cycles, x.op.name
    assert len(epochs) == len(result.epochs) == len({number for _, number in epochs})
