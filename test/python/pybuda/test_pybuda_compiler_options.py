# SPDX-License-Identifier: Apache-2.0
"""Options of the compiler that change where ops run, what is kept, and what a run takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pybuda
import pytest
import torch
from modules import Function, read
from netlists import check_netlist, check_program
from pybuda import op
from pybuda._C import backend_api
from pybuda._C.balancer import OpOverride
from pybuda.placement import Result
from pybuda.pybudaglobal import pybuda_reset
from pybuda.ttdevice import get_device_config


def config() -> Any:
    return pybuda.config._get_global_compiler_config()


def compiled(module: Any, *inputs: torch.Tensor, **device: Any) -> tuple[pybuda.TTDevice, Result]:
    tt0 = pybuda.TTDevice("tt0", module=module, **device)
    pybuda.initialize_pipeline(False, sample_inputs=inputs)
    assert tt0.placement is not None
    check_netlist(tt0.placement.netlist(), (tt0.placement.chip.rows, tt0.placement.chip.columns))
    return tt0, tt0.placement


def moving(x: pybuda.Tensor) -> pybuda.Tensor:
    """Moves, light ops and a product."""
    turned = op.Transpose("turned", x, -1, -2)
    twice = op.Add("twice", turned, turned)
    sliced = op.HSlice("sliced", twice, 2)
    product = op.Matmul("product", sliced, op.Transpose("other", sliced, -1, -2))
    return op.HStack("stacked", product, 2)


@pytest.mark.parametrize("depth, moved", [(0, None), (1, {"transpose"}), (10, {"transpose", "add", "cat"})])
def test_moves_on_the_host(depth: int, moved: set[str] | None, float32: None) -> None:
    config().enable_tm_cpu_fallback = depth > 0
    config().tm_cpu_fallback_max_depth = depth
    config().enable_tvm_cpu_fallback = False  # it is about other ops
    x = torch.rand(1, 64, 64)
    tt0, placement = compiled(Function("moving", moving), x)
    on_host = {name.split(".")[1] for name in tt0.compiled.on_host}
    assert on_host == set() if moved is None else moved <= on_host
    assert ("twice" in placement.netlist()) == (depth < 10)
    tt0.push_to_inputs(x)
    (result,) = read(pybuda.run_inference())
    parts = torch.cat((2 * x.mT).split(32, -1))
    products = parts @ parts.mT
    torch.testing.assert_close(result, torch.cat(products.split(1), -1), rtol=1e-4, atol=1e-4)


# Functions of PyTorch of a matrix -> the functions that PyTorch runs.
MOVED: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], set[str]]] = {
    "roll": (lambda x: torch.roll(x, 1, -1), {"roll"}),
    "stack": (lambda x: torch.stack((x, x)), {"stack"}),
    "slice_scatter": (lambda x: torch.slice_scatter(x, x[:, :8], 1, 8, 16), {"slice", "slice_scatter"}),
    "select_scatter": (lambda x: torch.select_scatter(x, x[0], 0, 1), {"select", "select_scatter"}),
    "unfold": (lambda x: x.unfold(-1, 8, 8), {"unfold"}),
    "diagonal": (lambda x: x.diagonal(), {"diagonal"}),
    "pixel_shuffle": (lambda x: torch.pixel_shuffle(x.reshape(1, 4, 16, 16), 2), {"view", "pixel_shuffle"}),
    "rot90": (lambda x: torch.rot90(x), {"flip", "transpose"}),
    "as_strided": (lambda x: torch.as_strided(x, (8, 8), (1, 8)), set()),
    "gather": (lambda x: x.gather(0, x.long()), set()),
}


@pytest.mark.parametrize("name", MOVED)
def test_each_function_that_only_moves_elements_is_moved(name: str, float32: None) -> None:
    function, expected = MOVED[name]

    class Moving(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.exp(function(x))

    config().enable_tm_cpu_fallback = True
    x = torch.rand(32, 32)
    tt0, _ = compiled(pybuda.PyTorchModule("moving", Moving()), x)
    assert {name.split(".")[1] for name in tt0.compiled.on_host} == expected
    tt0.push_to_inputs(x)
    (result,) = read(pybuda.run_inference())
    torch.testing.assert_close(result, torch.exp(function(x)))


@pytest.mark.long
def test_recompute_keeps_less(float32: None) -> None:
    """The same losses and gradients; fewer values go from the forward to the backward epochs."""
    found = []
    for recompute in (False, True):
        pybuda_reset()
        pybuda.set_configuration_options(
            enable_recompute=recompute, default_df_override=pybuda.DataFormat.Float32, enable_auto_fusing=False
        )
        torch.manual_seed(0)
        layers = [[torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64), torch.nn.GELU()] for _ in "ab"]
        model = torch.nn.Sequential(*layers[0], *layers[1])
        x, y = torch.rand(32, 64), torch.rand(32, 64)
        tt0 = pybuda.TTDevice("tt0", module=pybuda.PyTorchModule("model", model))
        tt0.place_loss_module(pybuda.PyTorchModule("loss", torch.nn.MSELoss()))
        tt0.push_to_inputs(x)
        tt0.push_to_target_inputs(y)
        pybuda.initialize_pipeline(True)
        pybuda.run_forward()
        pybuda.run_backward(zero_grad=True)
        gradients = pybuda.get_parameter_gradients()[0]
        assert tt0.placement is not None
        kept = [q for q in tt0.placement.graph.queues if q.kind == "e2e" and q.producer.epoch_type == "fwd"]
        assert kept
        crossing = sum(1 for q in kept)
        found.append((crossing, {name: g.value() for name, g in gradients.items()}, len(tt0.placement.graph.ops)))
    assert found[1][0] < found[0][0]
    assert found[1][2] > found[0][2], "what is not kept is computed again"
    for name, gradient in found[0][1].items():
        torch.testing.assert_close(found[1][1][name], gradient, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("linked", ["loopback_outputs", "enable_link_past_cache_ios", ""])
def test_outputs_that_are_inputs(linked: str, float32: None) -> None:
    class Counter(pybuda.PyBudaModule):
        def forward(self, x: pybuda.Tensor, past: pybuda.Tensor) -> Any:
            total = op.Add("total", x, past)
            return op.ReduceSum("sum", total, dim=-1), total

    if linked == "loopback_outputs":
        config().loopback_outputs = {"past": 1}
    elif linked:
        config().enable_link_past_cache_ios = True
    ones = torch.ones(32, 32)
    tt0, placement = compiled(Counter("counter"), ones, ones)
    assert placement.loops == ([(1, 1)] if linked else [])
    assert ("alias: past" in placement.netlist()) == bool(linked)
    for _ in range(3):
        tt0.push_to_inputs(ones, ones)
    results = pybuda.run_inference(input_count=3)
    totals = [read(results)[1][0, 0].item() for _ in range(3)]
    assert totals == ([2.0, 3.0, 4.0] if linked else [2.0, 2.0, 2.0])


def products(x: pybuda.Tensor, w: pybuda.Tensor) -> pybuda.Tensor:
    for i in range(24):
        x = op.Matmul(f"m{i}", x, w)
    return x


def test_several_chips(tmp_path: Path) -> None:
    """Epochs go over the chips, the first one last; breaks and placements on a chip hold; queues are on theirs."""
    pybuda.set_configuration_options(balancer_policy="MinimizeGrid")
    pybuda.config.set_chip_break("m3")
    pybuda.config.set_epoch_break("m6")
    pybuda.config.override_op_placement("m20", chip_id=0)
    w = torch.rand(128, 128)
    _, placement = compiled(Function("products", products), torch.rand(128, 128), w, num_chips=3)
    of = {x.op.name: placement.epochs[x.epoch] for x in placement.placement.of.values()}
    assert [of[f"m{i}"].chip for i in (0, 2, 3, 5, 6)] == [1, 1, 2, 2, 1]
    assert of["m0"].temporal == of["m3"].temporal == 0 and of["m6"].temporal == 1
    assert of["m20"].chip == 0 and of["m19"].chip != 0
    queue = next(x for q, x in placement.layouts.items() if q.name == "e2e_m2_0")
    assert queue.chip == 1
    pybuda_reset()
    pybuda.set_configuration_options(chip_placement_policy="SNAKE")
    _, placement = compiled(Function("products", products), torch.rand(128, 128), w, chip_ids=[2, 0])
    assert placement.epochs[0].chip == 2


def test_cluster_descriptor(tmp_path: Path) -> None:
    """Chips that the host reaches are filled last."""
    path = tmp_path / "cluster.yaml"
    path.write_text("chips: {0: [0, 0, 0, 0], 1: [1, 0, 0, 0]}\nchips_with_mmio:\n  - 1: 1\n")
    pybuda.set_configuration_options(backend_cluster_descriptor_path=str(path))
    module = Function("one", lambda x: op.Exp("exp", x))
    _, placement = compiled(module, torch.rand(32, 32), chip_ids=[0, 1])
    assert placement.epochs[0].chip == 0
    pybuda.shutdown()
    path.write_text("chips: {0: [0, 0, 0, 0]}\n")
    with pytest.raises(pybuda.PyBudaError, match=r"cluster.yaml: no chip 1; it has chips 0"):
        pybuda.initialize_pipeline(False, sample_inputs=(torch.rand(32, 32),))


def test_backend_db(tmp_path: Path) -> None:
    """Writes the backend's configuration, and reads it again where the switch is off."""
    path = tmp_path / "runtime_params.yaml"
    pybuda.set_configuration_options(
        backend_runtime_params_path=str(path), store_backend_db_to_yaml=True, harvested_rows=[1, 2]
    )
    module = Function("one", lambda x: op.Exp("exp", x))
    _, placement = compiled(module, torch.rand(32, 32))
    assert (placement.chip.rows, placement.chip.columns) == (6, 8) and "functional_workers" in path.read_text()
    pybuda_reset()
    pybuda.set_configuration_options(backend_runtime_params_path=str(path))
    _, again = compiled(Function("one", lambda x: op.Exp("exp", x)), torch.rand(32, 32))
    assert (again.chip.rows, again.chip.y) == (6, placement.chip.y)


