# SPDX-License-Identifier: Apache-2.0
"""Rows of optimizers, attention in training, and the choice of tokens and experts (see op_rows.py)."""

from __future__ import annotations

import math
from typing import Any

from op_rows import Case, Operand, Shape, case, named, row

STATE = ((33, 65),) * 4
FIFTH_STEP = {"lr": 0.1, "beta1": 0.8, "beta2": 0.99, "beta1_pow": 0.32768, "beta2_pow": 0.9509900499}
ROUNDED = {"bf16": (0.02, 0.02)}

TRAINING = {
    "adamw": row(
        case(*STATE),
        case(*STATE, (33, 65), weight_decay=0.1, epsilon=1e-3, **FIFTH_STEP),
        case((), (), (), (), **FIFTH_STEP),
        case((7,), (7,), (7,), (7,), stochastic_rounding=True, **FIFTH_STEP),
        wrong=[
            (case((4, 8), (4, 8), (4, 8), (8, 4)), "operand 'exp_avg_sq' has shape 8x4; expected 4x8"),
            (case((4,), (4,), (4,), (4,), (1,)), "operand 'max_exp_avg_sq' has shape 1; expected 4"),
        ],
        tolerance=ROUNDED,
        because="a stochastic rounding is off by up to one unit in the last place",
    ),
    "sdpa_fw": row(
        case((1, 4, 33, 16), (1, 2, 33, 16), (1, 2, 33, 16), return_intermediates=True),
        case((2, 2, 7, 8), (2, 2, 9, 8), (2, 2, 9, 8), mask_type="none"),
        case((2, 2, 7, 8), (2, 1, 9, 8), (2, 1, 9, 8), (2, 1, 7, 9), mask_type="arbitrary", return_intermediates=True),
        case((1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)),
        wrong=[
            (
                case((1, 3, 8, 16), (1, 2, 8, 16), (1, 2, 8, 16)),
                "3 heads of 'query' are no multiple of 2 heads of 'key'",
            ),
            (
                case((1, 2, 8, 16), (1, 2, 8, 16), (1, 2, 8, 16), mask_type="arbitrary"),
                "attribute 'mask_type' is arbitrary without an operand 'attention_mask'",
            ),
            (
                case((1, 2, 8, 16), (1, 2, 8, 16), (1, 2, 8, 16), (1, 1, 8, 8)),
                "attribute 'mask_type' is not arbitrary with an operand 'attention_mask'",
            ),
            (
                case((1, 2, 8, 16), (1, 2, 8, 16), (1, 2, 8, 16), (1, 1, 8, 7), mask_type="arbitrary"),
                "operand 'attention_mask' has shape 1x1x8x7, which does not broadcast to 1x2x8x8",
            ),
            (case((1, 2, 8, 16), (1, 2, 8, 16), (1, 2, 7, 16)), "operand 'value' has shape .*; expected that of 'key'"),
        ],
    ),
    "sdpa_bw": row(
        case(*((1, 4, 9, 16),) * 3, *((1, 2, 9, 16),) * 2, (1, 4, 9, 64), mask_type="causal"),
        case(*((2, 2, 7, 8),) * 3, *((2, 2, 9, 8),) * 2, (2, 2, 7, 64), mask_type="none"),
        case(*((2, 2, 7, 8),) * 3, *((2, 1, 9, 8),) * 2, (2, 2, 7, 64), (1, 1, 7, 9)),
        wrong=[
            (
                case(*((1, 2, 8, 16),) * 5, (1, 2, 8, 48), mask_type="none"),
                "operand 'intermediates' has shape 1x2x8x48; expected 1x2x8x64",
            ),
            (
                case((1, 2, 8, 8), *((1, 2, 8, 16),) * 4, (1, 2, 8, 64), mask_type="none"),
                "operand 'grad_output' has shape 1x2x8x8; expected 1x2x8x16",
            ),
        ],
        tolerance={"f32": (1e-3, 1e-4), "bf16": (0.25, 0.05)},
        because="random statistics are no probabilities: sums of large products cancel each other",
    ),
}

