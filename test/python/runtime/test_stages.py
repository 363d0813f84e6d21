# SPDX-License-Identifier: Apache-2.0
"""Programs cut into stages, from a module to results: those of one chip, and times of a schedule computed here."""

from __future__ import annotations

import json
import re
from pathlib import Path

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import (
    build_module,
    compile_and_execute_ttir,
    compile_ttir_to_flatbuffer,
)
from builder.base.errors import TTBuilderGoldenException
from builder.execution.device_tensors import create_tensor, fetched
from builder.execution.op_watcher import OpWatcher
from ttmlir import ir, passes
from ttrt.__main__ import main

runtime = rt.runtime
F32 = torch.float32
OPTIONS = ["pipeline-stages=2", "micro-batches=2"]


def mlp(b):
    @b.func([(64, 96), (96, 128), (128,), (128, 96)], [F32] * 4)
    def f(x, v, bias, w, b):
        hidden = b.relu(b.add(b.matmul(x, v), bias))
        return b.add(b.softmax(b.matmul(hidden, w), dimension=1), x)


def attention(b):
    @b.func([(8, 64, 64), (64, 64), (64, 64), (64, 64)], [F32] * 4)
    def f(x, q, k, v, b):
        query, key, value = b.matmul(x, q), b.matmul(x, k), b.matmul(x, v)
        scores = b.softmax(b.matmul(query, b.transpose(key, dim0=1, dim1=2)), dimension=-1)
        mixed = b.reshape(b.matmul(scores, value), shape=[512, 64])
        return b.add(b.gelu(mixed), b.reshape(x, shape=[512, 64])), b.sum(value, dim_arg=[1, 2], keep_dim=False)


def images(b):
    @b.func([(4, 16, 16, 8), (16, 8, 3, 3)], [F32] * 2)
    def f(x, w, b):
        y = b.relu(b.conv2d(x, w, stride=1, padding=1, dilation=1, groups=1))
        y = b.max_pool2d(y, kernel=2, stride=2, dilation=1, padding=0, ceil_mode=False)
        return b.exp(b.mean(y, dim_arg=[1, 2], keep_dim=False))


def binary_of(network, options=""):
    module = build_module(network, "ttir")[0]
    passes.ttir_to_ttnn_backend_pipeline(module, options)
    return rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module))


def inputs_of(binary):
    torch.manual_seed(5)
    described = json.loads(binary.get_program_inputs_as_json(0))
    return [torch.randn(value["desc"]["shape"]) / 4 for value in described]


def run(binary, values):
    options = runtime.MeshDeviceOptions()
    options.mesh_shape = binary.get_program_mesh_shape(0)
    with runtime.open_mesh_device(options) as device:
        given = [runtime.create_host_tensor(value) for value in values]
        outputs = [runtime.submit(device, binary, 0, given) for _ in range(2)][-1]
        found = [torch.from_dlpack(runtime.to_host(output, untilize=True)[0]).clone() for output in outputs]
        return found, runtime.last_run(device)


@pytest.mark.parametrize("micro_batches", [1, 2, 4])
@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("network", [mlp, attention, images])
def test_results_are_those_of_one_chip(network, stages, micro_batches):
    whole = binary_of(network)
    values = inputs_of(whole)
    expected, _ = run(whole, values)
    binary = binary_of(network, f"pipeline-stages={stages} micro-batches={micro_batches}")
    assert tuple(binary.get_program_mesh_shape(0)) == (1, stages)
    found, report = run(binary, values)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        # Products of fewer rows may be summed in another order.
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
    assert len(report.stages) == (stages if (stages, micro_batches) != (1, 1) else 0)


def test_times_are_those_of_the_schedule():
    binary = binary_of(mlp, "pipeline-stages=3 micro-batches=4")
    report = run(binary, inputs_of(binary))[1]
    each = [(stage.compute_ns + stage.send_ns) / 4 for stage in report.stages]
    expected = sum(each) + 3 * max(each)
    assert report.device_ns == pytest.approx(expected)
    assert report.bubble == pytest.approx(1 - 4 * sum(each) / (3 * expected))
    assert runtime.estimate(binary, 0, "wormhole_b0", (1, 3)).device_ns == pytest.approx(expected)
    # Of what every stage computes alone, on one chip.
    for stage in report.stages:
        alone = runtime.estimate(binary, stage.program_index, "wormhole_b0", (1, 1))
        assert stage.compute_ns == pytest.approx(4 * alone.device_ns)


