# SPDX-License-Identifier: Apache-2.0
"""ttrt run and ttrt perf: results, reports, messages and exit codes."""

from __future__ import annotations

import collections
import csv
import io
import json
import logging
import math
import re
import sys
from pathlib import Path

import _ttmlir_runtime as rt
import numpy
import pytest
import torch
from ttmlir import ir, passes
from ttrt.input_arguments import INITIALIZERS

PERF_OP = {
    "name", "loc", "host_ns", "device_cycles", "device_ns", "uncertainty_ns", "kind", "kernel_programs", "bound",
    "dram_bytes", "l1_bytes", "fabric_bytes", "circular_buffer_bytes",
}  # fmt: skip


def report_of(path: str | Path) -> dict:
    return json.loads(Path(path).read_text())


def test_runs_every_program_and_says_what_it_took(ttrt, files):
    found = ttrt("run", files.two, "--golden")
    assert found.code == 0, found.err
    assert "main(tensor<33x65xf32>, tensor<1x17xf32>)" in found.out
    assert "tensor<33x17xf32>" in found.out
    assert "other(tensor<32x32xbf16>)" in found.out
    assert "wall time" in found.out
    assert "device time, estimated" in found.out
    assert "memory high-water, bytes per bank: DRAM" in found.out
    assert found.err == ""


def test_report_as_json(ttrt, files, tmp_path):
    found = ttrt("run", files.two, "--golden", "--loops", "3", "--json", "report.json")
    assert found.code == 0, found.err
    report = report_of(tmp_path / "report.json")
    assert report["passed"] and report["arch"] == "wormhole_b0" and report["mesh_shape"] == [1, 1]
    assert [p["name"] for p in report["programs"]] == ["main", "other"]
    for program in report["programs"]:
        assert program["loops"] == 3
        assert program["wall_ns"]["least"] <= program["wall_ns"]["median"]
        assert program["device_cycles"] > 0 and program["device_ns"] > 0
        assert program["memory_peak_bytes_per_bank"]["DRAM"] > 0
        for output in program["outputs"]:
            assert output["pcc"] > 0.999 and output["passed"] and output["problem"] is None


def test_json_alone_on_standard_output(ttrt, files):
    found = ttrt("run", files.one, "--json", "-")
    assert found.code == 0
    assert json.loads(found.out)["programs"][0]["outputs"][0]["pcc"] is None


def test_inputs_by_name_and_outputs_to_a_file(ttrt, files, tmp_path):
    numpy.savez("in.npz", input_0=numpy.arange(6).reshape(2, 3), arg1=numpy.full((2, 3), 10))
    found = ttrt("run", files.one, "--inputs", "in.npz", "--save-outputs", "out.pt", "--program", "add")
    assert found.code == 0, found.err
    expected = torch.arange(10, 16, dtype=torch.int32).reshape(2, 3)
    assert torch.equal(torch.load(tmp_path / "out.pt")["output_0"], expected)
    torch.save([torch.ones(2, 3, dtype=torch.int32)] * 2, "in.pt")
    assert ttrt("run", files.one, "--inputs", "in.pt", "--save-outputs", "out.npz").code == 0
    assert (numpy.load("out.npz")["add.output_0"] == 2).all()


def test_the_seed_decides_the_inputs(ttrt, files):
    for name, seed in (("a.pt", "1"), ("b.pt", "1"), ("c.pt", "2")):
        assert ttrt("run", files.one, "--seed", seed, "--save-outputs", name).code == 0
    a, b, c = (torch.load(name)["add.output_0"] for name in ("a.pt", "b.pt", "c.pt"))
    assert torch.equal(a, b) and not torch.equal(a, c)


def test_random_inputs_are_values_that_the_ops_accept(ttrt, files):
    for seed in range(5):
        assert ttrt("run", files.logarithm, "--seed", str(seed), "--save-outputs", "log.pt").code == 0
        assert torch.load("log.pt")["log.output_0"].isfinite().all()


def test_on_a_mesh(ttrt, files):
    found = ttrt("run", files.mesh, "--golden")
    assert found.code == 0, found.err


def test_a_program_by_index(ttrt, files):
    found = ttrt("run", files.two, "--program", "1")
    assert found.code == 0 and "other(" in found.out and "main(" not in found.out


def test_a_result_that_is_not_near_enough(ttrt, files):
    found = ttrt("run", files.two, "--golden", "--program", "main", "--atol", "0", "--rtol", "0")
    assert found.code == 1
    assert found.err.startswith("ttrt run: outputs differ from their goldens: ")
    assert "outside of the tolerance" in found.err


