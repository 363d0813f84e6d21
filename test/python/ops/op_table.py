# SPDX-License-Identifier: Apache-2.0
"""The op table of the tests: how each op is called, over shapes, attributes and dtypes.

One row an op (see op_rows.py). test_op_tables.py runs every row through the builder, the compiler, the flatbuffer and
the simulated chip against its golden, prints and re-parses it, and gives it wrong inputs. Sample domains come from the
golden tables. Large families, StableHLO's ops and TTNN ops that no TTIR op is lowered to are in the other files of this
name.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from op_rows import (
    FLOATS,
    INTEGERS,
    NO_BROADCAST,
    NUMBERS,
    PAIRS,
    SHAPES,
    TOO_MANY,
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
from op_table_collective import COLLECTIVE
from op_table_data_movement import DATA_MOVEMENT
from op_table_training import EXPERTS, ROUTING, TRAINING
from op_table_window import WINDOW

ELEMENTWISE = {
    **rows(
        """acos asin asinh atan atanh cbrt ceil cos erf erfc exp exp2 expm1 floor frac gelu hardsigmoid isfinite log
        log1p log2 logical_not mish reciprocal relu6 rsqrt selu sigmoid signbit silu sin softsign sqrt tan tanh
        trunc""",
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
        [(case((4, 4), min="low", max=1.0), "min = 'low' does not make a TT_Number: Unable to parse attribute:")],
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
    "prod": reduction(),
    "argmax": row(
        case((64, 128), dim_arg=[1], keep_dim=True),
        case((33, 65), dim_arg=[0], keep_dim=False),
        case((2, 3, 5, 33), dim_arg=[-1], keep_dim=False),
        case((7, 5), keep_dim=False),
        case((132, 7), dim_arg=[0], keep_dim=True),
        case((3, 5, 2, 33), dim_arg=[-1, 1], keep_dim=True),
        case((3, 5, 33), dim_arg=[0, 2], keep_dim=False),
        case((4, 6), dim_arg=[1, 0], keep_dim=False),
        wrong=[
            (case((4, 4), dim_arg=[2], keep_dim=True), "attribute 'dim_arg' is 2; expected -2 to 1 for rank 2"),
            (case((4, 4), dim_arg=[1, -1], keep_dim=True), "attribute 'dim_arg' names dimension 1 twice"),
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
        named({"normalized_shape": [5, 33]}, input=(3, 5, 33), weight=(5, 33), bias=(5, 33)),
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
        named({"normalized_shape": [3, 5, 33]}, input=(3, 5, 33), weight=(3, 5, 33)),
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


NEGATIVE_SIZE = [(case(shape=[4, -1], dtype="dtype"), r"attribute 'shape' is \[4, -1\]; sizes cannot be negative")]
CREATION = {
    "zeros": row(case(shape=[33, 65], dtype="dtype"), case(shape=[], dtype="dtype"), wrong=NEGATIVE_SIZE),
    "ones": row(case(shape=[33, 65], dtype="dtype"), case(shape=[7], dtype="dtype"), wrong=NEGATIVE_SIZE),
    "full": row(
        case(shape=[33, 65], fill_value=1.5),
        case(shape=[2, 3, 5], fill_value=-2.0),
        wrong=[(case(shape=[-1], fill_value=1.0), r"attribute 'shape' is \[-1\]; sizes cannot be negative")],
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
                "attribute 'size' is .*; sizes cannot be negative",
            )
        ],
    ),
    "empty": row(
        case(shape=[33, 65], dtype="dtype"),
        wrong=[(case(shape=[4, -1], dtype="dtype"), r"shape is \[4, -1\]; expected a list of sizes of at least 0")],
    ),
}


TTIR: dict[str, Row] = {
    f"ttir.{name}": result
    for family in (
        ELEMENTWISE,
        REDUCTION,
        MATMUL,
        WINDOW,
        QUANTIZATION,
        NORMALIZATION,
        DATA_MOVEMENT,
        CREATION,
        ATTENTION,
        TRAINING,
        ROUTING,
        EXPERTS,
        COLLECTIVE,
    )
    for name, result in family.items()
}

# Ops that no row can call by itself, and what tests them instead.
NO_ROW: dict[str, str] = {
    "ttir.tt_lang_op": "kernel source; lit test Dialect/TTIR",
    "ttir.ttnn_metal_layout_cast": "memory of another back end; lit test Dialect/TTIR",
    "ttir.moe_gpt": "parsed and printed; lit test Conversion/TTIRToTTNN",
    "ttir.selective_reduce_combine": "parsed and printed; lit test Conversion/TTIRToTTNN",
    "ttir.mesh_shard": "every row on a mesh is split and joined by it",
    "ttir.to_layout": "takes the tensor it writes to; lit test Dialect/TTIR",
    "ttir.alloc": "memory, no value; lit test Dialect/TTIR",
    "ttir.dealloc": "memory, no value; lit test Dialect/TTIR",
    "ttir.quantize": "needs a quantized type; lit test Dialect/TTIR",
    "ttir.dequantize": "needs a quantized type; lit test Dialect/TTIR",
    "ttir.requantize": "needs a quantized type; lit test Dialect/TTIR",
}
