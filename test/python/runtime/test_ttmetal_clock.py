# SPDX-License-Identifier: Apache-2.0
"""Cycles of kernels: what they do, what they wait for, and what bounds a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module
from op_cases import clone, device, execute
from ttmlir import passes

LAUNCH = 6000


def programs(build: Callable[..., Any], shape: tuple[int, ...], options: str = "") -> list[tuple[int, str]]:
    """Cycles without the launch, and the bound, of each program of kernels."""

    def module(builder: Any) -> None:
        @builder.func([shape, shape], [torch.bfloat16] * 2)
        def f(x: Any, y: Any, b: Any) -> Any:
            return build(b, x, y)

    built, builder = build_module(module, "ttir")
    metal = clone(built)
    passes.ttir_to_ttmetal_pipeline(metal, options)
    binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)
    rt.runtime.set_perf_recording(True)
    try:
        execute(binary, 0, builder.golden_map[0][0].inputs, (1, 1))
        report = rt.runtime.last_run(device((1, 1)))
    finally:
        rt.runtime.set_perf_recording(False)
    return [(op.cycles - LAUNCH, op.bound) for op in report.ops if op.name == "EnqueueProgramCommand"]


def test_a_chain_takes_what_its_functions_do() -> None:
    """64 tiles of one core, five functions of the vector unit each."""
    *_, (cycles, bound), _ = programs(
        lambda b, x, y: b.exp(b.tanh(b.sin(b.cos(b.abs(b.neg(x)))))), (256, 256), "override-device-shape=1,1"
    )
    assert cycles == 64 * 6 * 128
    assert bound == "compute"


def test_a_launch_is_most_of_a_small_program() -> None:
    assert {bound for _, bound in programs(lambda b, x, y: b.add(x, y), (32, 32))} == {"dispatch"}


def test_cores_share_the_work() -> None:
    """An eighth of the rows for each of eight cores."""
    one, eight = (
        programs(lambda b, x, y: b.add(x, y), (1024, 64), f"override-device-shape={rows},1") for rows in (1, 8)
    )
    assert [cycles for cycles, _ in one] == [8 * cycles for cycles, _ in eight]


def test_products_wait_for_their_operands() -> None:
    """More than the products of tiles alone; without multicast, and with one buffer, a core waits longer."""
    shape, tiles = (512, 512), 16 * 2 * 2
    least = tiles * 4 * 16 / 0.75
    found = {
        options: max(cycles for cycles, _ in programs(lambda b, x, y: b.matmul(x, y), shape, options))
        for options in ("", "enable-multicast-inference=false", "set-math-fidelity=LoFi")
    }
    assert found[""] > least
    assert least / 4 < found["set-math-fidelity=LoFi"] < found[""]
    assert found["enable-multicast-inference=false"] != found[""]


@pytest.mark.parametrize("size", [32, 1024])
def test_movement_is_bound_by_the_network(size: int) -> None:
    """A permutation of two dimensions moves single elements."""
    bounds = [
        bound
        for _, bound in programs(
            lambda b, x, y: b.permute(x, permutation=[1, 0]), (size, 64), "override-device-shape=1,1"
        )
    ]
    assert "L1" in bounds
