# SPDX-License-Identifier: Apache-2.0
"""Rows of ops across a mesh of two chips (see op_rows.py)."""

from __future__ import annotations

from collections.abc import Sequence

from op_rows import (
    Case,
    Row,
    case,
    named,
)


def collective(split: int, join: int, *cases: Case, wrong: Sequence[tuple[Case, str]] = ()) -> Row:
    """On a mesh of 1 x 2: split along one dimension of the operand, joined along one of the result."""
    return Row(cases, wrong, mesh=(1, 2), split=(-1, split), join=(-1, join))


def distributed_norm(*parameters: str) -> Row:
    """On a mesh of 1 x 2, each device with a half of every row and of the parameters."""
    options = {"cluster_axis": 1, "epsilon": 1e-5}
    cases = [
        named(options, input=(64, 128)),
        named(options, input=(33, 130), residual=(33, 130), **dict.fromkeys(parameters, (130,))),
        named(options, input=(1, 2), **dict.fromkeys(parameters, (2,))),
    ]
    wrong = [
        (named(options, input=(4, 8), weight=(6,)), "operand 'weight' has shape 3; expected 4"),
        (named(options, input=(4, 8), residual=(4, 6)), "operand 'residual' has shape 4x3; expected 4x4"),
    ]
    splits = {"residual": (-1, 1), **dict.fromkeys(parameters, (-1, 0))}
    return Row(cases, wrong, mesh=(1, 2), split=(-1, 1), join=(-1, 1), splits=splits)


NO_REDUCTION = [
    (case((4, 4), reduce_type="median", cluster_axis=1), "reduce_type = 'median' .*expected one of sum, mean, max")
]
COLLECTIVE = {
    "all_gather": collective(
        1,
        0,
        case((32, 128), all_gather_dim=1, cluster_axis=1),
        wrong=[
            (
                case((4, 4), all_gather_dim=2, cluster_axis=1),
                "attribute 'all_gather_dim' is 2; expected -2 to 1 for rank 2",
            )
        ],
    ),
    "all_reduce": collective(
        0,
        0,
        case((66, 65), reduce_type="sum", cluster_axis=1),
        case((64, 32), reduce_type="max", cluster_axis=1),
        wrong=NO_REDUCTION,
    ),
    "all_reduce_async": collective(0, 0, case((66, 65), reduce_type="sum", cluster_axis=1), wrong=NO_REDUCTION),
    "reduce_scatter": collective(
        0,
        1,
        case((64, 128), reduce_type="sum", scatter_dim=1, cluster_axis=1),
        wrong=[
            (
                case((4, 5), reduce_type="sum", scatter_dim=1, cluster_axis=1),
                "dimension 1 of size 5 does not divide among 2 chips",
            )
        ],
    ),
    "all_to_all": collective(
        0,
        0,
        case((64, 128), split_dim=1, concat_dim=0, split_count=2, replica_groups=[[0, 1]]),
        wrong=[
            (
                case((4, 5), split_dim=1, concat_dim=0, split_count=2, replica_groups=[[0, 1]]),
                "dimension 1 of size 5 does not divide into 2 parts",
            )
        ],
    ),
    "collective_broadcast": collective(
        0,
        0,
        case((66, 65), replica_groups=[[0, 1]]),
        wrong=[
            (case((4, 4), replica_groups=[[0.5]]), r"replica_groups = .*element \[0, 0\] is 0.5, expected an integer")
        ],
    ),
    "collective_permute": collective(
        0,
        0,
        case((66, 65), source_target_pairs=[[0, 1], [1, 0]]),
        case((66, 65), source_target_pairs=[[0, 1]]),
        wrong=[
            (case((4, 4), source_target_pairs=[[0, 1], [0, 1]]), "attribute 'source_target_pairs' has source 0 twice")
        ],
    ),
    "distributed_layer_norm": distributed_norm("weight", "bias"),
    "distributed_rms_norm": distributed_norm("weight"),
    "mesh_partition": collective(
        0,
        1,
        case((64, 128), dim=1, cluster_axis=1),
        wrong=[(case((4, 5), dim=1, cluster_axis=1), "dimension 1 of size 5 does not divide among 2 chips")],
    ),
}
