# SPDX-License-Identifier: Apache-2.0
"""Rows of ops that move elements and compute none (see op_rows.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from op_rows import (
    FLOATS,
    NUMBERS,
    Case,
    Row,
    case,
)


def mover(*cases: Case, wrong: Sequence[tuple[Case, str]] = (), **options: Any) -> Row:
    return Row(cases, wrong, options.pop("dtypes", NUMBERS), **options)


DATA_MOVEMENT = {
    "reshape": mover(
        case((64, 128), shape=[128, 64]),
        case((33, 65), shape=[65, 3, 11]),
        case((2, 3, 5, 33), shape=[990]),
        case((1, 1), shape=[]),
        case((7,), shape=[1, 7, 1]),
        wrong=[
            (case((4, 4), shape=[3, 5]), "attribute 'shape' is 3x5 with 15 elements, but the input is 4x4 with 16"),
            (case((4, 4), shape=[-1, 4]), "attribute 'shape' has -1 at position 0; every size must be given"),
        ],
    ),
    "squeeze": mover(
        case((33, 1, 65), dim=1),
        case((1, 7), dim=-2),
        wrong=[(case((4, 4), dim=0), "dimension 0 has size 4; only one of size 1 can be removed")],
    ),
    "unsqueeze": mover(
        case((33, 65), dim=1),
        case((7,), dim=-1),
        case((), dim=0),
        wrong=[(case((4, 4), dim=4), "attribute 'dim' is 4; expected -3 to 2 for rank 3")],
    ),
    "permute": mover(
        case((64, 128), permutation=[1, 0]),
        case((2, 3, 5, 33), permutation=[0, 3, 1, 2]),
        case((33, 65), permutation=[0, 1]),
        wrong=[
            (case((4, 4), permutation=[0, 0]), "attribute 'permutation' has 0 twice"),
            (case((4, 4), permutation=[0]), "attribute 'permutation' has 1 dimensions, but the input has rank 2"),
        ],
    ),
    "rearrange": mover(
        case((2, 3, 5, 33), pattern="b h w c -> b (h w) c"),
        case((33, 65), pattern="a b -> b a"),
        case((2, 3, 5), pattern="... c -> c (...)"),
        case((4, 1, 7), pattern="a 1 b -> 1 (b a) ()"),
        case((), pattern=" -> 1"),
        wrong=[
            (case((4, 4), pattern="a b -> a"), "attribute 'pattern' has 'b' only on its left"),
            (case((4, 4), pattern="(a b) c -> a b c"), "attribute 'pattern' has a product on its left"),
        ],
    ),
    "transpose": mover(
        case((64, 128), dim0=0, dim1=1),
        case((2, 3, 33, 65), dim0=1, dim1=-1),
        wrong=[(case((4, 4), dim0=0, dim1=2), "attribute 'dim1' is 2; expected -2 to 1 for rank 2")],
    ),
    "reverse": mover(
        case((33, 65), dimensions=[1]),
        case((2, 3, 5), dimensions=[0, -1]),
        wrong=[(case((4, 4), dimensions=[2]), "attribute 'dimensions' is 2; expected -2 to 1 for rank 2")],
    ),
    "roll": mover(
        case((33, 65), shifts=[7], dims=[1]),
        case((2, 3, 5), shifts=[-1, 8, 2], dims=[0, -1, 2]),
        case((3, 33, 1), shifts=[-40, 4], dims=[1, 2]),
        case((4, 0), shifts=[3], dims=[1]),
        case((5, 7), shifts=[10], dims=[0]),
        wrong=[
            (case((4, 4), shifts=[1], dims=[2]), "attribute 'dims' is 2; expected -2 to 1 for rank 2"),
            (
                case((4, 4), shifts=[1, 2], dims=[0]),
                "attribute 'shifts' has 2 numbers; expected one per number of 'dims'",
            ),
        ],
    ),
    "concat": mover(
        case([(64, 128), (32, 128)], dim=0),
        case([(33, 65), (33, 1), (33, 7)], dim=1),
        case([(2, 3, 5), (2, 3, 5)], dim=-1),
        case([(7,)], dim=0),
        wrong=[
            (
                case([(4, 4), (4, 5)], dim=0),
                "operands '0' and '1' have shapes 4x4 and 4x5; they may differ only in dimension 0",
            ),
            (case([(4, 4), (4, 4)], dim=2), "attribute 'dim' is 2; expected -2 to 1 for rank 2"),
        ],
    ),
    "repeat": mover(
        case((33, 5), repeat_dimensions=[2, 3]),
        case((2, 1, 7), repeat_dimensions=[1, 4, 1]),
        wrong=[
            (
                case((4, 4), repeat_dimensions=[2]),
                "attribute 'repeat_dimensions' has 1 numbers; expected one per dimension, 2",
            )
        ],
    ),
    "repeat_interleave": mover(
        case((33, 5), repeats=2, dim=1),
        case((2, 3, 7), repeats=3, dim=0),
        wrong=[
            (case((4, 4), repeats=2, dim=2), "attribute 'dim' is 2; expected -2 to 1 for rank 2"),
            (case((4, 4), repeats=0, dim=0), "attribute 'repeats' is 0; expected 1 or more"),
        ],
    ),
    "broadcast": mover(
        case((33, 1), broadcast_dimensions=[1, 65]),
        case((1, 1, 7), broadcast_dimensions=[2, 3, 1]),
        wrong=[
            (
                case((4, 2), broadcast_dimensions=[2, 1, 1]),
                "attribute 'broadcast_dimensions' is 2 for dimension 0 of size 4; only dimensions of size",
            ),
            (
                case((4, 2), broadcast_dimensions=[0, 1]),
                "attribute 'broadcast_dimensions' is 0 for dimension 0 of size 4; only dimensions of size",
            ),
        ],
    ),
    "slice_static": mover(
        case((64, 128), begins=[0, 32], ends=[32, 128], step=[1, 1]),
        case((33, 65), begins=[1, 3], ends=[33, 60], step=[2, 7]),
        case((2, 3, 33), begins=[0, 0, -5], ends=[2, 3, -1], step=[1, 2, 1]),
        # Backward; the end is not part of the result.
        case((33, 65), begins=[32, -1], ends=[0, 3], step=[-1, -7]),
        case((4, 6), begins=[-1, 5], ends=[0, 0], step=[-3, -2]),
        wrong=[
            (
                case((4, 4), begins=[0], ends=[4], step=[1]),
                "attribute 'begins' has 1 numbers; expected one per dimension, 2",
            ),
            (
                case((4, 4), begins=[0, 0], ends=[4, 4], step=[0, 1]),
                "attribute 'step' is 0 in dimension 0; expected a number other than 0",
            ),
            (
                case((4, 4), begins=[0, 1], ends=[4, 3], step=[1, -1]),
                "attribute 'ends' is 3, after 'begins' 1, in dimension 1 of size 4",
            ),
            (
                case((4, 4), begins=[0, 4], ends=[4, 3], step=[1, -1]),
                "attribute 'begins' is 4 in dimension 1 of size 4; expected less, as 'step' is -1",
            ),
            (case((4, 4), begins=[0, 5], ends=[4, 9], step=[1, 1]), "attribute 'begins' is 5 in dimension 1 of size 4"),
        ],
    ),
    # All of a square tensor: begins are 0 and ends its size, so that the result's shape is known.
    "slice_dynamic": mover(
        case((8, 8), (2,), (2,), output_shape=[8, 8]),
        case((9, 9), (2,), (2,), step=[2, 3], output_shape=[5, 3]),
        wrong=[
            (
                case((4, 4), (3,), (2,), output_shape=[4, 4]),
                "operand 'begins' is 'tensor<3xi32>'; expected one integer per dimension, 2",
            )
        ],
        fixed={1: "i32", 2: "i32"},
    ),
    "pad": mover(
        case((33, 65), padding=[1, 2, 0, 3], value=0.0),
        case((2, 3, 7), padding=[0, 0, 1, 0, 0, 25], value=1.5),
        case((33, 65), padding=[-1, 2, -3, -30], value=2.0),
        case((2, 3, 7), padding=[0, 0, -2, 0, 1, -7], value=0.5),
        wrong=[
            (
                case((4, 4), padding=[1, 1], value=0.0),
                "attribute 'padding' has 2 numbers; expected two per dimension, 4",
            ),
            (
                case((4, 4), padding=[0, 0, -2, -3], value=0.0),
                "attribute 'padding' takes 5 elements of dimension 1, which has 4",
            ),
        ],
        dtypes=FLOATS,
    ),
    "index": mover(
        case((33, 65), dim=1, begin=3, end=60, step=7),
        wrong=[(case((4, 4), dim=2, begin=0, end=1, step=1), "attribute 'dim' is 2; expected -2 to 1 for rank 2")],
    ),
    "index_select": mover(
        case((33, 65), dim=1, begin=3, length=5, stride=20),
        case((7, 5), dim=0, begin=2, length=3, stride=0),
        wrong=[
            (
                case((4, 4), dim=0, begin=3, length=2, stride=0),
                "attribute 'length' is 2; expected 1 to 1, what is left of dimension 0",
            )
        ],
    ),
    "gather": mover(
        case((33, 65), (33, 7), dim=1),
        case((9, 5), (4, 5), dim=0),
        wrong=[
            (case((4, 4), (4,), dim=0), "operands 'input' and 'index' have ranks 2 and 1; expected the same"),
            (case((4, 4), (4, 4), dim=2), "attribute 'dim' is 2; expected -2 to 1 for rank 2"),
        ],
        fixed={1: "i32"},
    ),
    "scatter": mover(
        case((33, 65), (33, 1), (33, 1), dim=1, scatter_reduce_type="invalid"),
        case((9, 5), (1, 5), (1, 5), dim=0, scatter_reduce_type="sum"),
        wrong=[
            (
                case((4, 4), (4, 3), (4, 2), dim=1, scatter_reduce_type="sum"),
                "operand 'index' has size 3 in dimension 1, the source only 2",
            )
        ],
        fixed={1: "i32"},
        dtypes=FLOATS,
    ),
    "embedding": mover(
        case((2, 9), (33, 65)),
        case((7,), (5, 64)),
        case((40,), (9, 1)),
        case((3, 9), (7, 2)),
        wrong=[(case((2, 3), (4,)), "operand 'weight' is 'tensor<4xf32>'; expected a matrix of one row per index")],
        fixed={0: "i32"},
        dtypes=FLOATS,
    ),
    "embedding_backward": mover(
        case((2, 9), (33, 65), (2, 9, 65)),
        wrong=[(case((2, 3), (4, 8), (2, 3, 7)), "operand 'in_gradient' is 'tensor<2x3x7xf32>'; expected 6 rows of 8")],
        fixed={0: "i32"},
        dtypes=FLOATS,
    ),
    "get_dimension_size": mover(
        case((33, 65), dimension=1),
        case((2, 3, 5), dimension=0),
        wrong=[(case((4, 4), dimension=2), "attribute 'dimension' is 2; expected -2 to 1 for rank 2")],
    ),
    "split_query_key_value_and_split_heads": mover(
        case((2, 33, 96), num_heads=2, transpose_key=False),
        case((1, 7, 60), num_heads=5, transpose_key=True),
        wrong=[
            (
                case((2, 33, 95), num_heads=2, transpose_key=False),
                "the last size 95 of 'input_tensor' does not divide into 6 heads",
            )
        ],
        dtypes=FLOATS,
    ),
    "concatenate_heads": mover(
        case((2, 4, 33, 16)),
        case((1, 2, 7, 5)),
        wrong=[(case((4, 4)), "operand 'input' is 'tensor<4x4xf32>'; expected rank 4")],
        dtypes=FLOATS,
    ),
}
