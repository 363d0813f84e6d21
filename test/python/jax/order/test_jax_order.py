# SPDX-License-Identifier: Apache-2.0
"""Ops that order numbers agree with JAX on the CPU, over zeros, infinities and NaN of both signs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import _ttmlir_runtime as rt
import pytest

pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")
import order_programs
import python_process
import special_programs

# Programs compiled as one: compiling takes half the time, and the kernels are the same.
TOGETHER = 32
UNITS = rt.runtime.get_available_units()


def problems(program: str, units: str, *options: str) -> tuple[int, list[str]]:
    """Returns how many lines a program prints, and those that are not ok.

    XLA compiles for the CPU without optimizations, which take a third of the time of these programs, and for AVX2: with
    AVX512_FP16, its logaddexp2(-1, -1) of float16 is 9e-5 instead of 0.
    """
    flags = "--xla_backend_optimization_level=0 --xla_cpu_max_isa=AVX2"
    environment = {"JAX_PLATFORMS": "tt,cpu", "TTRT_UNITS": units, "XLA_FLAGS": flags}
    done = python_process.run([program, *options], "jax jax.numpy", env=os.environ | environment)
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return len(found), [f"{name}: {problem}" for name, problem in found if problem != "ok"]


@pytest.mark.long
@pytest.mark.parametrize("dtype", order_programs.DTYPES)
def test_agrees_with_the_cpu_under_every_cap(dtype: str, seed: int, tmp_path: Path) -> None:
    """Both platforms compile for the first cap, and JAX's cache has the programs for the others."""
    cache = ("--cache", str(tmp_path / "cache"))
    options = ("--dtype", dtype, "--seed", str(seed), "--together", str(TOGETHER))
    for units in UNITS:
        count, wrong = problems(order_programs.__file__, units, *options, *cache)
        assert count == len(order_programs.programs(dtype, seed)), units
        assert not wrong, "\n".join([units, *wrong])


@pytest.mark.long
def test_programs_that_are_compiled_alone_agree_with_the_cpu(seed: int) -> None:
    dtype = order_programs.DTYPES[0]
    count, wrong = problems(order_programs.__file__, UNITS[-1], "--dtype", dtype, "--seed", str(seed))
    assert count == len(order_programs.programs(dtype, seed))
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
@pytest.mark.parametrize("dtype", special_programs.DTYPES)
def test_special_values_agree_with_the_cpu(dtype: str) -> None:
    count, wrong = problems(special_programs.__file__, UNITS[-1], "--dtype", dtype)
    assert count >= 250
    assert not wrong, "\n".join(wrong)