MISTAKES = {
    "no such file": (["nosuch.ttnn"], "nosuch.ttnn: No such file or directory"),
    "a folder": (["."], ".: Is a directory"),
    "no such program": (["TWO", "--program", "third"], "no program 'third'; there are: 0 main, 1 other"),
    "inputs for several": (["TWO", "--inputs", "x.npz"], "--inputs are for one program; choose one of main, other by"),
    "no input file": (["ONE", "--inputs", "nosuch.npz"], "nosuch.npz: No such file or directory"),
    "unknown kind": (["ONE", "--inputs", "in.txt"], "in.txt: expected a .npz, .npy, .safetensors, .pt or .pth file"),
    "damaged": (["ONE", "--inputs", "damaged.npz"], "damaged.npz: not readable as .npz: "),
    "missing input": (
        ["ONE", "--inputs", "first.npz"],
        'nothing for input 1 (named arg1 or input_1 or arr_1 or 1); the program "add" takes: '
        "arg0 tensor<2x3xsi32>, arg1 tensor<2x3xsi32>",
    ),
    "unknown input": (["ONE", "--inputs", "third.npz"], 'no input named "x1"; the program "add" takes: '),
    "wrong shape": (["ONE", "--inputs", "shape.npz"], "shape.npz: input_1 has shape [3, 2], the program takes [2, 3]"),
    "unknown output kind": (["ONE", "--save-outputs", "out.txt"], "out.txt: expected a .npz, .pt or .pth file"),
    "tolerance alone": (["ONE", "--atol", "1"], "--atol and --rtol judge a golden check; give --golden as well"),
    "arch and board": (["ONE", "--mesh", "p150", "--arch", "wormhole_b0"], "--mesh p150 consists of blackhole chips"),
    "another arch": (["ONE", "--arch", "blackhole"], "was compiled for wormhole_b0, but device"),
    "another mesh": (["MESH", "--mesh", "2x2"], "was compiled for a mesh of 1x2, but device"),
}  # fmt: skip


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes(ttrt, files, what):
    """One line that says what was wrong, exit code 1, no stack trace, nothing written."""
    two_by_three = numpy.ones((2, 3), dtype=numpy.int32)
    numpy.savez("first.npz", input_0=two_by_three)
    numpy.savez("third.npz", input_0=two_by_three, input_1=two_by_three, x1=two_by_three)
    numpy.savez("shape.npz", input_0=two_by_three, input_1=two_by_three.T)
    Path("damaged.npz").write_bytes(b"PK\x03\x04 not a zip")
    Path("in.txt").write_text("1 2 3")
    before = sorted(p.name for p in Path().iterdir())
    arguments, message = MISTAKES[what]
    paths = {"ONE": files.one, "TWO": files.two, "MESH": files.mesh}
    found = ttrt("run", *(paths.get(a, a) for a in arguments))
    assert found.code == 1, found.out
    assert found.err.startswith("ttrt run: ") and message in found.err
    assert found.err.count("\n") == 1
    assert sorted(p.name for p in Path().iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: FILE.ttnn"),
        (["ONE", "--loops", "0"], "'0' is no positive number"),
        (["ONE", "--mesh", "2by2"], "'2by2' is no mesh; expected ROWSxCOLUMNS like 2x4, or one of n150, "),
        (["ONE", "--arch", "quantum"], "'quantum' is not simulated; expected one of wormhole_b0, blackhole"),
        (["ONE", "--nosuch"], "unrecognized arguments: --nosuch"),
    ],
)
def test_wrong_usage(ttrt, files, arguments, message):
    found = ttrt("run", *(files.one if a == "ONE" else a for a in arguments))
    assert found.code == 2 and message in found.err


def test_a_stack_trace_only_when_requested(ttrt):
    assert "Traceback" not in ttrt("run", "nosuch.ttnn").err
    assert "Traceback" in ttrt("run", "nosuch.ttnn", "--debug").err


@pytest.mark.parametrize("kept", [0, 3, 100, 1000, -1])
def test_a_truncated_file(ttrt, files, kept):
    data = Path(files.two).read_bytes()
    Path("cut.ttnn").write_bytes(data[:kept])
    for command in ("run", "read", "perf"):
        found = ttrt(command, "cut.ttnn")
        assert found.code == 1 and found.err.startswith(f"ttrt {command}: ") and "cut.ttnn" in found.err


def test_perf(ttrt, files, tmp_path):
    found = ttrt("perf", files.two, "--program", "main", "--json", "perf.json")
    assert found.code == 0, found.err
    assert "ttnn.softmax" in found.out and "host time" in found.out
    report = report_of(tmp_path / "perf.json")
    ops = report["programs"][0]["ops"]
    assert report["executed"] and all(set(op) == PERF_OP for op in ops)
    assert sum(op["host_ns"] for op in ops) > 0


