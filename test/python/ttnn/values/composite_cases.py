# SPDX-License-Identifier: Apache-2.0
"""Arguments of functions of whole tensors: shapes are random numbers; tensors of float64 are not made narrow."""

from __future__ import annotations

from typing import Any

import torch
import ttnn


class Shape(tuple[int, ...]):
    """A tensor of random numbers of this shape."""


def of(*sizes: int) -> Shape:
    return Shape(sizes)


def ids(*rows: Any) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.int32)


PLANES, WIDE, ROWS = of(2, 3, 33, 40), of(2, 5, 4, 6), of(33, 40)
SUM, MEAN = ttnn.LossReductionMode.SUM, ttnn.LossReductionMode.MEAN
# Of the second, class 4 is ignored.
TARGETS = torch.tensor([[0, 3, 1], [4, 4, -100]], dtype=torch.int32)
IGNORING = {"target_tensor": TARGETS.abs() % 5, "ignore_index": 4}
SCORES = of(2, 5, 3)


def reduced(**shapes: Any) -> list[dict[str, Any]]:
    return [
        {**shapes, "dim": dim, "keepdim": keepdim}
        for dim in (None, 0, -1, [1, 2], [0, 1, 2, 3])
        for keepdim in (False, True)
    ]


def reduced_gradient(name: str) -> list[dict[str, Any]]:
    """Returns calls whose gradient is of the shape of what a reduction of [2, 3, 5, 4] leaves."""
    rows = []
    for dim in (None, 1, [0, 3]):
        for keepdim in (False, True):
            left = torch.sum(torch.ones(2, 3, 5, 4), dim, keepdim=keepdim).shape
            rows.append({"output_grad": of(*left), name: of(2, 3, 5, 4), "dim": dim, "keepdim": keepdim})
    return rows


def norms() -> list[dict[str, Any]]:
    """Returns calls with the norm that PyTorch finds."""
    generator = torch.Generator().manual_seed(5)
    rows = []
    for p in (0.0, 1.0, 2.0, 2.5, float("inf"), float("-inf")):
        for dim, keepdim in ((None, False), (1, True), ([0, 2], False)):
            x = torch.randn(2, 3, 40, generator=generator)
            norm = torch.linalg.vector_norm(x, p, dim, keepdim)
            rows.append(
                {"input": x, "output": norm, "output_grad": of(*norm.shape), "p": p, "dim": dim, "keepdim": keepdim}
            )
    return rows


def normalized(groups: bool) -> list[dict[str, Any]]:
    """Returns calls of a gradient with the means and inverse deviations that PyTorch finds."""
    x = torch.randn(2, 6, 4, 5, generator=torch.Generator().manual_seed(6)).bfloat16().float()
    rows = []
    for count in (1, 2, 3):
        if groups:
            parts = x.reshape(2, count, -1)
            small, own, gamma = (1, 1, 2, count), {"num_groups": count}, of(1, 1, 1, 6)
        else:
            parts = x.reshape(*x.shape[:-count], -1)
            small, own, gamma = x.shape[:-count], {"normalized_dims": count}, of(*x.shape[-count:])
        mean = parts.mean(-1)
        rstd = (parts.var(-1, correction=0) + 1e-5).rsqrt()
        own |= {
            "output_grad": of(*x.shape),
            "input": x,
            "mean": mean.reshape(small).double(),
            "rstd": rstd.reshape(small).double(),
        }
        if groups:
            rows += [own | {"are_required_outputs": [True, True, True]}, own | {"gamma": gamma}]
        else:
            rows += [own, own | {"gamma": gamma}]
    return rows


def optimizer(adam: bool) -> list[dict[str, Any]]:
    states = {"param_in": ROWS, "grad": ROWS}
    if not adam:
        plain = {**states, "lr": 0.1, "momentum_initialized": False}
        momentum = {**states, "momentum_buffer_in": ROWS, "momentum_initialized": True, "lr": 0.1, "momentum": 0.9}
        return [plain, plain | {"weight_decay": 0.1}, momentum, momentum | {"nesterov": True},
                momentum | {"dampening": 0.5, "weight_decay": 0.1}]  # fmt: skip
    # Squares are not negative.
    states |= {"exp_avg_in": ROWS, "exp_avg_sq_in": torch.rand(33, 40) + 0.1, "lr": 0.1}
    return [states | {"step": 1}, states | {"step": 7, "weight_decay": 0.1},
            states | {"step": 3, "amsgrad": True, "max_exp_avg_sq_in": torch.rand(33, 40) + 0.1}]  # fmt: skip


