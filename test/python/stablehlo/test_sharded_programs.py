# SPDX-License-Identifier: Apache-2.0
"""Programs with shardings at their arguments: partitioned and run on a mesh, beside the same on one device."""

from __future__ import annotations

import random

import pytest
import torch
from sharded_programs import PROGRAMS, Mesh, Program, Split, compiled, run, splits_of

MESHES: tuple[Mesh, ...] = ((1, 2), (2, 2), (2, 4))
SAMPLES = 6


def inputs_of(program: Program) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(7)
    return [torch.rand(shape, generator=generator) * 2 - 1 for shape in program.shapes]


def annotations(program: Program, mesh: Mesh, seed: int) -> list[tuple[Split | None, ...]]:
    """Each argument alone in each way; and some of all arguments at once."""
    ways = [[None, *splits_of(shape, mesh)] for shape in program.shapes]
    found: list[tuple[Split | None, ...]] = []
    for index, mine in enumerate(ways):
        found += [tuple(split if i == index else None for i in range(len(ways))) for split in mine[1:]]
    if len(found) > 40:
        found = random.Random(seed).sample(found, 40)
    chosen = random.Random(f"{mesh}{seed}")
    return found + [tuple(chosen.choice(mine) for mine in ways) for _ in range(SAMPLES)]


@pytest.mark.parametrize("mesh", MESHES, ids=lambda m: f"{m[0]}x{m[1]}")
@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_on_one_device(name: str, mesh: Mesh, request: pytest.FixtureRequest) -> None:
    program, seed = PROGRAMS[name], request.config.getoption("--seed")
    inputs = inputs_of(program)
    whole = [shards[0] for shards in run(compiled(program.text(), (1, 1)), inputs, [None] * len(inputs), (1, 1))]
    for splits in annotations(program, mesh, seed):
        outputs = run(compiled(program.text(splits, mesh), mesh), inputs, splits, mesh)
        for index, (wanted, found) in enumerate(zip(whole, outputs, strict=True)):
            where = f"{name} on {mesh}, arguments {splits}, result {index}, --seed={seed}"
            assert len({tuple(s.shape) for s in found}) == 1 and found[0].shape == wanted.shape, where
            for shard in found:
                if program.exact:
                    assert torch.equal(wanted, shard), where
                else:
                    scale = (wanted.max() - wanted.min()).item()
                    assert (wanted - shard).abs().max().item() <= 1e-5 * scale, where