def test_performance_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYBUDA_OP_PERF", "1")
    monkeypatch.setenv("TT_BACKEND_PERF_ANALYZER", "1")
    compiled(Function("f", lambda x: op.Matmul("product", op.Exp("exp", x), x)), torch.rand(64, 64))
    rows = (tmp_path / "op_perf.csv").read_text().splitlines()
    assert rows[0] == "name, type, epoch, grid, tiles, cycles, limiter_cycles" and len(rows) == 3
    ops = json.loads((tmp_path / "tt_build/perf_results/f.json").read_text())["ops"]
    for row in ops:
        assert row["bw_kernel"] >= row["kernel"] == row["est"] and row["in"]["required"] >= row["in"]["actual"]
    pybuda_reset()
    monkeypatch.delenv("TT_BACKEND_PERF_ANALYZER")
    pybuda.set_configuration_options(performance_trace=pybuda.PerfTraceLevel.LIGHT)
    compiled(Function("g", lambda x: op.Exp("exp", x)), torch.rand(64, 64))
    light = json.loads((tmp_path / "tt_build/perf_results/g.json").read_text())
    assert light["level"] == "light" and "in" not in light["ops"][0]


def test_time_follows_the_placement() -> None:
    """More cores, less time; more epochs, more; a chain takes as long as its slowest op."""
    x, w = torch.rand(256, 256), torch.rand(256, 256)

    def time_of(**options: Any) -> tuple[int, float, Result]:
        pybuda_reset()
        for name in options.get("breaks", ()):
            pybuda.set_epoch_break(name)
        for name, size in options.get("sizes", {}).items():
            pybuda.override_op_size(name, size)
        _, placement = compiled(Function("products", products), x, w)
        return placement.clock.cycles(), placement.clock.run_ns(10), placement

    small, _, _ = time_of(sizes={f"m{i}": (1, 1) for i in range(24)})
    large, ns, placement = time_of(sizes={f"m{i}": (1, 2) for i in range(24)})
    assert small == pytest.approx(2 * large, abs=2)
    slowest = [max(placement.clock.ops[y.op].cycles for y in e.placed) for e in placement.epochs]
    assert placement.clock.cycles() == sum(slowest)
    _, broken, more = time_of(sizes={f"m{i}": (1, 2) for i in range(24)}, breaks=["m5", "m9"])
    assert broken > ns and len(more.epochs) == len(placement.epochs) + 2


