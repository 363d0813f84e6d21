# SPDX-License-Identifier: Apache-2.0
"""Collectives of StableHLO in manual computations: run on a mesh, compared with the same in numpy, device by device."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from sharded_programs import Compiled, Mesh, compiled, run
from ttmlir.ir import MLIRError

ROWS, COLUMNS = MESH = (2, 4)
DEVICES = range(ROWS * COLUMNS)
SHAPE = (8, 16)  # of each device: the whole is split over both axes
Shards = list[np.ndarray]

LAYOUTS: dict[str, list[list[int]]] = {
    "rows": [[0, 1, 2, 3], [4, 5, 6, 7]],
    "columns": [[0, 4], [1, 5], [2, 6], [3, 7]],
    "all": [list(DEVICES)],
    "all by columns": [[0, 4, 1, 5, 2, 6, 3, 7]],
    "none": [[d] for d in DEVICES],
    "squares": [[0, 1, 4, 5], [2, 3, 6, 7]],
    "turned": [[3, 0, 1, 2], [4, 7, 6, 5]],
    "pairs": [[0, 7], [6, 1], [2, 5], [4, 3]],
}
BODIES: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "add": ("%r = stablehlo.add %a, %b : tensor<f32>", np.add),
    "multiply": ("%r = stablehlo.multiply %a, %b : tensor<f32>", np.multiply),
    "maximum": ("%r = stablehlo.maximum %a, %b : tensor<f32>", np.maximum),
    "minimum": ("%r = stablehlo.minimum %a, %b : tensor<f32>", np.minimum),
    # Not one of TTIR's, and not symmetric.
    "difference": (
        "%h = stablehlo.constant dense<0.5> : tensor<f32>\n%m = stablehlo.multiply %b, %h : tensor<f32>\n"
        "%r = stablehlo.subtract %a, %m : tensor<f32>",
        lambda a, b: a - b * np.float32(0.5),
    ),
}


def groups_text(groups: Sequence[Sequence[int]]) -> str:
    return f"dense<{groups}> : tensor<{len(groups)}x{len(groups[0])}xi64>"


def module_of(op: str, to: Sequence[int], helpers: str = "") -> str:
    shape, result = (f"tensor<{s[0]}x{s[1]}xf32>" for s in (SHAPE, to))
    whole, whole_result = (f"tensor<{s[0] * ROWS}x{s[1] * COLUMNS}xf32>" for s in (SHAPE, to))
    split = '[<@mesh, [{"x"}, {"y"}]>]'
    return f"""sdy.mesh @mesh = <["x"={ROWS}, "y"={COLUMNS}]>
    func.func @main(%whole: {whole}) -> {whole_result} {{
      %0 = sdy.manual_computation(%whole) in_shardings={split} out_shardings={split} manual_axes={{"x", "y"}}
          (%x: {shape}) {{
        {helpers}
        %y = {op} : ({shape}) -> {result}
        sdy.return %y : {result}
      }} : ({whole}) -> {whole_result}
      return %0 : {whole_result}
    }}"""


def split(whole: np.ndarray) -> Shards:
    return [part for row in np.split(whole, ROWS) for part in np.split(row, COLUMNS, axis=1)]


def joined(shards: Shards) -> np.ndarray:
    rows = [np.concatenate(shards[r * COLUMNS : (r + 1) * COLUMNS], axis=1) for r in range(ROWS)]
    return np.concatenate(rows)


def of_groups(groups: Sequence[Sequence[int]], of_group: Callable[[Shards], Shards], shards: Shards) -> Shards:
    found: dict[int, np.ndarray] = {}
    for group in groups:
        found |= dict(zip(group, of_group([shards[d] for d in group]), strict=True))
    return [found[d] for d in DEVICES]


def computed(program: Compiled, whole: np.ndarray) -> np.ndarray:
    ((first, *others),) = run(program, [torch.from_numpy(whole)], [None], MESH)
    assert all(torch.equal(first, other) for other in others)
    return first.numpy()


def check(text: str, expected: Callable[[Shards], Shards], exact: bool = True) -> None:
    whole = np.random.default_rng(3).uniform(-1, 1, (SHAPE[0] * ROWS, SHAPE[1] * COLUMNS)).astype(np.float32)
    found, reference = computed(compiled(text, MESH), whole), joined(expected(split(whole)))
    if exact:
        np.testing.assert_array_equal(found, reference)
    else:
        np.testing.assert_allclose(found, reference, rtol=0, atol=1e-6 * max(1.0, float(np.abs(reference).max())))


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_gather(layout: str, dim: int) -> None:
    groups = LAYOUTS[layout]
    to = [n * (len(groups[0]) if d == dim else 1) for d, n in enumerate(SHAPE)]
    op = f'"stablehlo.all_gather"(%x) <{{all_gather_dim = {dim} : i64, replica_groups = {groups_text(groups)}}}>'
    check(module_of(op, to), lambda s: of_groups(groups, lambda g: [np.concatenate(g, axis=dim)] * len(g), s))


def region(body: str) -> str:
    return f"({{ ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n{BODIES[body][0]}\nstablehlo.return %r : tensor<f32> }})"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("body", BODIES)
def test_all_reduce(body: str, layout: str) -> None:
    groups = LAYOUTS[layout]
    op = f'"stablehlo.all_reduce"(%x) <{{replica_groups = {groups_text(groups)}}}> {region(body)}'
    combine = functools.partial(functools.reduce, BODIES[body][1])
    check(module_of(op, SHAPE), lambda s: of_groups(groups, lambda g: [combine(g)] * len(g), s), exact=False)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("body", ["add", "maximum", "difference"])
def test_reduce_scatter(body: str, layout: str, dim: int) -> None:
    groups = LAYOUTS[layout]
    to = [n // (len(groups[0]) if d == dim else 1) for d, n in enumerate(SHAPE)]
    op = (
        f'"stablehlo.reduce_scatter"(%x) <{{scatter_dimension = {dim} : i64, '
        f"replica_groups = {groups_text(groups)}}}> {region(body)}"
    )

    def of_group(group: Shards) -> Shards:
        return np.split(functools.reduce(BODIES[body][1], group), len(group), axis=dim)

    check(module_of(op, to), lambda s: of_groups(groups, of_group, s), exact=False)


@pytest.mark.parametrize("dims", [(0, 1), (1, 0), (0, 0)], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_to_all(layout: str, dims: tuple[int, int]) -> None:
    groups, (cut, put) = LAYOUTS[layout], dims
    count = len(groups[0])
    to = list(SHAPE)
    to[cut] //= count
    to[put] *= count
    op = (
        f'"stablehlo.all_to_all"(%x) <{{split_dimension = {cut} : i64, concat_dimension = {put} : i64, '
        f"split_count = {count} : i64, replica_groups = {groups_text(groups)}}}>"
    )

    def of_group(group: Shards) -> Shards:
        pieces = [np.split(shard, count, axis=cut) for shard in group]
        return [np.concatenate([each[i] for each in pieces], axis=put) for i in range(count)]

    check(module_of(op, to), lambda s: of_groups(groups, of_group, s))


def test_collective_permute() -> None:
    pairs = [[0, 5], [5, 0], [3, 3], [7, 1]]
    op = f'"stablehlo.collective_permute"(%x) <{{source_target_pairs = {groups_text(pairs)}}}>'
    sources = {target: source for source, target in pairs}
    check(
        module_of(op, SHAPE),
        lambda s: [s[sources[d]] if d in sources else np.zeros_like(s[d]) for d in DEVICES],
    )


def test_collective_broadcast() -> None:
    groups = [[2, 0, 1], [7, 5, 3]]
    op = f'"stablehlo.collective_broadcast"(%x) <{{replica_groups = {groups_text(groups)}}}>'
    roots = {d: group[0] for group in groups for d in group}
    check(module_of(op, SHAPE), lambda s: [s[roots[d]] if d in roots else np.zeros_like(s[d]) for d in DEVICES])


def test_cross_replica_sum() -> None:
    op = f'"stablehlo.cross-replica-sum"(%x) <{{replica_groups = {groups_text(LAYOUTS["columns"])}}}>'
    check(module_of(op, SHAPE), lambda s: of_groups(LAYOUTS["columns"], lambda g: [g[0] + g[1]] * 2, s))


@pytest.mark.parametrize(("name", "numbers"), [("partition_id", list(DEVICES)), ("replica_id", [0] * 8)])
def test_device_number(name: str, numbers: list[int]) -> None:
    helpers = f"""%t = "stablehlo.after_all"() : () -> !stablehlo.token
    %n = stablehlo.{name} : tensor<ui32>
    %f = stablehlo.convert %n : (tensor<ui32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %s = stablehlo.add %x, %b : tensor<8x16xf32>"""
    text = module_of('"stablehlo.negate"(%s)', SHAPE, helpers)
    check(text, lambda s: [-(shard + np.float32(n)) for shard, n in zip(s, numbers, strict=True)])


def test_groups_along_axes_of_a_mesh() -> None:
    groups = '#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = ["y"]>'
    op = f'"stablehlo.all_gather"(%x) <{{all_gather_dim = 0 : i64, replica_groups = {groups}}}>'
    check(
        module_of(op, (32, 16)),
        lambda s: of_groups(LAYOUTS["rows"], lambda g: [np.concatenate(g)] * len(g), s),
    )


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (
            '"stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 8]]> : '
            "tensor<1x2xi64>}>",
            "names device 8 but the mesh 2x4 has 8",
        ),
        (
            '"stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : '
            "tensor<1x2xi64>}>",
            "device 2 of the mesh 2x4 is in no group",
        ),
        (
            '"stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = '
            "#stablehlo.channel_handle<handle = 1, type = 2>, "
            "replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>}>",
            "its channel is of type 2; expected 0 or 1",
        ),
    ],
    ids=["no such device", "left out", "channel"],
)
def test_refused(op: str, message: str) -> None:
    with pytest.raises(MLIRError) as error:
        compiled(module_of(op, (16, 16)), MESH)
    assert message in str(error.value)


MESHES: tuple[Mesh, ...] = ((1, 8), (8, 1), (4, 2))


@pytest.mark.parametrize("mesh", MESHES, ids=str)
def test_other_meshes(mesh: Mesh) -> None:
    """The whole is split in the order of the devices."""
    text = f"""sdy.mesh @mesh = <["x"={mesh[0]}, "y"={mesh[1]}]>
    func.func @main(%whole: tensor<32x4xf32>) -> tensor<32x4xf32> {{
      %0 = sdy.manual_computation(%whole) in_shardings=[<@mesh, [{{"x", "y"}}, {{}}]>]
          out_shardings=[<@mesh, [{{"y", "x"}}, {{}}]>] manual_axes={{"x", "y"}} (%x: tensor<4x4xf32>) {{
        sdy.return %x : tensor<4x4xf32>
      }} : (tensor<32x4xf32>) -> tensor<32x4xf32>
      return %0 : tensor<32x4xf32>
    }}"""
    whole = np.arange(128, dtype=np.float32).reshape(32, 4)
    ((found, *_),) = run(compiled(text, mesh), [torch.from_numpy(whole)], [None], mesh)
    expected = whole.reshape(mesh[0], mesh[1], 4, 4).transpose(1, 0, 2, 3).reshape(32, 4)
    np.testing.assert_array_equal(found.numpy(), expected)
