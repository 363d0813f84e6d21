# SPDX-License-Identifier: Apache-2.0
"""What depends on the order of numbers agrees with JAX on the CPU, over zeros, infinities and NaN of both signs."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import _ttmlir_runtime as rt
import pytest

pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")
import order_programs
import special_programs


def problems(program: str, units: str, *options: str) -> tuple[int, list[str]]:
    """How many lines a program prints, and those that are not ok."""
    done = subprocess.run(
        [sys.executable, program, *options],
        env=os.environ | {"JAX_PLATFORMS": "tt,cpu", "TTRT_UNITS": units},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return len(found), [f"{name}: {problem}" for name, problem in found if problem != "ok"]


@pytest.mark.long
@pytest.mark.parametrize("units", rt.runtime.get_available_units())
@pytest.mark.parametrize("dtype", order_programs.DTYPES)
def test_agrees_with_the_cpu(dtype: str, units: str, seed: int) -> None:
    count, wrong = problems(order_programs.__file__, units, "--dtype", dtype, "--seed", str(seed))
    assert count == len(order_programs.programs(dtype, seed))
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
@pytest.mark.parametrize("dtype", special_programs.DTYPES)
def test_special_values_agree_with_the_cpu(dtype: str) -> None:
    count, wrong = problems(special_programs.__file__, rt.runtime.get_units(), "--dtype", dtype)
    assert count >= 250
    assert not wrong, "\n".join(wrong)
