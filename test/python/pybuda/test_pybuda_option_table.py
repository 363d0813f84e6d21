# SPDX-License-Identifier: Apache-2.0
"""Every option is in the page, and what other files do not show of one: what can be seen of it, and not without it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pybuda
import pytest
import python_process
import torch
from modules import Function, read
from netlists import check_netlist
from pybuda import op
from pybuda.config import KEYWORDS, CompilerConfig
from pybuda.enums import DeviceMode

PAGE = Path(__file__).resolve().parents[3] / "docs" / "pybuda.md"
# Fields that functions fill; the page has these.
FILLED = {
    "op_names_to_epoch_break": "set_epoch_break", "op_names_to_chip_break": "set_chip_break",
    "op_names_manual_fuse": "op_names_manual_fuse", "amp_properties": "configure_mixed_precision",
    "scheduler_constraints": "add_schedule_constraint", "fracture_groups": "insert_fracture_group",
    "buffering_nops": "insert_buffering_nop", "op_overrides": "override_op_size",
}  # fmt: skip


def config() -> Any:
    return pybuda.config._get_global_compiler_config()


def test_the_page_has_every_option() -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = {field.name for field in fields(CompilerConfig)} | set(KEYWORDS)
    aliases = {"accumulate_df", "math_fidelity"}
    missing = [name for name in sorted(names - aliases) if f"`{FILLED.get(name, name)}`" not in text]
    assert not missing


class Model(pybuda.PyBudaModule):
    """A product with a parameter of which something is computed, and elementwise ops behind it."""

    def __init__(self) -> None:
        super().__init__("model")
        self.w = pybuda.Parameter(torch.rand(256, 64))

    def forward(self, x: pybuda.Tensor) -> pybuda.Tensor:
        product = op.Matmul("product", x, op.Exp("of_w", self.w))
        return op.Add("sum", op.Gelu("gelu", product), op.Sigmoid("sigmoid", op.Matmul("other", x, self.w)))


def device_of(rows: int = 64, module: Any = None, **keywords: Any) -> pybuda.TTDevice:
    tt0 = pybuda.TTDevice("tt0", module=module or Model(), **keywords)
    tt0.push_to_inputs(torch.rand(rows, 256))
    pybuda.initialize_pipeline(False)
    assert tt0.placement is not None
    check_netlist(tt0.placement.netlist(), (tt0.placement.chip.rows, tt0.placement.chip.columns))
    return tt0


def placed(device: pybuda.TTDevice, name: str) -> Any:
    """Where an op is, or the one that it is a part of."""
    assert device.placement is not None
    every = [x for epoch in device.placement.epochs for x in epoch.placed]
    return next(x for x in every if name in (x.op.name, *(part.name for part in x.op.parts)))


def ops(device: pybuda.TTDevice) -> list[str]:
    return [x.name for x in device.placement.graph.ops]


# Options -> what is seen with them, and not without.
SEEN: dict[str, tuple[dict[str, Any], Callable[[pybuda.TTDevice], bool]]] = {
    "enable_consteval": ({"enable_consteval": False}, lambda d: "of_w" in ops(d)),
    "cpu_fallback_ops": (
        {"cpu_fallback_ops": {"gelu"}}, lambda d: "gelu" not in ops(d) and "aten.gelu.default" in d.compiled.on_host,
    ),
    "default_dram_parameters": (
        {"default_dram_parameters": True}, lambda d: placed(d, "other").model.in_l1 == (),
    ),
    "device_config": (
        {"device_config": "wh_n150"}, lambda d: (d.placement.chip.rows, d.placement.chip.columns) == (9, 8),
    ),
    "op_names_manual_fuse": ({"op_names_manual_fuse": ["sum"]}, lambda d: {"gelu", "sigmoid", "sum"} <= set(ops(d))),
    "backend_output_dir": ({"backend_output_dir": "there"}, lambda d: Path("there/model_netlist.yaml").is_file()),
    "enable_forked_dram_inputs": (
        {"enable_forked_dram_inputs": True},
        lambda d: d.placement.clock.ops[placed(d, "other").op].reads
        < d.placement.clock.ops[placed(d, "product").op].reads,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SEEN)
def test_option(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options, seen = SEEN[name]
    for key, value in options.items():
        setattr(config(), key, value)
    assert seen(device_of())
    pybuda.pybudaglobal.pybuda_reset()
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    assert not seen(device_of()), "the same is seen without it"


def test_parts_of_the_inner_dimension() -> None:
    """The most that fits; without enable_enumerate_u_kt all, or one."""
    found = []
    for enumerated in (True, False):
        pybuda.pybudaglobal.pybuda_reset()
        pybuda.set_configuration_options(enable_enumerate_u_kt=enumerated)
        pybuda.override_op_size("other", (1, 1))
        pybuda.config.override_input_buffer_multiplier("other", 0, 64)
        found.append(device_of().placement.placed("other").model.u_kt)
    assert found == [4, 1]


@pytest.mark.parametrize("stable", [True, False])
def test_softmax_of_large_numbers(stable: bool, float32: None) -> None:
    """Without the largest element taken off they are infinite."""
    pybuda.set_configuration_options(enable_stable_softmax=stable)
    x = torch.tensor([[1000.0, 1000.0, -1000.0]])
    (got,) = Function("f", lambda x: op.Softmax("softmax", x, dim=-1)).run(x)
    want = [[0.5, 0.5, 0.0]] if stable else [[math.nan, math.nan, 0.0]]
    torch.testing.assert_close(got.value(), torch.tensor(want), equal_nan=True)


def test_devices_that_only_compile() -> None:
    config().device_mode = DeviceMode.CompileOnly
    device = device_of()
    assert device.placement.netlist() and device.device_mode is DeviceMode.CompileOnly
    with pytest.raises(pybuda.PyBudaError, match="device 'tt0' has device_mode CompileOnly; it does not run"):
        read(pybuda.run_inference())


#
# The cache of programs
#

CACHED = """
import sys
import warnings

