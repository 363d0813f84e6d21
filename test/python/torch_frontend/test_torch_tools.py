# SPDX-License-Identifier: Apache-2.0
"""The tools over models: metrics that tests record, the table of models, the tracer and its report."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import collect_metrics
import generate_report
import pytest
import run_transformers
import stat_models
import torch
import torch_zoo
from torch import nn
from torch_stat import Call, MissingTraceError, Tracer, read_calls, write_report
from torch_stat.tracer import TensorInfo
from ttmlir.torch.metrics import Metrics, accuracy, measure


class Partly(nn.Module):
    """One op that the chip lacks, in the middle."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.matrix_exp(torch.relu(x @ x.T) - torch.eye(3)) + 1


def test_metrics_count_ops_graphs_and_transfers() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    with torch.no_grad():
        found = measure("net", model.eval(), torch.rand(3, 4), seconds=0.01)
    assert found.success and found.accuracy == pytest.approx(100.0, abs=1e-4)
    assert found.ops == {"aten.addmm.default": 2, "aten.relu.default": 1, "aten.t.default": 2}
    assert (found.on_host, found.graphs, found.backward_graphs) == ({}, 1, 0)
    assert found.transfers == 2  # the input and the result: weights stay
    assert found.original_ms and found.compiled_ms and found.first_ms > found.compiled_ms


def test_metrics_name_what_pytorch_runs() -> None:
    with pytest.warns(UserWarning, match="PyTorch runs what the chip has no op for"):
        found = measure("partly", Partly(), (torch.rand(3, 3),), seconds=0.01)
    assert found.on_host["aten.linalg_matrix_exp.default"] == 1
    assert found.ops["aten.relu.default"] == 1 and found.success
    assert "| aten.linalg_matrix_exp.default | ✘" in collect_metrics.conversion(found)


def test_metrics_of_training_have_the_backward_graph_and_leave_no_gradients() -> None:
    model, inputs = torch_zoo.make("Mnist (Train)", small=True)
    found = measure("Mnist (Train)", model, inputs, seconds=0.01)
    assert (found.graphs, found.backward_graphs) == (1, 1)
    assert "aten.convolution_backward.default" in found.ops
    assert found.accuracy == pytest.approx(100.0, abs=1e-4)  # dropout draws the same numbers
    assert all(p.grad is None for p in model.parameters())


def test_metrics_of_a_model_that_fails_say_why() -> None:
    def fails(x: torch.Tensor) -> torch.Tensor:
        return x + (1 if not torch.compiler.is_compiling() else torch.ones(7))

    found = measure("fails", fails, torch.rand(3), seconds=0.01)
    assert not found.success and "7" in found.error and found.compiled_ms is None


@pytest.mark.parametrize(
    ("expected", "found", "percent"),
    [
        ([torch.tensor([1.0, 2.0])], [torch.tensor([1.0, 2.0])], 100.0),
        ([torch.tensor([1.0, 2.0])], [torch.tensor([2.0, 1.0])], 0.0),
        ([torch.tensor([1, 2, 3, 4])], [torch.tensor([1, 2, 3, 5])], 75.0),
        ([torch.ones(3)], [torch.ones(3)], 100.0),
        ([torch.ones(3)], [torch.full((3,), 2.0)], 0.0),
        ([torch.tensor([1.0, float("nan")])], [torch.tensor([1.0, 2.0])], 0.0),
        ([torch.tensor(1.5)], [torch.tensor(1.5)], 100.0),
        ([torch.empty(0)], [torch.empty(0)], 100.0),
        ([torch.ones(2)], [torch.ones(3)], 0.0),
        ([torch.ones(2)], [], 0.0),
    ],
)
def test_accuracy(expected: Any, found: Any, percent: float) -> None:
    assert accuracy(expected, found) == pytest.approx(percent)


def test_metrics_files(tmp_path: Path) -> None:
    path = Metrics("a/b", {"aten.add.Tensor": 2}, accuracy=99.5).save(tmp_path)
    assert path == tmp_path / "a" / "b.json" and Metrics.load(path).ops == {"aten.add.Tensor": 2}
    path.write_text('{"model": "m", "speed": 3}')
    with pytest.raises(ValueError, match=r"b\.json: field 'speed' is not known; known: accuracy, "):
        Metrics.load(path)
    path.write_text("[]")
    with pytest.raises(ValueError, match=r"b\.json: has no field 'model'"):
        Metrics.load(path)
    path.write_text("{")
    with pytest.raises(ValueError, match=r"b\.json: not JSON"):
        Metrics.load(path)