def test_a_convolution_that_is_cut_and_noted_for_the_host() -> None:
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3, 2, 1), torch.nn.ReLU(), torch.nn.Conv2d(32, 64, 3, padding=1))
    image = torch.rand(1, 3, 64, 64)
    pybuda.config.override_multi_op_fracture_factor("conv2d_2", 3)
    device, placement = compiled(pybuda.PyTorchModule("model", model), image)
    check_program(placement)
    names = [x.name for x in placement.graph.ops]
    parts = {f"conv2d_2.dc.conv2d.{i}.dc.matmul.11" for i in (1, 3, 5)}
    assert parts <= set(names)
    rows = {of: row.name for row in placement.programs[0].ops for of in row.computes}
    assert {rows[name] for name in parts} == {"ttnn.conv2d"} and rows["conv2d_2.dc.add.2"] == "ttnn.add"
    device.push_to_inputs(image)
    (output,) = read(pybuda.run_inference())
    torch.testing.assert_close(output, model(image).detach(), rtol=2e-2, atol=2e-2)
    first = placement.placed("_fused_op_0").op
    assert [x.type for x in first.parts] == ["conv2d", "relu"]
    assert "prestride: 2" in placement.netlist() and first.operands[1].shape == (27, 32)
    pybuda_reset()
    pybuda.set_configuration_options(enable_conv_prestride=False)
    _, placement = compiled(pybuda.PyTorchModule("model", model), image)
    assert "prestride" not in placement.netlist()
    assert placement.placed("_fused_op_0").op.operands[1].shape == (27, 32), "the program is the same"