ROUTING = {
    "sampling": row(
        case((5, 33), (5, 33), (5,), (5,), (5,), seed=7),
        case((1, 1, 32, 64), (1, 1, 32, 64), (32,), (32,), (32,), seed=2**32 - 1),
        case((3, 1), (3, 1), (3,), (3,), (3,)),
        wrong=[
            (case((5, 33), (5, 32), (5,), (5,), (5,)), "operand 'input_indices' has shape 5x32; expected 5x33"),
            (case((5, 33), (5, 33), (4,), (5,), (5,)), "operand 'k' has shape 4; expected a value for each of 5 users"),
            (
                case((2, 1, 5, 33), (2, 1, 5, 33), (5,), (5,), (5,)),
                "operand 'input_values' has shape 2x1x5x33; expected users x candidates",
            ),
        ],
        fixed={1: "i32", 2: "i32"},
    ),
    "topk_router_gpt": row(
        case((33, 64), (64, 128), (33, 128), k=4),
        case((2, 3, 16), (16, 8), (8,), k=8, num_experts=8),
        case((2, 3, 16), (16, 8), (3, 1), k=1, num_experts=8),
        case((16,), (16, 8), (), k=3, num_experts=8),
        wrong=[
            (
                case((4, 16), (16, 8), (8,), k=2, num_experts=7),
                "attribute 'num_experts' is 7; expected 8, the columns of 'weight'",
            ),
            (case((4, 16), (16, 8), (8,), k=9, num_experts=8), "attribute 'k' is 9; expected 1 to 8"),
            (case((4, 15), (16, 8), (8,), k=2, num_experts=8), "operand 'input' has shape 4x15; expected rows of 16"),
            (
                case((4, 16), (16, 8), (2, 4, 8), k=2, num_experts=8),
                "operand 'bias' has shape 2x4x8, which does not broadcast to 4x8",
            ),
        ],
    ),
    "sparse_matmul": row(
        case((2, 3, 33, 16), (1, 4, 16, 8), (2, 3, 1, 4), nnz=7),
        case((1, 4, 33, 16), (1, 4, 16, 8), (1, 1, 1, 4), is_input_a_sparse=True),
        case((3, 4, 7, 16), (1, 4, 16, 8), (1, 1, 3, 4), is_input_a_sparse=True, is_input_b_sparse=False),
        wrong=[
            (
                case((2, 3, 8, 16), (1, 4, 15, 8), (2, 3, 1, 4)),
                "inner dimensions 16 of 'a' and 15 of 'b' differ",
            ),
            (
                case((2, 3, 8, 16), (1, 4, 16, 8), (2, 3, 1, 5)),
                "operand 'sparsity' has shape 2x3x1x5; expected a value for each of 24 products",
            ),
            (
                case((2, 3, 8, 16), (1, 4, 16, 8), (2, 3, 1, 4), is_input_b_sparse=False),
                "attribute 'is_input_a_sparse' and 'is_input_b_sparse' are false",
            ),
            (
                case((2, 4, 8, 16), (1, 4, 16, 8), (1, 1, 2, 4), is_input_a_sparse=True),
                "operand 'a' has shape 2x4x8x16; expected 1 x 4 x M x K",
            ),
            (
                case((2, 3, 8, 16), (1, 4, 16, 8), (2, 3, 1, 4), nnz=25),
                "attribute 'nnz' is 25; expected 0 to 24, the number of products",
            ),
        ],
        fixed={2: "i32"},
    ),
}

# A device alone, which has all experts; models/test_experts.py is about meshes.
ALONE = {"num_devices": 1, "cluster_axis": 1}
MAPPING = (1, 1, 6, 1)
NO_MAPPING = "operand 'expert_mapping' has shape 1x1x6x2; expected 1 x 1 x experts x 1"


def mixture(
    tokens: Shape,
    k: int,
    weights: Shape,
    mapping: Shape,
    *,
    biased: bool = False,
    **others: Any,
) -> Case:
    """Weights [layers, experts, size, intermediate]; others: attributes, and shapes of operands."""
    layers, experts, size, intermediate = weights
    rows = (*tokens[:-1], k)
    operands: dict[str, Operand] = {
        "tilize_input_tensor": tokens,
        "tilize_expert_indices_tensor": rows,
        "tilize_expert_scores_tensor": rows,
        "tilize_expert_mapping_tensor": mapping,
        "w0": weights,
        "w1": weights,
        "w2": (layers, experts, intermediate, size),
    }
    if biased:
        operands |= {"bias_0": (layers, experts, intermediate), "bias_1": (layers, experts, intermediate)}
        operands |= {"bias_2": (layers, experts, size)}
    attributes = {
        "layer_id": 0,
        "output_height_shard_dim": 4,
        "intermediate_size": intermediate,
        "cluster_axis": 1,
        "output_shape": (k, math.prod(tokens[:-1]), size),
    }
    operands |= {name: others.pop(name) for name in list(others) if isinstance(others[name], tuple)}
    return named(attributes | others, **operands)