CASES: dict[str, list[dict[str, Any]]] = {
    "addmm": [{"input_tensor": of(33, 8), "mat1_tensor": ROWS, "mat2_tensor": of(40, 8), "alpha": a, "beta": b}
              for a, b in ((1.0, 1.0), (0.5, 2.0), (1.0, 0.0))],
    "chunk": [{"input_tensor": PLANES, "chunks": n, "dim": d} for n, d in ((2, 2), (4, -1), (50, 1), (1, 0))]
             + [{"input_tensor": of(0, 6), "chunks": 3, "dim": 0}],
    "clamped_silu_glu": [{"gate": ROWS, "up": ROWS, "limit": 0.75}],
    "ema": [{"input_tensor": of(1, 1, 5, 37), "alpha": 0.25}, {"input_tensor": of(3, 1), "alpha": 0.9}],
    "fill_implicit_tile_padding": [{"input_tensor": ROWS, "fill_value": 3.0}],
    **{name: [{"input": of(5, 7), "dim": d, "index": ids(0, 3, 3), "value": 2.0} for d in (0, -1)]
       + [{"input": of(2, 6, 4), "dim": 1, "index": ids(5), "value": 1.5}]
       for name in ("index_fill", "index_fill_new")},
    **{name: [{"input_reference": PLANES, "input_prediction": PLANES, **own}
              for own in ({}, {"reduction": SUM}, {"reduction": MEAN})] for name in ("l1_loss", "mse_loss")},
    "matmul_batched_weights": [{"input_tensor_a": ROWS, "input_tensors_b": [of(40, 8), of(40, 3)]}],
    "moreh_abs_pow": [{"input": PLANES, "p": p} for p in (1.0, 2.0, 2.5)],
    "moreh_adam": optimizer(True),
    "moreh_adamw": optimizer(True),
    "moreh_arange": [{"start": 0, "end": 5, "step": 1}, {"start": 2.5, "end": -3.0, "step": -0.5},
                     {"start": 1, "end": 1, "step": 1}],
    "moreh_bmm": [{"input": of(3, 33, 8), "mat2": of(3, 8, 5)}],
    "moreh_bmm_backward": [{"output_grad": of(3, 33, 5), "input": of(3, 33, 8), "mat2": of(3, 8, 5)}],
    "moreh_clip_grad_norm": [{"inputs": [ROWS, of(7)], "max_norm": 1.0, "norm_type": p}
                             for p in (1.0, 2.0, float("inf"))],
    "moreh_cumsum": [{"input": of(2, 3, 33, 4), "dim": d} for d in (0, 2, -1)],
    "moreh_cumsum_backward": [{"output_grad": of(2, 3, 33, 4), "dim": d} for d in (0, 2, -1)],
    "moreh_dot": [{"input_tensor_a": of(1, 1, 1, 77), "input_tensor_b": of(1, 1, 1, 77)}],
    "moreh_dot_backward": [{"output_grad": of(1, 1, 1, 1), "input": of(1, 1, 1, 77), "other": of(1, 1, 1, 77)}],
    "moreh_fold": [
        {"input": of(2, 12, 12), "output_size": [4, 5], "kernel_size": [2, 2]},
        {"input": of(1, 6, 9), "output_size": [5, 7], "kernel_size": [2, 3], "stride": [2, 3], "padding": [1, 1]},
        {"input": of(1, 8, 6), "output_size": [4, 5], "kernel_size": [2, 2], "dilation": [2, 2]},
    ],
    "moreh_full": [{"shape": [3, 5], "fill_value": 2.5}, {"shape": [], "fill_value": 1}],
    "moreh_full_like": [{"input": ROWS, "fill_value": 2.5}],
    "moreh_getitem": [
        {"input": of(10, 7), "index_tensors": [ids(3, -1, 0, 3)], "index_dims": [0]},
        {"input": of(4, 5, 6), "index_tensors": [ids(3, 1), ids(0, -2)], "index_dims": [1, 2]},
        {"input": of(4, 5, 6), "index_tensors": [ids(2)], "index_dims": [1]},
    ],
    "moreh_group_norm": [
        {"input": of(2, 6, 4, 5), "num_groups": n, **own}
        for n in (1, 3)
        for own in ({}, {"gamma": of(1, 1, 1, 6), "beta": of(1, 1, 1, 6), "are_required_outputs": [True, True, True]})
    ],
    "moreh_group_norm_backward": normalized(True),
    "moreh_layer_norm": [{"input": of(2, 6, 4, 5), "normalized_dims": n, **own}
                         for n, shape in ((1, of(5)), (3, of(6, 4, 5)))
                         for own in ({}, {"gamma": shape, "beta": shape})],
    "moreh_layer_norm_backward": normalized(False),
    "moreh_linear": [{"input": of(3, 33, 8), "weight": of(5, 8), **own} for own in ({}, {"bias": of(1, 5)})],
    "moreh_linear_backward": [{"output_grad": of(3, 33, 5), "input": of(3, 33, 8), "weight": of(5, 8), "bias": b}
                              for b in (of(1, 5), of(1, 1))],
    "moreh_logsoftmax": [{"input_tensor": PLANES, "dim": d} for d in (0, 2, -1)],
    "moreh_matmul": [{"input": of(2, 3, 33, 8), "other": of(3, 8, 5)},
                     {"input": of(8, 33), "other": of(5, 8), "transpose_input": True, "transpose_other": True,
                      "bias": of(1, 5)}],
    "moreh_matmul_backward": [
        {"output_grad": of(2, 3, 33, 5), "input_a": of(2, 3, 33, 8), "input_b": of(3, 8, 5)},
        {"output_grad": of(2, 3, 33, 5), "input_a": of(1, 3, 33, 8), "input_b": of(2, 1, 8, 5)},
    ],
    "moreh_mean": [*reduced(input=of(2, 3, 5, 4)), {"input": of(2, 3, 5, 4), "dim": 1, "divisor": 7}],
    "moreh_mean_backward": [
        {**{k: v for k, v in row.items() if k != "input"}, "input_grad_shape": [2, 3, 5, 4]}
        for row in reduced_gradient("input")
    ],
    "moreh_nll_loss": [
        {"input_tensor": SCORES, "target_tensor": TARGETS, "reduction": r, **own}
        for r in ("mean", "sum", "none") for own in ({}, {"weight_tensor": of(5), **IGNORING})
    ] + [{"input_tensor": of(4, 7), "target_tensor": ids(1, 6, 0, 3), "reduction": "mean"}],
    "moreh_nll_loss_backward": [
        {"target_tensor": TARGETS, "output_grad_tensor": of(), "reduction_mean": m, "input_grad_tensor": SCORES, **own}
        for m in (True, False) for own in ({}, {"weight_tensor": of(5), **IGNORING})
    ],
    "moreh_nll_loss_unreduced_backward": [
        {"target_tensor": TARGETS, "output_grad_tensor": of(2, 3), "input_grad_tensor": SCORES, **own}
        for own in ({}, {"weight_tensor": of(5)})
    ],
    "moreh_norm": [{"input": of(2, 3, 40), "p": p, "dim": d, "keepdim": k}
                   for p in (0.0, 1.0, 2.0, 2.5, float("inf"), float("-inf"))
                   for d, k in ((None, False), (1, True), ([0, 2], False))],
    "moreh_norm_backward": norms(),
    "moreh_sgd": optimizer(False),
    "moreh_sum_backward": reduced_gradient("input"),
    "narrow": [{"input_tensor": PLANES, "dim": d, "start": s, "length": n}
               for d, s, n in ((2, 3, 7), (-1, 0, 40), (0, -1, 1), (1, 2, 0))],
    "normalize_global": [{"input_tensor": PLANES}],
    "normalize_hw": [{"input_tensor": PLANES}, {"input_tensor": ROWS}],
    "reshape_on_device": [{"input_tensor": PLANES, "W": 1, "Z": 2, "Y": 99, "X": 40}],
    **{name: [{"input_tensor": of(1, 2, 33, 40)},
              {"input_tensor": of(1, 2, 33, 40), "scale": 0.25, "mask": of(1, 1, 33, 40)}]
       for name in ("scale_mask_softmax", "scale_mask_softmax_in_place", "scale_causal_mask_hw_dims_softmax_in_place")},
    "scatter_add": [{"input": of(5, 7), "dim": 1, "index": ids([0, 3, 3], [1, 1, 1], [6, 5, 4], [2, 2, 0], [0, 0, 0]),
                     "src": of(5, 3)}],
    "softmax_in_place": [{"input_tensor": PLANES, "dim": d} for d in (-1, 1)],
    "stack": [{"input_tensors": [of(3, 5)] * n, "dim": d} for n in (1, 3) for d in (0, 1, -1)],
    **{name: [{"input_tensor": PLANES}] for name in ("tilize", "tilize_with_zero_padding", "untilize", "move")},
    "tilize_with_val_padding": [{"input_tensor": ROWS, "output_tensor_shape": [64, 64], "pad_value": 1.0}],
    "tosa_gather": [{"input": of(2, 5, 4), "index": ids([0, 4, 4], [1, 0, 2])}],
    "tosa_scatter": [{"input": of(2, 5, 4), "index": ids([0, 4], [1, 0]), "src": of(2, 2, 4)}],
    **{name: [{"input_tensor": shape, "diagonal": d} for shape in (PLANES, of(5, 1), of(0, 3)) for d in (0, 2, -7)]
       for name in ("tril", "triu")},
    "untilize_with_unpadding": [{"input_tensor": ROWS, "output_tensor_end": [31, 7]}],
    **{name: [*reduced(input_tensor=of(2, 3, 5, 4)), {"input_tensor": of(2, 3, 5, 4), "dim": 1, "correction": False},
              {"input_tensor": of(3, 1), "dim": 0, "scalar": 2.0}] for name in ("var", "std")},
    **{name: [{"input_tensor": PLANES}] for name in ("var_hw", "std_hw")},
    "view": [{"input_tensor": PLANES, "shape": [6, 33, -1]}],
    "bitwise_right_shift": [{"input_tensor_a": ids([-9, 8, -1, 2**31 - 1], [-(2**31), 0, 5, 77]),
                             "input_tensor_b": ids([1, 2, 3, 30], [31, 4, 0, 1])}],
    **{f"experimental.{name}": [
        {"input": of(2, 1, 33, 48), "num_heads": 2, "num_kv_heads": 1, "transpose_k_heads": t} for t in (True, False)
    ] + [{"input": of(1, 1, 5, 24), "input_kv": of(1, 1, 5, 16), "num_heads": 3, "num_kv_heads": 1}]
       for name in ("nlp_create_qkv_heads", "nlp_create_qkv_heads_boltz")},
    "experimental.nlp_create_qkv_heads_falcon7b": [{"input": of(1, 1, 3, 73 * 8)}],
    "experimental.nlp_create_qkv_heads_vit": [{"input": of(2, 1, 7, 36 * 8)}],
    "experimental.nlp_create_qkv_heads_segformer": [{"input": of(2, 1, 33, 64)}],
    "experimental.nlp_concat_heads_boltz": [{"input_tensor": of(2, 3, 33, 8)}],
    "experimental.concatenate_heads": [{"input_tensor": of(2, 3, 33, 8), "compute_with_storage_grid_size": None}],
    "experimental.nlp_kv_cache_load_slice": [{"input_tensor": of(1, 2, 64, 8), "seq_len_start": 0, "seq_len_end": 32}],
    "experimental.rotate_half": [{"input": of(1, 2, 5, 64)}],
    "experimental.minimal_matmul": [{"input_tensor": ROWS, "weight_tensor": of(40, 5), **own}
                                    for own in ({}, {"bias_tensor": of(1, 5)})],
    "experimental.minimal_matmul_split": [{"input_tensor": ROWS, "weight_tensor": of(40, 6), "bias_tensor": of(1, 6)}],
    "experimental.dit_minimal_matmul_addcmul_fused": [
        {"matmul_input_tensor": ROWS, "matmul_weight_tensor": of(40, 5), "scalar": 0.5,
         "addcmul_input_tensor1": of(33, 5), "addcmul_input_tensor2": of(33, 5)}],
    **{f"experimental.{name}": [{"input_tensor_a": of(1, 4, 2, 8), "input_tensor_b": of(2, n, 8, 5),
                                 "compute_with_storage_grid_size": None} for n in (1, 2)]
       for name in ("attn_matmul", "group_attn_matmul")},
    "experimental.complex_mul": [dict.fromkeys(("a_real", "a_imag", "b_real", "b_imag"), ROWS)],
    "experimental.broadcast_to": [{"input": of(3, 1, 5), "output_shape": [2, 3, 4, 5]}],
    "experimental.view": [{"input_tensor": PLANES, "N": 6, "C": 1, "H": 40, "W": 33}],
    "experimental.convert_to_hwc": [{"input": of(2, 3, 4, 5)}],
    "experimental.fast_reduce_nc": [{"input": PLANES, "dims": d} for d in ([0], [1], [0, 1])],
    **{f"transformer.{name}": [{"tensor": of(1, 2, 5, 7)}, {
        "tensor": of(1, 2, 5, 7), "head_size": 16, "attention_mask": of(1, 1, 5, 7)}]
       for name in ("attention_softmax", "attention_softmax_")},
    "experimental.hc_sum_reduce": [{"input": of(1, 1, 5, 96)}],
    "experimental.repeat_and_interleave_eltwise_mul": [{"a": of(1, 1, 5, 32), "b": of(1, 1, 5, 3)}],
    "experimental.deepseek_moe_fast_reduce_nc": [{"input_tensor": PLANES, "dim": d, "split_size": 10} for d in (0, 1)],
    "experimental.fast_reduce_nc_split": [{"input": PLANES, "dim": d, "split_output_width": 8} for d in (0, -3)],
    "experimental.isin": [{"elements": torch.arange(12.0).reshape(3, 4),
                           "test_elements": torch.tensor([3.0, 5.0, 99.0]), "invert": i} for i in (False, True)],
    "experimental.typecast": [{"input_tensor": ROWS, "dtype": ttnn.float32}],
    **{name: [{"input_tensor": of(1, 1, 2 * 7 * 5, 6), "batch_size": 2, "input_h": 7, "input_w": 5, "channels": 6,
               "output_size": size} for size in ([1, 1], [3, 2], [7, 5], [4, 4])]
       for name in ("adaptive_avg_pool2d", "adaptive_max_pool2d")},
    "fold": [{"input": of(2, 6, 8, 3), "stride_h": 2, "stride_w": 4},
             {"input": of(1, 4, 4, 5), "stride_h": 1, "stride_w": 1}],
    "indexed_fill": [{"batch_id": ids(2, 0), "input_tensor_a": of(4, 1, 3, 5), "input_tensor_b": of(2, 1, 3, 5)},
                     {"batch_id": ids(1), "input_tensor_a": of(4, 3), "input_tensor_b": of(4, 1), "dim": 1}],
    "plus_one": [{"input_tensor": ids(3, -1, 0, 2**30), "skip_negative_entries": skip} for skip in (False, True)],
    "fill_rm": [{"N": 1, "C": 2, "H": 5, "W": 7, "hOnes": 3, "wOnes": 4, "any": ROWS, "val_hi": 2.5, "val_lo": -1.0}],
    "fill_ones_rm": [{"N": 1, "C": 2, "H": 5, "W": 7, "hOnes": h, "wOnes": 7, "any": ROWS} for h in (0, 5)],
    "moe": [{"input_tensor": of(1, 1, 32, 64), "expert_mask_tensor": of(1, 1, 1, 64),
             "topk_mask_tensor": of(1, 1, 1, 32), "k": 32}],
    "unary_chain": [{"input_tensor": ROWS, "ops_chain": ["exp", "relu"]}],
    "experimental.rotary_embedding_hf": [
        {"input_tensor": of(2, 3, 33, 64), "cos_cache": of(1, 1, 33, 64), "sin_cache": of(1, 1, 33, 64)}],
    **{f"experimental.{name}": [{"input": of(1, 1, 33, 8)}] for name in ("transpose_rm", "convert_to_chw")},
    "experimental.padded_slice": [
        {"input_tensor": PLANES, "padded_slice_start": [0, 1, 3, 0], "padded_slice_end": [2, 3, 9, 40],
         "memory_config": None},
        {"input_tensor": ROWS, "padded_slice_start": [0, 1], "padded_slice_end": [33, 40],
         "padded_slice_step": [2, 3], "memory_config": None}],
    "grid_sample": [
        {"input_tensor": of(2, 5, 7, 3), "grid": of(2, 3, 4, 2), "mode": mode, "align_corners": align}
        for mode in ("bilinear", "nearest") for align in (False, True)
    ] + [{"input_tensor": of(1, 1, 1, 1), "grid": of(1, 1, 1, 2)}] + [
        {"input_tensor": of(1, 4, 3, 5), "grid": of(1, 3, 2, 6), "batch_output_channels": c} for c in (False, True)
    ],
    "rotate": [{"input_tensor": of(2, 7, 9, 3), "angle": angle, **own} for angle in (0.0, 33.0, -125.5, 90.0)
               for own in ({}, {"interpolation_mode": "bilinear", "fill": 1.5, "center": (2.0, 3.5)})]
              + [{"input_tensor": of(1, 1, 1, 2), "angle": 45.0}],
    "bcast": [{"input_a": of(2, 3, 33, 5), "input_b": of(*shape), "math_op": op, "dim": dim}
              for op in ttnn.BcastOpMath for dim, shape in (
                  (ttnn.BcastOpDim.H, (1, 1, 1, 5)), (ttnn.BcastOpDim.W, (2, 3, 33, 1)),
                  (ttnn.BcastOpDim.HW, (1, 1, 1, 1)))],
    "situ_glu": [{"gate": ROWS, "up": ROWS, "beta1": 4.0, "beta2": 25.0},
                 {"gate": of(1, 1), "up": of(1, 1), "beta1": 0.5, "beta2": -2.0}],
    "rms_norm_post_all_gather": [
        {"input_tensor": of(1, 1, 5, 40), "stats": torch.rand(1, 1, 5, 64) * 99, "epsilon": 1e-5, **own}
        for own in ({}, {"weight": of(1, 1, 1, 40), "bias": of(40)})],
    "experimental.intimg": [{"input_tensor": of(1, 5, 6, 3)}],
}  # fmt: skip
for _kind in ("softmax", "softmin", "logsoftmax"):
    CASES[f"moreh_{_kind}"] = [{"input_tensor": PLANES, "dim": d} for d in (0, 2, -1)]
    CASES[f"moreh_{_kind}_backward"] = [
        {"output_tensor": PLANES, "output_grad_tensor": PLANES, "dim": d} for d in (0, 2, -1)
    ]
