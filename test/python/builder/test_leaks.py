# SPDX-License-Identifier: Apache-2.0
"""Builds, compilations and runs leave nothing behind."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch
from builder.base.builder_apis import (
    build_module,
    compile_and_execute_shlo,
    compile_and_execute_ttir,
    compile_and_execute_ttnn,
    compile_ttir_to_flatbuffer,
    execute_py,
    load_mlir_file,
    split_mlir_file,
)
from builder.base.builder_runtime import execute_fb
from builder.base.errors import TTBuilderCompileException
from ttmlir import ir

F32 = torch.float32


def module(builder: Any) -> None:
    @builder.func([(8, 32)], [F32])
    def f(x: Any, b: Any) -> Any:
        return b.tanh(b.add(x, b.constant(torch.arange(256.0).reshape(8, 32))))


def broken(builder: Any) -> None:
    @builder.func([(8, 32)], [F32])
    def f(x: Any, b: Any) -> Any:
        return b.reshape(x, [3])


def looked_at() -> None:
    _, builder = build_module(module, "ttir")
    programs, intermediates = builder.golden_map
    assert programs[0]["output_0"].shape == (8, 32) and len(intermediates) == 3


def split() -> None:
    text = str(build_module(module, "ttnn")[0].operation.get_asm())
    for _, part in split_mlir_file(*load_mlir_file(text, target="ttnn"), target="ttnn"):
        part.golden_map[0][0].outputs  # noqa: B018 - computed


def refused() -> None:
    with pytest.raises(TTBuilderCompileException):
        build_module(broken, "ttir")


def in_steps() -> None:
    _, path, programs, intermediates = compile_ttir_to_flatbuffer(module)
    execute_fb(path, programs, intermediates, enable_intermediate_verification=True)
    _, path, programs, _ = compile_ttir_to_flatbuffer(module, target="emitpy")
    execute_py(path, programs)


WORK: dict[str, Callable[[], Any]] = {
    "ttir": lambda: build_module(module, "ttir"),
    "ttnn": lambda: build_module(module, "ttnn"),
    "stablehlo": lambda: build_module(module, "stablehlo"),
    "goldens": looked_at,
    "load and split": split,
    "an error": refused,
    "steps": in_steps,
    "run ttir": lambda: compile_and_execute_ttir(module, enable_intermediate_verification=True),
    "run ttnn": lambda: compile_and_execute_ttnn(module),
    "run stablehlo": lambda: compile_and_execute_shlo(module),
}


def live() -> dict[str, int]:
    """Counts objects that hold much memory. MLIR's objects, which Python's collector does not know, are in contexts."""
    gc.collect()
    found = dict.fromkeys(("Tensor", "GoldenMapTensor", "ModuleType"), 0)
    for value in gc.get_objects():
        if type(value).__name__ in found:
            found[type(value).__name__] += 1
    return {"Context": ir.Context._get_live_count(), **found}


@pytest.mark.long
def test_kept_values_are_counted() -> None:
    before = live()
    kept = build_module(module, "ttir")
    golden = kept[1].golden_map[0][0]["output_0"]
    after = live()
    assert after["Context"] == before["Context"] + 1 and after["GoldenMapTensor"] > before["GoldenMapTensor"]
    assert after["Tensor"] > before["Tensor"] and golden.shape == (8, 32)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", WORK)
def test_nothing_stays(name: str) -> None:
    WORK[name]()  # the first time imports modules and reads the descriptions of ops
    before = live()
    for _ in range(3):
        WORK[name]()
    assert live() == before


def resident() -> int:
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.long
def test_constants_go_with_their_module() -> None:
    """A constant of 16 MiB in each of 12 modules."""

    def big(builder: Any) -> None:
        @builder.func([(32, 2048)], [F32])
        def f(x: Any, b: Any) -> Any:
            return b.matmul(x, b.constant(torch.randn(2048, 2048)))

    sizes = []
    for _ in range(12):
        build_module(big, "ttir")
        gc.collect()
        sizes.append(resident())
    assert sizes[-1] - sizes[3] < 4 << 24, sizes


def test_report_of_a_run_keeps_the_binary_for_names_of_ops_only() -> None:
    """Without them, the weights that a program prepared go with the binary."""
    import _ttmlir_runtime as rt

    path = compile_ttir_to_flatbuffer(module)[1]
    device = rt.runtime.open_mesh_device(rt.runtime.MeshDeviceOptions())
    found = []
    try:
        for recorded in (False, True, False):
            rt.runtime.set_perf_recording(recorded)
            binary = rt.binary.load_from_path(str(path))
            rt.runtime.submit(device, binary, 0, [rt.runtime.create_host_tensor(torch.ones(8, 32))])
            del binary
            found.append(rt.runtime.last_run(device))
    finally:
        rt.runtime.set_perf_recording(False)
        rt.runtime.close_mesh_device(device)
    assert [report.binary is None for report in found] == [True, False, True]
    assert [len(report.ops) > 0 for report in found] == [False, True, False]
    assert found[1].ops[-1].name.startswith("ttnn.") and found[1].binary.get_num_programs() >= 1
    assert all(report.device_ns > 0 for report in found)
