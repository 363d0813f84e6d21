# SPDX-License-Identifier: Apache-2.0
"""Tenstorrent's own tools read what the profiler writes."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import torch
from builder.base.builder_apis import Operand, compile_and_execute_ttir
from builder.ttir.ttir_builder import TTIRBuilder
from profiler.ops_table import device_operation, sizes
from profiler.profiler import trace
from profiler.recorder import OpRecord, TensorRecord

TOOLS = Path(sys.prefix) / "chip-tools"


def network(builder: TTIRBuilder):
    @builder.func([(2, 100, 256), (256, 512), (1, 512)], [torch.bfloat16] * 3)
    def model(x: Operand, w: Operand, b: Operand, builder: TTIRBuilder):
        hidden = builder.gelu(builder.add(builder.matmul(x, w), b))
        return builder.sum(builder.softmax(builder.transpose(hidden, 1, 2), 2), [2])


def table(path: str | Path) -> list[dict[str, str]]:
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def report(path: str | Path, *options: str) -> str:
    command = [sys.executable, "-c", "from tt_perf_report.perf_report import main; main()", str(path), *options]
    paths = os.pathsep.join([str(TOOLS), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths})
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout + done.stderr


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
    tensor = TensorRecord((2, 3, 33, 5), "f32", "tile", "dram", "interleaved", ())
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
        return sizes(TensorRecord(shape, "f32", layout, "dram", "interleaved", ()))

    assert of(()) == ["1[1]", "1[1]", "32[1]", "32[1]"]
    assert of((5,)) == ["1[1]", "1[1]", "32[1]", "32[5]"]
    assert of((2, 3, 4, 33, 64)) == ["6[6]", "4[4]", "64[33]", "64[64]"]
    assert of((0, 7), "row_major") == ["1[1]", "1[1]", "0[0]", "7[7]"]