def test_perf_without_running(ttrt, files):
    found = ttrt("perf", files.two, "--estimate", "--by-op", "--sort", "device", "--json", "-")
    assert found.code == 0, found.err
    report = json.loads(found.out)
    assert not report["executed"]
    assert all(program["device_cycles"] > 0 for program in report["programs"])
    text = ttrt("perf", files.two, "--estimate", "--by-op").out
    assert text.count("ttnn.softmax") == 1
    assert text.count("without a trace") == len(report["programs"])
    totals = [line for line in text.splitlines() if line.startswith("device time, estimated")]
    assert len(totals) == len(report["programs"]) and all("±" in line for line in totals)


def test_estimates_say_how_far_they_may_be_off(ttrt, files):
    report = json.loads(ttrt("perf", files.two, "--estimate", "--json", "-").out)
    kinds = rt.runtime.estimate_uncertainties()
    host = rt.runtime.chip_figures("wormhole_b0")["host_ns_per_program"]
    for program in report["programs"]:
        by_kind = collections.Counter()
        for op in program["ops"]:
            assert op["uncertainty_ns"] == pytest.approx(op["device_ns"] * kinds[op["kind"]])
            by_kind[op["kind"]] += op["uncertainty_ns"]
            assert (op["kernel_programs"] > 0) == (op["device_ns"] > 0)
        assert program["uncertainty_ns"] == pytest.approx(math.hypot(*by_kind.values()))
        assert 0 < program["uncertainty_ns"] < program["device_ns"]
        assert program["untraced_host_ns"] == host * program["kernel_programs"] > 0
        assert program["untraced_ns"] == max(program["device_ns"], program["untraced_host_ns"])


# ---------------------------------------------------------------------- inside of a run


def with_debug_ops(builder):
    @builder.func([(33, 65)], [torch.float32])
    def looked_at(x, builder):
        y = builder.breakpoint(builder.exp(x))
        y = builder.memory_snapshot(y, "memory.json")
        builder.dump(y, "y.pt")
        builder.print(y, "exp")
        return builder.neg(y)


@pytest.fixture
def debugged(flatbuffer) -> str:
    return flatbuffer(with_debug_ops)