def test_more_micro_batches_leave_smaller_bubbles():
    def deep(b):
        @b.func([(2048, 1024)], [F32])
        def f(x, b):
            for _ in range(8):
                x = b.softmax(x, dimension=1)
            return x

    bubbles = [
        runtime.estimate(binary_of(deep, f"pipeline-stages=4 micro-batches={count}"), 0, "wormhole_b0", (1, 4)).bubble
        for count in (1, 4, 16)
    ]
    assert bubbles == sorted(bubbles, reverse=True) and bubbles[0] >= 0.75 and bubbles[-1] < 0.4


def test_the_builder_compiles_stages(capsys):
    path = compile_ttir_to_flatbuffer(mlp, pipeline_options=OPTIONS)[1]
    for command in ("run", "perf"):
        assert main([command, path, "--json", "report.json"]) == 0
        shown = capsys.readouterr().out
        assert "f_stage_1" in shown and "2 micro-batches, bubble" in shown
        (program,) = json.loads(Path("report.json").read_text())["programs"]
        assert [stage["mesh_offset"] for stage in program["stages"]] == [[0, 0], [0, 1]]
        assert 0 < program["bubble"] < 1 and program["micro_batches"] == 2


def test_ttrt_has_goldens_of_a_batch(capsys):
    """Compares outputs, and the ops of all stages."""
    path = compile_ttir_to_flatbuffer(mlp, pipeline_options=OPTIONS)[1]
    assert main(["run", path, "--golden", "--ops"]) == 0
    shown = capsys.readouterr().out
    rows = re.findall(r"(ttnn\.\w+|output_0) .*?(64x\d+)\S* .* 1\.000000 .* ok\n", shown)
    assert rows == [
        ("ttnn.linear", "64x128"),
        ("ttnn.matmul", "64x96"),
        ("ttnn.softmax", "64x96"),
        ("ttnn.add", "64x96"),
        ("output_0", "64x96"),
    ], shown


def test_a_wrong_value_of_one_micro_batch_is_found(monkeypatch):
    """The second micro-batch has another value than its golden."""
    watch = OpWatcher.results

    def results(self, program, op):
        found = watch(self, program, op)
        if op.name.endswith("softmax") and self.values.get(runtime.get_op_source(op)):
            found[0][0][3] = 5.0
        return found

    monkeypatch.setattr(OpWatcher, "results", results)
    with pytest.raises(TTBuilderGoldenException, match="softmax"):
        compile_and_execute_ttir(mlp, pipeline_options=OPTIONS, enable_intermediate_verification=True)


def test_a_page_shows_what_stages_send(capsys):
    path = compile_ttir_to_flatbuffer(mlp, mesh_dict={"x": 2, "y": 2}, pipeline_options=OPTIONS)[1]
    assert main(["read", path, "--mesh", "--json", "--html", "mesh.html"]) == 0
    (program,) = [p for p in json.loads(capsys.readouterr().out)["programs"] if p["name"] == "f"]
    first, last = program["ops"]
    assert (first["runs"], last["runs"]) == (["f_stage_0"], ["f_stage_1"])
    # A row of chips sends to the one below: two chips, two micro-batches of what the first stage gives.
    size = first["sends"][0]["bytes"]
    assert [(send["route"], send["bytes"]) for send in first["sends"]] == [([0, 1], size), ([2, 3], size)]
    assert program["links"] == [{"from": a, "to": b, "bytes": size} for a, b in ((0, 1), (2, 3))]
    report = runtime.estimate(rt.binary.load_binary_from_path(path), 0, "wormhole_b0", (2, 2))
    assert program["device_ns"] == report.device_ns
    assert 2 * size == report.stages[0].sent_bytes and not last["sends"]
    assert "f_stage_0" in Path("mesh.html").read_text()


def test_goldens_of_a_batch_are_those_of_its_micro_batches():
    report = compile_and_execute_ttir(mlp, pipeline_options=OPTIONS, enable_intermediate_verification=True)
    (program,) = report.programs
    values = {record.op: record.shape for record in program.records if record.kind == "intermediate"}
    assert values["ttir.matmul"] == (64, 96) and len(values) >= 4, "of all micro-batches"


def test_stages_of_several_chips():
    """Each stage has two chips, on which its program runs alike."""
    binary = binary_of(mlp, "pipeline-stages=2 micro-batches=2 mesh-shape=2,2")
    stages = json.loads(binary.as_json())["programs"][0]["pipeline"]["stages"]
    assert [(stage["mesh_shape"], stage["mesh_offset"]) for stage in stages] == [([2, 1], [0, 0]), ([2, 1], [0, 1])]
    values = inputs_of(binary)
    expected = run(binary_of(mlp), values)[0]
    torch.testing.assert_close(run(binary, values)[0], expected, rtol=1e-5, atol=1e-6)


