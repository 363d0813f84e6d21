# SPDX-License-Identifier: Apache-2.0
"""Programs about shardings, memories, layouts, caches and checkpoints on meshes of the platform `tt`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")
import python_process

PARTS = 4  # of the table; each is a process
SCRIPT = Path(__file__).with_name("run_programs.py")


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("part", range(PARTS), ids=str)
@pytest.mark.parametrize("mesh", ["1x1", "1x2", "2x4"])
def test_runs(mesh, part):
    for module in ("flax", "optax", "orbax.checkpoint"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    known = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "TTMLIR_"))}
    done = python_process.run(
        [str(SCRIPT), mesh, str(part), str(PARTS)],
        "jax jax.numpy",
        env=known | {"JAX_PLATFORMS": "tt,cpu", "TTMLIR_MESH": mesh},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) >= 30
    wrong = [f"{name}:\n{error[-2000:]}" for name, error in found if error]
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
def test_says_that_there_is_one_process():
    """`jax.distributed` starts the plug-in with these options."""
    program = """
    import jax
    from jaxlib import xla_client
    print(len(jax.devices()))
    for options in ({"node_id": 0, "num_nodes": 1}, {"node_id": 1, "num_nodes": 2}):
        xla_client.make_c_api_client("tt", options, None)
    """
    known = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "TTMLIR_"))}
    done = python_process.run(["-c", textwrap.dedent(program)], "jax jax.numpy", env=known | {"JAX_PLATFORMS": "tt"})
    assert "jax.distributed has 2 processes; expected 1: one process has all chips of a mesh of tt" in done.stderr
    assert done.stdout == "1\n"


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("mpirun"), reason="openmpi-bin is not installed")
def test_refuses_ranks():
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable]
    done = subprocess.run(
        [*command, "-c", "import jax; jax.devices()"],
        env=os.environ | {"JAX_PLATFORMS": "tt", "TTMLIR_MESH": "1x2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "mpirun started 2 processes; expected 1" in done.stderr
