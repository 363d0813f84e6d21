# SPDX-License-Identifier: Apache-2.0
"""Constants of programs on a mesh: a run has the memory that its chips' own programs have, and not more."""

from __future__ import annotations

import _ttmlir_runtime as rt
import pytest
import torch
from builder.execution.device_tensors import convert_input_layouts, create_tensor, fetched
from op_cases import device
from sharded_programs import Mesh, Program, Split, compiled, shards

MESHES: tuple[Mesh, ...] = ((1, 2), (2, 4), (8, 4))
ROWS, INNER, COLUMNS = 128, 256, 512


def product(rows: int, columns: int) -> Program:
    """By weights that come transposed, and with the signs that they shall have."""
    types = f"(t<{rows}x{INNER}>, t<{INNER}x{columns}>) -> t<{rows}x{columns}>"
    return Program(
        f"""%n = stablehlo.negate %a1 : t<{columns}x{INNER}>
        %w = stablehlo.transpose %n, dims = [1, 0] : (t<{columns}x{INNER}>) -> t<{INNER}x{columns}>
        %r = stablehlo.dot_general %a0, %w, contracting_dims = [1] x [0] : {types}
        return %r : t<{rows}x{columns}>""",
        ((rows, INNER), (columns, INNER)),
        (f"t<{rows}x{columns}>",),
    )


def table(rows: int) -> Program:
    """Weights that the program computes itself, the same on every chip."""
    types = f"(t<{rows}x{INNER}>, t<{INNER}x{COLUMNS}>) -> t<{rows}x{COLUMNS}>"
    return Program(
        f"""%i = stablehlo.iota dim = 1 : t<{INNER}x{COLUMNS}>
        %j = stablehlo.iota dim = 0 : t<{INNER}x{COLUMNS}>
        %k = stablehlo.multiply %i, %j : t<{INNER}x{COLUMNS}>
        %w = stablehlo.cosine %k : t<{INNER}x{COLUMNS}>
        %r = stablehlo.dot_general %a0, %w, contracting_dims = [1] x [0] : {types}
        return %r : t<{rows}x{COLUMNS}>""",
        ((rows, INNER),),
        (f"t<{rows}x{COLUMNS}>",),
    )


def prepared(program: Program, splits: list[Split | None], mesh: Mesh, values: list[torch.Tensor], weights: list[int]):
    """Results of two runs, and the bytes of values in between that a run has."""
    result = compiled(program.text(splits, mesh), mesh, "result-presharded=1")
    given = [
        create_tensor(each, mesh if len(each) > 1 else (1, 1))
        for each in (
            shards(value, None if split is None else final, mesh)
            for value, split, final in zip(values, splits, result.splits, strict=True)
        )
    ]
    placed = convert_input_layouts(device(mesh), given, fbb=result.binary, program_index=0)
    for index in weights:
        placed[index].set_parameter()
    results = [fetched(rt.runtime.submit(device(mesh), result.binary, 0, placed)[0]) for _ in range(2)]
    return results, rt.runtime.last_run(device(mesh)).arena_bytes


def random(*shape: int) -> torch.Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(3)) - 0.5


def close(found: list[torch.Tensor], whole: torch.Tensor, split: Split, mesh: Mesh) -> None:
    for chip, part in shards(whole, split, mesh).items():
        assert (found[chip] - part).abs().max() <= 1e-5 * (whole.max() - whole.min())


@pytest.mark.parametrize("mesh", MESHES, ids=lambda m: f"{m[0]}x{m[1]}")
@pytest.mark.parametrize(
    ("weight", "result"),
    [(("", ""), ("xy", "")), (("y", ""), ("x", "y"))],
    ids=["weights that all chips have", "weights that are split"],
)
def test_weights_are_brought_into_their_form_once(weight: Split, result: Split, mesh: Mesh) -> None:
    """As on one chip: a product that does it in each run has memory for it."""
    splits: list[Split | None] = [(result[0], ""), weight]
    sizes = {"": 1, "x": mesh[0], "y": mesh[1], "xy": mesh[0] * mesh[1]}
    x, w = random(ROWS, INNER), random(COLUMNS, INNER)
    rows, columns = ROWS // sizes[result[0]], COLUMNS // sizes[result[1]]
    alone = product(rows, columns)
    _, least = prepared(alone, [None, None], (1, 1), [x[:rows], w[:columns]], [1])
    _, most = prepared(alone, [None, None], (1, 1), [x[:rows], w[:columns]], [])
    results, found = prepared(product(ROWS, COLUMNS), splits, mesh, [x, w], [1])
    for each in results:
        close(each, -x @ w.T, result, mesh)
    assert found == least < most


@pytest.mark.parametrize("mesh", MESHES, ids=lambda m: f"{m[0]}x{m[1]}")
def test_replicated_constants_are_computed_once(mesh: Mesh) -> None:
    count = mesh[0] * mesh[1]
    x = random(ROWS, INNER)
    i, j = torch.arange(COLUMNS)[None, :], torch.arange(INNER)[:, None]
    _, least = prepared(table(ROWS // count), [None], (1, 1), [x[: ROWS // count]], [])
    results, found = prepared(table(ROWS), [("xy", "")], mesh, [x], [])
    for each in results:
        close(each, x @ torch.cos((i * j).float()), ("xy", ""), mesh)
    assert found == least


def test_weights_that_change_are_prepared_again() -> None:
    """One chip's shard is another one in the second run."""
    mesh: Mesh = (2, 4)
    result = compiled(product(ROWS, COLUMNS).text([("x", ""), ("y", "")], mesh), mesh, "result-presharded=1")
    x, first = random(ROWS, INNER), random(COLUMNS, INNER)
    second = first.clone()
    second[-COLUMNS // 4 :] *= 2
    for w in (first, second, first):
        given = [create_tensor(shards(v, s, mesh), mesh) for v, s in ((x, ("x", "")), (w, ("y", "")))]
        placed = convert_input_layouts(device(mesh), given, fbb=result.binary, program_index=0)
        placed[1].set_parameter()
        found = fetched(rt.runtime.submit(device(mesh), result.binary, 0, placed)[0])
        close(found, -x @ w.T, ("x", "y"), mesh)