SPLIT = """sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @main(%x: tensor<8x64xf32>, %u: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
                %d: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x64xf32> {
  %0 = stablehlo.dot_general %x, %u, contracting_dims = [1] x [0]
    : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %1 = stablehlo.tanh %0 : tensor<8x32xf32>
  %2 = stablehlo.dot_general %1, %d, contracting_dims = [1] x [0]
    : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  %3 = stablehlo.tanh %2 : tensor<8x64xf32>
  return %3 : tensor<8x64xf32>
}"""


@pytest.mark.parametrize("mesh", [(2, 2), (1, 4)])
def test_a_program_that_is_split_over_the_chips_of_a_stage(mesh):
    """Its sums go over the chips of a row, however the stages lie."""
    with ir.Context():
        module = ir.Module.parse(SPLIT)
        passes.stablehlo_pipeline(module)
        passes.stablehlo_to_ttir_pipeline(module)
        passes.ttir_to_ttnn_backend_pipeline(module, f"mesh-shape={mesh[0]},{mesh[1]} pipeline-stages=2")
        binary = rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module))
    generator = torch.Generator().manual_seed(3)
    x, u, d = (torch.rand(shape, generator=generator) - 0.5 for shape in [(8, 64), (64, 32), (32, 64)])
    options = runtime.MeshDeviceOptions()
    options.mesh_shape = mesh
    with runtime.open_mesh_device(options) as device:
        shards = [dict(enumerate(value.chunk(2, dim))) for value, dim in ((u, 1), (d, 0))]
        given = [create_tensor({0: x}, (1, 1))]
        given += [create_tensor({k: v.contiguous() for k, v in each.items()}, (1, 2)) for each in shards]
        (found,) = fetched(runtime.submit(device, binary, 0, given)[0])
        stages = [tuple(stage.mesh_shape) for stage in runtime.last_run(device).stages]
    assert stages == [(1, 2), (1, 2)]
    torch.testing.assert_close(found, torch.tanh(torch.tanh(x @ u) @ d), rtol=1e-5, atol=1e-5)


ROWS_AND_COLUMNS = """sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%x: tensor<16x64xf32> {ttcore.argument_type = #ttcore.argument_type<input>},
                %u: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
                %d: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<16x64xf32> {
  %s = sdy.sharding_constraint %x <@mesh, [{"x"}, {}]> : tensor<16x64xf32>
  %0 = stablehlo.dot_general %s, %u, contracting_dims = [1] x [0]
    : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  %1 = stablehlo.tanh %0 : tensor<16x32xf32>
  %2 = stablehlo.dot_general %1, %d, contracting_dims = [1] x [0]
    : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
  %3 = stablehlo.tanh %2 : tensor<16x64xf32>
  return %3 : tensor<16x64xf32>
}"""


@pytest.mark.parametrize("count", [1, 2, 4])
def test_micro_batches_of_a_program_that_is_split_over_the_chips_of_a_stage(count):
    """Rows over the chips of a column, weights over those of a row: each chip has its rows of every micro-batch."""
    with ir.Context():
        module = ir.Module.parse(ROWS_AND_COLUMNS)
        passes.stablehlo_pipeline(module)
        passes.stablehlo_to_ttir_pipeline(module)
        passes.ttir_to_ttnn_backend_pipeline(module, f"mesh-shape=2,4 pipeline-stages=2 micro-batches={count}")
        binary = rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module))
    generator = torch.Generator().manual_seed(3)
    x, u, d = (torch.rand(shape, generator=generator) - 0.5 for shape in [(16, 64), (64, 32), (32, 64)])
    options = runtime.MeshDeviceOptions()
    options.mesh_shape = (2, 4)
    with runtime.open_mesh_device(options) as device:
        shards = [dict(enumerate(list(value.chunk(2, dim)) * 2)) for value, dim in ((u, 1), (d, 0))]
        given = [create_tensor({0: x}, (1, 1))]
        given += [create_tensor({k: v.contiguous() for k, v in each.items()}, (2, 2)) for each in shards]
        (found,) = fetched(runtime.submit(device, binary, 0, given)[0])
        report = runtime.last_run(device)
    assert [tuple(stage.mesh_shape) for stage in report.stages] == [(2, 2), (2, 2)]
    assert report.micro_batches == count
    torch.testing.assert_close(found, torch.tanh(torch.tanh(x @ u) @ d), rtol=1e-5, atol=1e-5)
