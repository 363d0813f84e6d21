# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/ttnn run as they are: each compares what it computes with PyTorch."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "test" / "python" / "installing"))
import python_process  # noqa: E402

EXAMPLES = ROOT / "examples" / "ttnn"
# The example of docs/ttnn.md has a test of its own.
PROGRAMS = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "transformer_block")


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_agrees_with_pytorch(name: str) -> None:
    ran = python_process.run([EXAMPLES / f"{name}.py"])
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
