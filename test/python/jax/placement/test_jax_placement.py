# SPDX-License-Identifier: Apache-2.0
"""Programs about shardings, memories, layouts, caches and checkpoints on meshes of the platform `tt`."""

from __future__ import annotations

import json
import os
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
