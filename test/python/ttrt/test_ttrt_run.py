"""ttrt run and ttrt perf: results, reports, messages and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest
import torch

PERF_OP = {
    "name", "loc", "host_ns", "device_cycles", "device_ns", "dram_bytes", "l1_bytes", "fabric_bytes",
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
    "unknown kind": (["ONE", "--inputs", "in.txt"], "in.txt: expected a .npz, .npy, .pt or .pth file"),
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
    "arch and board": (["ONE", "--mesh", "p150", "--arch", "wormhole_b0"], "--mesh p150 is made of blackhole chips"),
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


def test_a_stack_trace_only_when_asked_for(ttrt):
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
    assert "ttnn.matmul" in found.out and "host time" in found.out
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
    assert ttrt("perf", files.two, "--estimate", "--by-op").out.count("ttnn.matmul") == 1
