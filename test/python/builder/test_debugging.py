# SPDX-License-Identifier: Apache-2.0
"""Breakpoints, memory snapshots, prints and dumps while a program runs."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections import OrderedDict
from pathlib import Path

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import (
    Operand,
    build_module,
    compile_and_execute_shlo,
    compile_and_execute_ttir,
    compile_and_execute_ttnn,
)
from builder.base.builder_enums import MeshShardDirection, MeshShardType
from builder.base.builder_runtime import Breakpoint, TTBuilderRuntimeException, set_breakpoint_callback
from builder.base.errors import TTBuilderGoldenException
from builder.execution.debugging import NEXT, Prompt
from builder.ttir.ttir_builder import TTIRBuilder

WHOLE = [(32, 32)]
MARKS = {"annotate": "a", "hook": None, "snapshot": None, "timestamp": None, "begin_trace": "t", "end_trace": "t",
         "profiler_start": "s", "profiler_end": "s", "region_start": "r", "region_end": "r"}  # fmt: skip


def stopping(builder: TTIRBuilder):
    @builder.func(WHOLE, [torch.float32])
    def model(x: Operand, builder: TTIRBuilder):
        stopped = builder.breakpoint(builder.sigmoid(x))
        return builder.add(stopped, x)


def run(module, **how) -> list[Breakpoint]:
    stops: list[Breakpoint] = []
    compile_and_execute_ttir(module, breakpoint_callback=stops.append, **how)
    return stops


def test_a_callback_gets_the_op_its_tensors_and_its_golden():
    (stop,) = run(stopping)
    assert stop.program == "model"
    assert stop.location.endswith(f"test_debugging.py:{stopping.__code__.co_firstlineno + 3}")
    assert '"ttnn.sigmoid"' in stop.op
    assert stop.op_location == stop.location
    assert torch.allclose(stop.tensor, torch.sigmoid(stop.inputs[0]))
    assert torch.equal(stop.golden.shard_at(0), torch.sigmoid(stop.inputs[0]))
    assert stop.comparison().pcc > 0.999
    assert "PCC 1.000000" in stop.describe()


def test_without_goldens():
    (stop,) = run(stopping, disable_golden=True)
    assert stop.golden is None and stop.comparison() is None
    assert stop.describe().endswith("[32, 32] torch.float32, no golden")


def test_of_an_argument():
    def module(builder):
        @builder.func(WHOLE, [torch.float32])
        def model(x, builder):
            return builder.abs(builder.breakpoint(x))

    (stop,) = run(module)
    assert stop.op == "value 0, an argument of the program"
    assert stop.golden is None


def test_marks_are_looked_through():
    def module(builder):
        @builder.func(WHOLE, [torch.float32])
        def model(x, builder):
            return builder.breakpoint(builder.region_end(builder.exp(builder.region_start(x, "r")), "r"))

    (stop,) = run(module)
    assert '"ttnn.exp"' in stop.op
    assert stop.comparison().pcc > 0.999


def test_a_callback_of_all_runs():
    stops: list[Breakpoint] = []
    assert set_breakpoint_callback(stops.append) is None
    try:
        compile_and_execute_ttir(stopping)
    finally:
        set_breakpoint_callback(None)
    assert len(stops) == 1
    with pytest.raises(TypeError, match="callback is a int, expected a function of a Breakpoint"):
        set_breakpoint_callback(3)


def test_exception_of_a_callback_ends_the_run():
    def stop(_: Breakpoint) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        compile_and_execute_ttir(stopping, breakpoint_callback=stop)
    assert run(stopping), "the hooks of the run before are gone"


def test_without_a_terminal_it_logs_and_goes_on(caplog, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with caplog.at_level(logging.WARNING, "builder.debug"):
        compile_and_execute_ttir(stopping)
    (record,) = caplog.records
    assert "breakpoint at " in record.message and "PCC 1.000000" in record.message
    assert record.message.endswith("there is no terminal and no callback: going on")


def test_next_stops_after_the_next_op():
    def module(builder):
        @builder.func(WHOLE, [torch.float32])
        def model(x, builder):
            y = builder.breakpoint(builder.exp(x))
            return builder.abs(builder.softmax(y, dimension=1))

    stops: list[Breakpoint] = []

    def callback(stop: Breakpoint) -> str | None:
        stops.append(stop)
        return NEXT if len(stops) < 2 else None

    compile_and_execute_ttir(module, breakpoint_callback=callback)
    first, second = stops
    assert '"ttnn.exp"' in first.op and '"ttnn.softmax"' in second.op
    assert second.comparison().pcc > 0.999 and torch.equal(second.inputs[0], first.tensor)


def test_a_value_can_be_replaced():
    def module(builder):
        @builder.func(WHOLE, [torch.float32])
        def model(x, builder):
            return builder.neg(builder.breakpoint(builder.sigmoid(x)))

    def callback(stop: Breakpoint) -> None:
        with pytest.raises(ValueError, match=r"a value of shape \[2\] in place of one of \[32, 32\]"):
            stop.replace(torch.ones(2))
        with pytest.raises(ValueError, match="2 values for a value on 1 devices"):
            stop.replace([torch.ones(32, 32)] * 2)
        stop.replace(torch.full((32, 32), 7.0))

    with pytest.raises(TTBuilderGoldenException, match="output_0") as caught:
        compile_and_execute_ttir(module, breakpoint_callback=callback)
    assert caught.value.records[0].comparison.max_abs > 6


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def typed(commands: str, monkeypatch) -> str:
    monkeypatch.setattr(sys, "stdin", Terminal(commands))
    out = Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    compile_and_execute_ttir(stopping)
    return out.getvalue()


def test_a_prompt_on_a_terminal(monkeypatch):
    said = typed("where\ndiff\ninputs\nmemory\ntensor 5\nprint(tuple(tensor.shape))\n\ncontinue\n", monkeypatch)
    assert "breakpoint at " in said
    assert "program 'model', op 1, " in said
    assert "PCC 1.000000, largest error" in said
    assert "0: [32, 32] torch.float32" in said
    assert "DRAM: 12 banks" in said
    assert "no device 5: the value is on 1; device 0 is shown" in said
    assert "(32, 32)" in said


def test_next_at_the_prompt(monkeypatch):
    said = typed("next\nwhere\nc\n", monkeypatch)
    assert said.count("breakpoint at ") == 2 and '"ttnn.add"' in said


def test_the_end_of_the_input_goes_on(monkeypatch):
    assert "(breakpoint) " in typed("", monkeypatch)


def test_quit_ends_the_run(monkeypatch):
    with pytest.raises(TTBuilderRuntimeException, match=r"program 'model': stopped at .*test_debugging\.py:\d+"):
        typed("quit\n", monkeypatch)


def test_every_command_is_documented():
    names = [name for name in dir(Prompt) if name.startswith("do_") and name not in ("do_EOF", "do_help")]
    assert all(getattr(Prompt, name).__doc__ for name in names)


def snapshotting(path: str):
    def module(builder: TTIRBuilder):
        @builder.func([(64, 64)], [torch.float32])
        def model(x: Operand, builder: TTIRBuilder):
            return builder.exp(builder.memory_snapshot(builder.sigmoid(x), path))

    return module


def test_a_memory_snapshot_says_what_is_resident():
    compile_and_execute_ttir(snapshotting("folder/memory.json"))
    found = json.loads(Path("folder/memory.json").read_text())
    assert found["program"] == "model"
    assert found["value"] == {"shape": [64, 64], "dtype": "Float32", "op": "ttnn.sigmoid"}
    dram = found["memories"]["DRAM"]
    assert dram["banks"] == 12
    assert dram["allocated_bytes_per_bank"] == sum(b["bytes_per_bank"] for b in dram["resident"]) == 8192
    assert [b["label"].partition(" of program")[0] for b in dram["resident"]] == [
        "tensor [64, 64] moved by to_layout", "result of op 0 (ttnn.sigmoid)"]  # fmt: skip
    (sigmoid,) = found["operations"]
    assert sigmoid["op"] == "ttnn.sigmoid" and sigmoid["source"] == "0"
    assert sigmoid["memories"]["DRAM"]["gone"] == []
    assert sorted(p.name for p in Path("folder").iterdir()) == ["memory.json"]


def test_a_path_that_cannot_be_written_is_named():
    Path("taken").write_text("")
    message = r"debug\.memory_snapshot at .*test_debugging\.py:\d+: cannot write taken/memory\.json: "
    with pytest.raises(TTBuilderRuntimeException, match=message):
        compile_and_execute_ttir(snapshotting("taken/memory.json"))


def test_print_and_dump(capsys):
    def module(builder):
        @builder.func([(2, 3)], [torch.float32])
        def model(x, builder):
            builder.set_goldens({x: torch.ones(2, 3)})
            y = builder.add(x, x)
            builder.print(y, "twice")
            builder.dump(y, "values/y.pt")
            return y

    compile_and_execute_ttir(module)
    assert capsys.readouterr().out == f"twice: [2, 3] torch.float32\n{torch.full((2, 3), 2.0)}\n"
    assert torch.equal(torch.load("values/y.pt"), torch.full((2, 3), 2.0))


@pytest.mark.parametrize("mark", sorted(MARKS))
def test_marks_hand_the_value_on(mark):
    def module(builder):
        @builder.func(WHOLE, [torch.bfloat16])
        def model(x, builder):
            name = [MARKS[mark]] if MARKS[mark] else []
            return builder.exp(getattr(builder, mark)(builder.abs(x), *name))

    report = compile_and_execute_ttir(module, enable_intermediate_verification=True)
    assert [r.op for r in report.programs[0].intermediates] == ["ttir.abs", f"debug.{mark}", "ttir.exp"]


def test_overwrite_gives_the_second_operand():
    def module(builder):
        @builder.func([(8, 8), (8, 8)], [torch.float32, torch.float32])
        def model(x, y, builder):
            return builder.abs(builder.overwrite(x, builder.neg(y)))

    assert compile_and_execute_ttir(module).passed


def test_an_empty_name_is_refused_when_built():
    def module(builder):
        @builder.func(WHOLE, [torch.float32])
        def model(x, builder):
            return builder.memory_snapshot(x, "")

    with pytest.raises(Exception, match=r"debug\.memory_snapshot' op file_path is empty"):
        build_module(module, "ttir")


def test_on_a_mesh_each_device_has_its_value():
    def module(builder):
        @builder.func([(64, 128)], [torch.float32])
        def model(x, builder):
            direction, kind = MeshShardDirection, MeshShardType.Devices
            shard = builder.mesh_shard(x, kind, direction.FullToShard, shard_shape=(2, 4), shard_dims=(0, 1))
            shard = builder.dump(builder.breakpoint(builder.exp(shard)), "shards.pt")
            return builder.mesh_shard(shard, kind, direction.ShardToFull, shard_shape=(2, 4), shard_dims=(0, 1))

    (stop,) = run(module, mesh_dict=OrderedDict([("x", 2), ("y", 4)]))
    assert [tuple(t.shape) for t in stop.tensors] == [(32, 32)] * 8
    assert all(stop.comparison(device).pcc > 0.999 for device in range(8))
    assert all(torch.equal(a, b) for a, b in zip(torch.load("shards.pt"), stop.tensors, strict=True))


def test_in_stablehlo():
    def module(builder):
        @builder.func(WHOLE, [torch.float32])
        def model(x, builder):
            return builder.breakpoint(builder.exponential(x))

    stops: list[Breakpoint] = []
    compile_and_execute_shlo(module, breakpoint_callback=stops.append)
    assert stops[0].comparison().pcc > 0.999


def test_in_ttnn():
    stops: list[Breakpoint] = []
    compile_and_execute_ttnn(stopping, breakpoint_callback=stops.append)
    assert stops[0].comparison().pcc > 0.999


def test_a_program_of_one_chip_runs_on_a_mesh():
    options = rt.runtime.MeshDeviceOptions()
    options.mesh_shape = (1, 2)
    device = rt.runtime.open_mesh_device(options)
    try:
        (stop,) = run(stopping, device=device)
    finally:
        rt.runtime.close_mesh_device(device)
    assert len(stop.tensors) == 1
