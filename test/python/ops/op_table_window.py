# SPDX-License-Identifier: Apache-2.0
"""Rows of convolutions and pools (see op_rows.py)."""

from __future__ import annotations

from typing import Any

from op_rows import (
    NUMBERS,
    Case,
    Operand,
    Row,
    case,
    row,
)

CONV2D = {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "groups": 1}
CONV_TRANSPOSE2D = CONV2D | {"output_padding": [0, 0]}
CONV_TRANSPOSE3D = {"stride": 1, "padding": 0, "output_padding": 0, "dilation": 1, "groups": 1}
POOL = {"kernel": [2, 2], "stride": [2, 2], "dilation": [1, 1], "padding": [0, 0], "ceil_mode": False}


def conv2d(*operands: Operand, **attributes: Any) -> Case:
    return Case(operands, CONV2D | attributes)


def conv_transpose2d(*operands: Operand, **attributes: Any) -> Case:
    return Case(operands, CONV_TRANSPOSE2D | attributes)


def conv_transpose3d(*operands: Operand, **attributes: Any) -> Case:
    return Case(operands, CONV_TRANSPOSE3D | attributes)


def pool(*operands: Operand, **attributes: Any) -> Case:
    return Case(operands, POOL | attributes)


def pool3d(*operands: Operand, **attributes: Any) -> Case:
    return Case(operands, POOL | {"kernel": 2, "stride": 2, "dilation": 1, "padding": 0} | attributes)


def pooling3d(*more: Case, **attributes: Any) -> Row:
    return row(
        pool3d((1, 6, 8, 10, 32), **attributes),
        pool3d((2, 5, 6, 7, 3), kernel=[3, 2, 1], stride=[2, 1, 3], padding=[1, 1, 0], **attributes),
        pool3d((1, 4, 5, 6, 5), kernel=3, stride=1, padding=[0, 1, 1, 1, 0, 1], **attributes),
        # A window of slices only, of a slice only, and a last one that is not whole or would begin in the padding.
        pool3d((1, 7, 4, 3, 2), kernel=[3, 1, 1], stride=[2, 1, 1], ceil_mode=True, **attributes),
        pool3d((2, 3, 7, 4, 1), kernel=[1, 2, 3], stride=[1, 2, 3], padding=[0, 1, 1], ceil_mode=True, **attributes),
        pool3d((1, 1, 1, 1, 1), kernel=1, stride=1, **attributes),
        *more,
        wrong=[
            (pool3d((2, 8, 8, 4), **attributes), "operand 'input' is 'tensor<2x8x8x4xf32>'; expected rank 5"),
            (
                pool3d((1, 4, 8, 8, 4), kernel=[5, 2, 2], **attributes),
                "the window spans 5 in depth, but the padded input is only 4",
            ),
            (
                pool3d((1, 4, 8, 8, 4), stride=[1, 2], **attributes),
                "attribute 'stride' has 2 numbers; expected one, or 3",
            ),
            (
                pool3d((1, 4, 8, 8, 4), padding=[1, 1, 1, 1], **attributes),
                "attribute 'padding' has 4 numbers; expected one, 3 or 6",
            ),
        ],
    )


def pooling(*more: Case, **attributes: Any) -> Row:
    return row(
        pool((1, 32, 32, 64), **attributes),
        pool((2, 13, 9, 5), kernel=[3, 3], stride=[2, 1], padding=[1, 1, 1, 1], **attributes),
        pool((1, 9, 7, 5), kernel=[3, 3], stride=[1, 1], padding=[0, 1, 1, 0], **attributes),
        pool((1, 7, 7, 3), kernel=[3, 2], stride=[2, 2], ceil_mode=True, **attributes),
        # A last window that would begin in the padding; one channel; a result of one element.
        pool((3, 7, 4, 1), kernel=[2, 3], stride=[2, 3], padding=[1, 1], ceil_mode=True, **attributes),
        pool((3, 3, 2, 1), kernel=[3, 2], stride=[3, 2], ceil_mode=True, **attributes),
        pool((1, 1, 1, 1), kernel=[1, 1], stride=[1, 1], **attributes),
        *more,
        wrong=[
            (pool((8, 8), **attributes), "operand 'input' is 'tensor<8x8xf32>'; expected rank 4"),
            (
                pool((1, 8, 8, 4), kernel=[9, 9], **attributes),
                "the window spans 9 in height, but the padded input is only 8",
            ),
            (pool((1, 8, 8, 4), stride=[0, 1], **attributes), "attribute 'stride' has 0; expected 1 or more"),
        ],
    )


