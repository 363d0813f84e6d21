# SPDX-License-Identifier: Apache-2.0
"""`python -m builder.sharding`: what it prints and writes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from builder.sharding import estimate_on_mesh, plot_speed_up
from builder.sharding.__main__ import main

PRODUCT = """module { func.func @main(%x: tensor<8192x512xf32>, %w: tensor<512x512xf32>) -> tensor<8192x512xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8192x512xf32>, tensor<512x512xf32>) -> tensor<8192x512xf32>
  return %0 : tensor<8192x512xf32>
} }"""
# One row: only columns can be split, and the second product's sums must be combined.
ROW = """module { func.func @main(%x: tensor<1x4096xf32>, %u: tensor<4096x8192xf32>, %d: tensor<8192x4096xf32>)
    -> tensor<1x4096xf32> {
  %0 = stablehlo.dot_general %x, %u, contracting_dims = [1] x [0]
    : (tensor<1x4096xf32>, tensor<4096x8192xf32>) -> tensor<1x8192xf32>
  %1 = stablehlo.dot_general %0, %d, contracting_dims = [1] x [0]
    : (tensor<1x8192xf32>, tensor<8192x4096xf32>) -> tensor<1x4096xf32>
  return %1 : tensor<1x4096xf32>
} }"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "product.mlir"
    path.write_text(PRODUCT)
    return str(path)


def test_choice(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "split.mlir"
    assert main([file, "--mesh", "2x4", "--ops", "--output", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "mesh 2x4, room for 12,884,889,600 bytes on a chip" in printed
    for variant in ("chosen", "data_parallel", "tensor_parallel", "no_sharding"):
        assert f"\n{variant} " in printed
    assert 'argument 0: #sdy.sharding<@mesh, [{"x", "y"}, {}]>' in printed
    assert "stablehlo.dot_general: " in printed
    assert '[{"x", "y"}, {}]' in out.read_text()


@pytest.mark.long
def test_meshes(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "curve.svg"
    assert main([file, "--meshes", "1x1,1x2,2x4", "--plot", str(picture)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["mesh", "1x1", "1x2", "2x4"]
    assert picture.read_text().lstrip().startswith("<?xml")


def test_chips_with_too_little_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "large.mlir"
    path.write_text(PRODUCT.replace("8192x512", "8388608x512"))
    assert main([str(path), "--meshes", "1x1"]) == 1
    assert "error: out of DRAM" in capsys.readouterr().err


def test_estimates() -> None:
    one, four = (estimate_on_mesh(ROW, mesh) for mesh in ((1, 1), (1, 4)))
    assert one.sent_bytes == 0 and one.collectives_share == 0
    # A quarter of the matrices in memory, and some of the time for the sums.
    assert four.time_ns < one.time_ns and four.dram_bytes < 0.3 * one.dram_bytes
    assert four.sent_bytes > 0 and 0 < four.collectives_share < 1


def test_estimate_of_the_search_is_that_of_the_program() -> None:
    """The search counts ops of StableHLO, the clock those that run: launches apart, it comes to the same."""
    for text in (PRODUCT.replace("8192", "65536").replace("512", "2048"), ROW.replace("8192", "32768")):
        for mesh in ((1, 2), (2, 4)):
            found = estimate_on_mesh(text, mesh)
            assert found.time_ns == pytest.approx(found.choice.chosen.time_ns, rel=0.25)


def test_plot_is_a_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "curve.png"
    plot_speed_up([estimate_on_mesh(PRODUCT, mesh) for mesh in ((1, 1), (1, 2))], str(path))
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "error: the module has no mesh; expected mesh_shape"),
        (["--plot", "x.svg"], "error: --plot is of --meshes; give both"),
    ],
)
def test_refused(file: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([file, *arguments]) == 1
    assert capsys.readouterr().err.strip() == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mesh", "0x4"], "'0x4' is no mesh; expected ROWSxCOLUMNS like 2x4"),
        (["--meshes", "1x2,2"], "'2' is no mesh; expected ROWSxCOLUMNS like 2x4"),
        (["--dram-bytes", "0"], "'0' is no number of bytes; expected 1 or more"),
    ],
)
def test_wrong_usage(file: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([file, *arguments])
    assert message in capsys.readouterr().err


def test_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["none.mlir", "--mesh", "1x2"]) == 1
    assert "No such file or directory" in capsys.readouterr().err
