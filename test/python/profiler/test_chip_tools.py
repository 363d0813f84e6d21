# SPDX-License-Identifier: Apache-2.0
"""Tenstorrent's own tools read what the profiler writes."""

from __future__ import annotations

import csv
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from builder.base.builder_apis import Operand, compile_and_execute_ttir
from builder.ttir.ttir_builder import TTIRBuilder
from profiler.ops_table import device_operation, sizes
from profiler.profiler import trace
from profiler.records import OpRecord, TensorRecord

TOOLS = Path(sys.prefix) / "chip-tools"


def network(builder: TTIRBuilder):
    @builder.func([(2, 100, 256), (256, 512), (1, 512)], [torch.bfloat16] * 3)
    def model(x: Operand, w: Operand, b: Operand, builder: TTIRBuilder):
        hidden = builder.gelu(builder.add(builder.matmul(x, w), b))
        return builder.sum(builder.softmax(builder.transpose(hidden, 1, 2), 2), [2])


def table(path: str | Path) -> list[dict[str, str]]:
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def with_tools(program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(TOOLS), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths, "APP_DATA_DIRECTORY": str(Path.cwd() / "visualizer")}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done


def report(path: str | Path, *options: str) -> str:
    done = with_tools("from tt_perf_report.perf_report import main; main()", path, *options)
    return done.stdout + done.stderr


# Prints what the visualizer's server answers to its pages.
VISUALIZER = """
import json, os, sys
os.makedirs(os.environ["APP_DATA_DIRECTORY"])
from ttnn_visualizer.app import create_app
from ttnn_visualizer.instances import create_instance_from_local_paths
folder, *pages = sys.argv[1:]
app = create_app()
with app.app_context():
    instance = create_instance_from_local_paths(profiler_path=folder, performance_path=folder).instance_id
client = app.test_client()
answers = {page: client.get(f"/api/{page}?instanceId={instance}") for page in pages}
print("ANSWERS" + json.dumps({page: [a.status_code, a.get_json()] for page, a in answers.items()}))
"""


def visualized(folder: str | Path, *pages: str) -> dict[str, Any]:
    """Returns the data that the pages of ttnn-visualizer get for a folder."""
    answers = json.loads(with_tools(VISUALIZER, folder, *pages).stdout.partition("ANSWERS")[2])
    assert {page: code for page, (code, _) in answers.items()} == dict.fromkeys(pages, 200)
    return {page: body for page, (_, body) in answers.items()}


def test_the_report_on_ops():
    with trace("log") as tracing:
        compile_and_execute_ttir(network)
    lines = table("log/ops_perf_results.csv")
    program = tracing.recorder.snapshot()[0][0]
    timed = [op for op in program.ops if op.device_ns]
    assert len(lines) == len(timed)
    matmul = next(line for line in lines if line["OP CODE"] == "MatmulDeviceOperation")
    assert matmul["INPUT_0_Y_PAD[LOGICAL]"] in ("100[100]", "128[100]", "224[200]", "200[200]")
    assert matmul["INPUT_1_DATATYPE"] == "BFLOAT16" and matmul["INPUT_1_MEMORY"] == "DEV_0_DRAM_INTERLEAVED"
    for line, op in zip(lines, timed, strict=True):
        took = int(line["OP TO OP LATENCY [ns]"]) + int(line["DEVICE KERNEL DURATION [ns]"])
        assert abs(took - op.device_ns) <= 1
        assert 1 <= int(line["CORE COUNT"]) <= int(line["AVAILABLE WORKER CORE COUNT"]) == 64

    text = report("log/ops_perf_results.csv", "--no-color", "--no-advice")
    assert "Worker cores: 64" in text and f"{len(timed)} device ops, 0 host ops" in text
    assert "Warning: Unclassified operation" not in text
    advice = report("log/ops_perf_results.csv", "--no-color")
    assert "Matmul Optimization" in advice and "input 0 in L1" in advice
    report("log/ops_perf_results.csv", "--no-color", "--csv", "out.csv")
    found = table("out.csv")
    assert [row["OP Code"].split()[0] for row in found if row["OP Code"]] == [line["OP CODE"] for line in lines]
    kernel = sum(int(line["DEVICE KERNEL DURATION [ns]"]) for line in lines) / 1000
    assert abs(sum(float(row["Device Time"]) for row in found if row["Device Time"]) - kernel) < 0.01 * kernel


