# SPDX-License-Identifier: Apache-2.0
"""The netlist compared with the program that runs: the same ops, by the same cost rules, and the clock's figures."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import pybuda
import pytest
import torch
from _ttmlir_runtime import runtime
from modules import Function
from netlists import check_netlist, check_program
from pybuda import config, op
from pybuda.capture.computing import AS_BY_DEFAULT
from pybuda.capture.graph import OnChip
from pybuda.config import DEFAULTS, PIPELINE, CompilerConfig
from pybuda.placement import PlacementError
from pybuda.placement.program import CONVERSION, ProgramOp, moving_ops
from pybuda.placement.summary import Result
from pybuda.pybudaglobal import pybuda_reset
from pybuda.tenstorrent.chip import SIMULATED

ARCH = SIMULATED[pybuda.BackendDevice.Wormhole_B0]


def compiled(module: Any, *inputs: torch.Tensor, **options: Any) -> pybuda.TTDevice:
    """A device with a module that is compiled for inference."""
    pybuda.set_configuration_options(**options)
    tt0 = pybuda.TTDevice("tt0", module=module)
    pybuda.initialize_pipeline(False, sample_inputs=inputs)
    return tt0


def placement_of(device: pybuda.TTDevice) -> Result:
    assert device.placement is not None
    return device.placement


X = torch.rand(96, 160)
# Modules of one op, which is one op of the program, too.
SINGLE: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "exp": (lambda x: op.Exp("the_op", x), (X,)),
    "gelu": (lambda x: op.Gelu("the_op", x), (X,)),
    "sqrt": (lambda x: op.Sqrt("the_op", x), (X,)),
    "tanh": (lambda x: op.Tanh("the_op", x), (X,)),
    "sigmoid": (lambda x: op.Sigmoid("the_op", x), (X,)),
    "reciprocal": (lambda x: op.Reciprocal("the_op", x), (X,)),
    "log": (lambda x: op.Log("the_op", x), (X,)),
    "relu": (lambda x: op.Relu("the_op", x), (X,)),
    "abs": (lambda x: op.Abs("the_op", x), (X,)),
    "add": (lambda x, y: op.Add("the_op", x, y), (X, X)),
    "subtract": (lambda x, y: op.Subtract("the_op", x, y), (X, X)),
    "multiply": (lambda x, y: op.Multiply("the_op", x, y), (X, X)),
    "maximum": (lambda x, y: op.Max("the_op", x, y), (X, X)),
    "reduce_sum": (lambda x: op.ReduceSum("the_op", x, dim=-1), (X,)),
    "reduce_avg": (lambda x: op.ReduceAvg("the_op", x, dim=-2), (X,)),
    "matmul": (lambda x, y: op.Matmul("the_op", x, y), (X, torch.rand(160, 70))),
    "matmul of a batch": (lambda x, y: op.Matmul("the_op", x, y), (torch.rand(3, 40, 64), torch.rand(3, 64, 70))),
}


@pytest.mark.parametrize("data_format", ["Float16_b", "Float32"])
@pytest.mark.parametrize("name", SINGLE)
def test_an_op_computes_as_long_as_in_the_program(name: str, data_format: str) -> None:
    """The netlist's work on one core is that of the runtime's clock."""
    function, inputs = SINGLE[name]
    device = compiled(
        Function("single", function), *inputs, default_df_override=pybuda.DataFormat[data_format],
        math_fidelity=pybuda.MathFidelity.HiFi2,
    )  # fmt: skip
    placed = placement_of(device).placed("the_op").op
    ran = [x for x in runtime.estimate(device.compiled.executables[0].binary).ops
           if x.programs and x.name != CONVERSION and x.name not in moving_ops()]  # fmt: skip
    assert len(ran) == 1
    expected = runtime.estimate_times(
        ARCH, 1, matmul_tiles=ran[0].matmul_tiles, fpu_tiles=ran[0].fpu_tiles, sfpu_tiles=ran[0].sfpu_tiles,
        sfpu_cycles=ran[0].sfpu_cycles, phases=2,
    )[0]  # fmt: skip
    assert placed.work == expected > 0


class Attention(pybuda.PyBudaModule):
    """Products, a softmax, a normalization, elementwise ops, and moves of two kinds."""

    def __init__(self) -> None:
        super().__init__("attention")
        self.q, self.k = pybuda.Parameter(torch.rand(64, 64)), pybuda.Parameter(torch.rand(64, 64))
        self.weights, self.bias = pybuda.Parameter(torch.ones(64)), pybuda.Parameter(torch.zeros(64))

    def forward(self, x: pybuda.Tensor) -> pybuda.Tensor:
        q, k = op.Matmul("q", x, self.q), op.Matmul("k", x, self.k)
        scores = op.Softmax("softmax", op.Matmul("scores", q, op.Transpose("turned", k, -1, -2)), dim=-1)
        both = op.Concatenate("both", op.Matmul("mixed", scores, x), op.Gelu("gelu", x), axis=-2)
        return op.Exp("exp", op.Layernorm("norm", both, self.weights, self.bias))


def convolutions() -> torch.nn.Module:
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(3, 32, 3, 2, 1), torch.nn.BatchNorm2d(32), torch.nn.ReLU()]
    layers += [torch.nn.Conv2d(32, 64, 3, padding=1), torch.nn.MaxPool2d(2), torch.nn.Flatten()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(64 * 64, 8)).eval()


MODULES: dict[str, tuple[Callable[[], Any], torch.Tensor, dict[str, Any]]] = {
    "attention": (Attention, torch.rand(1, 64, 64), {}),
    "attention, not fused": (Attention, torch.rand(1, 64, 64), {"enable_auto_fusing": False}),
    "attention, all of it each time": (Attention, torch.rand(1, 64, 64), {"enable_consteval": False}),
    "convolutions": (lambda: pybuda.PyTorchModule("m", convolutions()), torch.rand(1, 3, 32, 32), {}),
    "a transformer's layer": (
        lambda: pybuda.PyTorchModule("m", torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True).eval()),
        torch.rand(2, 32, 64), {},
    ),
    "activations": (
        lambda: pybuda.PyTorchModule("m", torch.nn.Sequential(
            torch.nn.Linear(64, 96), torch.nn.GELU(), torch.nn.Linear(96, 64), torch.nn.SiLU(), torch.nn.LayerNorm(64),
            torch.nn.Linear(64, 32), torch.nn.Softmax(-1),
        )),
        torch.rand(32, 64), {},
    ),
    "a copy": (Attention, torch.rand(1, 64, 64), {"breaks": "softmax", "nop": ("q", "scores")}),
    "the host's part": (
        lambda: pybuda.PyTorchModule("m", torch.nn.Sequential(torch.nn.Embedding(9, 64), torch.nn.Linear(64, 32))),
        torch.tensor([[1, 2, 3, 8]]), {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_the_program_computes_the_ops_of_the_netlist(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each op of the netlist is computed by an op that runs, each of these computes some, and the clock is the same."""
    monkeypatch.chdir(tmp_path)
    make, x, options = MODULES[name]
    module = make()
    if "nop" in options:
        pybuda.insert_nop(options["nop"][0], [options["nop"][1]])
        pybuda.set_epoch_break(options["breaks"])
    device = compiled(module, x, **{k: v for k, v in options.items() if k not in ("nop", "breaks")})
    result = placement_of(device)
    check_program(result)
    file = result.name + "_placement.json"
    assert json.loads((tmp_path / "tt_build" / file).read_text())["programs"] == json.loads(
        json.dumps([program.as_dict() for program in result.programs])
    )


