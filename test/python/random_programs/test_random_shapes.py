# SPDX-License-Identifier: Apache-2.0
"""random_shapes.py: a sample, and with --slow many."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import python_process

SCRIPT = Path(__file__).with_name("random_shapes.py")


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return python_process.run(arguments, cwd=SCRIPT.parent)


@pytest.mark.long
@pytest.mark.parametrize("family", ["products", "kernels"])
def test_sample_agrees_under_every_cap(family: str, seed: int) -> None:
    done = run(SCRIPT, "--family", family, "--count", 60, "--seed", seed)
    assert done.returncode == 0 and " 60 results" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("family", ["products", "kernels"])
@pytest.mark.parametrize("start", range(0, 4000, 400))
def test_many_agree_under_every_cap(start: int, family: str, seed: int) -> None:
    done = run(SCRIPT, "--family", family, "--count", 400, "--seed", seed + start)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_a_value_that_differs_is_named() -> None:
    done = run(
        "-c",
        "from random_shapes import *\nmade = compiled(range(2))\nmade.cases[1][1].expected[0] += 1\nchecked(made)",
    )
    assert done.returncode == 1 and "AssertionError: case 1: " in done.stderr, done.stdout + done.stderr