def test_the_table_of_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collect_metrics.main(["--metrics", "metrics"]) == 1
    assert "metrics: no metrics; tests that record models write them, or --run" in capsys.readouterr().err
    Metrics("Another", error="RuntimeError: no\nmore").save(Path("metrics"))
    assert collect_metrics.main(["--metrics", "metrics", "--small", "--run", "Mnist (Eval)"]) == 0
    text = Path("metrics/README.md").read_text()
    first, second = text.splitlines()[6:8]
    assert first.startswith("| Mnist (Eval) | ✅") and "| 14 (8)" in first and "| 0 (0)" in first
    assert second.startswith("| Another      | ✘") and second.count("N/A") == 5
    assert "| aten.convolution.default" in text and "\nRuntimeError: no\n" in text
    with Path("metrics/metrics.csv").open() as file:
        assert [row["Model"] for row in csv.DictReader(file)] == ["Mnist (Eval)", "Another"]
    assert Path("metrics/run_time.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SystemExit):
        collect_metrics.main(["--run", "gpt3"])
    assert "no model 'gpt3'; there are BERT" in capsys.readouterr().err


@pytest.mark.long
def test_the_tracer_and_its_report(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(MissingTraceError, match="stat/raw: no graphs"):
        write_report(Path("stat"))
    words = ["--trace_orig", "--backward", "--profile", "--small", "--models", "Mnist (Train)"]
    assert stat_models.main(words) == 0
    assert sorted(str(p) for p in Path("stat/raw").rglob("*.json")) == [
        "stat/raw/Mnist_Train/bw_0.json",
        "stat/raw/Mnist_Train/fw_0.json",
    ]
    Path("stat/raw/Mnist_Train/fw_1.json").write_text("[]")
    assert stat_models.main(words) == 0 and not Path("stat/raw/Mnist_Train/fw_1.json").exists(), "of an earlier run"
    assert json.loads(Path("stat/profile/Mnist_Train.json").read_text())["traceEvents"]
    calls = list(read_calls(Path("stat"), "fw"))
    relu = next(call for call in calls if call.op_type == "aten.relu.default")
    assert relu == Call("aten.relu.default", *[(TensorInfo((2, 32, 26, 26), "float32"),)] * 2)
    assert generate_report.main([]) == 0
    with Path("stat/fw_node_count.csv").open() as file:
        counts = {row["op_type"]: int(row["count"]) for row in csv.DictReader(file)}
    assert counts["aten.relu.default"] == 3 and sum(counts.values()) == len(calls)
    with Path("stat/fw_total_output_size_dist/aten.relu.default.csv").open() as file:
        sizes = {int(row["bytes"]): int(row["calls"]) for row in csv.DictReader(file)}
    assert sizes == {2 * 32 * 26 * 26 * 4: 1, 2 * 64 * 24 * 24 * 4: 1, 2 * 128 * 4: 1}
    assert Path("stat/bw_total_input_size_dist/aten.convolution_backward.default.png").stat().st_size
    Path("stat/raw/Mnist_Train/fw_0.json").write_text('[{"op": 3}]')
    assert generate_report.main(["--no-plots"]) == 1
    assert "fw_0.json: no graph of the tracer: KeyError: 'inputs'" in capsys.readouterr().err


def test_sizes_of_tensors_without_elements_or_dimensions() -> None:
    assert TensorInfo((), "float64").nbytes == 8 and TensorInfo((0, 3), "int64").nbytes == 0


def test_a_graph_break_is_two_graphs(tmp_path: Path) -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        torch._dynamo.graph_break()
        return y * 2

    with Tracer("a/b c", tmp_path) as tracer:
        torch.compile(broken, backend=tracer.backend)(torch.rand(2))
    assert [f.name for f in tracer.files] == ["fw_0.json", "fw_1.json"]
    assert tracer.files[0].parent.name == "a_b_c"
    assert measure("broken", broken, torch.rand(2), seconds=0.01).graphs == 2


@pytest.mark.long
def test_training_batch_norms_breaks_no_graph(tmp_path: Path) -> None:
    files = stat_models.trace("ResNet18", tmp_path, profile=False, small=True)
    assert [file.name for file in files] == ["fw_0.json", "bw_0.json"]


@pytest.mark.long
def test_transformers_from_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch_zoo.make("facebook/deit-base-patch16-224", small=True)[0].save_pretrained("deit")
    assert run_transformers.main(["--model", "./deit", "--metrics", "metrics"]) == 0
    printed = capsys.readouterr().out
    assert "left to PyTorch: none" in printed and "accuracy 100.0000 %" in printed
    assert Metrics.load(Path("metrics/deit.json")).graphs == 1
    assert run_transformers.main(["--model", "./deit", "--backend", "torch_stat"]) == 0
    assert Path("stat/raw/deit/fw_0.json").stat().st_size
    assert run_transformers.main(["--model", "./nothing-here"]) == 1
    assert "run_transformers: ./nothing-here: " in capsys.readouterr().err


#
# The plugin of pytest
#

PLUGIN = """
import pytest, torch

def fails(x):
    return x + (1 if not torch.compiler.is_compiling() else torch.ones(7))

def net(x):
    return torch.relu(x) + 1

def record(record_property, model, name="net", value=None):
    record_property("model_name", name)
    record_property("torch_ttnn", (model, torch.rand(3), None) if value is None else value)

def test_runs(record_property):
    record(record_property, net)

def test_without_a_model(record_property):
    record_property("model_name", "none")

def test_fails(record_property):
    record(record_property, fails)

@pytest.mark.compilation_xfail(reason="sizes")
def test_is_expected_to_fail(record_property):
    record(record_property, fails)

@pytest.mark.compilation_xfail
def test_runs_all_the_same(record_property):
    record(record_property, net, "other")

@pytest.mark.compilation_xfail(strict=True)
def test_must_not_run(record_property):
    record(record_property, net)

@pytest.mark.compilation_xfail
def test_of_pytorch_fails(record_property):
    record(record_property, net)
    raise ValueError("of the test")

def test_without_a_name(record_property):
    record(record_property, net, name="")

def test_is_no_tuple(record_property):
    record(record_property, net, value=(1, 2))
"""


@pytest.mark.long
def test_the_plugin(tmp_path: Path) -> None:
    Path("test_user.py").write_text(PLUGIN)
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "--strict-markers", "--junitxml=report.xml", "test_user.py"]
    command += ["--rootdir=.", "-p", "no:cacheprovider", "--torch-ttnn-metrics=found"]
    wide = {**os.environ, "COLUMNS": "300"}
    done = subprocess.run(command, capture_output=True, text=True, env=wide, check=False)
    assert "5 failed, 3 passed, 1 xfailed" in done.stdout, done.stdout + done.stderr
    for line in (
        "PASSED test_user.py::test_runs",
        "PASSED test_user.py::test_runs_all_the_same",
        "XFAIL test_user.py::test_is_expected_to_fail - sizes",
        "FAILED test_user.py::test_fails - Failed: net: the compiled model fails: ",
        "FAILED test_user.py::test_of_pytorch_fails - ValueError: of the test",
    ):
        assert line in done.stdout, done.stdout
    for text in ("strict=True does not expect", "'model_name', ...) is ''; expected the model's name",
                 "'torch_ttnn', ...) is a 2-tuple; expected (model, inputs, outputs)"):  # fmt: skip
        assert text in done.stdout
    assert sorted(path.name for path in Path("found").iterdir()) == ["net.json", "other.json"]
    report = Path("report.xml").read_text()
    assert '<property name="graphs" value="1"' in report and "function net" not in report


def test_scripts_say_how_they_are_used(capsys) -> None:
    for tool in (stat_models, generate_report, run_transformers, collect_metrics):
        with pytest.raises(SystemExit) as stopped:
            tool.main(["--help"])
        assert stopped.value.code == 0 and f"tools/{tool.__name__}.py" in capsys.readouterr().out


@pytest.mark.long
def test_scripts_are_programs() -> None:
    for tool in (stat_models, generate_report, run_transformers, collect_metrics):
        assert os.access(tool.__file__, os.X_OK)
    done = subprocess.run([sys.executable, generate_report.__file__, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "tools/generate_report.py" in done.stdout