def test_the_report_on_a_convolution():
    def convolution(builder: TTIRBuilder):
        @builder.func([(1, 16, 16, 64), (96, 64, 3, 3)], [torch.bfloat16] * 2)
        def model(x: Operand, w: Operand, builder: TTIRBuilder):
            return builder.conv2d(x, w, stride=[2, 2], padding=[1, 1], dilation=[1, 1], groups=1)

    with trace("log"):
        compile_and_execute_ttir(convolution)
    (line,) = (line for line in table("log/ops_perf_results.csv") if line["OP CODE"] == "Conv2dDeviceOperation")
    assert (line["INPUT_1_Y_PAD[LOGICAL]"], line["INPUT_1_X_PAD[LOGICAL]"]) == ("576[576]", "96[96]")
    assert (
        line["INPUT_1_MEMORY"] == "DEV_0_DRAM_INTERLEAVED" and "window_hw=(3;3); stride_hw=(2;2)" in line["ATTRIBUTES"]
    )
    report("log/ops_perf_results.csv", "--no-color", "--csv", "out.csv")
    (row,) = (row for row in table("out.csv") if row["OP Code"].startswith("Conv2d"))
    # Rows of the result, values of a window, channels of the result.
    assert "Conv2dDeviceOperation 64 x 576 x 96 " in row["OP Code"] and float(row["FLOPs"]) > 0


def test_the_visualizer_opens_the_folder():
    with trace("log") as tracing:
        compile_and_execute_ttir(network)
    program = tracing.recorder.snapshot()[0][0]
    softmax = next(op for op in program.ops if op.name == "ttnn.softmax")
    one = f"operations/{softmax.index}"
    pages = ("operations", "tensors", "operation-buffers", "devices", "performance/perf-results/report", one)
    found = visualized("log", *pages)

    assert [op["name"] for op in found["operations"]] == [op.name for op in program.ops]
    line = network.__code__.co_firstlineno + 4
    assert f'{Path(__file__).name}", line {line}\n' in found[one]["stack_trace"]
    assert [tensor["shape"] for tensor in found[one]["inputs"]] == [f"Shape({list(softmax.inputs[0].shape)})"]
    nodes = [(node["node_type"], node["params"]) for node in found[one]["device_operations"]]
    assert [params["name"] for kind, params in nodes if kind == "function_start"] == ["SoftmaxDeviceOperation"]
    sizes = [int(params["size"]) for kind, params in nodes if kind == "circular_buffer_allocate"]
    assert len(sizes) > 6 and sum(sizes) == softmax.circular_buffers

    # During an op, its operands and results are allocated, at the addresses of their tensors, and none of them overlap.
    tensors = {tensor["id"]: tensor for tensor in found["tensors"]}
    for op, buffers in zip(program.ops, found["operation-buffers"], strict=True):
        spans = sorted((b["buffer_type"], b["address"], b["address"] + b["size"]) for b in buffers["buffers"])
        for (kind, _, end), (other, start, _) in itertools.pairwise(spans):
            assert kind != other or end <= start
        held = {(b["buffer_type"], b["address"]) for b in buffers["buffers"]}
        for tensor in (*op.inputs, *op.outputs):
            if op.device_ns and tensor.buffer_type != "system_memory":
                assert (tensors[tensor.value]["buffer_type"], tensors[tensor.value]["address"]) in held
    (device,) = found["devices"]
    assert (device["num_x_cores"], device["num_compute_cores"]) == (8, 64)
    timed = [device_operation(op) for op in program.ops if op.device_ns]
    assert [row["op_code"].split()[0] for row in found["performance/perf-results/report"]["report"]] == timed


