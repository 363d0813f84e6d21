# SPDX-License-Identifier: Apache-2.0
"""StableHLO's rows of the op table. Its operands do not broadcast, so operands of one op have the same shape."""

from __future__ import annotations

from op_gaps import reason
from op_rows import FLOATS, INTEGERS, NUMBERS, SHAPES, TOO_MANY, Operand, Row, case, row, rows

CONVOLUTION = {
    "window_strides": [1, 1],
    "padding": [[1, 1], [1, 1]],
    "lhs_dilation": [1, 1],
    "rhs_dilation": [1, 1],
    "input_batch_dimension": 0,
    "input_feature_dimension": 1,
    "input_spatial_dimensions": [2, 3],
    "kernel_output_feature_dimension": 0,
    "kernel_input_feature_dimension": 1,
    "kernel_spatial_dimensions": [2, 3],
    "output_batch_dimension": 0,
    "output_feature_dimension": 1,
    "output_spatial_dimensions": [2, 3],
    "feature_group_count": 1,
    "batch_group_count": 1,
}


def same(operands: int, dtypes: tuple[str, ...] = FLOATS, **attributes: object) -> Row:
    """Operands of one shape; two of different shapes are wrong."""
    wrong = (
        [(case(*[(4, 4)] * (operands - 1), (4, 5), **attributes), "tensor<4x5x.*expected .*the shape of 'tensor<4x4x")]
        if operands > 1
        else [TOO_MANY]
    )
    return Row([case(*[s] * operands, **attributes) for s in SHAPES], wrong, dtypes)


def convolution(*operands: Operand, **attributes: object):
    return case(*operands, **CONVOLUTION | attributes)


def gather(
    operand: tuple[int, ...],
    indices: tuple[int, ...],
    offset_dims: list[int],
    collapsed_slice_dims: list[int],
    start_index_map: list[int],
    index_vector_dim: int,
    slice_sizes: list[int],
    operand_batching_dims: list[int] | None = None,
    start_indices_batching_dims: list[int] | None = None,
):
    return case(
        operand,
        indices,
        offset_dims=offset_dims,
        collapsed_slice_dims=collapsed_slice_dims,
        operand_batching_dims=operand_batching_dims or [],
        start_indices_batching_dims=start_indices_batching_dims or [],
        start_index_map=start_index_map,
        index_vector_dim=index_vector_dim,
        slice_sizes=slice_sizes,
    )


def convolution_over(rank: int, *operands: Operand, **attributes: object):
    """Over another number of dimensions than two."""
    names = ("input_spatial_dimensions", "kernel_spatial_dimensions", "output_spatial_dimensions")
    sizes = dict.fromkeys(("window_strides", "lhs_dilation", "rhs_dilation"), [1] * rank)
    own = {name: list(range(2, 2 + rank)) for name in names} | sizes | {"padding": [[0, 0]] * rank}
    return convolution(*operands, **own | attributes)


COMPARISONS = ("EQ", "NE", "LT", "LE", "GT", "GE")

