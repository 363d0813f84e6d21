# SPDX-License-Identifier: Apache-2.0
"""The optimizer's, auto-sharding's and the runtime's estimates of an op are equal: all use the rules of lib/costs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import pytest
from builder.base.builder_apis import get_optimal_module_least_time
from op_cases import TABLE, build_cases, built, lowered
from op_gaps import GAPS
from ttmlir.passes import ttnn_to_flatbuffer_bin
from ttmlir.passmanager import PassManager

NAMES = [name for name in sorted(TABLE) if name not in GAPS]


def estimates_of_compiler(module: Any, file: Path) -> dict[str, list[dict[str, Any]]]:
    """The ops of each function of a TTNN module, with what the optimizer estimates of them."""
    options = f"ttnn-perf-metrics-output-file={file} ttnn-perf-metrics-verbose-output-enabled=true"
    with module.context:
        PassManager.parse(f"builtin.module(ttnn-collect-perf-metrics{{{options}}})").run(module.operation)
    found: dict[str, list[dict[str, Any]]] = {}
    for op in json.loads(file.read_text())["operations"]:
        found.setdefault(op["function"], []).append(op)
    return found


def disagreements(name: str, options: str, file: Path) -> tuple[int, list[str]]:
    """How many ops of a row's programs were compared, and those of which compiler and runtime estimate otherwise."""
    result = TABLE[name]
    module = lowered(built(name, result.dtypes[0])[0], result.mesh, options)
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(module))
    by_function = estimates_of_compiler(module, file)
    count, wrong = 0, []
    for index in range(binary.get_num_programs()):
        function = binary.get_program_name(index)
        if function not in by_function:
            continue
        report = rt.runtime.estimate(binary, index, "wormhole_b0", list(result.mesh))
        estimated = {op["op"] for op in by_function[function]}
        ops = [op for op in report.ops if op.name in estimated]
        expected = [op for op in by_function[function] if op["op"] in {op.name for op in ops}]
        assert [op.name for op in ops] == [op["op"] for op in expected]
        for op, other in zip(ops, expected, strict=True):
            count += 1
            if (
                abs(op.device_ns - other["estimated_ns"]) > 1e-6 * op.device_ns
                or op.circular_buffer_bytes != other["circular_buffer_bytes"]
            ):
                wrong.append(
                    f"{function} {op.name}: compiler {other['estimated_ns']} ns, "
                    f"{other['circular_buffer_bytes']} bytes; runtime {op.device_ns} ns, "
                    f"{op.circular_buffer_bytes} bytes"
                )
    return count, wrong


@pytest.mark.parametrize("options", ["", "optimization-level=2"])
@pytest.mark.parametrize("name", NAMES)
def test_compiler_and_runtime_estimates_agree(name: str, options: str, tmp_path: Path) -> None:
    """Time, with what chips send to each other, and circular buffers of every op that a row is lowered to."""
    count, wrong = disagreements(name, options, tmp_path / "metrics.json")
    print(f"{name}: {count} ops")
    assert not wrong, "\n".join(wrong)


# Auto-sharding estimates ops of StableHLO before they are lowered.
NOT_ESTIMATED = {"stablehlo.iota": "a constant, whose sharding costs nothing"}


# What is left of ops with a tensor that has no elements: auto-sharding sees them before they are folded.
FOLDED = ("ttnn.full", "ttnn.zeros")


def launched(report: Any) -> list[Any]:
    """The ops of a program that do work on the chip."""
    return [op for op in report.ops if op.name not in ("ttnn.deallocate", "ttnn.constant", "ttcore.load_cached")]


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("stablehlo.")])
def test_auto_sharding_estimates_what_the_runtime_does(name: str) -> None:
    """On one chip, for each case of a row that is lowered to one op."""
    row = TABLE[name]
    if row.mesh != (1, 1):
        return
    compared = 0
    for case in row.cases:
        module = build_cases(name, row, [case], row.dtypes[0])[0]
        choice = get_optimal_module_least_time(re.sub(r"sdy.mesh .*\n", "", str(module)), (1, 1))
        binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
        clock = rt.runtime.estimate(binary, 0, "wormhole_b0", (1, 1))
        ops = launched(clock)
        if len(ops) == 1 and ops[0].name not in FOLDED and name not in NOT_ESTIMATED:
            compared += 1
            found = [(op.name, op.device_ns) for op in clock.ops]
            assert choice.chosen.time_ns == pytest.approx(clock.device_ns, rel=1e-6), (case, found)
    print(f"{name}: {compared} of {len(row.cases)} cases")