def test_dram_algorithms() -> None:
    """Each spreads queues in its own way."""
    from pybuda.enums import DRAMPlacementAlgorithm as Algorithm

    found = {}
    for algorithm in Algorithm:
        pybuda_reset()
        pybuda.set_configuration_options(dram_placement_algorithm=algorithm, balancer_policy="MinimizeGrid")
        layers = [torch.nn.Linear(64 * (i + 1), 64 * (i + 2)) for i in range(6)]
        _, placement = compiled(pybuda.PyTorchModule("m", torch.nn.Sequential(*layers)), torch.rand(32, 64))
        found[algorithm] = [c for q, x in placement.layouts.items() if q.kind == "parameter" for c, _ in x.places]
    assert found[Algorithm.ROUND_ROBIN][:7] == [0, 1, 2, 3, 4, 5, 0]
    assert found[Algorithm.ROUND_ROBIN_FLIP_FLOP][:7] == [0, 3, 1, 4, 2, 5, 0]
    assert len({tuple(x) for x in found.values()}) == len(Algorithm)


def test_tilizers_of_embedded_images() -> None:
    config().tti_dump_format = "backend"
    _, placement = compiled(Function("f", lambda x: op.Exp("exp", x)), torch.rand(64, 64))
    assert placement.placed("inputs_0_tilizer").op.type == "tilizer"
    pybuda_reset()
    config().tti_dump_format = "backend"
    pybuda.set_configuration_options(enable_device_tilize=False)
    _, placement = compiled(Function("f", lambda x: op.Exp("exp", x)), torch.rand(64, 64))
    assert "tilizer" not in placement.netlist()


def test_an_override_is_what_the_functions_set() -> None:
    override = OpOverride()
    override.grid_shape = (2, 3)
    config().balancer_op_overrides["product"] = override
    override.u_kt = 4  # after it was given
    pybuda.config.override_t_stream_shape("product", (2, 1))
    assert config().op_overrides["product"] == {"grid_shape": (2, 3), "u_kt": 4, "t_stream_shape": (2, 1)}
    assert config().balancer_op_overrides["product"] == OpOverride(grid_shape=(2, 3), u_kt=4, t_stream_shape=(2, 1))
    config().balancer_op_overrides["product"].input_buffer_multiplier = {0: 2}
    assert config().balancer_op_overrides["product"].input_buffer_multiplier == {0: 2}
    config().balancer_op_overrides["product"].u_kt = None
    assert override.u_kt is None
    del config().balancer_op_overrides["product"]
    assert config().op_overrides == {}


def test_wrong_overrides_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'grid'; known: grid_shape"):
        OpOverride().grid = (1, 1)  # type: ignore[attr-defined]
    with pytest.raises(pybuda.OptionError, match=r"the grid size of op .* is \(0, 1\); expected \(rows, columns\)"):
        OpOverride(grid_shape=(0, 1))
    with pytest.raises(pybuda.OptionError, match="the override of op 'x' is 3; expected an OpOverride"):
        config().balancer_op_overrides["x"] = 3  # type: ignore[assignment]
    assert config().op_overrides == {}


def test_the_chips_of_an_architecture(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    found = get_device_config(
        pybuda.BackendDevice.Wormhole_B0, [0], "", str(path), True, backend_type=pybuda.BackendType.Silicon
    )
    assert (found.arch, found.chip_ids) == (pybuda.BackendDevice.Wormhole_B0, [0])
    assert found.grid_size == pybuda.TTDevice("tt0").get_device_config().grid_size
    again = get_device_config(pybuda.BackendDevice.Wormhole_B0, device_yaml=str(path))
    assert again.grid_size == found.grid_size and "functional_workers" in path.read_text()
    with pytest.raises(pybuda.PyBudaError, match=r"chip_ids is \[0, 0\]; expected different numbers"):
        get_device_config(pybuda.BackendDevice.Wormhole_B0, [0, 0])
    with pytest.raises(pybuda.PyBudaError, match="arch is 'wormhole'"):
        get_device_config("wormhole")  # type: ignore[arg-type]


def test_get_output_says_what_to_use() -> None:
    with pytest.raises(pybuda.PyBudaError, match=r"get_output reads from a descriptor.*run_inference"):
        backend_api.get_output(None, None, False, 1)