STABLEHLO: dict[str, Row] = {
    f"stablehlo.{name}": created
    for name, created in {
        **rows(
            """cbrt ceil cosine exponential exponential_minus_one floor is_finite log log_plus_one logistic
            round_nearest_afz round_nearest_even rsqrt sine sqrt tan tanh""",
            same(1),
        ),
        **rows("abs negate sign", same(1, NUMBERS)),
        "not": same(1, (*INTEGERS, "i1")),
        **rows("count_leading_zeros popcnt", same(1, INTEGERS)),
        "convert": Row(
            [case(s) for s in SHAPES],
            [(case(*[(4, 4)] * 4), "multiple values for argument .output_type.")],
            dtypes=NUMBERS,
            result="bf16",
        ),
        "reduce_precision": Row(
            [case(s, exponent_bits=5, mantissa_bits=10) for s in SHAPES[:2]],
            [(case((4, 4), exponent_bits=0, mantissa_bits=10), "'exponent_bits' failed .*value is positive")],
        ),
        **rows("add maximum minimum multiply subtract", same(2, NUMBERS)),
        **rows("atan2 divide power remainder", same(2)),
        **rows("and or xor", same(2, (*INTEGERS, "i1"))),
        **rows("shift_left shift_right_arithmetic shift_right_logical", same(2, INTEGERS)),
        "compare": Row(
            [case((33, 65), (33, 65), comparison_direction=c) for c in COMPARISONS],
            [
                (
                    case((4, 4), (4, 5), comparison_direction="EQ"),
                    "operand 1 is 'tensor<4x5xf32>'; expected the shape of 'tensor<4x4xf32>', which operand 0",
                )
            ],
            NUMBERS,
        ),
        "select": Row(
            [case(s, s, s) for s in SHAPES],
            [
                (
                    case((4, 4), (4, 4), (4, 5)),
                    "operand 2 is 'tensor<4x5xf32>'; expected the shape of 'tensor<4x4xf32>', which operand 1",
                )
            ],
            NUMBERS,
            fixed={0: "i1"},
        ),
        "clamp": same(3),
        "reshape": row(
            case((33, 65), shape=[65, 33]),
            case((2, 3, 5), shape=[30]),
            wrong=[(case((4, 4), shape=[3, 5]), "has 16 elements in 'tensor<4x4xf32>' and 15 in 'tensor<3x5xf32>'")],
        ),
        "transpose": row(
            case((33, 65), permutation=[1, 0]),
            case((2, 3, 5), permutation=[2, 0, 1]),
            wrong=[(case((4, 4), permutation=[0, 0]), "dims names dimension 0 twice")],
        ),
        "broadcast": row(
            case((5, 7), broadcast_sizes=[2, 3]),
            wrong=[(case((4, 4), broadcast_sizes=[-1]), "sizes contains -1; expected 0 or more")],
        ),
        "broadcast_in_dim": row(
            case((65,), broadcast_dimensions=[1], output_shape=[33, 65]),
            case((33, 1), broadcast_dimensions=[0, 1], output_shape=[33, 65]),
            wrong=[
                (
                    case((4,), broadcast_dimensions=[0], output_shape=[5, 4]),
                    "places dimension 0 of size 4 in dimension 0 of size 5; expected size 1 or the same size",
                )
            ],
        ),
        "concatenate": row(
            case([(33, 65), (33, 7)], dimension=1),
            wrong=[
                (
                    case([(4, 4), (4, 5)], dimension=0),
                    "operand 1 has size 5 in dimension 1, others have 4; only dimension 0 may differ",
                )
            ],
        ),
        "slice": row(
            case((33, 65), start_indices=[1, 0], limit_indices=[33, 60], strides=[2, 1]),
            wrong=[
                (
                    case((4, 4), start_indices=[0, 0], limit_indices=[4, 5], strides=[1, 1]),
                    "the range 0:5 does not fit dimension 1 of 'tensor<4x4xf32>'",
                )
            ],
        ),
        "reverse": row(
            case((33, 65), dimensions=[0]),
            wrong=[(case((4, 4), dimensions=[2]), "dims names dimension 2 of a tensor of rank 2")],
        ),
        "pad": row(
            case((33, 65), 1.5, padding=[1, 2, 0, 3]),
            wrong=[
                (
                    case((4, 4), (5,), padding=[1, 1, 1, 1]),
                    r"operand #1 must be 0D tensor of 4 to 64-bit float or pred \(i1\) or 2/4/8/16/32/64-bit",
                )
            ],
        ),
        "dot": row(
            case((33, 65), (65, 17)),
            wrong=[(case((4, 4), (5, 4)), "contracting dimensions 1 of lhs and 0 of rhs have sizes 4 and 5")],
        ),
        "dot_general": row(
            case(
                (3, 5, 7),
                (3, 7, 9),
                batch_dims_lhs=[0],
                contract_dims_lhs=[2],
                batch_dims_rhs=[0],
                contract_dims_rhs=[1],
            ),
            wrong=[
                (
                    case(
                        (4, 4),
                        (5, 4),
                        batch_dims_lhs=[],
                        contract_dims_lhs=[1],
                        batch_dims_rhs=[],
                        contract_dims_rhs=[0],
                    ),
                    "contracting dimensions 1 of lhs and 0 of rhs have sizes 4 and 5",
                )
            ],
        ),
        "convolution": row(
            convolution((1, 4, 9, 9), (6, 4, 3, 3)),
            convolution((1, 4, 9, 9), (6, 4, 3, 2), padding=[[1, 0], [0, 2]], rhs_dilation=[1, 2]),
            convolution_over(1, (2, 4, 17), (6, 2, 3), feature_group_count=2, window_strides=[2], padding=[[2, 1]]),
            convolution_over(3, (1, 3, 4, 5, 6), (4, 3, 2, 3, 3), window_strides=[1, 2, 1]),
            # Forms that become others: of many dimensions, of sizes 0, cut, dilated with strides or padded far.
            convolution_over(4, (2, 3, 4, 3, 3, 3), (4, 3, 2, 2, 2, 2), window_strides=[2, 1, 1, 1]),
            convolution_over(1, (2, 0, 5), (3, 0, 2)),
            convolution((2, 4, 0, 5), (6, 4, 1, 3), padding=[[2, 1], [0, 0]]),
            convolution((2, 4, 5, 6), (6, 4, 3, 2), padding=[[-1, 0], [0, -2]]),
            convolution_over(1, (2, 4, 5), (6, 4, 3), lhs_dilation=[2], padding=[[1, 2]]),
            convolution_over(
                3, (1, 4, 3, 2, 3), (4, 2, 2, 2, 3), feature_group_count=2, lhs_dilation=[2, 3, 1], padding=[[1, 0]] * 3
            ),
            convolution((1, 4, 5, 5), (6, 4, 3, 3), lhs_dilation=[2, 2], window_strides=[2, 3], padding=[[1, 1]] * 2),
            convolution((1, 4, 5, 5), (6, 4, 3, 3), lhs_dilation=[2, 2], padding=[[5, 0], [0, 6]]),
            # Dilated inputs: transposed convolutions.
            convolution((1, 4, 5, 6), (6, 4, 3, 3), lhs_dilation=[2, 2], padding=[[1, 1], [1, 2]]),
            convolution(
                (2, 4, 5, 3), (6, 2, 2, 3), lhs_dilation=[3, 2], padding=[[0, 3], [2, 4]], feature_group_count=2
            ),
            convolution((1, 3, 4, 4), (5, 3, 3, 2), lhs_dilation=[2, 1], rhs_dilation=[1, 2]),
            # One channel, a column of results, several images, and dimensions in another order.
            convolution((2, 1, 3, 4), (2, 1, 2, 3), window_strides=[1, 3], padding=[[1, 1], [0, 0]]),
            convolution(
                (3, 3, 1, 1),
                (2, 1, 1, 1),
                padding=[[1, 0], [0, 0]],
                input_feature_dimension=3,
                input_spatial_dimensions=[1, 2],
                kernel_output_feature_dimension=3,
                kernel_input_feature_dimension=2,
                kernel_spatial_dimensions=[0, 1],
                output_feature_dimension=3,
                output_spatial_dimensions=[1, 2],
            ),
            dtypes=NUMBERS,
            wrong=[
                (
                    convolution((1, 4, 9, 9), (6, 5, 3, 3)),
                    "the input has 4 features in each of 1 groups, the kernel takes 5",
                )
            ],
        ),
        "bitcast_convert": Row(
            [case(s, output_shape=list(s)) for s in SHAPES],
            [(case((4, 4), output_shape=[4, 5]), "4x4xf32.* and result .*4x5xi32.*expected the shapes to agree")],
            dtypes=("f32",),
            result="i32",
        ),
        "dynamic_slice": row(
            case((33, 65), [(), ()], slice_sizes=[5, 65]),
            case((3, 5, 7), [(), (), ()], slice_sizes=[2, 5, 4]),
            case((4,), [()], slice_sizes=[4]),
            case((4,), [()], slice_sizes=[0]),
            case((), [], slice_sizes=[]),
            wrong=[
                (
                    case((4, 4), [(), ()], slice_sizes=[5, 4]),
                    "a block of size 5 does not fit dimension 0 of 'tensor<4x4xf32>'",
                )
            ],
            fixed={1: "i32"},
        ),
        "dynamic_update_slice": row(
            case((33, 65), (5, 65), [(), ()]),
            case((3, 5, 7), (2, 5, 4), [(), (), ()]),
            case((4,), (4,), [()]),
            case((4,), (0,), [()]),
            case((), (), []),
            wrong=[(case((4, 4), (5, 4), [(), ()]), "a block of size 5 does not fit dimension 0 of 'tensor<4x4xf32>'")],
            fixed={2: "i32"},
        ),
        "gather": row(
            gather((33, 7), (5, 1), [1], [0], [0], 1, [1, 7]),  # rows
            gather((33, 7), (5,), [1], [0], [0], 1, [1, 7]),  # the vector has no dimension
            gather((5, 6, 7), (2, 3, 2), [1], [0, 2], [2, 0], 2, [1, 6, 1]),  # in another order
            gather((5, 6, 7), (2, 4), [0, 2], [1], [1, 0], 0, [2, 1, 3]),  # parts, vectors in front
            gather((4, 5, 6), (4, 3, 1), [2], [1], [1], 2, [1, 1, 6], [0], [0]),  # batches
            gather((4, 5, 6), (3, 6, 4, 1), [], [1], [1], 3, [1, 1, 1], [0, 2], [2, 1]),
            gather((5,), (0, 1), [], [0], [0], 1, [1]),  # nothing
            gather((5, 6), (3, 0), [1, 2], [], [], 1, [4, 6]),  # without a start
            gather((1, 1), (1, 2), [], [0, 1], [0, 1], 1, [1, 1]),
            wrong=[
                (gather((4, 4), (2, 1), [1], [0], [0], 1, [1, 5]), "slice_sizes has 5 for dimension 1 of"),
                (gather((4, 4), (2, 1), [1], [0], [0], 1, [2, 4]), "slice_sizes has 2 for dimension 0, which is in"),
                (gather((4, 4), (2, 1), [1], [0], [0], 3, [1, 4]), "index_vector_dim is 3; expected 0 to 2"),
                (gather((4, 4), (2, 2), [1], [0], [0], 1, [1, 4]), "start_index_map has 1 values; expected one for"),
                (
                    gather((4, 4), (2, 1), [2], [0], [0], 1, [1, 4]),
                    "offset_dims names dimension 2 of a tensor of rank",
                ),
                (
                    gather((4, 4), (2, 1), [1], [], [0], 1, [1, 4]),
                    "have 1 values; expected one for each of 2",
                ),
            ],
            fixed={1: "i32"},
        ),
        "batch_norm_inference": row(
            case((2, 3, 5, 7), *[(3,)] * 4, epsilon=1e-5, feature_index=1),
            case((4, 5), *[(5,)] * 4, epsilon=1e-3, feature_index=1),
            case((2, 5, 7, 3), *[(3,)] * 4, epsilon=1e-3, feature_index=3),
            wrong=[
                (
                    case((2, 3, 5), *[(5,)] * 4, epsilon=1e-5, feature_index=1),
                    "operand 1 is 'tensor<5xf32>'; expected a value for each of 3 features",
                ),
                (
                    case((2, 3), *[(3,)] * 4, epsilon=1e-5, feature_index=2),
                    "feature_index is 2; expected less than the rank 2",
                ),
            ],
        ),
        "batch_norm_training": row(
            case((2, 3, 5, 7), (3,), (3,), epsilon=1e-5, feature_index=1),
            case((9, 5), (5,), (5,), epsilon=1e-3, feature_index=1),
            case((2, 5, 7, 1), (1,), (1,), epsilon=1e-3, feature_index=3),
            wrong=[
                (
                    case((2, 3), (3,), (2,), epsilon=1e-5, feature_index=1),
                    "operand 2 is 'tensor<2xf32>'; expected a value for each of 3 features",
                )
            ],
        ),
        "batch_norm_grad": row(
            case((2, 3, 5, 7), *[(3,)] * 3, (2, 3, 5, 7), epsilon=1e-5, feature_index=1),
            case((9, 5), *[(5,)] * 3, (9, 5), epsilon=1e-3, feature_index=1),
            case((2, 5, 7, 1), *[(1,)] * 3, (2, 5, 7, 1), epsilon=1e-3, feature_index=3),
            wrong=[
                (
                    case((2, 3), *[(3,)] * 3, (3, 2), epsilon=1e-5, feature_index=1),
                    "operand 4 is 'tensor<3x2xf32>'; expected the shape of 'tensor<2x3xf32>'",
                )
            ],
        ),
        "constant": row(
            case(value="sample"),
            wrong=[(case(value=[[1.0, 2.0], [3.0]]), "value = .*expected sequence of length 2 at dim 1")],
            dtypes=NUMBERS,
        ),
        "iota": row(
            case((33, 65), iota_dimension=1),
            case((7,), iota_dimension=0),
            wrong=[(case((4,), iota_dimension=1), "counts along dimension 1 of a result of rank 1")],
            dtypes=NUMBERS,
        ),
    }.items()
}

