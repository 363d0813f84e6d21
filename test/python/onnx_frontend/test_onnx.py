# SPDX-License-Identifier: Apache-2.0
"""ONNX files compiled for the chip: a small network, and what is wrong with others."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
import ttmlir.onnx as tt
from onnx import TensorProto, helper, numpy_helper

WEIGHT = np.random.default_rng(0).standard_normal((4, 3, 3, 3), np.float32)
OUT = np.random.default_rng(1).standard_normal((4 * 8 * 8, 5), np.float32)


def network(path: str, batch: int | str | None = 2, op: str = "Relu", opset: int = 17) -> None:
    """conv 3x3, an op, flatten, product with a matrix, softmax."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node(op, ["a"], ["b"]),
        helper.make_node("Flatten", ["b"], ["c"]),
        helper.make_node("MatMul", ["c", "m"], ["d"]),
        helper.make_node("Softmax", ["d"], ["y"], axis=1),
    ]
    weights = [numpy_helper.from_array(WEIGHT, "w"), numpy_helper.from_array(OUT, "m")]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, 8, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 5])
    graph = helper.make_graph(nodes, "net", [x], [y], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)


def expected(x: torch.Tensor) -> torch.Tensor:
    a = torch.relu(torch.nn.functional.conv2d(x, torch.from_numpy(WEIGHT), padding=1))
    return torch.softmax(a.flatten(1) @ torch.from_numpy(OUT), 1)


@pytest.mark.long
def test_a_network() -> None:
    network("net.onnx")
    compiled = tt.compile("net.onnx")
    x = torch.rand(2, 3, 8, 8)
    torch.testing.assert_close(compiled(x), expected(x), rtol=1e-4, atol=1e-5)
    assert "ttnn.conv2d" in compiled.ttnn
    assert [p.suffix for p in compiled.save("net.ttnn")] == [".ttnn", ".safetensors"]


def test_dimensions_with_names() -> None:
    network("net.onnx", batch="batch")
    with pytest.raises(tt.OnnxError, match="sizes has 'length', which no dimension is called"):
        tt.compile("net.onnx", sizes={"batch": 1, "length": 3})
    x = torch.rand(3, 3, 8, 8)
    for compiled in (tt.compile("net.onnx", sizes={"batch": 3}), tt.compile("net.onnx", [x])):
        torch.testing.assert_close(compiled(x), expected(x), rtol=1e-4, atol=1e-5)


def test_a_dimension_without_size_and_name() -> None:
    network("net.onnx", batch=None)
    with pytest.raises(tt.OnnxError, match=r"net\.onnx: input x: dimension 0 has neither a size nor a name; give"):
        tt.compile("net.onnx")


def test_by_torch_compile() -> None:
    network("net.onnx")
    model = tt.load("net.onnx")
    x = torch.rand(2, 3, 8, 8)
    with torch.no_grad():
        got = torch.compile(model, backend="tt", fullgraph=True)(x)
    torch.testing.assert_close(got, expected(x), rtol=1e-4, atol=1e-5)


def test_what_is_no_model() -> None:
    Path("text.onnx").write_text("no model")
    with pytest.raises(tt.OnnxError, match=r"text\.onnx: no valid ONNX model: "):
        tt.compile("text.onnx")
    with pytest.raises(FileNotFoundError, match=r"missing\.onnx: no such file"):
        tt.compile("missing.onnx")
    network("det.onnx", op="Mish", opset=18)
    with pytest.raises(tt.OnnxError, match=r"det\.onnx: op Mish of opset 18 has no converter in onnx2torch"):
        tt.compile("det.onnx")


@pytest.mark.parametrize(
    ("name", "option"),
    [("m.tflite", "--tflite m.tflite"), ("m.pb", "--graphdef m.pb"), ("saved", "--saved-model saved")],
)
def test_tensorflow_is_told_how_to_export(name: str, option: str) -> None:
    Path("saved").mkdir()
    Path("saved/saved_model.pb").write_bytes(b"x")
    with pytest.raises(tt.OnnxError, match=f"is TensorFlow's; export it as StableHLO.*tf2onnx.convert {option} "):
        tt.compile(name)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "onnx2torch" else found(name, *a))
    with pytest.raises(tt.OnnxError, match=r"need the package onnx2torch: pip install 'ttmlir\[onnx\]'"):
        tt.load("x.onnx")


def test_importing_needs_no_package() -> None:
    program = "import sys, ttmlir.onnx; print(any(m in sys.modules for m in ('torch', 'onnx', 'onnx2torch')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_page_lists_the_ops() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "onnx.md").read_text(encoding="utf-8")
    listed = page.partition("## Ops")[2].replace("`", "").replace("\n", " ")
    for name, versions in tt.operators().items():
        assert f"{name} {', '.join(map(str, versions))};" in listed, f"docs/onnx.md lacks: {name} {versions}"
