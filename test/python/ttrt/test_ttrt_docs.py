# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/ttrt.md run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from ttmlir import ir
from ttmlir.passes import (
    ttir_to_ttmetal_pipeline,
    ttir_to_ttnn_backend_pipeline,
    ttmetal_to_flatbuffer_bin,
    ttnn_to_flatbuffer_file,
)

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "ttrt.md").read_text(encoding="utf-8")
NET = """module {
  func.func @main(%x: tensor<33x64xf32>, %w: tensor<64x48xf32>) -> tensor<33x48xf32> {
    %0 = "ttir.matmul"(%x, %w) : (tensor<33x64xf32>, tensor<64x48xf32>) -> tensor<33x48xf32>
    %1 = "ttir.softmax"(%0) <{dimension = 1 : si32}> : (tensor<33x48xf32>) -> tensor<33x48xf32>
    return %1 : tensor<33x48xf32>
  }
}
"""


@pytest.fixture
def net() -> None:
    Path("net.mlir").write_text(NET)
    module = ir.Module.parse(NET, ir.Context())
    ttir_to_ttnn_backend_pipeline(module)
    ttnn_to_flatbuffer_file(module, "net.ttnn")
    module = ir.Module.parse(NET, ir.Context())
    ttir_to_ttmetal_pipeline(module)
    Path("net.ttm").write_bytes(bytes(ttmetal_to_flatbuffer_bin(module)))


def test_the_commands_run(ttrt, net):
    commands = re.findall(r"^    ttrt (.*)$", PAGE, re.M)
    assert len(commands) > 12
    for command in commands:
        outcome = ttrt(*shlex.split(command))
        assert (outcome.code, outcome.err) == (0, ""), command


def test_the_machine_that_the_runtime_stores_is_one_for_the_compiler(ttrt, net):
    import _ttmlir_runtime as rt

    rt.runtime.get_current_system_desc().store("stored.ttsys")
    assert ttrt("check", "net.ttnn", "--system-desc", "stored.ttsys").code == 0


def test_every_command_is_on_the_page():
    from ttrt.__main__ import COMMANDS

    assert set(COMMANDS) <= set(re.findall(r"^\| `(\w+)` \|", PAGE, re.M))