def test_sharded_tensors_and_failed_runs_in_a_report():
    def sharded(builder: TTIRBuilder):
        @builder.func([(256, 256)], [torch.bfloat16])
        def model(x: Operand, builder: TTIRBuilder):
            return builder.exp(builder.softmax(x, 1, loc="first"))

    with trace("log") as tracing:
        compile_and_execute_ttir(sharded, pipeline_options=["override-output-layout=first=8x1:l1:height_sharded"])
        tracing.recorder.add_failure(0, 1, "Error: no")
    program = tracing.recorder.snapshot()[0][0]
    placed = {t.value: t for op in program.ops for t in (*op.inputs, *op.outputs) if t.grid}
    assert placed, "the option shards the intermediate value"
    for tensor in visualized("log", "tensors")["tensors"]:
        if record := placed.get(tensor["id"]):
            assert tensor["memory_config"]["memory_layout"].lower().endswith(record.memory_layout)
            assert tensor["memory_config"]["shard_spec"]["shape"] == list(record.shard_shape)


def test_a_trace_of_nothing():
    with trace("log"):
        pass
    assert visualized("log", "operations", "tensors") == {"operations": [], "tensors": []}


def test_chips_of_a_mesh_have_lines_of_their_own():
    def everywhere(builder: TTIRBuilder):
        @builder.func([(64, 64)], [torch.float32])
        def model(x: Operand, builder: TTIRBuilder):
            return builder.exp(x)

    with trace("log"):
        compile_and_execute_ttir(everywhere, mesh_dict={"x": 1, "y": 2})
    lines = [line for line in table("log/ops_perf_results.csv") if line["OP CODE"] == "UnaryDeviceOperation"]
    assert [line["DEVICE ID"] for line in lines] == ["0", "1"]
    assert len({line["GLOBAL CALL COUNT"] for line in lines}) == 1
    assert "2 devices" in report("log/ops_perf_results.csv", "--no-color")


def record(name: str, family: str, tensors: int) -> OpRecord:
    tensor = TensorRecord(0, (2, 3, 33, 5), "f32", "tile", "dram", "interleaved", (), ())
    values = {field: 0 for field in OpRecord.__dataclass_fields__}
    return OpRecord(**values | {"name": name, "family": family, "inputs": (tensor,) * tensors})


def test_names_of_device_operations():
    expected = {
        ("ttnn.exp", "elementwise", 1): "UnaryDeviceOperation",
        ("ttnn.add", "elementwise", 2): "BinaryNgDeviceOperation",
        ("ttnn.where", "elementwise", 3): "TernaryDeviceOperation",
        ("ttnn.linear", "product", 3): "MatmulDeviceOperation",
        ("ttnn.mean", "reduction", 1): "ReduceDeviceOperation",
        ("ttnn.rms_norm", "norm", 2): "LayerNormDeviceOperation",
        ("ttnn.max_pool2d", "pool", 1): "Pool2D",
        ("ttnn.scaled_dot_product_attention", "attention", 3): "SDPAOperation",
        ("ttnn.concat", "data movement", 2): "ConcatDeviceOperation",
    }
    assert {key: device_operation(record(*key)) for key in expected} == expected


def test_sizes_of_any_rank():
    def of(shape: tuple[int, ...], layout: str = "tile") -> list[str]:
        return sizes(TensorRecord(0, shape, "f32", layout, "dram", "interleaved", (), ()))

    assert of(()) == ["1[1]", "1[1]", "32[1]", "32[1]"]
    assert of((5,)) == ["1[1]", "1[1]", "32[1]", "32[5]"]
    assert of((2, 3, 4, 33, 64)) == ["6[6]", "4[4]", "64[33]", "64[64]"]
    assert of((0, 7), "row_major") == ["1[1]", "1[1]", "0[0]", "7[7]"]
