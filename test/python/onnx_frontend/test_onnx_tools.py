# SPDX-License-Identifier: Apache-2.0
"""ONNX files on the command line: ttmlir-import-onnx, ttrt run and ttrt compare."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
import ttmlir.onnx as tt
from onnx import TensorProto, helper, numpy_helper
from ttmlir import ir, passes
from ttmlir.onnx.command import main as import_onnx
from ttmlir.onnx.goldens import Judge, compared, random_inputs
from ttrt.__main__ import main as ttrt

BIN = Path(__file__).resolve().parents[3] / "build" / "bin"

MATRIX = np.random.default_rng(0).standard_normal((16, 32), np.float32)


def product(batch: int | str = "batch") -> onnx.ModelProto:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="product"),
        helper.make_node("Relu", ["a"], ["y"], name="positive"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 16])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 32])
    graph = helper.make_graph(nodes, "net", [x], [y], [numpy_helper.from_array(MATRIX, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(autouse=True)
def file() -> None:
    onnx.save(product(), "net.onnx")


@pytest.mark.parametrize("level", ["stablehlo", "ttir", "ttnn"])
@pytest.mark.parametrize("weights", ["beside", "inside"])
def test_modules(level: str, weights: str) -> None:
    arguments = ["net.onnx", "-o", "net.mlir", "--sizes", "batch=4", "--level", level, "--weights", weights]
    assert import_onnx(arguments) == 0
    assert Path("net.safetensors").is_file() == (weights == "beside")
    with ir.Context():
        module = ir.Module.parse(Path("net.mlir").read_text())
        if level == "stablehlo":
            passes.stablehlo_to_ttir_pipeline(module)
        if level != "ttnn":
            passes.ttir_to_ttnn_backend_pipeline(module)
        assert passes.ttnn_to_flatbuffer_bin(module)


def test_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert import_onnx(["net.onnx", "--sizes", "batch=4"]) == 0
    said = capsys.readouterr().out
    assert "stablehlo.dot_general" in said and 'loc("product")' in said
    assert import_onnx(["net.onnx", "--describe"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "net.onnx", "  opset ai.onnx 17", "  input x: float32[batch, 16]", "  output y: float32[batch, 32]",
        "  1 MatMul", "  1 Relu",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["net.onnx"], "net.onnx: a module has fixed sizes; give batch by --sizes, or write a .ttnn"),
        (["net.onnx", "--sizes", "n=4"], "net.onnx: sizes has 'n', which no dimension is called; known: batch"),
        (["none.onnx"], "none.onnx: no such file"),
        (["net.onnx", "-o", "net.txt"], "save to net.txt: suffix '.txt'; known: .ttnn, .mlir"),
        (["net.onnx", "-o", "none/net.mlir", "--sizes", "batch=4"], "none/net.mlir: No such file or directory"),
    ],
)
def test_errors(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert import_onnx(arguments) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"ttmlir-import-onnx: {text}") and said.err.count("\n") == 1


def test_the_package_onnx_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("ttmlir.onnx.model.importlib.util.find_spec", lambda name: None)
    assert import_onnx(["net.onnx"]) == 1
    said = capsys.readouterr().err
    assert said == "ttmlir-import-onnx: ONNX models need the package onnx: pip install 'ttmlir[onnx]'\n"


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("batch", "batch=", "=3", "batch=2:3:4", "batch=x"):
        with pytest.raises(SystemExit) as caught:
            import_onnx(["net.onnx", "--sizes", text])
        assert caught.value.code == 2
        assert f"'{text}' is no size; expected name=4 or name=2:64" in capsys.readouterr().err


def test_open_sizes_in_a_flatbuffer() -> None:
    assert import_onnx(["net.onnx", "-o", "net.ttnn", "--weights", "inside", "--sizes", "batch=2:64"]) == 0
    x = np.random.default_rng(1).standard_normal((5, 16)).astype(np.float32)
    np.save("x.npy", x)
    assert ttrt(["run", "net.ttnn", "--sizes", "batch=5", "--init", "x=x.npy", "--save-outputs", "out.npz"]) == 0
    np.testing.assert_allclose(np.load("out.npz")["main.output_0"], np.maximum(x @ MATRIX, 0), rtol=1e-4, atol=1e-5)


def test_ttrt_runs_and_compares(capsys: pytest.CaptureFixture[str]) -> None:
    assert ttrt(["run", "net.onnx", "--sizes", "batch=4", "--golden", "--ops"]) == 0
    capsys.readouterr()
    assert ttrt(["compare", "net.onnx", "--sizes", "batch=4"]) == 0
    said = capsys.readouterr().out
    assert "product" in said and "MatMul" in said and "2 values agree" in said
    np.savez("in.npz", x=np.ones((3, 16), np.float32))
    assert ttrt(["compare", "net.onnx", "--inputs", "in.npz", "--json", "report.json"]) == 0
    report = json.loads(Path("report.json").read_text())
    assert report["equal"] and [(v["node"], v["op"], v["shape"]) for v in report["values"]] == [
        ("product", "MatMul", [3, 32]), ("positive", "Relu", [3, 32]),
    ]  # fmt: skip
    capsys.readouterr()
    assert ttrt(["compare", "net.onnx"]) == 1
    assert capsys.readouterr().err == "ttrt compare: net.onnx: size batch is not known; give batch=N\n"


@pytest.mark.parametrize("by", ["onnxruntime", "reference"])
def test_goldens(by: str) -> None:
    pytest.importorskip(by.replace("reference", "onnx"))
    model = tt.load("net.onnx")
    inputs = random_inputs(model, {"batch": 3})
    found, rows = compared(model, inputs, by)
    assert found == by and [row.problem for row in rows] == ["", ""]
    assert all(row.error is not None and row.error < 1e-4 for row in rows)
    _, rows = compared(model, inputs, by, Judge(atol=0, rtol=0))
    assert all(row.problem.startswith("differs by") for row in rows if row.error)


def test_difference_is_found() -> None:
    judge = Judge(pcc=0.99)
    x = np.linspace(-1, 1, 64, dtype=np.float32)
    assert judge.problem(x, x)[0] == ""
    assert judge.problem(x, -x)[0] == "correlates by -1.0000"
    assert judge.problem(x, x.astype(np.float16))[0] == "is of float32, its golden of float16"
    assert judge.problem(x[:3], x)[0] == "has the shape [3], its golden [64]"
    assert judge.problem(np.where(x > 0.9, np.float32(np.nan), x), x)[0] == "NaN at other places"
    assert Judge(atol=1e-3).problem(x + np.float32(0.01), x)[0].startswith("differs by 0.01")
    assert judge.problem(np.array([1, 2]), np.array([1, 3]))[0] == "differs by 1"


def test_ttmlir_opt_says_what_imports() -> None:
    done = subprocess.run([BIN / "ttmlir-opt", "net.onnx"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        "net.onnx: is an ONNX file, not a module; `ttmlir-import-onnx net.onnx -o model.mlir` makes one of it\n"
    )