def test_debug_ops_act(ttrt, debugged, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with caplog.at_level(logging.WARNING, "builder.debug"):
        found = ttrt("run", debugged, "--golden", "--save-outputs", "out.pt", "--loops", "3")
    assert found.code == 0, found.err
    assert found.out.startswith("exp: [33, 65] torch.float32\n") and found.out.count("exp: ") == 1
    (record,) = caplog.records
    assert "PCC 1.000000" in record.message and record.message.endswith("going on")
    value = torch.load(tmp_path / "y.pt")
    assert torch.equal(-value, torch.load(tmp_path / "out.pt")["looked_at.output_0"])
    assert json.loads((tmp_path / "memory.json").read_text())["value"]["op"] == "ttnn.exp"


def test_debug_ops_can_be_passed_over(ttrt, debugged, tmp_path, caplog):
    found = ttrt("run", debugged, "--no-debug-ops")
    assert found.code == 0 and "exp: " not in found.out and not caplog.records
    assert not (tmp_path / "memory.json").exists()


def test_output_is_not_part_of_json(ttrt, debugged):
    found = ttrt("run", debugged, "--json", "-")
    assert json.loads(found.out)["passed"] and "exp: [33, 65]" in found.err


def test_every_op_compared_with_its_golden(ttrt, files):
    report = json.loads(ttrt("run", files.two, "--golden", "--ops", "--json", "-").out)
    ops = report["programs"][0]["ops_checked"]
    assert "ttnn.softmax" in {op["op"] for op in ops}
    assert all(op["passed"] and op["pcc"] > 0.999 and op["location"] for op in ops)
    shown = ttrt("run", files.two, "--golden", "--ops")
    assert "ops of main" in shown.out and "ttnn.softmax" in shown.out


def test_memory_after_every_op(ttrt, files):
    report = json.loads(ttrt("run", files.one, "--memory", "--json", "-").out)
    (entry,) = report["programs"][0]["memory"]
    assert entry["op"] == "ttnn.add" and entry["memories"]["DRAM"]["allocated_bytes_per_bank"] > 0
    assert entry["circular_buffer_bytes"] == 6 * 4096  # two tiles of each tensor
    shown = ttrt("run", files.one, "--memory").out
    assert "allocated after each op of add" in shown and "circular buffers" in shown


def test_nothing_is_left_allocated(ttrt, files):
    for file in (files.two, files.one, files.mesh):
        found = ttrt("run", file, "--check-memory-leak")
        assert found.code == 0, found.err


@pytest.mark.parametrize("init", INITIALIZERS)
def test_ways_to_make_inputs(ttrt, files, init, tmp_path):
    found = ttrt("run", files.two, "--program", "other", "--init", init, "--save-outputs", "out.pt", "--golden")
    assert found.code == 0, found.err
    values = torch.load(tmp_path / "out.pt")["output_0"].float()
    if init == "zeros":
        assert (values == 1).all()
    elif init == "ones":
        assert torch.allclose(values, torch.tensor(2.718), atol=0.01)
    elif init == "rand":
        assert values.min() >= 1 and values.max() <= 2.72
    elif init == "arange":
        assert values[0, 0] == 1 and values[0, 1] > 2.7


def test_identity_and_non_zero(ttrt, flatbuffer):
    def same(builder):
        @builder.func([(2, 3)], [torch.float32])
        def same(x, builder):
            return builder.relu(x)

    path = flatbuffer(same)
    assert ttrt("run", path, "--identity", "--init", "rand").code == 0
    found = ttrt("run", path, "--identity", "--pcc", "0.999999", "--atol", "0.01", "--topk", "2")
    assert found.code == 1
    assert 'ttrt run: not as demanded: "output_0" of "same": PCC 0.' in found.err
    assert "largest differences of output_0" in found.out
    assert ttrt("run", path, "--non-zero", "--init", "ones").code == 0
    found = ttrt("run", path, "--non-zero", "--init", "zeros")
    assert found.code == 1 and '"output_0" of "same": all elements are zero' in found.err


def test_tensors_are_printed(ttrt, files):
    found = ttrt("run", files.one, "--init", "ones", "--print-tensors")
    assert "input_1:\n[[1 1 1]\n [1 1 1]]\n" in found.out and "output_0:\n[[2 2 2]\n [2 2 2]]\n" in found.out


def test_artefacts(ttrt, files, tmp_path):
    assert ttrt("run", files.two, "--golden", "--ops", "--memory", "--save-artifacts").code == 0
    folder = tmp_path / "ttrt-artifacts" / "two_programs"
    names = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert {"module.mlir", "run_results.json", "main/input_0.pt", "main/input_1.pt", "main/output_0.pt",
            "main/golden_0.pt", "main/memory.json", "other/output_0.pt"} <= names  # fmt: skip
    assert any(name.startswith("main/op_") for name in names)
    assert torch.load(folder / "main/output_0.pt").shape == (33, 17)
    (folder / "main/stale.pt").write_text("")
    assert ttrt("run", files.two, "--save-artifacts", "--clean-artifacts").code == 0
    assert not (folder / "main/stale.pt").exists()


def test_only_folders_of_artefacts_are_cleaned(ttrt, files, tmp_path):
    (tmp_path / "two_programs").mkdir()
    (tmp_path / "two_programs" / "thesis.txt").write_text("")
    found = ttrt("run", files.two, "--clean-artifacts", "--artifact-dir", ".")
    assert found.code == 1 and "--clean-artifacts: two_programs has no run_results.json" in found.err
    assert (tmp_path / "two_programs" / "thesis.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ops"], "--ops extends the golden check; give --golden as well"),
        (
            ["--identity", "--golden"],
            "--identity compares outputs with inputs and --golden with goldens; give one of them",
        ),
        (["--inputs", "x.npz", "--init", "ones"], "--inputs gives values and --init makes them; give one of them"),
        (["--atol", "1"], "--atol and --rtol judge a golden check; give --golden as well"),
    ],
)
def test_options_that_do_not_go_together(ttrt, files, arguments, message):
    assert ttrt("run", files.one, *arguments).err == f"ttrt run: {message}\n"


def test_perf_of_some_ops_with_a_trace(ttrt, files, tmp_path):
    found = ttrt("perf", files.two, "--filter", "softmax", "--trace", "traced", "--program-index", "0")
    assert found.code == 0, found.err
    assert "ttnn.softmax" in found.out and "ttnn.constant" not in found.out
    assert {p.name for p in (tmp_path / "traced").iterdir()} > {"report.html", "trace.json", "ops.csv", "db.sqlite"}
    assert "give one of them" in ttrt("perf", files.two, "--trace", "x", "--estimate").err