EXPERTS = {
    "all_to_all_dispatch": row(
        case((2, 3, 1, 33), (2, 3, 1, 2), MAPPING, **ALONE),
        case((2, 1, 5, 1), (2, 1, 5, 1), MAPPING, **ALONE),
        case((1, 1, 1, 64), (1, 1, 1, 6), MAPPING, **ALONE),
        wrong=[
            (case((2, 3, 1, 8), (2, 3, 1, 2), (1, 1, 6, 2), **ALONE), NO_MAPPING),
            (case((2, 3, 2, 8), (2, 3, 2, 2), MAPPING, **ALONE), "operand 'input_tensor' has shape 2x3x2x8; expected"),
            (case((2, 3, 1, 8), (2, 1, 3, 2), MAPPING, **ALONE), "operand 'expert_indices' has shape 2x1x3x2; expect"),
            (
                case((2, 3, 1, 8), (2, 3, 1, 2), MAPPING, num_devices=2, cluster_axis=1),
                "attribute 'num_devices' is 2; expected 1, the devices of the mesh along 'cluster_axis'",
            ),
        ],
        fixed={1: "i32", 2: "i32"},
    ),
    "all_to_all_dispatch_metadata": row(
        case((2, 3, 1, 33), (2, 3, 1, 2), (2, 3, 1, 2), MAPPING, **ALONE),
        case((2, 1, 5, 1), (2, 1, 5, 1), (2, 1, 5, 1), MAPPING, **ALONE),
        wrong=[
            (
                case((2, 3, 1, 8), (2, 3, 1, 2), (2, 3, 1, 3), MAPPING, **ALONE),
                "operand 'expert_scores' has 3 values for each token; expected 2, one for each expert",
            ),
        ],
        fixed={1: "i32", 3: "i32"},
    ),
    "all_to_all_combine": row(
        case((6, 2, 3, 33), (1, 2, 3, 2), MAPPING, num_experts_per_tok=2, **ALONE),
        case((6, 2, 5, 1), (1, 2, 5, 4), MAPPING, num_experts_per_tok=4, output_shard_dim=1, **ALONE),
        wrong=[
            (
                case((5, 2, 3, 8), (1, 2, 3, 2), MAPPING, num_experts_per_tok=2, **ALONE),
                "operand 'input_tensor' has shape 5x2x3x8; expected 6 experts of a device first",
            ),
            (
                case((6, 2, 3, 8), (1, 2, 3, 2), MAPPING, num_experts_per_tok=3, **ALONE),
                "operand 'expert_metadata' has shape 1x2x3x2; expected 1x2x3x3",
            ),
            (
                case((6, 2, 3, 8), (1, 2, 3, 2), MAPPING, num_experts_per_tok=2, output_shard_dim=3, **ALONE),
                "attribute 'output_shard_dim' is 3; expected 1 .batch. or 2 .sequence.",
            ),
        ],
        fixed={1: "i32", 2: "i32"},
    ),
    "moe_expert_token_remap": row(
        case((1, 2, 3, 6), MAPPING, (1, 2, 3, 2), reduction_size=4),
        case((1, 1, 1, 6), MAPPING, (1, 1, 1, 1), reduction_size=16),
        case((1, 4, 8, 6), MAPPING, (1, 4, 8, 6), reduction_size=1),
        wrong=[
            (
                case((1, 2, 3, 5), MAPPING, (1, 2, 3, 2), reduction_size=4),
                "operand 'topk_tensor' has shape 1x2x3x5; expected 1 x batch x sequence x 6 experts",
            ),
            (
                case((1, 2, 3, 6), MAPPING, (1, 3, 2, 2), reduction_size=4),
                "operand 'expert_metadata' has shape 1x3x2x2; expected that of 'topk_tensor'",
            ),
            (
                case((1, 2, 3, 6), MAPPING, (1, 2, 3, 2), reduction_size=0),
                "attribute 'reduction_size' is 0; expected 1 or more",
            ),
        ],
        fixed={1: "i32", 2: "i32"},
    ),
    "moe_compute": row(
        mixture((1, 6, 33), 2, (2, 4, 33, 17), (1, 4), layer_id=1),
        mixture((2, 3, 16), 3, (1, 6, 16, 32), MAPPING, biased=True, activation_function="swiglu"),
        mixture((1, 1), 1, (1, 1, 1, 1), (3, 1), biased=True),
        wrong=[
            (
                mixture((1, 6, 32), 2, (2, 4, 33, 17), (1, 4)),
                "operand 'tilize_input_tensor' has shape 1x6x32; expected tokens of 33, as the weights have rows",
            ),
            (
                mixture((1, 6, 33), 2, (2, 4, 33, 17), (1, 4), layer_id=2),
                "attribute 'layer_id' is 2; expected 0 to 1, the layers of the weights",
            ),
            (
                mixture((1, 6, 33), 2, (2, 4, 33, 17), (4,)),
                "operand 'tilize_expert_mapping_tensor' has shape 4; expected 1 x 1 x experts x devices, or rows x",
            ),
            (
                mixture((1, 6, 33), 2, (2, 4, 33, 17), (1, 1, 4, 2)),
                "operand 'tilize_expert_mapping_tensor' has 4 experts; expected 4 for each of 2 devices",
            ),
            (
                mixture((1, 6, 33), 2, (2, 4, 33, 17), (1, 4), intermediate_size=18),
                "attribute 'intermediate_size' is 18; expected 17, as the weights have",
            ),
            (
                mixture((1, 6, 33), 2, (2, 4, 33, 17), (1, 4), w1=(2, 4, 17, 33)),
                "operand 'w1' has shape 2x4x17x33; expected 2x4x33x17",
            ),
            (
                mixture((1, 6, 33), 2, (2, 4, 33, 17), (1, 4), bias_0=(2, 4, 17)),
                "has 'bias_0' and no 'bias_1'; expected all biases or none",
            ),
        ],
        fixed={"tilize_expert_indices_tensor": "i32", "tilize_expert_mapping_tensor": "i32"},
        tolerance={"bf16": (0.03, 0.02)},
        because="sums of products cancel each other",
    ),
}
