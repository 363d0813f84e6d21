# SPDX-License-Identifier: Apache-2.0
"""Rows of TTNN ops that no op of TTIR is lowered to, for programs that are written in TTNN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from op_rows import Case, Operand, Row, case, named, row


def conv1d(
    length: int,
    *,
    stride: int = 1,
    padding: Sequence[int] = (0,),
    dilation: int = 1,
    groups: int = 1,
    **operands: Operand,
) -> Case:
    """Channels, batch and kernel are those of the operands: [batch, length, channels] or flattened."""
    *_, rows, channels = operands["input"]
    weight = operands["weight"]
    batch = operands["input"][0] if len(operands["input"]) == 3 else rows // length
    attributes = {
        "in_channels": channels,
        "out_channels": weight[0],
        "batch_size": batch,
        "input_length": length,
        "kernel_size": weight[2],
        "stride": stride,
        "padding": list(padding),
        "dilation": dilation,
        "groups": groups,
    }
    return named(attributes, **operands)


def conv3d(
    kernel: Sequence[int],
    *,
    stride: Sequence[int] = (1, 1, 1),
    padding: Sequence[int] = (0, 0, 0),
    groups: int = 1,
    more: dict[str, Any] | None = None,
    **operands: Operand,
) -> Case:
    batch, depth, height, width, channels = operands["input"]
    weight = operands["weight"]
    attributes = {
        "in_channels": channels,
        "out_channels": weight[-1 if len(weight) == 2 else 0],
        "batch_size": batch,
        "input_depth": depth,
        "input_height": height,
        "input_width": width,
        "kernel_size": list(kernel),
        "stride": list(stride),
        "padding": list(padding),
        "groups": groups,
    }
    return named(attributes | (more or {}), **operands)


CONVOLUTION = {
    "conv1d": row(
        conv1d(17, stride=2, padding=[1, 0], groups=2, input=(1, 1, 34, 4), weight=(6, 2, 3), bias=(1, 1, 1, 6)),
        conv1d(33, dilation=3, input=(1, 33, 3), weight=(5, 3, 2, 1)),
        conv1d(1, input=(1, 1, 1), weight=(1, 1, 1)),
        wrong=[
            (conv1d(17, input=(1, 1, 34, 4), weight=(6, 3, 3)), "operand 'weight' has shape 6x3x3; expected 6x4x3"),
            (
                conv1d(17, padding=[1, 1, 1], input=(1, 1, 34, 4), weight=(6, 4, 3)),
                r"attribute 'padding' is \[1, 1, 1\]; expected one or two numbers of 0 or more",
            ),
        ],
    ),
    # Weights as prepare_conv3d_weights leaves them: channels of all places of the window, in one block, filled up.
    "conv3d": row(
        conv3d((3, 3, 3), padding=[1, 1, 1], input=(1, 4, 5, 6, 4), weight=(27 * 32, 8), bias=(1, 8)),
        conv3d(
            (2, 1, 3),
            stride=[2, 1, 1],
            padding=[0, 1, 0, 0, 2, 1],
            groups=2,
            input=(2, 5, 4, 3, 6),
            weight=(6 * 3, 4),
            more={"padding_mode": "replicate"},
        ),
        conv3d((1, 1, 1), input=(1, 1, 1, 1, 1), weight=(1, 1, 1, 1, 1)),
        conv3d((3, 1, 2), input=(1, 6, 5, 7, 4), weight=(6 * 8, 8), more={"dilation": [2, 1, 3]}),
        wrong=[
            (
                conv3d((3, 3, 3), input=(1, 4, 5, 6, 4), weight=(27 * 4, 8), more={"dilation": [1, 1]}),
                r"attribute 'dilation' is \[1, 1\]; expected three numbers of 1 or more",
            ),
            (
                conv3d((3, 3, 3), input=(1, 4, 5, 6, 4), weight=(27 * 3, 8)),
                "operand 'weight' has shape 81x8; expected 27 times at least as many rows as the channels",
            ),
            (
                conv3d((3, 3, 3), input=(1, 4, 5, 6, 4), weight=(27 * 4, 8), more={"padding_mode": "circular"}),
                'attribute \'padding_mode\' is "circular"; expected "zeros" or "replicate"',
            ),
        ],
    ),
    "prepare_conv3d_weights": row(
        case((6, 3, 2, 3, 1), groups=1, c_in_block=0, alignment=32),
        case((4, 20, 1, 2, 2), groups=2, c_in_block=8, alignment=8),
        case((1, 1, 1, 1, 1), groups=1, c_in_block=1, alignment=1),
        wrong=[
            (
                case((6, 3, 2, 3, 1), groups=4, c_in_block=0, alignment=32),
                "attribute 'groups' is 4, which does not divide 6 output channels",
            ),
            (
                case((6, 3, 2, 3, 1), groups=1, c_in_block=3, alignment=32),
                "attribute 'c_in_block' is 3; expected 0, or a divisor of 32 input channels",
            ),
        ],
    ),
}

HEADS = {
    "nlp_concat_heads": row(
        case((1, 8, 33, 16)),
        case((2, 1, 1, 5)),
        wrong=[
            (
                case((8, 33, 16)),
                r"operand 'input' is 'tensor<8x33x16xf32, #ttnn\.ttnn_layout<\(d0, d1, d2\) -> \(d0 \* 64 \+ d1,",
            )
        ],
    ),
    "nlp_concat_heads_decode": row(
        case((1, 4, 8, 16), num_heads=8),
        case((1, 5, 32, 7), num_heads=3),
        wrong=[
            (case((1, 4, 8, 16), num_heads=9), "attribute 'num_heads' is 9; expected 1 to 8"),
            (
                case((2, 4, 8, 16), num_heads=8),
                "operand 'input' has shape 2x4x8x16; expected one position, 1 x users x heads x size",
            ),
        ],
    ),
    "nlp_create_qkv_heads_decode": row(
        case((1, 1, 5, 30), num_heads=4, num_kv_heads=1),
        case((1, 1, 32, 96), num_heads=2),
        wrong=[
            (case((1, 1, 5, 30), num_heads=4), "the last size 30 of 'input' does not divide into 12 heads"),
            (case((1, 1, 5, 30), num_heads=4, num_kv_heads=1, slice_size=2), "batch_offset"),
        ],
    ),
}

ATTENTION = {
    "flash_mla_prefill": row(
        named({"head_dim_v": 16}, query=(1, 4, 33, 24), key=(1, 1, 33, 24)),
        named(
            {"head_dim_v": 8, "is_causal": False, "scale": 0.5},
            query=(2, 2, 5, 16),
            key=(2, 2, 40, 16),
            value=(2, 2, 40, 8),
            attention_mask=(2, 1, 5, 40),
        ),
        wrong=[
            (named({"head_dim_v": 0}, query=(1, 4, 33, 24), key=(1, 1, 33, 24)), "head_dim_v"),
            (
                named({"head_dim_v": 8}, query=(1, 4, 33, 24), key=(1, 1, 33, 16)),
                "operand 'key' has shape 1x1x33x16; expected heads of 24",
            ),
            (
                named({"head_dim_v": 8}, query=(1, 4, 33, 24), key=(1, 1, 33, 24), value=(1, 1, 33, 9)),
                "operand 'value' has shape 1x1x33x9; expected 1x1x33x8",
            ),
        ],
    ),
}

NORMALIZATION = {
    "dit_rms_norm_unary_fused": row(
        named(input=(64, 128)),
        named({"activation": "silu"}, input=(2, 3, 33), weight=(33,), bias=(33,), residual_input=(2, 3, 33)),
        wrong=[
            (named(input=(4, 8), residual_input=(8,)), "operand 'residual_input' has shape 8; expected 4x8"),
            (named(input=(4, 8), weight=(4,)), "operand 'weight' has shape 4; expected 8"),
        ],
    ),
    "indexer_score_dsa": row(
        case((2, 3, 5, 8), (2, 1, 7, 8), (2, 3, 5, 1), chunk_start_idx=2),
        case((1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)),
        case((1, 4, 33, 16), (1, 1, 65, 16), (1, 4, 33, 1), chunk_start_idx=100),
        wrong=[
            (case((2, 3, 5, 8), (2, 1, 7, 9), (2, 3, 5, 1)), "operand 'key' has shape 2x1x7x9; expected 2x1x7x8"),
            (case((2, 3, 5, 8), (2, 1, 7, 8), (2, 3, 4, 1)), "operand 'weights' has shape 2x3x4x1; expected 2x3x5x1"),
        ],
    ),
    "rms_norm_pre_all_gather": row(
        case((64, 128)),
        case((2, 3, 33), (2, 3, 33)),
        case((7,)),
        wrong=[(case((4, 8), (8,)), "operand 'residual' has shape 8; expected 4x8")],
    ),
    "layer_norm_pre_all_gather": row(
        case((64, 128)),
        named(input=(2, 3, 33), residual_input=(2, 3, 33)),
        wrong=[(named(input=(4, 8), residual_input=(8,)), "operand 'residual_input' has shape 8; expected 4x8")],
    ),
    "layer_norm_post_all_gather": row(
        named({"epsilon": 1e-5}, input=(33, 65), stats=(33, 128), weight=(65,), bias=(65,)),
        wrong=[
            (
                named(input=(33, 65), stats=(33, 32)),
                "operand 'stats' has shape 33x32; expected 33x64 for each chip, side by side",
            ),
            (named(input=(4, 8), stats=(4, 64), weight=(4,)), "operand 'weight' has shape 4; expected 8"),
        ],
    ),
}

TTNN: dict[str, Row] = {
    f"ttnn.{name}": result
    for family in (CONVOLUTION, HEADS, ATTENTION, NORMALIZATION)
    for name, result in family.items()
}