# Functions without an expression of PyTorch's: test_ttnn_whole_tensors.py has tests of them.
WITHOUT = {
    "all_broadcast", "bernoulli", "broadcast", "complex_tensor", "experimental.all_gather_async",
    "experimental.all_gather_async_reversed", "experimental.all_gather_matmul_async", "experimental.all_to_all_async",
    "experimental.attn_matmul_from_cache", "experimental.deepseek_grouped_gate", "experimental.dropout",
    "experimental.fft", "experimental.ifft", "experimental.indexed_fused_update_cache",
    "experimental.llama_all_gather_matmul_async", "experimental.llama_reduce_scatter",
    "experimental.matmul_reduce_scatter_async", "experimental.nlp_create_q_heads_split", "experimental.prefix_scan",
    "experimental.reduce_scatter_minimal_direct", "experimental.ring_attention_all_gather_async",
    "experimental.rotary_embedding_llama_fused_qk", "experimental.slice_reshard_async",
    "experimental.strided_all_gather_async", "experimental.topk_large_indices", "fused_rms_minimal",
    "moe_routing_remap", "nonzero", "reduce_to_root", "transformer.chunk_gated_delta_rule",
    "transformer.chunked_flash_mla_prefill", "transformer.exp_ring_joint_scaled_dot_product_attention",
    "transformer.fused_recurrent_gated_delta_rule", "transformer.gated_delta_attn_seq",
    "transformer.ring_distributed_scaled_dot_product_attention",
    "transformer.ring_joint_scaled_dot_product_attention", "transformer.ring_mla", "transformer.sparse_sdpa",
    "transformer.sparse_sdpa_msa",
    "experimental.paged_fused_update_cache", "experimental.reduce_scatter_minimal_async",
    "experimental.slice_write", "experimental.split_query_key_value_and_split_heads", "kv_cache.fill_cache_for_user_",
    "kv_cache.update_cache_for_token_",
    "prepare_grid_sample_grid", "rgb_to_yuv", "experimental.rgb_to_yuv",
    "manual_seed", "pearson_correlation_coefficient", "randn",
    "transformer.flash_multi_latent_attention_decode", "transformer.joint_scaled_dot_product_attention",
    "uniform",
}  # fmt: skip
