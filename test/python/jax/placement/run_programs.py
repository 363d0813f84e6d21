# SPDX-License-Identifier: Apache-2.0
"""Runs a share of a table of programs in this process and prints a line of JSON for each: its name, and its error."""

from __future__ import annotations

import contextlib
import json
import sys
import textwrap
import traceback

HEAD = """\
import functools, os, pathlib, tempfile
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, SingleDeviceSharding, PartitionSpec as P
Auto, Explicit, Manual = AxisType.Auto, AxisType.Explicit, AxisType.Manual
random = np.random.default_rng(0)
COUNT = SIZES[0] * SIZES[1]
def mesh_of(*kinds): return jax.make_mesh(SIZES, ("x", "y"), axis_types=(kinds * 2)[:2])
def normal(*shape): return random.standard_normal(shape).astype(np.float32)
def same(a, b): np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
def close(a, b, by=1e-5):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, (a.shape, b.shape)
    np.testing.assert_allclose(a, b, rtol=0, atol=by * max(np.abs(b).max(initial=0), 1e-30))
def refused(text, function):
    try:
        jax.block_until_ready(function())
    except Exception as error:
        assert text in f"{type(error).__name__}: {error}".lower(), error
    else:
        raise AssertionError("it is not refused")
"""


def tables() -> dict[str, str]:
    """Returns all programs by the name of their table and their own."""
    import kept_programs
    import manual_programs
    import memory_programs
    import number_programs
    import sharding_programs

    found = {}
    for module in (sharding_programs, manual_programs, memory_programs, kept_programs, number_programs):
        for table, programs in vars(module).items():
            if table.isupper():
                found |= {f"{table.lower()}: {name}": text for name, text in programs.items()}
    return found


def main(mesh: str, part: int, parts: int, pattern: str = "") -> None:
    sizes = tuple(map(int, mesh.split("x")))
    for number, (name, text) in enumerate(tables().items()):
        if number % parts != part or pattern not in name:
            continue
        error = ""
        try:
            program = compile(HEAD + textwrap.dedent(text), name, "exec")
            with contextlib.redirect_stdout(sys.stderr):  # what programs print
                exec(program, {"SIZES": sizes, "__name__": "program"})
        except BaseException as raised:
            if isinstance(raised, KeyboardInterrupt):
                raise
            error = "".join(traceback.format_exception(raised))
        print(json.dumps([name, error]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
