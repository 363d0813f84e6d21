"""The op table of the tests: how each op is called, over shapes, attributes and dtypes.

One row an op (see op_rows.py). test_op_tables.py runs every row through the builder, the compiler, the flatbuffer and
the simulated chip against its golden, prints and re-parses it, and gives it wrong inputs. Sample domains come from the
golden tables. Rows of attention are in op_table_attention.py, StableHLO's in op_table_stablehlo.py, those of TTNN ops
that no TTIR op is lowered to in op_table_ttnn.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from op_rows import (
    FLOATS,
    INTEGERS,
    NO_BROADCAST,
    NUMBERS,
    PAIRS,
    SHAPES,
    TOO_MANY,
    Case,
    Operand,
    Row,
    Shape,
    binary,
    case,
    named,
    row,
    rows,
    ternary,
    unary,
)
from op_table_attention import ATTENTION

ELEMENTWISE = {
    **rows(
        """acos asin asinh atan cbrt ceil cos erf erfc exp exp2 expm1 floor frac gelu hardsigmoid isfinite log log1p
        logical_not mish reciprocal relu6 rsqrt selu sigmoid signbit silu sin softsign sqrt tan tanh trunc""",
        unary(),
    ),
    **rows("abs neg relu sign square", unary(NUMBERS)),
    "bitwise_not": unary(INTEGERS),
    "bitcast_convert": Row([case(s) for s in SHAPES], [TOO_MANY], dtypes=("f32",), result="i32"),
    "typecast": Row(
        [case(s) for s in SHAPES],
        [(case((4, 4), conservative_folding="no"), "conservative_folding = 'no' .*expected True or False")],
        dtypes=NUMBERS,
        result="bf16",
    ),
    "leaky_relu": dataclasses.replace(
        unary(parameter=0.125), wrong=[(case((4, 4), parameter="low"), "parameter = 'low' does not make a F32Attr")]
    ),
    "clamp_scalar": Row(
        [case(s, min=-0.5, max=1.25) for s in SHAPES],
        [(case((4, 4), min="low", max=1.0), "min = 'low' does not make a None: Unable to parse attribute:")],
    ),
    **rows("add multiply subtract maximum minimum eq ne ge gt le lt", binary(NUMBERS)),
    **rows("atan2 div logical_and logical_or logical_xor pow remainder", binary()),
    **rows("bitwise_and bitwise_or bitwise_xor", binary(INTEGERS)),
    **rows(
        "logical_left_shift logical_right_shift right_shift",
        Row([case(*s) for s in PAIRS], [(case((4, 8), (4, 7)), NO_BROADCAST)], INTEGERS),
    ),
    "gelu_bw": Row(
        [case(*s, approximate=how) for s, how in zip(PAIRS[:4], ("none", "tanh", "none", "tanh"), strict=True)],
        [
            (case((4, 8), (4, 7)), NO_BROADCAST),
            (
                case((4, 8), (4, 8), approximate="cubic"),
                'attribute \'approximate\' is "cubic"; expected "none" or "tanh"',
            ),
        ],
    ),
    "where": ternary(NUMBERS),
    "clamp_tensor": ternary(),
}


def reduction(dtypes: tuple[str, ...] = FLOATS, several: bool = True) -> Row:
    """several: over more than one dimension, but not all, as well."""
    return row(
        case((64, 128), dim_arg=[1], keep_dim=True),
        case((33, 65), dim_arg=[0], keep_dim=False),
        case((33, 65), dim_arg=[-1], keep_dim=False),
        *[case((2, 3, 5, 33), dim_arg=[1, 3], keep_dim=True)] * several,
        case((5, 1, 7), dim_arg=[1], keep_dim=False),
        case((7,), dim_arg=[0], keep_dim=False),
        case((3, 5, 7), keep_dim=False),
        wrong=[
            (case((4, 4), dim_arg=[2], keep_dim=True), "attribute 'dim_arg' is 2; expected -2 to 1 for rank 2"),
            (case((4, 4), dim_arg=[0, 0], keep_dim=True), "attribute 'dim_arg' names dimension 0 twice"),
        ],
        dtypes=dtypes,
    )


def along(dtypes: tuple[str, ...] = FLOATS, attribute: str = "dim", **attributes: Any) -> Row:
    shapes: tuple[tuple[Shape, int], ...] = (((64, 128), 1), ((33, 65), 0), ((2, 3, 5, 33), -2), ((7,), 0))
    return Row(
        [case(s, **{attribute: d}, **attributes) for s, d in shapes],
        [(case((4, 4), **{attribute: 2}, **attributes), "attribute 'dim' is 2; expected -2 to 1 for rank 2")],
        dtypes,
    )


REDUCTION = {
    **rows("sum mean max min", reduction()),
    **rows("reduce_and reduce_or", reduction()),
    "prod": reduction(several=False),  # TTNN multiplies along one dimension, or all
    "argmax": row(
        case((64, 128), dim_arg=[1], keep_dim=True),
        case((33, 65), dim_arg=[0], keep_dim=False),
        case((2, 3, 5, 33), dim_arg=[-1], keep_dim=False),
        case((7, 5), keep_dim=False),
        case((132, 7), dim_arg=[0], keep_dim=True),
        wrong=[
            (case((4, 4), dim_arg=[2], keep_dim=True), "attribute 'dim_arg' is 2; expected -2 to 1 for rank 2"),
            (
                case((4, 4), dim_arg=[0, 1], keep_dim=True),
                "attribute 'dim_arg' names 2 dimensions; expected one, or no attribute for all",
            ),
        ],
        dtypes=NUMBERS,
    ),
    **rows("cumsum cumprod", along()),
    # In bf16 many of a few thousand values are equal: of those the first comes first.
    "sort": dataclasses.replace(
        along(NUMBERS, descending=True, stable=True),
        cases=[*along(descending=True, stable=True).cases, case((100, 132), dim=0), case((7,), dim=-1)],
    ),
    "topk": row(
        case((64, 128), k=5, dim=1, largest=True, sorted=True),
        case((33, 65), k=1, dim=-1, largest=False, sorted=True),
        case((2, 3, 33), k=3, dim=1, largest=True, sorted=True),
        case((100, 132), k=66, dim=0, largest=False),
        wrong=[
            (case((4, 4), k=5, dim=1), "attribute 'k' is 5; expected 1 to 4, the size of dimension 1"),
            (case((4, 4), k=1, dim=2), "attribute 'dim' is 2; expected -2 to 1 for rank 2"),
        ],
        dtypes=NUMBERS,
    ),
}

MATMUL = {
    "matmul": row(
        case((64, 128), (128, 32)),
        case((33, 65), (65, 17)),
        case((65, 33), (65, 17), transpose_a=True),
        case((33, 65), (17, 65), transpose_b=True),
        case((2, 3, 33, 16), (2, 3, 16, 5)),
        case((2, 1, 33, 16), (3, 16, 5)),
        case((65,), (65, 17)),
        case((33, 65), (65,)),
        case((1, 1), (1, 1)),
        wrong=[
            (case((4, 8), (4, 8)), "inner dimensions 8 and 4 differ; transpose the second operand or set transpose_b"),
            (case((2, 4, 8), (3, 8, 4)), "batch dimensions 2 and 3 do not broadcast: sizes 2 and 3 in dimension 0"),
            (case((), (4, 4)), "operand 'a' is 'tensor<f32>'; expected rank 1 or more"),
        ],
    ),
    "linear": row(
        case((64, 128), (128, 32), (32,)),
        case((33, 65), (65, 17), (17,)),
        case((33, 65), (17, 65), (1, 17), transpose_b=True),
        case((2, 33, 65), (65, 17), (17,)),
        case((33, 65), (65, 17)),
        case((33, 65), (65, 17), (2, 33, 17)),
        case((33, 65), (65, 17), (3, 2, 1, 17)),
        case((1, 65), (65, 17), (33, 1)),
        case((65,), (65, 17), (2, 17)),
        case((65,), (65,), (3,)),
        wrong=[
            (
                case((4, 8), (4, 8), (8,)),
                "inner dimensions 8 and 4 differ; transpose the second operand or set transpose_b",
            ),
            (case((4, 8), (8, 6), (5,)), "product and bias 4x6 and 5 do not broadcast: sizes 6 and 5 in dimension 1"),
        ],
    ),
    "dot_general": row(
        case((33, 65), (65, 17), batch_dims_lhs=[], contract_dims_lhs=[1], batch_dims_rhs=[], contract_dims_rhs=[0]),
        case(
            (3, 5, 7), (3, 7, 9), batch_dims_lhs=[0], contract_dims_lhs=[2], batch_dims_rhs=[0], contract_dims_rhs=[1]
        ),
        case(
            (5, 7, 3),
            (2, 3, 7),
            batch_dims_lhs=[],
            contract_dims_lhs=[1, 2],
            batch_dims_rhs=[],
            contract_dims_rhs=[2, 1],
        ),
        wrong=[
            (
                case(
                    (4, 8), (4, 8), batch_dims_lhs=[], contract_dims_lhs=[1], batch_dims_rhs=[], contract_dims_rhs=[0]
                ),
                "contracted dimensions 1 of lhs and 0 of rhs differ: sizes 8 and 4",
            )
        ],
    ),
}

CONV2D = {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "groups": 1}
CONV_TRANSPOSE2D = CONV2D | {"output_padding": [0, 0]}
POOL = {"kernel": [2, 2], "stride": [2, 2], "dilation": [1, 1], "padding": [0, 0], "ceil_mode": False}


def conv2d(*operands: Operand, **attributes: Any) -> Case:
    return Case(operands, CONV2D | attributes)


def conv_transpose2d(*operands: Operand, **attributes: Any) -> Case:
    return Case(operands, CONV_TRANSPOSE2D | attributes)


def pool(*operands: Operand, **attributes: Any) -> Case:
    return Case(operands, POOL | attributes)


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


CONVOLUTION = {
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
        wrong=[
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
        wrong=[
            (conv_transpose2d((1, 8, 8, 4), (3, 6, 3, 3), None), "operand 'weight' has shape 3x6x3x3; expected 4x6x3x3")
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

QUANTIZATION = {
    "quantize_unrolled": row(
        case((33, 65), (1,), (1,)),
        case((4, 6), (6,), (6,), axis=1),
        wrong=[(case((4, 6), (6,), (6,), axis=0.5), "axis = 0.5 .*expected an integer")],
        dtypes=("f32",),
        fixed={2: "i32"},
        result="i32",
    ),
    "dequantize_unrolled": row(
        case((33, 65), (1,), (1,)),
        case((4, 6), (4,), (4,), axis=0),
        wrong=[(case((4, 6), (4,), (4,), axis=0.5), "axis = 0.5 .*expected an integer")],
        dtypes=("f32",),
        fixed={0: "i32", 2: "i32"},
        result="f32",
    ),
    "requantize_unrolled": row(
        case((33, 65), (1,), (1,), (1,), (1,)),
        wrong=[(case((4, 6), (1,), (1,), (1,)), "no value for out_zero_point")],
        dtypes=("f32",),
        fixed={0: "i32", 2: "i32", 4: "i32"},
    ),
}

STATISTICS: tuple[Shape, ...] = ((3,), (3,), (3,), (3,))
NORMALIZATION = {
    "softmax": Row(
        [
            case((64, 128), dimension=1, numericStable=True),
            case((33, 65), dimension=0),
            case((2, 3, 5, 33), dimension=-1, numericStable=True),
            case((1, 1), dimension=1),
        ],
        [(case((4, 4), dimension=2), "attribute 'dimension' is 2; expected -2 to 1 for rank 2")],
    ),
    "dropout": row(
        case((33, 65), prob=0.25, scale=2.0, seed=3),
        case((33, 65), prob=0.0),
        wrong=[
            (
                case((4, 4), prob="high"),
                "prob = 'high' does not make a F32Attr: could not convert string to float: 'high'",
            )
        ],
    ),
    "layer_norm": row(
        named({"normalized_shape": [128], "epsilon": 1e-5}, input=(64, 128), weight=(128,), bias=(128,)),
        named({"normalized_shape": [65]}, input=(33, 65)),
        named({"normalized_shape": [65]}, input=(2, 33, 65), weight=(65,)),
        wrong=[
            (
                named({"normalized_shape": [4]}, input=(4, 8)),
                "attribute 'normalized_shape' is 4; expected the last sizes of 4x8",
            ),
            (named({"normalized_shape": [8]}, input=(4, 8), weight=(4,)), "operand 'weight' has shape 4; expected 8"),
        ],
    ),
    "rms_norm": row(
        named({"normalized_shape": [128], "epsilon": 1e-5}, input=(64, 128), weight=(128,)),
        named({"normalized_shape": [65]}, input=(33, 65)),
        wrong=[
            (
                named({"normalized_shape": [4]}, input=(4, 8)),
                "attribute 'normalized_shape' is 4; expected the last sizes of 4x8",
            )
        ],
    ),
    "group_norm": row(
        named({"num_groups": 4, "epsilon": 1e-5}, input=(1, 1, 64, 128), weight=(1, 1, 1, 128), bias=(1, 1, 1, 128)),
        named({"num_groups": 2, "epsilon": 1e-5}, input=(2, 1, 33, 6)),
        wrong=[
            (
                named({"num_groups": 3}, input=(1, 1, 8, 8)),
                "attribute 'num_groups' is 3, which does not divide 8 channels",
            )
        ],
    ),
    "batch_norm_inference": row(
        case((2, 3, 5, 7), *STATISTICS, epsilon=1e-5, dimension=1),
        case((2, 5, 7, 3), *STATISTICS, epsilon=1e-3, dimension=3),
        wrong=[
            (case((2, 4, 5, 7), *STATISTICS, epsilon=1e-5, dimension=1), "operand 'scale' has shape 3; expected 4"),
            (
                case((2, 3, 5, 7), *STATISTICS, epsilon=1e-5, dimension=4),
                "attribute 'dimension' is 4; expected -4 to 3 for rank 4",
            ),
        ],
    ),
    "batch_norm_training": row(
        case((2, 3, 5, 7), *STATISTICS, epsilon=1e-5, dimension=1, momentum=0.1),
        case((2, 5, 7, 3), *STATISTICS, epsilon=1e-3, dimension=3, momentum=0.25),
        wrong=[
            (
                case((2, 4, 5, 7), *STATISTICS, epsilon=1e-5, dimension=1, momentum=0.1),
                "operand 'scale' has shape 3; expected 4",
            )
        ],
    ),
}


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
        wrong=[
            (
                case((4, 4), begins=[0], ends=[4], step=[1]),
                "attribute 'begins' has 1 numbers; expected one per dimension, 2",
            ),
            (
                case((4, 4), begins=[0, 0], ends=[4, 4], step=[0, 1]),
                "attribute 'step' is 0 in dimension 0; expected 1 or more",
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
        wrong=[
            (
                case((4, 4), padding=[1, 1], value=0.0),
                "attribute 'padding' has 2 numbers; expected two per dimension, 4",
            )
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

NEGATIVE_SIZE = [(case(shape=[4, -1], dtype="dtype"), "result shape has a size of -1; sizes cannot be negative")]
CREATION = {
    "zeros": row(case(shape=[33, 65], dtype="dtype"), case(shape=[], dtype="dtype"), wrong=NEGATIVE_SIZE),
    "ones": row(case(shape=[33, 65], dtype="dtype"), case(shape=[7], dtype="dtype"), wrong=NEGATIVE_SIZE),
    "full": row(
        case(shape=[33, 65], fill_value=1.5),
        case(shape=[2, 3, 5], fill_value=-2.0),
        wrong=[(case(shape=[-1], fill_value=1.0), "result shape has a size of -1; sizes cannot be negative")],
        dtypes=("f32",),
    ),
    "arange": row(
        case(shape=[33], dtype="dtype", start=0, end=33, step=1, arange_dimension=0),
        case(shape=[3, 7], dtype="dtype", start=2, end=16, step=2, arange_dimension=1),
        wrong=[
            (
                case(shape=[4], dtype="dtype", start=0, end=5, step=1, arange_dimension=0),
                "result has size 4 in dimension 0, but the sequence has 5 values",
            )
        ],
        dtypes=NUMBERS,
    ),
    "constant": row(
        case(value="sample"),
        wrong=[(case(value=[[1.0, 2.0], [3.0]]), "value = .*expected sequence of length 2 at dim 1")],
        dtypes=NUMBERS,
    ),
    "rand": row(
        case(size=[33, 65], dtype="dtype", low=-1.0, high=2.0, seed=7),
        wrong=[
            (
                case(size=[4, -4], dtype="dtype", low=0.0, high=1.0, seed=7),
                "result shape has a size of -4; sizes cannot be negative",
            )
        ],
    ),
    "empty": row(
        case(shape=[33, 65], dtype="dtype"),
        wrong=[(case(shape=[4, -1], dtype="dtype"), r"shape is \[4, -1\]; expected a list of sizes of at least 0")],
    ),
}


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

TTIR: dict[str, Row] = {
    f"ttir.{name}": made
    for family in (
        ELEMENTWISE,
        REDUCTION,
        MATMUL,
        CONVOLUTION,
        QUANTIZATION,
        NORMALIZATION,
        DATA_MOVEMENT,
        CREATION,
        ATTENTION,
        COLLECTIVE,
    )
    for name, made in family.items()
}

# Ops that no row can call by itself, and what tests them instead.
NO_ROW: dict[str, str] = {
    "ttir.tt_lang_op": "kernel source; lit test Dialect/TTIR",
    "ttir.ttnn_metal_layout_cast": "memory of another back end; lit test Dialect/TTIR",
    "ttir.mesh_shard": "every row on a mesh is split and joined by it",
    "ttir.to_layout": "takes the tensor it writes to; lit test Dialect/TTIR",
    "ttir.alloc": "memory, no value; lit test Dialect/TTIR",
    "ttir.dealloc": "memory, no value; lit test Dialect/TTIR",
    "ttir.quantize": "needs a quantized type; lit test Dialect/TTIR",
    "ttir.dequantize": "needs a quantized type; lit test Dialect/TTIR",
    "ttir.requantize": "needs a quantized type; lit test Dialect/TTIR",
}
