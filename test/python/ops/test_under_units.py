# SPDX-License-Identifier: Apache-2.0
"""run_under_units.py, on one op: make test runs all of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import _ttmlir_runtime as rt
import pytest

SCRIPT = Path(__file__).with_name("run_under_units.py")
CAPS = ("avx2", "avx512", "avx512_bf16", "amx")


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.long
def test_every_cap_runs_or_is_listed_as_skipped() -> None:
    done = run("--only", "ttir.matmul")
    assert done.returncode == 0, done.stdout + done.stderr
    _, *lines = done.stdout.splitlines()
    present = rt.runtime.get_available_units()
    assert [line.partition(":")[0] for line in lines] == list(CAPS)
    for cap, line in zip(CAPS, lines, strict=True):
        assert ("rows and networks agree" if cap in present else "skipped, the CPU does not have it") in line


@pytest.mark.long
def test_a_result_that_disagrees_fails(tmp_path: Path) -> None:
    """With a golden that is wrong."""
    (tmp_path / "sitecustomize.py").write_text(
        "import torch\nmatmul = torch.matmul\ntorch.matmul = lambda *a, **k: matmul(*a, **k) + 1\n"
    )
    done = run("--only", "ttir.matmul", "--caps", "avx2", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "avx2: ttir.matmul f32: case 0, output 0: " in done.stdout


@pytest.mark.long
def test_caps_are_names() -> None:
    done = run("--caps", "sse")
    assert done.returncode == 2 and "invalid choice: 'sse'" in done.stderr


def test_units_are_what_the_cpu_has_or_less() -> None:
    present = rt.runtime.get_available_units()
    assert present == list(CAPS[: len(present)])
    for cap in present:
        code = "import _ttmlir_runtime as rt; print(rt.runtime.get_units())"
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env={**os.environ, "TTRT_UNITS": cap, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
        )
        assert done.stdout.strip() == cap
