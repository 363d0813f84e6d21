# SPDX-License-Identifier: Apache-2.0
"""How ops are called on meshes: what each chip has of the operands, and attributes that follow from the mesh.

Every operand comes whole (an argument without annotation, the same on every chip), split over the mesh, and replicated
by mesh_shard. test_mesh_ops.py goes over the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from op_rows import Case, case, named
from random_collectives import groups_along

Mesh = tuple[int, int]

MESHES: tuple[Mesh, ...] = ((1, 2), (2, 2), (2, 4))
TREATMENTS = ("whole", "split", "replicated")


def ring(mesh: Mesh) -> list[list[int]]:
    chips = mesh[0] * mesh[1]
    return [[chip, (chip + 1) % chips] for chip in range(chips)]


def exchanged(mesh: Mesh, axis: int, split: int, joined: int) -> Case:
    groups = groups_along(mesh, axis)
    return case((8, 16), split_dim=split, concat_dim=joined, split_count=len(groups[0]), replica_groups=groups)


def norm(axis: int, *parameters: str) -> list[Case]:
    options = {"cluster_axis": axis, "epsilon": 1e-5}
    return [
        named(options, input=(4, 8)),
        named(options, input=(4, 8), residual=(4, 8), **dict.fromkeys(parameters, (8,))),
    ]


KINDS = ("sum", "max", "min", "prod")
# Op -> its calls on a mesh; shapes are those of a chip.
COLLECTIVES: dict[str, Callable[[Mesh], list[Case]]] = {
    "all_gather": lambda mesh: [
        case((8, 16), all_gather_dim=dim, cluster_axis=axis) for dim, axis in product((0, -1), (0, 1))
    ],
    "all_reduce": lambda mesh: [case((8, 16), reduce_type=kind, cluster_axis=n % 2) for n, kind in enumerate(KINDS)],
    "all_reduce_async": lambda mesh: [case((8, 16), reduce_type="sum", cluster_axis=axis) for axis in (0, 1)],
    "reduce_scatter": lambda mesh: [
        case((8, 16), reduce_type=kind, scatter_dim=dim, cluster_axis=axis)
        for kind, dim, axis in (("sum", 0, 1), ("max", -1, 1), ("sum", 1, 0), ("prod", 0, 0))
    ],
    "all_to_all": lambda mesh: [exchanged(mesh, 1, 0, 1), exchanged(mesh, 0, 1, 0), exchanged(mesh, 1, 1, 1)],
    "collective_broadcast": lambda mesh: [
        case((8, 16), replica_groups=groups_along(mesh, 0)),
        case((8, 16), replica_groups=groups_along(mesh, 1)[::-1]),
        case((8, 16), replica_groups=[[1, 0]]),
    ],
    "collective_permute": lambda mesh: [
        case((8, 16), source_target_pairs=ring(mesh)),
        case((8, 16), source_target_pairs=[[1, 0]]),
    ],
    "mesh_partition": lambda mesh: [
        case((8, 16), dim=0),
        case((8, 16), dim=1, cluster_axis=1),
        case((8, 16), dim=-1, cluster_axis=0),
    ],
    "distributed_layer_norm": lambda mesh: norm(0, "weight", "bias") + norm(1, "weight", "bias"),
    "distributed_rms_norm": lambda mesh: norm(0, "weight") + norm(1, "weight"),
}
# A sample of ops that know nothing of the mesh: what differs from chip to chip must stay so.
LOCAL: dict[str, list[Case]] = {
    "add": [case((8, 16), (8, 16)), case((8, 1), (16,))],
    "where": [case((8, 16), (8, 16), (16,))],
    "matmul": [case((8, 16), (16, 8))],
    "sum": [case((8, 16), dim_arg=[1], keep_dim=True), case((8, 16), keep_dim=False)],
    "softmax": [case((8, 16), dimension=1, numericStable=True)],
    "concat": [case([(8, 16), (4, 16)], dim=0)],
    "reshape": [case((8, 16), shape=[4, 32])],
    "slice_static": [case((8, 16), begins=[0, 3], ends=[8, 16], step=[2, 5])],
    "max_pool2d": [case((1, 8, 8, 4), kernel=[2, 2], stride=[2, 2], dilation=[1, 1], padding=[0, 0], ceil_mode=False)],
    "max_pool3d": [case((2, 4, 8, 8, 4), kernel=2, stride=2, dilation=1, padding=0, ceil_mode=False)],
    "cumsum": [case((8, 16), dim=0)],
}


def cases_of(name: str, mesh: Mesh) -> list[Case]:
    return COLLECTIVES[name](mesh) if name in COLLECTIVES else LOCAL[name]