# With tests in test/python/stablehlo.
CHLO = """_asin_acos_kernel acos acosh asin asinh atan atanh bessel_i1e broadcast_add broadcast_and broadcast_atan2
    broadcast_compare broadcast_complex broadcast_divide broadcast_maximum broadcast_minimum broadcast_multiply
    broadcast_next_after broadcast_or broadcast_polygamma broadcast_power broadcast_remainder broadcast_select
    broadcast_shift_left broadcast_shift_right_arithmetic broadcast_shift_right_logical broadcast_subtract broadcast_xor
    broadcast_zeta conj constant constant_like cosh digamma erf erf_inv erfc is_inf is_neg_inf is_pos_inf lgamma mulhi
    next_after polygamma ragged_dot scan sinh square tan top_k zeta"""

NO_ROW: dict[str, str] = {
    **{f"chlo.{name}": "test_formulas.py, test_expansions.py, test_complex.py, test_scans.py" for name in CHLO.split()},
    "stablehlo.scatter": "has a region; test_scatter.py",
    "stablehlo.sort": "has a region; test_sort.py",
    "stablehlo.return": "ends a region; lit test Dialect/StableHLO",
    "stablehlo.reduce": "has a region; test_reduce.py",
    "stablehlo.reduce_window": "has a region; test_reduce.py",
    **reason(
        "quantized types; test_quantized.py",
        "stablehlo.uniform_dequantize stablehlo.uniform_quantize",
    ),
    **reason(
        "complex numbers; test_complex.py",
        """stablehlo.complex stablehlo.fft stablehlo.imag stablehlo.real""",
    ),
    **reason(
        "has regions, or calls; test_control_flow.py",
        """stablehlo.case stablehlo.composite stablehlo.if stablehlo.while""",
    ),
    **reason(
        "written by other ops; test_expansions.py",
        """stablehlo.cholesky stablehlo.custom_call stablehlo.einsum stablehlo.get_tuple_element stablehlo.map
        stablehlo.optimization_barrier stablehlo.rng_bit_generator stablehlo.select_and_scatter
        stablehlo.torch_index_select stablehlo.triangular_solve stablehlo.tuple stablehlo.unary_einsum""",
    ),
    **reason(
        "between the chips of a mesh; test_collectives.py",
        """stablehlo.after_all stablehlo.all_gather stablehlo.all_reduce stablehlo.all_to_all
        stablehlo.collective_broadcast stablehlo.collective_permute stablehlo.cross-replica-sum stablehlo.partition_id
        stablehlo.reduce_scatter stablehlo.replica_id""",
    ),
    **reason(
        "parsed, verified and folded; lit tests Dialect/StableHLO",
        """stablehlo.async_done stablehlo.async_start stablehlo.collective_reduce stablehlo.create_token
        stablehlo.dynamic_broadcast_in_dim stablehlo.dynamic_conv stablehlo.dynamic_gather stablehlo.dynamic_iota
        stablehlo.dynamic_pad stablehlo.dynamic_reshape stablehlo.get_dimension_size stablehlo.infeed
        stablehlo.outfeed stablehlo.real_dynamic_slice stablehlo.recv stablehlo.rng stablehlo.send
        stablehlo.set_dimension_size""",
    ),
}