@pytest.mark.parametrize("options", [{}, dict.fromkeys(PIPELINE, False)], ids=["by default", "plain"])
def test_the_program_takes_what_the_run_takes(options: dict[str, Any]) -> None:
    device = compiled(Attention(), torch.rand(1, 64, 64), **options)
    (program,) = placement_of(device).programs
    runtime.set_perf_recording(True)
    try:
        device.push_to_inputs(torch.rand(1, 64, 64))
        pybuda.run_forward(1)
        pybuda.sync()
    finally:
        runtime.set_perf_recording(False)
    report = runtime.last_run(device.chip())
    assert report is not None
    ran = [x for x in report.ops if x.programs]
    figures = [
        (x.name, x.cycles, x.bound, x.circular_buffer_bytes, x.l1_resident_bytes_per_bank,
         x.dram_resident_bytes_per_bank) for x in ran
    ]  # fmt: skip
    assert [(x.name, x.cycles, x.bound, x.l1_bytes, x.l1_resident, x.dram_resident) for x in program.ops] == figures
    assert (program.cycles, program.device_ns) == (report.cycles, report.device_ns)
    assert sum(x.cycles for x in program.ops) == pytest.approx(program.cycles, abs=len(ran))


class Layer(pybuda.PyBudaModule):
    """A product with what is computed of a parameter, and an elementwise op that the compiler fuses into it."""

    def __init__(self) -> None:
        super().__init__("layer")
        self.w = pybuda.Parameter(torch.rand(64, 96))

    def forward(self, x: pybuda.Tensor) -> pybuda.Tensor:
        return op.Gelu("gelu", op.Matmul("product", x, op.Exp("of_w", self.w)))


