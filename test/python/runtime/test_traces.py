# SPDX-License-Identifier: Apache-2.0
"""Programs of TTNN that record commands and execute them: in flatbuffers, emitted Python and C++, and by goldens."""

from __future__ import annotations

from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
import ttnn
from builder.base.builder_apis import load_mlir_file
from emit_cases import Subject, compare_all
from golden import GoldenMapTensor, get_golden_function
from op_cases import execute
from ttmlir import ir
from ttmlir.passes import ttnn_to_flatbuffer_bin
from ttmlir.passmanager import PassManager

TYPES = """
#dram = #ttnn.buffer_type<dram>
#sys = #ttnn.buffer_type<system_memory>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#h = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<33x65xf32, #sys>>
!t = tensor<33x65xf32, #t>
!h = tensor<33x65xf32, #h>
!id = tensor<ui32, #ttnn.trace_id>
"""
# Each execution adds to what the program was given; what it multiplies is written between them.
AGAIN = (
    TYPES
    + """
func.func @again(%x: !t, %sum: !t, %next: !h) -> (!t, !t, !t) {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  %0 = "ttnn.multiply"(%x, %x) : (!t, !t) -> !t
  %1 = "ttnn.add"(%0, %sum) : (!t, !t) -> !t
  "ttnn.copy"(%1, %sum) : (!t, !t) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  "ttnn.execute_trace"(%d, %id) <{blocking = true}> : (!ttnn.device, !id) -> ()
  %first = "ttnn.neg"(%0) : (!t) -> !t
  "ttnn.write_tensor"(%next, %x) <{blocking = true}> : (!h, !t) -> ()
  "ttnn.execute_trace"(%d, %id) : (!ttnn.device, !id) -> ()
  "ttnn.execute_trace"(%d, %id) : (!ttnn.device, !id) -> ()
  %last = "ttnn.abs"(%sum) : (!t) -> !t
  return %first, %0, %last : !t, !t, !t
}
"""
)
HOISTED = (
    TYPES
    + """
func.func @main(%x: !t, %y: !t) -> !t {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %0 = "ttnn.capture_or_execute_trace"(%d, %x, %y) <{allocate_slots_callee = @slots, capture_callee = @capture,
      execute_callee = @execute, operandSegmentSizes = array<i32: 1, 2, 0>}> : (!ttnn.device, !t, !t) -> !t
  %1 = "ttnn.neg"(%0) : (!t) -> !t
  return %1 : !t
}
func.func private @traced(%a: !t, %b: !t) -> !t attributes {tt.function_type = "trace_main"} {
  %0 = "ttnn.subtract"(%a, %b) : (!t, !t) -> !t
  return %0 : !t
}
func.func private @slots() -> (!t, !t) {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %0 = "ttnn.empty"(%d) <{shape = #ttnn.shape<33x65>}> : (!ttnn.device) -> !t
  %1 = "ttnn.empty"(%d) <{shape = #ttnn.shape<33x65>}> : (!ttnn.device) -> !t
  return %0, %1 : !t, !t
}
func.func private @capture(%a: !t, %b: !t) -> (!id, !t) {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  %0 = call @traced(%a, %b) : (!t, !t) -> !t
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return %id, %0 : !id, !t
}
func.func private @execute(%id: !id) {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  "ttnn.execute_trace"(%d, %id) : (!ttnn.device, !id) -> ()
  return
}
"""
)


def values(count: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(33, 65, generator=generator) for _ in range(count)]


def module(text: str) -> Any:
    result = ir.Module.parse(text, ir.Context())
    PassManager.parse("builtin.module(ttcore-register-device)", result.context).run(result.operation)
    return result


def run(text: str, given: list[torch.Tensor]) -> list[torch.Tensor]:
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(module(text)))
    return [shards[0] for shards in execute(binary, 0, [GoldenMapTensor({0: each.clone()}) for each in given], (1, 1))]


def test_recorded_commands_run_when_they_are_executed() -> None:
    x, total, following = values(3)
    first, product, last = run(AGAIN, [x, total, following])
    assert torch.equal(first, -(x * x))
    assert torch.equal(product, following * following)
    assert torch.allclose(last, (total + x * x + 2 * following * following).abs(), rtol=1e-5, atol=1e-5)


@pytest.mark.long
def test_emitted_programs_do_the_same() -> None:
    inputs = [GoldenMapTensor({0: each}) for each in values(3)]
    hoisted = [GoldenMapTensor({0: each}) for each in values(2)]
    problems = compare_all([Subject("again", module(AGAIN), [inputs]), Subject("hoisted", module(HOISTED), [hoisted])])
    assert not problems, "\n".join(problems)


def test_goldens_of_recorded_ops() -> None:
    x, y = values(2)
    _, builder = load_mlir_file(HOISTED, target="ttnn", golden_inputs={"main": [x, y]})
    assert torch.equal(builder.golden_map[0][0]["output_0"].shard_at(0), y - x)
    (found,) = run(HOISTED, [x, y])
    assert torch.equal(found, y - x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32, torch.uint16, torch.uint8], ids=str)
@pytest.mark.parametrize("shape", [(33, 65), (), (0, 4), (2, 3, 5)], ids=str)
def test_goldens_of_files(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    """The golden reads what the runtime wrote, without it."""
    tensor = (torch.arange(int(torch.Size(shape).numel())) % 7).reshape(shape).to(dtype)
    rt.runtime.dump_tensor(rt.runtime.create_host_tensor(tensor), "x.tensorbin")
    found = get_golden_function("ttnn.load_tensor")(file_path="x.tensorbin")
    assert found.dtype == dtype and torch.equal(found, tensor)


@pytest.mark.parametrize(
    "name", ["BFLOAT16", "FLOAT32", "UINT16", "INT32", "BFLOAT8_B", "BFLOAT4_B", "FLOAT16", "BOOL"]
)
@pytest.mark.parametrize("shape", [(33, 65), (), (7,), (0, 4), (2, 3, 5)], ids=str)
def test_goldens_of_tiles_in_files(name: str, shape: tuple[int, ...]) -> None:
    values = (torch.arange(int(torch.Size(shape).numel())) % 2).reshape(shape).float()
    tensor = ttnn.from_torch(values, ttnn.DataType[name], layout=ttnn.TILE_LAYOUT)
    ttnn.dump_tensor("x.tensorbin", tensor)
    found = get_golden_function("ttnn.load_tensor")(file_path="x.tensorbin")
    assert found.shape == shape and torch.equal(found.float(), ttnn.to_torch(tensor).float())


def test_a_file_in_a_program() -> None:
    (x,) = values(1)
    rt.runtime.dump_tensor(rt.runtime.create_host_tensor(x), "x.tensorbin")
    text = (
        TYPES
        + """
    func.func @main() -> !h {
      %0 = "ttnn.load_tensor"() <{file_path = "x.tensorbin"}> : () -> !h
      return %0 : !h
    }
    """
    )
    _, builder = load_mlir_file(text, target="ttnn")
    assert torch.equal(builder.golden_map[0][0]["output_0"].shard_at(0), x)
    assert torch.equal(run(text, [])[0], x)
