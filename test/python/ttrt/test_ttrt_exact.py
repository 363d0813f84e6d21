# SPDX-License-Identifier: Apache-2.0
"""ttrt compare --exact: a program by default, with the chip's arithmetic, and its goldens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ttmlir import ir, passes
from ttrt.__main__ import main

TEXT = """
module {
  func.func @main(%x: tensor<32x256xbf16>, %w: tensor<256x64xbf16>, %b: tensor<32x64xbf16>) -> tensor<32x64xbf16> {
    %0 = "ttir.matmul"(%x, %w) : (tensor<32x256xbf16>, tensor<256x64xbf16>) -> tensor<32x64xbf16>
    %1 = "ttir.add"(%0, %b) : (tensor<32x64xbf16>, tensor<32x64xbf16>) -> tensor<32x64xbf16>
    %2 = "ttir.exp"(%1) : (tensor<32x64xbf16>) -> tensor<32x64xbf16>
    return %2 : tensor<32x64xbf16>
  }
}
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    source = tmp_path / "net.mlir"
    source.write_text(TEXT)
    with ir.Context():
        module = ir.Module.parse(TEXT)
        passes.ttir_to_ttnn_backend_pipeline(module, "")
        passes.ttnn_to_flatbuffer_file(module, str(tmp_path / "net.ttnn"))
    return {"mlir": str(source), "ttnn": str(tmp_path / "net.ttnn")}


def report(path: str, tmp_path: Path, *more: str, code: int = 0) -> dict[str, Any]:
    out = tmp_path / "report.json"
    assert main(["compare", path, "--exact", "--json", str(out), *more]) == code
    return json.loads(out.read_text())


@pytest.mark.parametrize("kind", ["mlir", "ttnn"])
def test_three_ways(kind: str, files: dict[str, str], tmp_path: Path) -> None:
    found = report(files[kind], tmp_path)
    assert found["equal"]
    values = {v["name"]: v for v in found["values"]}
    assert {"ttnn.matmul", "ttnn.add", "ttnn.exp", "output_0"} <= values.keys()
    for name in ("ttnn.matmul", "ttnn.add", "ttnn.exp", "output_0"):
        value = values[name]
        assert value["default"]["pcc"] > 0.999 and value["exact"]["pcc"] > 0.999
        # Of sums of 256 products some are rounded otherwise, and few by more than a last place.
        assert 0 < value["differing_share"] < 0.9 and 0 < value["relative_rms"] < 2**-7
    assert values["output_0"]["differing_share"] == values["ttnn.exp"]["differing_share"]


def test_output(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", files["mlir"], "--exact"]) == 0
    said = capsys.readouterr().out
    assert "default and exact compared with goldens and with each other" in said
    assert "relative RMS" in said and "ttnn.exp" in said and "net.mlir:5" in said


def test_outputs_decide(files: dict[str, str], tmp_path: Path) -> None:
    found = report(files["mlir"], tmp_path, "--atol", "0", "--rtol", "0", code=1)
    assert not found["equal"]
    output = next(v for v in found["values"] if v["kind"] == "output")
    assert not output["exact"]["passed"]


def test_wrong_use(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    expected = "compare takes two files, or one and --passes or --exact"
    for more in ([files["ttnn"], "--exact"], ["--passes", "cse", "--exact"]):
        assert main(["compare", files["mlir"], *more]) == 1
        assert expected in capsys.readouterr().err
