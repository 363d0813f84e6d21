# SPDX-License-Identifier: Apache-2.0
"""Runs Python programs in processes of their own, on JAX's platform `tt`."""

from __future__ import annotations

import os
import subprocess
import textwrap

import python_process


def run_program(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """environment: variables, added to those of this process; the platform is `tt` unless one says otherwise."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "TTMLIR_"))}
    return python_process.run(
        ["-c", textwrap.dedent(program)], "jax jax.numpy", env=known | {"JAX_PLATFORMS": "tt"} | environment
    )


def succeeds(program: str, **environment: str) -> str:
    """Returns the program's output."""
    done = run_program(program, **environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def fails(program: str, **environment: str) -> str:
    """The error that ends the program."""
    done = run_program(program, **environment)
    assert done.returncode == 1, (done.returncode, done.stdout, done.stderr[-3000:])
    return done.stderr
