# SPDX-License-Identifier: Apache-2.0
"""JAX over several chips: shardings, shard_map and pmap on meshes of the platform `tt`."""

from __future__ import annotations

import json
import os
import textwrap

import pytest
import python_process

pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")
import mesh_programs
import mesh_rows
from programs import fails, succeeds

# Shares of the table that each mesh's process takes; of two meshes one runs always.
PARTS = 6
MESHES = {"1x2": "1x2", "2x2": "2x2", "2x4": "2x4", "8": "1x8"}  # of the program, and of the chips


@pytest.mark.long
@pytest.mark.parametrize(
    ("mesh", "part"),
    [
        pytest.param(
            mesh, part, id=f"{mesh} {part}", marks=[pytest.mark.slow] if part != place or place % 2 == 0 else []
        )
        for place, mesh in enumerate(MESHES)
        for part in range(PARTS)
    ],
)
def test_agrees_with_the_cpu(mesh, part):
    done = python_process.run(
        [mesh_rows.__file__, mesh, part, PARTS],
        "jax jax.numpy",
        env=os.environ
        | {
            "JAX_PLATFORMS": "tt,cpu",
            "TTMLIR_MESH": MESHES[mesh],
            "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        },
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) >= 20
    wrong = [f"{name}: {what}" for name, what in found if what]
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", mesh_programs.PROGRAMS)
def test_runs(name):
    succeeds(mesh_programs.HEAD + textwrap.dedent(mesh_programs.PROGRAMS[name]), TTMLIR_MESH="2x4")


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", mesh_programs.ERRORS)
def test_says_what_is_wrong(name):
    program, message = mesh_programs.ERRORS[name]
    assert message in fails(mesh_programs.HEAD + textwrap.dedent(program), TTMLIR_MESH="2x2")
