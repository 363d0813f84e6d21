# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/torch, short."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import python_process

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "torch"


def run(name: str, *words: str) -> str:
    done = python_process.run([EXAMPLES / name, *words])
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_a_model_compared_with_pytorch() -> None:
    printed = run("compare.py", "--small", "--repeats", "1")
    assert re.search(r"deit\.layers\.1 .* 1\.000000 ", printed) and "ops left to PyTorch: 0" in printed
    assert "<html" in Path("compare/report.html").read_text()


@pytest.mark.long
def test_training_compared_with_pytorch() -> None:
    printed = run("train.py", "--epochs", "4", "--output", "curve.png")
    found = re.findall(r"loss (\S+) -> (\S+) in (\d+) steps, (\S+) % right", printed)
    assert len(found) == 2
    (first, last, steps, right), (first_, last_, steps_, right_) = ([float(x) for x in row] for row in found)
    assert (steps, steps_) == (88, 88) and abs(first - first_) < 1e-3
    assert last < first / 5 and abs(last - last_) <= 0.01 * last
    assert abs(right - right_) <= 1
    assert Path("curve.png").read_bytes().startswith(b"\x89PNG")


LANGUAGE_MODEL = Path(sys.prefix) / "language-model"


def agreements(*words: str) -> dict[str, str]:
    """By form, how many tokens are those of PyTorch in f32. No op is left to PyTorch."""
    return dict(re.findall(r"│ (\w+) +│ ([^│]*\w) +│.*│ +0 │", run("generate.py", *words)))


@pytest.mark.long
def test_a_small_language_model_writes_the_tokens_of_pytorch() -> None:
    found = agreements("--random")
    assert found["f32"] == "64 of 64" and found.keys() == {"f32", "bf16", "bfp_bf8"}


@pytest.mark.slow
def test_a_language_model_writes_the_tokens_of_pytorch() -> None:
    if not LANGUAGE_MODEL.is_dir():
        pytest.skip("scripts/setup.sh python installs the model")
    assert agreements("--forms", "f32", "bfp_bf8") == {"f32": "64 of 64", "bfp_bf8": "64 of 64"}
