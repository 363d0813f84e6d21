# SPDX-License-Identifier: Apache-2.0
"""Files with open sizes on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from ttmlir import ir
from ttmlir.chips import lower
from ttmlir.sizes import Size, open_flatbuffer

TEXT = """
func.func @main(%x: tensor<{0}x8xf32>, %y: tensor<{0}x8xf32>) -> tensor<{1}xf32> {{
  %0 = "ttir.add"(%x, %y) : (tensor<{0}x8xf32>, tensor<{0}x8xf32>) -> tensor<{0}x8xf32>
  %1 = "ttir.reshape"(%0) <{{shape = [{1} : i32]}}> : (tensor<{0}x8xf32>) -> tensor<{1}xf32>
  return %1 : tensor<{1}xf32>
}}
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def lower_at(point: tuple[int, ...]) -> ir.Module:
        module = ir.Module.parse(TEXT.format(point[0], 8 * point[0]), ir.Context())
        lower(module, "")
        return module

    path = tmp_path_factory.mktemp("sizes") / "rows.ttnn"
    path.write_bytes(open_flatbuffer(lower_at, [Size("rows", 2, 500)]))
    return path


def ttrt(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ttrt", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_read_lists_sizes(rows: Path) -> None:
    assert "size rows       2 to 500" in ttrt("read", rows).stdout
    (size,) = json.loads(ttrt("read", rows, "--json").stdout)["version"]["open_sizes"]
    assert (size["name"], size["least"], size["most"]) == ("rows", 2, 500)
    assert 2 <= size["written"] <= 500


@pytest.mark.parametrize("command", ["run", "perf"])
def test_sizes_are_chosen(rows: Path, command: str) -> None:
    done = ttrt(command, rows, "--sizes", "rows=7", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert "tensor<56xf32>" in ttrt("run", rows, "--sizes", "rows=7").stdout


def test_sizes_that_are_wrong(rows: Path) -> None:
    for given, expected in {
        "rows=501": "size rows is 501; expected 2 to 500",
        "rows=1": "size rows is 1; expected 2 to 500",
        "columns=4": 'has no open size "columns"; expected one of rows',
        "rows": "'rows' is no size; expected NAME=N",
        "rows=4,rows=5": "expected NAME=N, and each name once",
        "rows=-4": "'rows=-4' is no size",
        "rows=": "'rows=' is no size; expected NAME=N",
        "rows=7.0": "'rows=7.0' is no size; expected NAME=N",
        "rows=9999999999999999999": "'rows=9999999999999999999' is no size; a size is at most 17592186044416",
        f"rows={'9' * 5000}": "is no size; a size is at most 17592186044416",
        "rows=17592186044416": "size rows is 17592186044416; expected 2 to 500",
    }.items():
        done = ttrt("run", rows, "--sizes", given)
        assert done.returncode in (1, 2) and expected in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    done = ttrt("run", rows, "--sizes", "rows=4", "--golden")
    assert done.returncode == 1 and "leave out --sizes" in done.stderr