def named(result: Result, row: ProgramOp) -> tuple[str, ...]:
    """The ops of the netlist that an op computes; of a fused one its parts."""
    return tuple(x.name for name in row.computes for op in [result.placed(name).op] for x in op.parts or [op])


# Options of the pipeline -> the ops of TTNN that compute ops of the netlist, and which.
LAYER = {
    "by default": ({}, [("ttnn.matmul", ("product", "gelu"))]),
    "enable_auto_fusing": (
        {"enable_auto_fusing": False}, [("ttnn.matmul", ("product",)), ("ttnn.gelu", ("gelu",))],
    ),
    "enable_consteval": (
        {"enable_consteval": False}, [("ttnn.exp", ("of_w",)), ("ttnn.matmul", ("product", "gelu"))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYER)
def test_options_of_the_pipeline_hold_for_netlist_and_program(name: str) -> None:
    options, expected = LAYER[name]
    device = compiled(Layer(), torch.rand(32, 64), **options)
    check_program(placement_of(device))
    (program,) = placement_of(device).programs
    assert [(x.name, named(placement_of(device), x)) for x in program.ops if x.computes] == expected


@pytest.mark.parametrize("request_one", [pybuda.set_epoch_break, lambda name: pybuda.override_op_size(name, (1, 1))],
                         ids=["an epoch", "a size"])  # fmt: skip
def test_what_is_evaluated_once_has_no_cores(request_one: Callable[[str], None]) -> None:
    """A request for an op that the program evaluates before it runs is refused; without constants, it holds."""
    request_one("of_w")
    with pytest.raises(PlacementError, match="'of_w' is no op of the netlist: it is computed once, of constants"):
        compiled(Layer(), torch.rand(32, 64))
    pybuda_reset()
    request_one("of_w")
    result = placement_of(compiled(Layer(), torch.rand(32, 64), enable_consteval=False))
    check_program(result)
    (row,) = [x for x in result.programs[0].ops if x.computes == ("of_w",)]
    assert row.name == "ttnn.exp"


def test_each_option_of_the_pipeline_is_one() -> None:
    assert LAYER.keys() - {"by default"} == PIPELINE.keys()
    config = CompilerConfig()
    assert str(config.compile_options()) == ""
    for name, option in PIPELINE.items():
        changed = CompilerConfig(**{name: not DEFAULTS[name]})
        assert changed.compile_options().value(option) is not config.compile_options().value(option)


def test_a_step_is_compiled_for_its_options(float32: None) -> None:
    """Not for those that were set before, without other shapes or formats."""
    step = OnChip(lambda x: (x + 1,), "opt")
    device = pybuda.TTDevice("tt0", module=Layer())
    for enabled in (True, False, True):
        pybuda.set_configuration_options(enable_auto_fusing=enabled)
        (result,) = step(device.options(pybuda.DataFormat.Float32), AS_BY_DEFAULT, torch.zeros(32, 32))
        assert result.eq(1).all()
    assert len(step._compiled) == 2


class Two(pybuda.PyBudaModule):
    """Two products, elementwise ops that the compiler fuses into them, and the product of both."""

    def forward(self, x: pybuda.Tensor, w: pybuda.Tensor) -> pybuda.Tensor:
        product = op.Matmul("product", x, w)
        other = op.Matmul("other", w, x)
        return op.Matmul("last", op.Gelu("gelu", product), op.Relu("relu", other))


MATRIX = torch.rand(64, 64)
PRODUCT, OTHER, LAST = ("matmul", ("product", "gelu")), ("matmul", ("other", "relu")), ("matmul", ("last",))
# In the order of the program: where an activation is an op of its own, its product comes first.
NO_GELU = [("matmul", ("product",)), OTHER, ("gelu", ("gelu",)), LAST]
NO_RELU = [PRODUCT, ("matmul", ("other",)), ("relu", ("relu",)), LAST]
NEITHER = [("matmul", ("product",)), ("matmul", ("other",)), ("gelu", ("gelu",)), ("relu", ("relu",)), LAST]


def current() -> CompilerConfig:
    return pybuda.config._get_global_compiler_config()


# What is requested -> the ops of the program, with those of the netlist that they compute.
REQUESTS: dict[str, tuple[Callable[[], Any], list[tuple[str, tuple[str, ...]]]]] = {
    "nothing": (lambda: None, [PRODUCT, OTHER, LAST]),
    "an epoch": (lambda: pybuda.set_epoch_break("relu"), NO_RELU),
    "an epoch between others": (lambda: pybuda.set_epoch_break("other"), NEITHER),
    "an epoch of a place": (
        lambda: pybuda.config.override_op_placement("other", temporal_epoch_break=True), NEITHER,
    ),
    "an op that is not fused": (lambda: current().dont_fuse("gelu"), NO_GELU),
    "ops that alone are fused": (lambda: current().op_names_manual_fuse.extend(["other", "relu"]), NO_GELU),
    "a size": (lambda: pybuda.config.override_op_size("gelu", (1, 1)), NO_GELU),
}  # fmt: skip


# Their numbers, where some are requested.
EPOCHS = {
    "an epoch": [0, 0, 1, 1], "an epoch between others": [0, 1, 1, 1, 1], "an epoch of a place": [0, 1, 1, 1, 1],
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
def test_requests_hold_for_the_program(name: str) -> None:
    request, expected = REQUESTS[name]
    request()
    result = placement_of(compiled(Two("two"), MATRIX, MATRIX))
    check_program(result)
    rows = [x for program in result.programs for x in program.ops if x.computes]
    assert [(x.name.removeprefix("ttnn."), named(result, x)) for x in rows] == expected
    assert [x.requested_epoch for x in rows] == EPOCHS.get(name, [None] * len(rows))


# Sizes that are requested -> the cores on which ops of the program compute.
SIZES: dict[str, tuple[dict[str, tuple[int, int]], dict[str, tuple[int, ...]]]] = {
    "none": ({}, {"product": (), "other": (), "last": ()}),
    "a product": ({"product": (2, 1)}, {"product": (2, 1), "gelu": (), "other": (), "last": ()}),
    "an activation": ({"relu": (1, 2)}, {"product": (), "other": (), "relu": (1, 2), "last": ()}),
    "a result": ({"last": (2, 2)}, {"product": (), "other": (), "last": (2, 2)}),
    "a chain": (
        {"other": (1, 1), "relu": (1, 1), "gelu": (2, 2)},
        {"product": (), "other": (1, 1), "gelu": (2, 2), "relu": (1, 1), "last": ()},
    ),
}


@pytest.mark.parametrize("name", SIZES)
def test_requested_sizes_are_those_of_the_program(name: str, float32: None) -> None:
    requested, expected = SIZES[name]
    for of, size in requested.items():
        pybuda.override_op_size(of, size)
    device = compiled(Two("two"), MATRIX, MATRIX)
    result = placement_of(device)
    check_program(result)
    rows = [x for program in result.programs for x in program.ops if x.computes]
    assert {named(result, x)[0]: x.grid for x in rows} == expected
    for x in rows:
        if x.computes[0] in requested:
            assert x.grid == result.placed(x.computes[0]).model.grid
            assert math.prod(x.grid) * math.prod(x.shard) == MATRIX.numel()
    device.push_to_inputs(MATRIX, MATRIX)
    (output,) = pybuda.run_inference().get()
    product = MATRIX @ MATRIX
    golden = torch.nn.functional.gelu(product) @ torch.relu(product)
    assert torch.allclose(output.value(), golden, rtol=1e-3)


# Requests without a grid, the size of the matrices -> first core and grid of the op, where it has another one without
# the request.
PLACED: dict[str, tuple[Callable[[], Any], int, str, tuple[int, int], tuple[int, int]]] = {
    "a corner": (lambda: config.override_op_placement("product", (4, 4)), 1024, "product", (4, 4), (4, 4)),
    "a column": (lambda: config.override_op_placement("last", (0, 5)), 1024, "last", (0, 5), (8, 2)),
    "the last core": (lambda: config.override_op_placement("product", (7, 7)), 64, "product", (7, 7), (1, 1)),
    "turned in the last row": (
        lambda: config.override_op_placement("product", (7, 0), transpose_op=True), 64, "product", (7, 0), (2, 1)
    ),
    "pieces of rows": (lambda: config.override_t_stream_shape("product", (2, 1)), 128, "product", (0, 0), (2, 4)),
    "every row": (lambda: config.override_t_stream_shape("product", (4, 1)), 128, "product", (0, 0), (1, 4)),
    "pieces of columns": (lambda: config.override_t_stream_shape("product", (1, 8)), 1024, "product", (0, 0), (8, 4)),
    "pieces in a corner": (
        lambda: (
            config.override_t_stream_shape("product", (8, 1)), config.override_op_placement("product", (5, 1))
        ), 1024, "product", (5, 1), (2, 4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACED)
def test_the_largest_grid_that_fits_is_that_of_the_program(name: str, float32: None) -> None:
    request, size, of, core, grid = PLACED[name]
    request()
    x, w = torch.rand(size, size), torch.rand(size, size) / size
    device = compiled(Function("m", lambda x, w: op.Exp("last", op.Matmul("product", x, w))), x, w)
    result = placement_of(device)
    check_program(result)
    (row,) = [row for row in result.programs[0].ops if row.computes == (of,)]
    assert row.grid == grid and math.prod(grid) * math.prod(row.shard) == x.numel()
    assert row.place is not None and (row.place.core, row.place.grid) == (core, grid)
    placed = result.placed(of)
    stream = config._get_global_compiler_config().op_overrides[of].get("t_stream_shape", (1, 1))
    assert (placed.row, placed.column, placed.model.grid, placed.model.t) == (*core, grid, math.prod(stream))
    device.push_to_inputs(x, w)
    (output,) = pybuda.run_inference().get()
    torch.testing.assert_close(output.value(), (x @ w).exp(), rtol=1e-3, atol=1e-3)


# Requests, an op that they give and whose kernel takes no grid, and the kernel.
NETLIST_ALONE: dict[str, tuple[Callable[[], Any], str, str]] = {
    "a copy": (lambda: pybuda.insert_nop("product", "joined"), "buffer_0_product_joined", "ttnn.assign"),
    "a part": (lambda: config.insert_fracture_group([("product", -1, 2)]), "fractured_0_product", "ttnn.matmul"),
    "parts": (lambda: config.insert_fracture_group([("product", -1, 2)]), "fracture_gather_product", "ttnn.concat"),
    "a concatenation": (lambda: None, "joined", "ttnn.concat"),
}


@pytest.mark.parametrize("name", NETLIST_ALONE)
def test_a_size_that_is_for_the_netlist_alone(name: str) -> None:
    request, of, kernel = NETLIST_ALONE[name]
    request()
    pybuda.override_op_size(of, (2, 1))
    module = Function("m", lambda x, w: op.Concatenate("joined", op.Matmul("product", x, w), x, axis=-1))
    text = re.escape(
        f"override_op_size('{of}', (2, 1)) is for the netlist alone: the program computes the op by {kernel}"
    )
    with pytest.warns(UserWarning, match=text):
        device = compiled(module, MATRIX, MATRIX)
    result = placement_of(device)
    assert result.placed(of).model.grid == (2, 1)
    assert [row.grid for row in result.programs[0].ops if row.computes == (of,)] == [()]


def test_a_size_that_the_program_has_is_without_a_warning() -> None:
    pybuda.override_op_size("product", (2, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(Two("two"), MATRIX, MATRIX)


def test_fewer_cores_take_longer() -> None:
    cycles = []
    for size in ((1, 1), (2, 2), (8, 8)):
        pybuda_reset()
        pybuda.override_op_size("the_op", size)
        device = compiled(Function("single", SINGLE["matmul"][0]), torch.rand(512, 512), torch.rand(512, 512))
        (row,) = [x for x in placement_of(device).programs[0].ops if x.computes == ("the_op",)]
        assert row.grid == size
        cycles.append(row.cycles)
    assert cycles[0] > 2 * cycles[1] > 4 * cycles[2]


def test_a_size_that_a_kernel_does_not_have() -> None:
    pybuda.override_op_size("the_op", (1, 1))
    with (
        pytest.warns(UserWarning, match="ttcore.grid is 1x1, and its kernel has no shards"),
        pytest.warns(
            UserWarning, match=r"override_op_size\('the_op', \(1, 1\)\) is for the netlist alone: .* ttnn.sum"
        ),
    ):
        device = compiled(Function("single", SINGLE["reduce_sum"][0]), X)
    check_program(placement_of(device))


def test_equal_ops_run_once() -> None:
    """Keeps the first of equal ops in the netlist, as in the program."""

    def twice(x: pybuda.Tensor, w: pybuda.Tensor) -> pybuda.Tensor:
        products = [op.Gelu(f"gelu{i}", op.Matmul(f"product{i}", x, w)) for i in range(2)]
        other = op.Matmul("other", x, op.Exp("exp", products[1]))
        both = op.Concatenate("both0", *products, axis=-1), op.Concatenate("both1", *products, axis=-1)
        return op.Tanh("tanh", op.Add("sum", op.Add("half", *both), op.Concatenate("wide", other, other, axis=-1)))

    matrix = torch.rand(64, 64)
    device = compiled(Function("twice", twice), matrix, matrix, enable_auto_fusing=False)
    check_program(placement_of(device))
    rows = [x for program in placement_of(device).programs for x in program.ops if x.computes]
    assert [x.computes for x in rows] == [
        ("product0",), ("gelu0",), ("exp",), ("other",), ("both0",), ("half",), ("wide",), ("sum",), ("tanh",),
    ]  # fmt: skip
    pybuda_reset()
    pybuda.set_configuration_options(enable_auto_fusing=False)
    pybuda.config.override_u_kt("product1", 1)
    device = compiled(Function("twice", twice), matrix, matrix)
    assert placement_of(device).placed("product1").model.u_kt == 1


@pytest.mark.parametrize("optimizer", [None, pybuda.optimizers.SGD, pybuda.optimizers.Adam])
def test_the_programs_of_training(optimizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All ops of the backward pass, and of the steps of an optimizer, have the work and the places of programs, before
    anything runs."""
    monkeypatch.chdir(tmp_path)
    model = torch.nn.Sequential(torch.nn.Linear(64, 96), torch.nn.GELU(), torch.nn.Linear(96, 32), torch.nn.Tanh())
    step = optimizer and optimizer(learning_rate=0.1, device_params=True)
    device = pybuda.TTDevice("tt0", module=pybuda.PyTorchModule("model", model), optimizer=step)
    device.place_loss_module(op.loss.MSELoss("loss"))
    x, target = torch.rand(32, 64), torch.rand(32, 32)
    pybuda.initialize_pipeline(True, sample_inputs=(x,), sample_targets=(target,))
    result = placement_of(device)
    assert [program.epoch_type for program in result.programs] == ["fwd", "bwd"]
    check_program(result)
    check_program(result, "bwd")
    check_netlist(result.netlist())
    ops = [x for x in result.graph.ops if x.node]
    assert {x.epoch_type for x in ops} == {"fwd", "bwd", *(["opt"] if optimizer else [])}
    assert all(x.work is not None and x.place is not None for x in ops), [x for x in ops if x.place is None]
    if optimizer:
        steps = [x.name for x in ops if x.epoch_type == "opt"]
        names = tuple(f"opt_{name}_" for name, _ in model.named_parameters())
        assert all(any(x.startswith(name) for x in steps) for name in names)
        assert all(x.startswith(names) for x in steps)
    summary = json.loads((tmp_path / "tt_build/model_placement.json").read_text())
    assert [program["epoch_type"] for program in summary["programs"]] == ["fwd", "bwd"]
    device.push_to_inputs(x)
    device.push_to_target_inputs(target)
    pybuda.run_forward(1)
    pybuda.run_backward(1, zero_grad=True)
    if optimizer:
        pybuda.run_optimizer()
    pybuda.sync()
    assert placement_of(device) is result, "nothing is compiled again"


class Block(pybuda.PyBudaModule):
    """Two products, a softmax and elementwise ops, which can be cut by rows or by columns."""

    def __init__(self) -> None:
        super().__init__("block")
        torch.manual_seed(1)
        self.a, self.b = pybuda.Parameter(torch.rand(96, 128)), pybuda.Parameter(torch.rand(128, 128))
        self.bias = pybuda.Parameter(torch.rand(128))

    def forward(self, x: pybuda.Tensor) -> pybuda.Tensor:
        first = op.Gelu("gelu", op.Add("biased", op.Matmul("first", x, self.a), self.bias))
        second = op.Matmul("second", first, self.b)
        return op.Add("sum", op.Softmax("softmax", second, dim=-1), first)

    def golden(self, x: torch.Tensor) -> torch.Tensor:
        a, b, bias = (y.value().double() for y in (self.a, self.b, self.bias))
        first = torch.nn.functional.gelu(x.double() @ a + bias)
        return torch.softmax(first @ b, -1) + first


# Fracture groups -> ops of the netlist, and how many concatenations the program has.
CUTS: dict[str, tuple[list[tuple[str, int, int]], set[str], int]] = {
    "rows of a product": ([("first", -2, 2)], {"fractured_0_first", "fractured_1_first", "fracture_gather_first"}, 1),
    "columns": ([("second", -1, 4)], {f"fractured_{i}_second" for i in range(4)} | {"fracture_gather_second"}, 1),
    "rows of a chain": (
        [("first", -2, 2), ("biased", -2, 2), ("gelu", -2, 2)],
        {f"fractured_{i}_{name}" for i in (0, 1) for name in ("first", "biased", "gelu")} | {"fracture_gather_gelu"},
        1,
    ),
    "columns that are rows": (
        [("gelu", -1, 2), ("second", -2, 2)],
        {"fractured_1_gelu", "fracture_gather_gelu", "fractured_1_second", "fracture_gather_second"}, 2,
    ),
    "rows of a softmax": ([("softmax", -2, 2), ("sum", -2, 2)], {"fractured_1_softmax", "fracture_gather_sum"}, 1),
    "one part": ([("first", -2, 1)], {"first"}, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CUTS)
def test_the_program_computes_parts(name: str, float32: None) -> None:
    group, expected, gathers = CUTS[name]
    pybuda.config.insert_fracture_group(group)
    x, module = torch.rand(64, 96), Block()
    device = compiled(module, x)
    result = placement_of(device)
    check_program(result)
    check_netlist(result.netlist())
    assert expected <= {x.name for x in result.graph.ops}
    rows = {of: row for row in result.programs[0].ops for of in row.computes}
    assert sum(x.name == "ttnn.concat" for x in result.programs[0].ops) == gathers
    for part in (x for x in result.graph.ops if x.name.startswith("fractured_")):
        assert rows[part.name].place == part.place is not None, part.name
        assert result.placed(part.name).size == part.place.size, part.name
    device.push_to_inputs(x)
    (output,) = pybuda.run_inference().get()
    torch.testing.assert_close(output.value().double(), module.golden(x), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "groups", [[[("product", -1, 2), ("product", -2, 2)]], [[("product", -1, 2)], [("product", -1, 2)]]]
)
def test_an_op_in_two_groups(groups: list[list[tuple[str, int, int]]]) -> None:
    for group in groups:
        pybuda.config.insert_fracture_group(group)
    with pytest.raises(
        PlacementError, match=r"names op 'product' twice, in \('product', -1, 2\) and in .*; expected one cut of an op"
    ):
        compiled(Block(), torch.rand(64, 96))


@pytest.mark.parametrize("order", [["product", "other"], ["other", "product"], ["relu", "product"]])
def test_the_program_runs_in_the_requested_order(order: list[str], float32: None) -> None:
    pybuda.config.add_schedule_constraint(order)
    device = compiled(Two("two"), MATRIX, MATRIX)
    result = placement_of(device)
    check_program(result)
    ran = [name for row in result.programs[0].ops for name in named(result, row)]
    assert [x for x in ran if x in order] == order
    device.push_to_inputs(MATRIX, MATRIX)
    (output,) = pybuda.run_inference().get()
    product = MATRIX @ MATRIX
    golden = torch.nn.functional.gelu(product) @ torch.relu(product)
    torch.testing.assert_close(output.value(), golden, rtol=1e-3, atol=1e-3)


def test_an_op_that_is_not_cut() -> None:
    pybuda.config.insert_fracture_group([("softmax", -1, 2)])
    with pytest.raises(
        pybuda.PyBudaError, match=r"insert_fracture_group: op 'softmax': .* not cut into 2 parts: it needs"
    ):
        compiled(Block(), torch.rand(64, 96))
    pybuda_reset()
    pybuda.config.insert_fracture_group([("both", -1, 2)])
    with pytest.raises(PlacementError, match="insert_fracture_group: op 'both' is a splice, which is not cut along -1"):
        compiled(Attention(), torch.rand(1, 64, 64))


@pytest.mark.parametrize("hoist_tms", [True, False])
def test_copies_between_ops_without_names(hoist_tms: bool, float32: None) -> None:
    """A copy between ops of a PyTorch module, behind or before the transposition that is between them."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = torch.exp(x)
            return y @ torch.relu(y.mT)

    pybuda.insert_nop("exp_0", "relu_1", hoist_tms=hoist_tms)
    x = torch.rand(1, 32, 64)
    device = compiled(pybuda.PyTorchModule("m", Model()), x)
    result = placement_of(device)
    check_program(result)
    copy, reader = result.placed("buffer_0_exp_0_relu_1").op, result.placed("relu_1").op
    assert [row.name for row in result.programs[0].ops if row.computes == (copy.name,)] == ["ttnn.assign"]
    assert (copy.operands[0].tms, reader.operands[0].tms) == (
        (("transpose",), ()) if hoist_tms else ((), ("transpose",))
    )
    device.push_to_inputs(x)
    (output,) = pybuda.run_inference().get()
    torch.testing.assert_close(output.value(), Model()(x), rtol=1e-4, atol=1e-4)


def test_results_that_are_only_moved() -> None:
    """A moved input is a nop that an op of the program computes; an input is the memory of its queue."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x, x.mT

    device = compiled(pybuda.PyTorchModule("m", Model()), torch.rand(32, 64))
    result = placement_of(device)
    check_program(result)
    net = check_netlist(result.netlist())
    (copy,) = result.graph.ops
    assert (copy.type, copy.operands[0].tms) == ("nop", ("transpose",))
    assert [row.name for row in result.programs[0].ops if row.computes == (copy.name,)] == ["ttnn.permute"]
    first, second = (net["queues"][name] for name in result.output_names())
    assert (first["input"], first["alias"]) == ("HOST", copy.operands[0].source.name)
    assert second["input"] == copy.name and "alias" not in second
    pybuda_reset()
    result = placement_of(compiled(pybuda.PyTorchModule("m", torch.nn.Identity()), torch.rand(32, 64)))
    assert check_netlist(result.netlist())["graphs"] == {} and result.epochs == []


def test_an_op_that_the_program_computes_as_several_is_several() -> None:
    """Each has the cores and the cycles of one op of the program."""
    options = {"enable_stable_softmax": False, "enable_auto_fusing": False}
    device = compiled(Attention(), torch.rand(1, 64, 64), **options)
    result = placement_of(device)
    check_program(result)
    parts = [x for epoch in result.epochs for x in epoch.placed if x.op.source == "softmax"]
    assert [x.op.name for x in parts] == [f"softmax.dc.{x.op.type}.{i}" for i, x in enumerate(parts)] and len(parts) > 2
    rows = {name: row for row in result.programs[0].ops for name in row.computes}
    for x in parts:
        assert rows[x.op.name].place == x.op.place and rows[x.op.name].name == {"reduce_sum": "ttnn.sum"}.get(
            x.op.type, f"ttnn.{x.op.type}"
        )
    assert "it is softmax.dc." in result.graph.aliases["softmax"]


def test_a_fused_op_has_the_requested_cores(float32: None) -> None:
    """The program computes it on the requested grid, and the compiler places it on these cores."""
    pybuda.override_op_size("_fused_op_0", (2, 1))
    pybuda.config.override_op_placement("_fused_op_0", (3, 4), transpose_op=True)
    device = compiled(Two("two"), MATRIX, MATRIX)
    result = placement_of(device)
    check_program(result)
    (row,) = [x for x in result.programs[0].ops if x.computes == ("_fused_op_0",)]
    assert (row.name, row.grid, row.shard) == ("ttnn.matmul", (2, 1), (32, 64))
    assert row.place is not None and (row.place.core, row.place.size, row.place.turned) == ((3, 4), (1, 2), True)
    placed = result.placed("_fused_op_0")
    assert (placed.row, placed.column, placed.size, placed.model.grid) == (3, 4, (1, 2), (2, 1))
    device.push_to_inputs(MATRIX, MATRIX)
    (output,) = pybuda.run_inference().get()
    product = MATRIX @ MATRIX
    golden = torch.nn.functional.gelu(product) @ torch.relu(product)
    torch.testing.assert_close(output.value(), golden, rtol=1e-3, atol=1e-3)


def test_results_lie_where_the_binary_says() -> None:
    """Each result's place is that of its value in the flatbuffer's description."""
    binary = compiled(Attention(), torch.rand(1, 64, 64)).compiled.executables[0].binary
    program = json.loads(binary.as_json())["programs"][0]
    operations = json.loads(binary.get_program_ops_as_json(0))
    described = [program["values"][x["outs"][0]]["desc"] if x["outs"] else None for x in operations]
    names = ("buffer_type", "memory_layout", "grid", "shard_shape")
    assert runtime.result_places(binary) == [x and tuple(x[name] for name in names) for x in described]
    assert None in described and any(described)
    with pytest.raises(rt.Error, match="99"):
        runtime.result_places(binary, 99)
