# SPDX-License-Identifier: Apache-2.0
"""Models of JAX over meshes, split where their inputs say so and by estimated time: results are JAX's on the CPU."""

from __future__ import annotations

import functools
import math
import re
from pathlib import Path

import _ttmlir_runtime as rt
import numpy as np
import pytest
import python_process
import torch
from auto_sharding_models import transformer
from builder.sharding import estimate_on_mesh
from sharded_programs import Mesh, in_shards

pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")
import mesh_models
from mesh_models import MESHES, SMALL

WAYS = {"annotated": "", "automatic": "enable-auto-sharding=true"}


@functools.cache
def reference(name: str) -> tuple[list[torch.Tensor], list[np.ndarray]]:
    """Inputs, and what JAX computes of them."""
    values = SMALL[name].values()
    return [torch.from_numpy(value) for value in values], SMALL[name].expected(values)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "mesh"),
    [
        # 25 million weights, on as many as 32 chips.
        pytest.param(
            name,
            mesh,
            marks=[pytest.mark.slow] if name == "resnet50" and mesh != (1, 2) else [],
            id=f"{name} {mesh[0]}x{mesh[1]}",
        )
        for name in SMALL
        for mesh in MESHES
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_computes_what_jax_does(name: str, mesh: Mesh, way: str) -> None:
    inputs, expected = reference(name)
    text = SMALL[name].text(mesh, annotate=way == "annotated")
    found = in_shards(text, mesh, inputs, WAYS[way])
    assert len(found) == len(expected)
    for index, (whole, shards) in enumerate(zip(expected, found, strict=True)):
        scale = max(float(whole.max() - whole.min()), 1e-30)
        for shard in shards:
            assert tuple(shard.shape) == whole.shape, f"result {index}"
            error = float(np.abs(whole - shard.numpy()).max()) / scale
            assert error <= 1e-5, f"result {index}: off by {error:.2g} of its range"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "least"),
    # The experts are functions that are called, next to an op without a rule; with 32 chips their values are too large
    # for most hosts, which need not hold them.
    [("training", (1.0, 1.5, 4.0, 8.0)), pytest.param("experts", (1.0, 1.8, 5.0, 12.0), marks=pytest.mark.slow)],
)
def test_speed_ups_are_estimated(name: str, least: tuple[float, ...], tmp_path: Path) -> None:
    """Two models of the table; all of it: examples/meshes/mesh_models.py FOLDER."""
    done = python_process.run([mesh_models.__file__, tmp_path, "--only", name], "jax jax.numpy")
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^(\d+)x(\d+) +[\d.]+ ms +([\d.]+)", done.stdout, re.MULTILINE)
    assert [(int(row), int(column)) for row, column, _ in rows] == list(MESHES), done.stdout
    assert all(float(speed) >= expected for (*_, speed), expected in zip(rows, least, strict=True)), done.stdout
    assert (tmp_path / f"{name}.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("layers", "hidden", "ffn"),
    [(2, 8192, 65536), pytest.param(16, 4096, 14336, marks=pytest.mark.slow, id="as Llama-3-8B")],
)
def test_weights_that_one_chip_has_no_room_for(layers: int, hidden: int, ffn: int) -> None:
    """All that a program allocates on its chips, by the allocators that runs have; the host need not hold it."""
    model = transformer(layers=layers, batch=4, sequence=256, hidden=hidden, heads=hidden // 128, kv_heads=8, ffn=ffn)
    assert sum(4 * math.prod(shape) for shape in model.shapes) > 13e9
    with (
        pytest.warns(UserWarning, match=r"the least that a chip must hold is [0-9]+ bytes; it has room for"),
        pytest.raises(rt.OutOfMemoryError, match=r"out of DRAM on device [0-9]+ .*: input [0-9]+ of program"),
    ):
        estimate_on_mesh(model.text, (1, 1))
    found = estimate_on_mesh(model.text, (2, 4))
    assert found.choice.chosen.fits
    assert found.dram_bytes <= found.choice.dram_bytes