def test_perf_writes_the_table_of_the_chips_tools(ttrt, files, tmp_path):
    ttrt("perf", files.two, "--loops", "2", "--csv", "ops.csv", "--program-index", "0")
    with (tmp_path / "ops.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert len({row["GLOBAL CALL COUNT"] for row in table}) == len(table) > 0
    assert {row["OP TYPE"] for row in table} == {"tt_dnn_device"}
    assert "give one of them" in ttrt("perf", files.two, "--csv", "x", "--estimate").err
    assert "--csv: cannot write nowhere/x: No such" in ttrt("perf", files.two, "--csv", "nowhere/x").err


# ---------------------------------------------------------------------- check


def test_check(ttrt, files, tmp_path):
    assert ttrt("check", files.two).out == f"{files.two}: 2 programs, fits\n"
    for path in (files.mesh, files.blackhole):
        assert ttrt("check", path).code == 0
    assert ttrt("query", "--save-artifacts", "--quiet").code == 0
    description = "ttrt-artifacts/system_desc.ttsys"
    assert ttrt("check", files.two, "--system-desc", description).code == 0
    found = ttrt("check", files.blackhole, "--system-desc", description)
    assert found.code == 1
    assert found.err == f"ttrt check: {files.blackhole}: compiled for blackhole, the machine has wormhole_b0\n"
    report = json.loads(ttrt("check", files.mesh, "--mesh", "1x1", "--json").out)
    assert report["problems"] == ['"meshed" is for a mesh of 1x2, the machine has 1x1'] and not report["fits"]
    text = Path(description).read_text().replace("l1_size = 1499136", "l1_size = 1048576")
    Path("small.ttsys").write_text(text)
    assert "compiled for l1_size 1499136, the machine has 1048576" in ttrt(
        "check", files.two, "--system-desc", "small.ttsys").err  # fmt: skip
    assert "none.ttsys: No such file or directory" in ttrt("check", files.two, "--system-desc", "none.ttsys").err
    Path("wrong.ttsys").write_text("nothing")
    assert "does not hold a #ttcore.system_desc" in ttrt("check", files.two, "--system-desc", "wrong.ttsys").err


def test_check_finds_programs_without_room(ttrt, tmp_path):
    """A kernel with an operand in L1, which needs 4 MiB of it on one core."""
    cores = "<[#ttnn.core_range<(0,0), (0,0)>]>"
    text = f"""
#l1 = #ttnn.buffer_type<l1>
#large = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32x!ttcore.tile<32x32, f32>, #l1>, <block_sharded>,
                           core_ranges = {cores}>
func.func @main(%x: tensor<1024x1024xf32, #large>) -> tensor<1024x1024xf32, #large> {{
  "ttnn.generic"(%x) <{{operandSegmentSizes = array<i32: 1, 0>, program = #ttnn.program<
    kernels = [#ttnn.source_read_kernel<source = "void kernel_main() {{}}", core_ranges = {cores}, ct_args = [],
                                        common_rt_args = [], rt_args = []>], cbs = [], semaphores = []>}}>
    : (tensor<1024x1024xf32, #large>) -> ()
  return %x : tensor<1024x1024xf32, #large>
}}"""
    path = tmp_path / "large.ttnn"
    module = ir.Module.parse(text, ir.Context())
    passes.run_pass(module, "ttcore-register-device")
    path.write_bytes(passes.ttnn_to_flatbuffer_bin(module))
    found = ttrt("check", str(path))
    assert found.code == 1
    assert re.search(
        r"op \d+ \(ttnn\.generic\).*: operand \d needs 4194304 bytes of L1 on each core, which has \d+ of \d+ left "
        "after the operands before it; put operands into DRAM, or spread them over more cores",
        found.err,
    )
    report = json.loads(ttrt("check", str(path), "--json").out)
    assert not report["fits"] and len(report["problems"]) == 1


@pytest.mark.parametrize(
    "name, message",
    [
        ("net.mlir", "net.mlir: is a module, not a flatbuffer; `ttmlir-opt --ttir-to-ttnn-backend-pipeline"),
        ("net.py", "net.py: is a Python program, not a flatbuffer; `python` runs it"),
        ("net.cpp", "net.cpp: is a C++ program, not a flatbuffer; docs/emitted-code.md says how to compile it"),
        ("net.txt", 'expected "TTNN" (is it a TTNN flatbuffer?)'),
    ],
)
def test_a_file_that_is_no_flatbuffer(ttrt, name, message):
    Path(name).write_text("this is no flatbuffer, whatever it is\n")
    assert message in ttrt("run", name).err


@pytest.mark.parametrize("value", ["2", "-1.5", "high", "nan"])
def test_correlations_that_there_are_not(ttrt, files, value):
    assert f"'{value}' is no number from -1 to 1" in ttrt("run", files.two, f"--pcc={value}").err