WINDOW = {
    "conv2d": row(
        conv2d((1, 32, 32, 64), (64, 64, 3, 3), (1, 1, 1, 64)),
        conv2d((2, 13, 9, 5), (7, 5, 3, 3), (1, 1, 1, 7), stride=[2, 1]),
        conv2d((1, 9, 9, 4), (6, 2, 3, 3), (1, 1, 1, 6), groups=2),
        conv2d((1, 11, 11, 3), (4, 3, 3, 3), None, dilation=[2, 2], padding=[2, 2]),
        conv2d((1, 8, 8, 3), (4, 3, 2, 2), None, padding=[1, 0, 0, 1]),
        conv2d((1, 9, 7, 3), (4, 3, 3, 2), None, padding=[0, 1, 2, 2]),
        conv2d((1, 8, 8, 6), (6, 1, 3, 3), (1, 1, 1, 6), groups=6),
        conv2d((2, 3, 4, 1), (2, 1, 2, 3), (1, 1, 1, 2), stride=[1, 3], padding=[1, 0]),
        conv2d((3, 6, 6, 1), (1, 1, 3, 3), None, dilation=[2, 2], padding=[0, 0]),
        conv2d((3, 1, 1, 1), (1, 1, 1, 1), None, padding=[0, 0]),
        dtypes=NUMBERS,
        wrong=[
            (conv2d((1, 8, 8, 4), (6, 3, 3, 3), None), "operand 'weight' has shape 6x3x3x3; expected 6x4x3x3"),
            (
                conv2d((1, 8, 8, 4), (6, 4, 3, 3), (1, 1, 1, 5)),
                "operand 'bias' has shape 1x1x1x5; expected 6 values, one per output channel",
            ),
            (conv2d((8, 8, 4), (6, 4, 3, 3), None), "operand 'input' is 'tensor<8x8x4xf32>'; expected rank 4"),
            (
                conv2d((1, 2, 2, 4), (6, 4, 5, 5), None, padding=[0, 0]),
                "the window spans 5 in height, but the padded input is only 2",
            ),
            (conv2d((1, 8, 8, 4), (6, 4, 3, 3), None, stride=[0, 1]), "attribute 'stride' has 0; expected 1 or more"),
        ],
    ),
    "conv1d": row(
        case((2, 33, 4), (6, 4, 3), (1, 1, 6), stride=1, padding=1, dilation=1, groups=1),
        case((1, 17, 4), (4, 2, 3), None, stride=2, padding=0, dilation=1, groups=2),
        case((3, 3, 1), (2, 1, 5), None, stride=1, padding=1, dilation=1, groups=1),
        dtypes=NUMBERS,
        wrong=[
            (
                case((2, 8, 4), (6, 3, 3), None, stride=1, padding=1, dilation=1, groups=1),
                "operand 'weight' has shape 6x3x3; expected 6x4x3",
            )
        ],
    ),
    "conv3d": row(
        case((1, 5, 8, 7, 4), (6, 4, 3, 3, 3), (1, 1, 1, 1, 6), stride=[1, 1, 1], padding=[1, 1, 1], groups=1),
        case((1, 5, 8, 7, 4), (6, 4, 2, 2, 2), None, stride=[2, 1, 2], padding=[0, 0, 0], groups=1),
        case((2, 3, 4, 5, 6), (4, 3, 3, 1, 2), None, stride=1, padding=[1, 0, 2, 1, 0, 0], groups=2),
        case((3, 2, 3, 1, 1), (1, 1, 2, 3, 1), None, stride=1, padding=0, groups=1),
        case(
            (1, 2, 4, 3, 4), (4, 4, 3, 3, 3), (1, 1, 1, 1, 4), stride=1, padding=1, groups=1, padding_mode="replicate"
        ),
        case((1, 9, 5, 8, 4), (6, 2, 3, 3, 2), None, stride=[1, 2, 1], padding=[2, 1, 0], dilation=[2, 1, 3], groups=2),
        case((0, 5, 4, 3, 2), (4, 2, 2, 2, 2), None, stride=1, padding=0, dilation=2, groups=1),
        dtypes=NUMBERS,
        wrong=[
            (
                case((1, 5, 8, 7, 4), (6, 4, 3, 3, 3), None, stride=1, padding=0, dilation=[3, 1, 1], groups=1),
                "the window spans 7 in depth, but the padded input is only 5",
            ),
            (
                case((1, 5, 8, 7, 4), (6, 4, 3, 3, 3), None, stride=1, padding=0, dilation=[1, 1], groups=1),
                "attribute 'dilation' has 2 numbers; expected one, or 3",
            ),
            (
                case((1, 5, 8, 7, 4), (6, 4, 3, 3, 3), None, stride=1, padding=0, dilation=0, groups=1),
                "attribute 'dilation' has 0; expected 1 or more",
            ),
            (
                case((1, 5, 8, 7, 4), (6, 4, 3, 3, 3), None, stride=1, padding=[1, 1], groups=1),
                "attribute 'padding' has 2 numbers; expected one, 3 or 6",
            ),
            (
                case((1, 5, 8, 7, 4), (6, 3, 3, 3, 3), None, stride=[1, 1, 1], padding=[1, 1, 1], groups=1),
                "operand 'weight' has shape 6x3x3x3x3; expected 6x4x3x3x3",
            ),
        ],
    ),
    "conv_transpose2d": row(
        conv_transpose2d((1, 8, 8, 4), (4, 6, 3, 3), (1, 1, 1, 6)),
        conv_transpose2d((2, 5, 7, 3), (3, 5, 2, 2), None, stride=[2, 2], padding=[0, 0]),
        conv_transpose2d((3, 5, 1, 1), (1, 1, 3, 1), None, stride=[2, 1], padding=[1, 0]),
        conv_transpose2d((1, 5, 5, 4), (4, 2, 3, 3), (1, 1, 1, 4), groups=2, stride=[2, 2], output_padding=[1, 1]),
        dtypes=NUMBERS,
        wrong=[
            (conv_transpose2d((1, 8, 8, 4), (3, 6, 3, 3), None), "operand 'weight' has shape 3x6x3x3; expected 4x6x3x3")
        ],
    ),
    "conv_transpose3d": row(
        conv_transpose3d((1, 3, 4, 5, 4), (4, 6, 3, 3, 3), (1, 1, 1, 1, 6)),
        conv_transpose3d((2, 2, 3, 4, 3), (3, 5, 2, 2, 2), None, stride=[2, 2, 2]),
        conv_transpose3d(
            (1, 3, 4, 2, 4),
            (4, 2, 3, 2, 3),
            (1, 1, 1, 1, 4),
            stride=[2, 1, 2],
            padding=[1, 0, 1],
            output_padding=[1, 0, 0],
            dilation=[1, 2, 1],
            groups=2,
        ),
        conv_transpose3d((1, 2, 1, 3, 2), (2, 1, 2, 3, 1), None, padding=[0, 1, 1, 1, 0, 0], stride=[1, 3, 2]),
        conv_transpose3d((1, 1, 1, 1, 1), (1, 1, 1, 1, 1), None),
        dtypes=NUMBERS,
        wrong=[
            (
                conv_transpose3d((1, 3, 4, 5, 4), (3, 6, 3, 3, 3), None),
                "operand 'weight' has shape 3x6x3x3x3; expected 4x6x3x3x3",
            ),
            (
                conv_transpose3d((1, 2, 4, 5, 4), (4, 6, 2, 3, 3), None, padding=[2, 0, 0]),
                "depth of the result would be -1; expected 1 or more",
            ),
            (
                conv_transpose3d((1, 3, 4, 5, 4), (4, 6, 3, 3, 3), None, groups=3),
                "attribute 'groups' is 3, which does not divide 4 input and 18 output channels",
            ),
        ],
    ),
    "max_pool2d": pooling(pool((2, 9, 6, 1), kernel=[2, 2], dilation=[3, 2], padding=[1, 1], ceil_mode=True)),
    "avg_pool2d": pooling(
        pool((2, 7, 4, 1), kernel=[2, 3], stride=[2, 3], padding=[1, 1], ceil_mode=True, count_include_pad=False),
        count_include_pad=True,
    ),
    "max_pool2d_with_indices": row(
        pool((1, 16, 16, 32)),
        pool((1, 7, 9, 3), kernel=[3, 3], stride=[2, 2]),
        pool((3, 7, 4, 1), kernel=[2, 3], stride=[2, 3], padding=[1, 1], ceil_mode=True),
        wrong=[(pool((8, 8)), "operand 'input' is 'tensor<8x8xf32>'; expected rank 4")],
    ),
    "max_pool3d": pooling3d(pool3d((2, 9, 6, 7, 1), kernel=2, dilation=[3, 2, 1], padding=[1, 1, 0], ceil_mode=True)),
    "avg_pool3d": pooling3d(
        pool3d((2, 5, 7, 4, 1), kernel=[2, 2, 3], padding=1, ceil_mode=True, count_include_pad=False),
        count_include_pad=True,
    ),
    "max_pool3d_with_indices": pooling3d(
        pool3d((1, 5, 7, 9, 3), kernel=3, dilation=[2, 1, 2], padding=[1, 1, 1]),
    ),
    "global_avg_pool2d": row(
        case((1, 32, 32, 64)),
        case((2, 7, 5, 3)),
        wrong=[(case((4, 4)), "operand 'input' is 'tensor<4x4xf32>'; expected rank 4")],
    ),
    "upsample2d": row(
        case((1, 8, 8, 32), scale_factor=2, mode="nearest"),
        case((2, 3, 5, 7), scale_factor=[2, 3], mode="nearest"),
        case((1, 4, 4, 8), scale_factor=2, mode="bilinear"),
        wrong=[
            (case((4, 4), scale_factor=2), "operand 'input' is 'tensor<4x4xf32>'; expected rank 4"),
            (
                case((1, 4, 4, 8), scale_factor=2, mode="cubic"),
                'attribute \'mode\' is "cubic"; expected "nearest" or "bilinear"',
            ),
        ],
    ),
}
