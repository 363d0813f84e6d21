# SPDX-License-Identifier: Apache-2.0
"""The program of examples/jax, short."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "examples" / "jax" / "train.py"), *arguments],
        env={k: v for k, v in os.environ.items() if not k.startswith("JAX_")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
def test_train(tmp_path: Path) -> None:
    picture = tmp_path / "loss.png"
    done = run("--steps", "12", "--letters", "5", "--output", str(picture))
    assert done.returncode == 0, done.stderr[-2000:]
    losses = re.findall(r"(tt|cpu): loss ([\d.]+) -> ([\d.]+)", done.stdout)
    assert [platform for platform, _, _ in losses] == ["tt", "cpu"]
    assert all(float(last) < float(first) for _, first, last in losses)
    found = re.search(r"difference of the curves: (\S+)", done.stdout)
    assert found is not None and float(found[1]) < 1e-3
    assert done.stdout.count("letters a second") == 2
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
@pytest.mark.parametrize("option", ["--steps", "--letters"])
def test_wrong_number(option: str) -> None:
    done = run(option, "0")
    assert done.returncode == 2
    assert f"{option} is 0; expected 1 or more" in done.stderr
