# SPDX-License-Identifier: Apache-2.0
"""docs/emitted-code.md and examples/emitted: what they show is so."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import ttnn
from ttmlir import ir, passes

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.long
def test_the_guide(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "emitted-code.md").read_text()
    program, shown = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(program, "emitted-code.md", "exec"), {})
    output = capsys.readouterr().out
    assert shown in output
    assert "PCC" in output, "the changed program should differ from its goldens"


def test_the_example_is_what_is_emitted() -> None:
    folder = ROOT / "examples" / "emitted"
    with ir.Context():
        module = ir.Module.parse((folder / "classifier.mlir").read_text())
        passes.ttir_to_emitc_pipeline(module)
        assert passes.mlir_to_cpp(module) == (folder / "classifier.cpp").read_text()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
def test_the_example_builds_elsewhere(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "emitted", tmp_path / "source")
    build = tmp_path / "build"
    configure = ["cmake", "-S", tmp_path / "source", "-B", build, f"-Dttrt_DIR={ttnn.config.cmake_dir()}"]
    for command in (configure, ["cmake", "--build", build], [build / "classifier"]):
        found = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.startswith("classifier: f32 [8, 10]: ")
