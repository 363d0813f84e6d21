# SPDX-License-Identifier: Apache-2.0
"""Traces of programs that call ttnn's functions by hand."""

from __future__ import annotations

import csv
import inspect
from pathlib import Path

import _ttmlir_runtime as rt
import pytest
import torch
import ttnn
from profiler.ops_table import device_operation
from profiler.profiler import trace


@pytest.fixture
def device():
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def on(device, *shape, **options):
    return ttnn.from_torch(torch.ones(*shape), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, **options)


def test_ops_places_and_buffers(device):
    x = on(device, 64, 96)
    with trace("log") as tracing:
        line = inspect.currentframe().f_lineno
        wide = ttnn.matmul(x, x, transpose_b=True)
        moved = ttnn.to_memory_config(wide, ttnn.L1_MEMORY_CONFIG)
        ttnn.deallocate(wide)
        total = moved + 1.0
    (program,), (run,) = tracing.recorder.snapshot()
    names = ["ttnn.matmul", "ttnn.to_memory_config", "ttnn.deallocate", "ttnn.add"]
    assert [op.name for op in program.ops] == names
    assert [op.location for op in program.ops] == [f"{__file__}:{line + 1 + i}" for i in range(4)]
    assert [bool(op.device_ns) for op in program.ops] == [True, True, False, True]
    assert program.ops[0].outputs == program.ops[1].inputs == program.ops[2].inputs
    assert program.ops[1].outputs[0].value == program.ops[3].inputs[0].value
    assert program.ops[0].phases == 2, "the library multiplies bf16 in HiFi2"
    assert len(run.host_ns) == 4 and sum(run.host_ns) <= run.submit_ns and program.device == device.id

    by_value = {value: buffer for buffer in program.buffers for value in buffer.values}
    product, result = program.ops[0].outputs[0].value, program.ops[3].outputs[0].value
    assert (by_value[product].memory, by_value[product].begin, by_value[product].end) == ("DRAM", 0, 3)
    assert (by_value[result].memory, by_value[result].begin, by_value[result].end) == ("L1", 3, 4)
    assert by_value[result].address == total.buffer_address()
    assert any(buffer.circular and buffer.begin == 3 for buffer in program.buffers)
    assert by_value[program.ops[0].inputs[0].value].end == 4, "what was there before stays"


def test_composites_are_the_ops_that_they_call_and_results_go_where_they_are_told(device):
    x = on(device, 32, 32)
    with trace("log") as tracing:
        ttnn.softsign(x)
        ttnn.add(x, x, output_tensor=x)
    (program,), _ = tracing.recorder.snapshot()
    assert len({op.location for op in program.ops}) == 2
    assert program.ops[-1].outputs[0].value == program.ops[-1].inputs[0].value


def test_the_chips_table_names_changes_of_layout(device):
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 1))})
    shards = ttnn.ShardSpec(cores, [32, 64], ttnn.ShardOrientation.ROW_MAJOR)
    sharded = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, shards)
    x = on(device, 64, 64)
    with trace("log") as tracing:
        shards = ttnn.to_memory_config(x, sharded)
        whole = ttnn.to_memory_config(shards, ttnn.DRAM_MEMORY_CONFIG)
        rows = ttnn.to_layout(whole, ttnn.ROW_MAJOR_LAYOUT)
        ttnn.to_layout(rows, ttnn.TILE_LAYOUT)
        ttnn.typecast(x, ttnn.float32)
    (program,), _ = tracing.recorder.snapshot()
    names = ["InterleavedToSharded", "ShardedToInterleaved", "Untilize", "Tilize", "Typecast"]
    assert [device_operation(op) for op in program.ops] == [f"{name}DeviceOperation" for name in names]
    with Path("log/ops_perf_results.csv").open(newline="") as file:
        assert [row["OP CODE"] for row in csv.DictReader(file)] == [device_operation(op) for op in program.ops]


def test_nothing_is_recorded_outside_of_the_block_or_on_the_host(device):
    x = on(device, 32, 32)
    with trace("log") as tracing:
        ttnn.from_torch(torch.ones(2, 2), dtype=ttnn.float32)
    ttnn.exp(x)
    assert tracing.recorder.snapshot() == ([], [])


def test_calls_that_fail_are_not_recorded_and_observers_may_fail(device):
    x = on(device, 32, 32)
    with trace("log") as tracing, pytest.raises(RuntimeError, match="inner dimensions 32 and 64 differ"):
        ttnn.matmul(x, on(device, 64, 32))
    assert tracing.recorder.snapshot() == ([], [])

    def fails(*_: object) -> None:
        raise KeyError("observer")

    number = rt.runtime.observe_calls(fails)
    try:
        with pytest.raises(KeyError, match="observer"):
            ttnn.exp(x)
    finally:
        rt.runtime.end_observing_calls(number)
    with pytest.raises(RuntimeError, match=f"end_observing_calls: there is no observer {number}"):
        rt.runtime.end_observing_calls(number)
    with pytest.raises(TypeError, match="observe_calls: observer is 3; expected a function"):
        rt.runtime.observe_calls(3)
    assert ttnn.to_torch(ttnn.exp(x)).shape == (32, 32)


def test_a_capture_and_a_trace_see_the_same_calls(device):
    x = on(device, 32, 32)
    with trace("log") as tracing:
        ttnn.exp(x)
        ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
        ttnn.sqrt(x)
        captured = ttnn.graph.end_graph_capture()
        ttnn.relu(x)
    (program,), _ = tracing.recorder.snapshot()
    assert [op.name for op in program.ops] == ["ttnn.exp", "ttnn.sqrt", "ttnn.relu"]
    names = [node["params"]["name"] for node in captured if node["node_type"] == "function_start"]
    assert any("sqrt" in name for name in names) and not any("exp" in name or "relu" in name for name in names)


def test_two_devices_are_two_programs(device):
    other = ttnn.open_device(device_id=0)
    with trace("log") as tracing:
        ttnn.exp(on(device, 32, 32))
        ttnn.exp(on(other, 32, 32))
        ttnn.exp(on(device, 32, 32))
    programs, runs = tracing.recorder.snapshot()
    assert [len(program.ops) for program in programs] == [2, 1] and len(runs) == 2
    ttnn.close_device(other)