import pybuda
import torch
from ttmlir.torch import program

compiled = []
before = program.Program.compile
program.Program.compile = lambda self, pipeline: (compiled.append(pipeline), before(self, pipeline))
config = pybuda.config._get_global_compiler_config()
config.tvm_graph_store_path, config.tvm_graph_load_path = sys.argv[2:4]
torch.manual_seed(int(sys.argv[1]))
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
(got,) = pybuda.PyTorchModule("model", model).run(torch.ones(2, 8))
print(len(compiled), got.value().sum().item())
"""


def cached(folder: Path, switch: str, store: str = "", load: str = "", seed: int = 0) -> tuple[int, float, str]:
    """How many programs another process compiled, the sum of its results, and its warnings."""
    words = ["-c", CACHED, seed, store, load]
    ran = python_process.run(words, cwd=folder, env={**os.environ, "PYBUDA_ENABLE_TVM_CACHE": switch})
    assert ran.returncode == 0, ran.stderr
    count, total = ran.stdout.split()
    return int(count), float(total), ran.stderr


@pytest.mark.slow  # eight processes; the next test has three
def test_programs_are_kept_for_the_next_process(tmp_path: Path) -> None:
    folder = tmp_path / "generated_modules/tvm_cache"
    plain = cached(tmp_path, "0")
    assert plain[0] == 1 and not folder.exists()
    assert cached(tmp_path, "1")[:2] == plain[:2]
    (file,) = folder.iterdir()
    assert cached(tmp_path, "1")[:2] == (0, plain[1])
    assert cached(tmp_path, "1", seed=1)[0] == 0, "weights are no part of a program"
    # A file that is damaged, or of another version, is said and made anew.
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    count, total, said = cached(tmp_path, "1")
    assert (count, total) == plain[:2] and f"{file.relative_to(tmp_path)} is not used: " in said
    assert file.read_bytes() == whole and cached(tmp_path, "1")[0] == 0
    assert cached(tmp_path, "-1")[0] == 1 and not list(folder.iterdir())


@pytest.mark.long
def test_folders_of_programs(tmp_path: Path) -> None:
    assert cached(tmp_path, "1", "stored", "loaded")[0] == 1 and len(list((tmp_path / "stored").iterdir())) == 1
    assert cached(tmp_path, "1", "stored", "loaded")[0] == 1
    assert cached(tmp_path, "1", "", "stored")[0] == 0


def test_a_switch_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYBUDA_ENABLE_TVM_CACHE", "yes")
    with pytest.raises(pybuda.PyBudaError, match="PYBUDA_ENABLE_TVM_CACHE=yes; expected 1 "):
        device_of()
