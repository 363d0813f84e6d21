# SPDX-License-Identifier: Apache-2.0
"""Requested placements that are impossible: each is an error that names the request and the available resources."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pybuda
import pytest
import torch
from modules import Function
from netlists import check_netlist
from pybuda import config, op
from pybuda.placement import PlacementError


def current() -> Any:
    return config._get_global_compiler_config()


def several(*calls: Callable[[], Any]) -> Callable[[], None]:
    def run() -> None:
        for call in calls:
            call()

    return run


def network(x: pybuda.Tensor, w: pybuda.Tensor) -> pybuda.Tensor:
    product = op.Matmul("product", op.Transpose("turn", op.Transpose("back", x, -1, -2), -1, -2), w)
    return op.Softmax("softmax", op.Add("sum", product, x), dim=-1)


# What is requested -> what the error says.
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a grid that is too large": (
        lambda: config.override_op_size("product", (16, 1)),
        r"No valid grids for op 'product' \(matmul, 1x3x3 tiles of Float16_b, inner 3\): "
        r"override_op_size asks for 16x1; the device has 8x8 cores, and rows and columns divide those of the tiles",
    ),
    "a grid that does not divide": (
        lambda: config.override_op_size("product", (2, 1)),
        r"No valid grids for op 'product' .*override_op_size asks for 2x1",
    ),
    "rows where one is allowed": (
        several(
            lambda: pybuda.set_configuration_options(place_on_one_row=True),
            lambda: config.override_op_size("product", (3, 3)),
        ),
        r"No valid grids for op 'product' .*override_op_size asks for 3x3; place_on_one_row allows 1x8 cores",
    ),
    "a place outside": (
        several(
            lambda: config.override_op_size("product", (3, 3)), lambda: config.override_op_placement("product", (6, 0))
        ),
        r"No valid grids for op 'product' at \(6, 0\): none of 3x3 fits the 8x8 cores of the device",
    ),
    "a first core outside": (
        lambda: config.override_op_placement("product", (9, 9)),
        r"No valid grids for op 'product' at \(9, 9\): none of its grids fits the 8x8 cores of the device",
    ),
    "pieces that no grid divides at a place": (
        several(
            lambda: config.override_t_stream_shape("product", (2, 1)),
            lambda: config.override_op_placement("product", (8, 0)),
        ),
        r"No valid grids for op 'product' at \(8, 0\): none of its grids with t_stream_shape \(2, 1\) fits the 8x8",
    ),
    "u_kt": (
        lambda: config.override_u_kt("product", 2),
        r"No valid grids for op 'product' .*override_u_kt asks for 2; expected a divisor of the inner dimension",
    ),
    "streaming that does not divide": (
        lambda: config.override_t_stream_shape("product", (2, 1)),
        r"No valid grids for op 'product' .*t_stream_shape \(2, 1\) does not divide its tiles",
    ),
    "streaming while it is off": (
        several(
            lambda: pybuda.set_configuration_options(enable_t_streaming=False),
            lambda: config.override_t_stream_shape("product", (3, 1)),
        ),
        r"override_t_stream_shape\('product', \(3, 1\)\) while enable_t_streaming is False; expected True",
    ),
    "input buffers that do not fit": (
        lambda: config.override_input_buffer_multiplier("product", 0, 4000),
        r"No valid grids for op 'product' .*: its buffers take \d+ bytes of L1 at least, on 1x1 cores \(input 0 \d+, "
        r"input 1 \d+, output \d+\); a core has 1395424",
    ),
    "an op that is not there": (
        lambda: config.override_op_size("produkt", (1, 1)),
        r"override_op_size: there is no op 'produkt'; ops: product, softmax, sum",
    ),
    "a queue's name for an op's override": (
        several(
            lambda: config.override_dram_queue_placement("w", channel=0), lambda: config.override_op_size("w", (1, 1))
        ),
        r"override_op_size: there is no op 'w'; ops: ",
    ),
    "an op's name for a queue's override": (
        several(
            lambda: config.override_op_size("product", (1, 1)),
            lambda: config.override_dram_queue_placement("product", channel=0),
        ),
        r"override_dram_queue_placement: there is no queue 'product'; queues: ",
    ),
    "input buffers of an operand that is not there": (
        lambda: config.override_input_buffer_multiplier("product", 2, 4),
        r"override_input_buffer_multiplier\('product', 2, 4\): there is no operand 2; the op has 2",
    ),
    "pieces of what has no inner dimension": (
        lambda: config.override_u_kt("sum", 1),
        r"override_u_kt\('sum', 1\): the op is add, which has no inner dimension; expected a product of matrices",
    ),
    "an op to fuse that is not there": (
        lambda: current().op_names_manual_fuse.append("summ"),
        r"op_names_manual_fuse: there is no op 'summ'; ops: ",
    ),
    "an op to fuse that only moves elements": (
        lambda: current().op_names_manual_fuse.append("turn"),
        r"op_names_manual_fuse: 'turn' is no op of the netlist: it moves elements",
    ),
    "an op that only moves elements": (
        lambda: config.override_u_kt("turn", 1),
        r"override_u_kt: 'turn' is no op of the netlist: it moves elements, on the way to what reads them",
    ),
    "an op that is several": (
        several(
            lambda: pybuda.set_configuration_options(enable_stable_softmax=False),
            lambda: config.override_op_size("softmax", (1, 1)),
        ),
        r"override_op_size: 'softmax' is no op of the netlist: it is softmax.dc.",
    ),
    "an op that is not there, with a number": (
        lambda: config.override_op_size("product_1", (1, 1)),
        r"override_op_size: there is no op 'product_1'; ops: ",
    ),
    "a break before nothing": (lambda: pybuda.set_epoch_break("other"), r"set_epoch_break: there is no op 'other'"),
    "a chip break on one chip": (
        lambda: pybuda.set_chip_break("sum"),
        r"set_chip_break\(sum\): the device has one chip; expected several \(num_chips, chip_ids\)",
    ),
    "a chip that is not there": (
        lambda: config.override_op_placement("sum", chip_id=3),
        r"override_op_placement\('sum', chip_id=3\): the device has chips \[0\]",
    ),
    "a constraint against the data": (
        lambda: config.add_schedule_constraint(["sum", "product"]),
        r"add_schedule_constraint\(\['sum', 'product'\]\): ops product, sum.* would each be before the others",
    ),
    "a channel that is not there": (
        lambda: config.override_dram_queue_placement("w", channel=6),
        r"queue 'w' is placed in DRAM channel 6; expected 0 to 5",
    ),
    "a queue on another chip": (
        lambda: current().place_queue_to_chip_dram.update(w=(2, 0)),
        r"queue 'w' is placed on chip 2; the device has \[0\]",
    ),
    "a place that is none": (
        lambda: current().place_queue_to_chip_dram.update(w=3),
        r"place_queue_to_chip_dram\['w'\] is 3; expected \(chip, channel\)",
    ),
    "a queue that is not there": (
        lambda: config.override_dram_queue_placement("e2e_product_0", channel=0),
        r"override_dram_queue_placement: there is no queue 'e2e_product_0'; queues: ",
    ),
    "a queue between strangers": (
        lambda: current().insert_queues.append(("product", "sum", 1)),
        r"insert_queues\('product', 'sum', 1\): operand 1 of 'sum' is not 'product'",
    ),
    "a queue that is none": (
        lambda: setattr(current(), "insert_queues", [("product", "sum")]),
        r"insert_queues has \('product', 'sum'\); expected \(op, op that reads it, number of its operand\)",
    ),
    "a queue of a word": (lambda: current().insert_queues.append("sum"), r"insert_queues has 'sum'; expected \(op, op"),
    "an output that is no number": (
        lambda: setattr(current(), "loopback_outputs", {"x_0": "x"}),
        r"loopback_outputs\['x_0'\] is 'x'; expected the number of an output",
    ),
    "a fracture of what": (
        lambda: config.insert_fracture_group([("product", "rows", 2)]),
        r"insert_fracture_group has \('product', 'rows', 2\); expected \(op, -2 for rows or -1 for columns, factor\)",
    ),
    **{
        f"a fracture of {node!r}": (
            lambda node=node: config.insert_fracture_group([node]),
            rf"insert_fracture_group has {re.escape(repr(node))}; expected \(op, -2 for rows",
        )
        for node in ((), (None, -1, 2), (["product"], -1, 2), ("product", -1, True), ("product", -1.0, 2))
    },
    "a fracture that does not divide": (
        lambda: config.insert_fracture_group([("product", -2, 2)]),
        r"insert_fracture_group: dimension -2 of op 'product' has size 96; expected a multiple of 2 tiles \(64\)",
    ),
    "a fracture on another chip": (
        lambda: config.insert_fracture_group([("product", -2, 3)], chip_ids=[0, 1]),
        r"insert_fracture_group: chip 1 is none of the device's, \[0\]",
    ),
    "a convolution that is none": (
        lambda: config.override_multi_op_fracture_factor("product", 3),
        r"override_multi_op_fracture_factor\('product'\): the op is matmul; expected a convolution",
    ),
    "all rows harvested": (
        lambda: pybuda.set_configuration_options(harvested_rows=[1, 2, 3, 4, 5, 7, 8, 9]),
        r"harvested_rows are \[1, 2, 3, 4, 5, 7, 8, 9\]; the chip has 8 rows, and none is left",
    ),
    "an output that is not there": (
        lambda: current().loopback_outputs.update(x_0=1),
        r"loopback_outputs\['x_0'\] is 1; the modules have 1 outputs",
    ),
}  # fmt: skip


class Network(pybuda.PyBudaModule):
    def __init__(self) -> None:
        super().__init__("network")
        self.w = pybuda.Parameter(torch.rand(96, 96))

    def forward(self, *x: pybuda.Tensor) -> pybuda.Tensor:
        return network(x[0], self.w)


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str) -> None:
    setting, message = WRONG[name]
    setting()
    pybuda.TTDevice("tt0", module=Network())
    with pytest.raises(pybuda.PyBudaError, match=message):
        pybuda.initialize_pipeline(False, sample_inputs=(torch.rand(96, 96),))


def test_large_ops_need_streams() -> None:
    """A row of 100,000 columns is too much for the cores at once; by default it comes in pieces."""
    wide = torch.rand(32, 8192 * 32)

    def compiled() -> Any:
        tt0 = pybuda.TTDevice("tt0", module=Function("wide", lambda x: op.Exp("exp", op.Sqrt("sqrt", x))))
        pybuda.initialize_pipeline(False, sample_inputs=(wide,))
        return tt0.placement

    pybuda.set_configuration_options(enable_t_streaming=False, enable_auto_fusing=False)
    text = r"No valid grids for op 'sqrt' .*enable_t_streaming=True lets it stream"
    with pytest.raises(PlacementError, match=text):
        compiled()
    pybuda.pybudaglobal.pybuda_reset()
    placement = compiled()
    assert all(x.model.t > 1 and x.model.direction == "c" for e in placement.epochs for x in e.placed)
    pybuda.pybudaglobal.pybuda_reset()
    pybuda.set_configuration_options(manual_t_streaming=True, enable_auto_fusing=False)
    with pytest.raises(PlacementError, match="No valid grids for op 'sqrt'"):
        compiled()


@pytest.mark.parametrize("policy", ["default", "MinimizeGrid"])
def test_what_the_program_runs_is_not_refused(policy: str) -> None:
    """Large results come in pieces on the cores of the program's ops, whatever the op."""

    class Large(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            wide = torch.cat([x, x + 1])
            return torch.softmax(torch.nn.functional.layer_norm(wide, [1024]), -1), wide.cumsum(-1), wide.mT + 1

    pybuda.set_configuration_options(balancer_policy=policy, enable_auto_fusing=False)
    tt0 = pybuda.TTDevice("tt0", module=pybuda.PyTorchModule("large", Large()))
    pybuda.initialize_pipeline(False, sample_inputs=(torch.rand(1024, 1024),))
    assert tt0.placement is not None
    check_netlist(tt0.placement.netlist())
    of = {x.op.type: x.model for epoch in tt0.placement.epochs for x in epoch.placed}
    assert {"splice", "layer_norm", "softmax", "cumsum"} <= set(of)
    assert of["softmax"].direction in ("", "r") and of["splice"].direction in ("", "c")
    assert policy == "default" or max(x.t for x in of.values()) > 1


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """The run goes on without its files."""
    (tmp_path / "file").write_text("")
    pybuda.set_configuration_options(backend_output_dir="file/below")
    pybuda.TTDevice("tt0", module=Network())
    with pytest.warns(UserWarning, match="the netlist of device 'tt0' is not written: "):
        pybuda.initialize_pipeline(False, sample_inputs=(torch.rand(96, 96),))


def test_numbers_of_another_compiler() -> None:
    """Programs for PyTorch modules name ops by the numbers that PyBuda's own compiler gave them."""
    current().balancer_op_override("conv2d_322.dc.matmul.11", "t_stream_shape", (1, 1))
    current().place_on_new_epoch("pt_net.output_concatenate_41_stack")
    module = pybuda.PyTorchModule("net", torch.nn.Linear(32, 32))
    with pytest.warns(UserWarning) as seen:
        pybuda.run_inference(module, inputs=[(torch.rand(1, 32),)]).get()
    texts = [str(warning.message) for warning in seen]
    for function, name in (
        ("override_t_stream_shape", "conv2d_322.dc.matmul.11"),
        ("set_epoch_break", "pt_net.output_concatenate_41_stack"),
    ):
        assert any(f"{function}: there is no op {name!r}, and the request is ignored" in text for text in texts)


def test_a_concatenation_of_more_channels_than_l1_holds() -> None:
    class Joined(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.cat([x.relu(), y.relu()], 1) * 2

    x, y = torch.randn(1, 256, 2, 2), torch.randn(1, 512, 2, 2)
    (got,) = pybuda.run_inference(pybuda.PyTorchModule("joined", Joined()), inputs=[(x, y)]).get()
    expected = torch.cat([x.relu(), y.relu()], 1) * 2
    torch.testing.assert_close(got.value().float(), expected, rtol=0.01, atol=0.01)
