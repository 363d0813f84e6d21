# SPDX-License-Identifier: Apache-2.0
"""Calls of functions that write to operands, of gradients of one op, and of experts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
import ttnn
from composite_cases import ids, of
from rows_attention import forward
from rows_reductions import layer_norm
from value_rows import FLOATS, WIDE, Rows, function_of

Tensor = torch.Tensor


def changed(name: str, *operands: str) -> Callable[..., Any]:
    """Returns a call that returns the operands that a function writes to."""

    def call(**arguments: Any) -> list[Any]:
        function_of(name)(**arguments)
        return [arguments[operand] for operand in operands]

    return call


def filled_cache(cache_tensor: Tensor, input_tensor: Tensor, batch_idx: int) -> Tensor:
    found = cache_tensor.clone()
    found[batch_idx : batch_idx + input_tensor.shape[0], :, : input_tensor.shape[2]] = input_tensor
    return found


def updated_cache(cache: Tensor, input: Tensor, update_idx: Tensor, batch_offset: int = 0) -> Tensor:
    found = cache.clone()
    found[:, :, int(update_idx)] = input[0].transpose(0, 1)[batch_offset : batch_offset + cache.shape[0]]
    return found


def paged_filled(cache_tensor: Tensor, input_tensor: Tensor, page_table: Tensor, batch_idx: int) -> Tensor:
    found, size = cache_tensor.clone(), cache_tensor.shape[2]
    for row in range(input_tensor.shape[2]):
        found[page_table[batch_idx, row // size], :, row % size] = input_tensor[0, :, row]
    return found


def paged_updated(cache_tensor: Tensor, input_tensor: Tensor, update_idxs_tensor: Tensor,
                  page_table: Tensor | None = None) -> Tensor:  # fmt: skip
    found, size = cache_tensor.clone(), cache_tensor.shape[2]
    for user, row in enumerate(update_idxs_tensor.tolist()):
        values = input_tensor[0, user, : found.shape[1]]
        if page_table is None:
            found[user, :, row] = values
        else:
            found[page_table[user, row // size], :, row % size] = values
    return found


def attention_gradients(input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, grad: Tensor,
                        mask_type: Any = None) -> list[Tensor]:  # fmt: skip
    leaves = [each.clone().requires_grad_() for each in (input_tensor_q, input_tensor_k, input_tensor_v)]
    found = forward(leaves[0], leaves[1], leaves[2], mask_type=mask_type)
    return list(torch.autograd.grad(found, leaves, grad))


def gradients(input_tensor_q: Any, input_tensor_k: Any, input_tensor_v: Any, grad: Any, mask_type: Any = None) -> Any:
    how = ttnn.AttentionMaskType.CAUSAL if mask_type is None else mask_type
    found, kept = ttnn.sdpa_fw(input_tensor_q, input_tensor_k, input_tensor_v, mask_type=how, return_intermediates=True)
    return ttnn.sdpa_bw(grad, found, input_tensor_q, input_tensor_k, input_tensor_v, kept, mask_type=how)


def gelu_gradient(grad_tensor: Tensor, input_tensor: Tensor, approximate: str = "none") -> Tensor:
    leaf = input_tensor.clone().requires_grad_()
    [found] = torch.autograd.grad(F.gelu(leaf, approximate=approximate), leaf, grad_tensor)
    return found


def adamw(param: Tensor, grad: Tensor, exp_avg: Tensor, exp_avg_sq: Tensor, max_exp_avg_sq: Tensor | None = None,
          lr: float = 0.0, beta1: float = 0.0, beta2: float = 0.0, beta1_pow: float = 0.0, beta2_pow: float = 0.0,
          epsilon: float = 0.0, weight_decay: float = 0.0) -> list[Tensor]:  # fmt: skip
    leaf = param.clone().requires_grad_()
    leaf.grad = grad
    optimizer = torch.optim.AdamW([leaf], lr, (beta1, beta2), epsilon, weight_decay, amsgrad=max_exp_avg_sq is not None)
    state = optimizer.state[leaf]
    state.update(step=torch.tensor(2.0), exp_avg=exp_avg.clone(), exp_avg_sq=exp_avg_sq.clone())
    if max_exp_avg_sq is not None:
        state["max_exp_avg_sq"] = max_exp_avg_sq.clone()
    optimizer.step()
    return [leaf.detach(), state["exp_avg"], state["exp_avg_sq"]]


ADAMW = {
    "param": of(5, 37),
    "grad": of(5, 37),
    "exp_avg": of(5, 37),
    "exp_avg_sq": torch.rand(5, 37) + 0.1,
    "lr": 0.01,
    "beta1": 0.9,
    "beta2": 0.99,
    "beta1_pow": 0.9**3,
    "beta2_pow": 0.99**3,
    "epsilon": 1e-8,
    "weight_decay": 0.1,
}


def router(input_tensor: Tensor, weight: Tensor, bias: Tensor, k: int, num_experts: int) -> list[Any]:
    values, places = torch.topk(input_tensor @ weight + bias, k)
    return [places, torch.softmax(values, -1)]


def sparse(input_tensor_a: Tensor, input_tensor_b: Tensor, sparsity: Tensor, nnz: int) -> Tensor:
    """Returns products [1, tokens, 1, experts, m, n] of [1, tokens, m, k] and [1, experts, k, n]."""
    found = input_tensor_a[:, :, None, None] @ input_tensor_b[:, None, None]
    return torch.where(sparsity[0, 0].reshape(1, found.shape[1], 1, found.shape[3], 1, 1) != 0, found, 0.0)


def statistics(*sums: str) -> Callable[..., Tensor]:
    def collected(input_tensor: Tensor, residual_input_tensor: Tensor | None = None) -> Tensor:
        x = input_tensor if residual_input_tensor is None else input_tensor + residual_input_tensor
        parts = {"squares": x.square().sum(-1, keepdim=True), "elements": x.sum(-1, keepdim=True)}
        return torch.cat([F.pad(parts[each], (0, 31)) for each in sums], -1)

    return collected


def normalized(input_tensor: Tensor, stats: Tensor, weight: Tensor | None = None, bias: Tensor | None = None,
               epsilon: float = 1e-12) -> Tensor:  # fmt: skip
    return layer_norm(input_tensor, epsilon, weight, bias)


def layer_norm_of_parts(input_tensor: Any, stats: Any, **own: Any) -> Any:
    return ttnn.layer_norm_post_all_gather(
        input_tensor, ttnn.layer_norm_pre_all_gather(input_tensor, dtype=ttnn.float32), **own
    )


PAGES = ids([3, 1], [0, 5], [2, 4])
TABLE: dict[str, Rows] = {
    "fill_cache": Rows(filled_cache, FLOATS, [
        {"cache_tensor": of(4, 2, 64, 32), "input_tensor": of(1, 2, n, 32), "batch_idx": b} for n in (32, 64)
        for b in (0, 3)], call=changed("fill_cache", "cache_tensor")),
    "update_cache": Rows(updated_cache, FLOATS, [
        {"cache": of(4, 2, 64, 32), "input": of(1, 2, 4, 32), "update_idx": i} for i in (ids(0), ids(63), ids(17))
    ], call=changed("update_cache", "cache")),
    "experimental.paged_fill_cache": Rows(paged_filled, FLOATS, [
        {"cache_tensor": of(6, 2, 32, 32), "input_tensor": of(1, 2, n, 32), "page_table": PAGES, "batch_idx": b}
        for n in (32, 64) for b in (0, 2)], call=changed("experimental.paged_fill_cache", "cache_tensor")),
    "experimental.paged_update_cache": Rows(paged_updated, FLOATS, [
        {"cache_tensor": of(6, 2, 32, 32), "input_tensor": of(1, 3, 2, 32), "update_idxs_tensor": ids(0, 63, 33),
         "page_table": PAGES},
        {"cache_tensor": of(3, 2, 64, 32), "input_tensor": of(1, 3, 2, 32), "update_idxs_tensor": ids(0, 63, 33)},
    ], call=changed("experimental.paged_update_cache", "cache_tensor")),
    "sdpa_bw": Rows(attention_gradients, WIDE, [
        {"input_tensor_q": of(2, 4, 33, 16), "input_tensor_k": of(2, g, 33, 16), "input_tensor_v": of(2, g, 33, 16),
         "grad": of(2, 4, 33, 16), **own} for g in (4, 2) for own in ({}, {"mask_type": ttnn.AttentionMaskType.NONE})],
        8, gradients),
    "gelu_bw": Rows(gelu_gradient, FLOATS, [
        {"grad_tensor": of(5, 37), "input_tensor": of(5, 37), "approximate": a} for a in ("none", "tanh")
    ] + [{"grad_tensor": of(1), "input_tensor": of(1)}, {"grad_tensor": of(0, 3), "input_tensor": of(0, 3)}], 2),
    "adamw": Rows(adamw, WIDE, [ADAMW, ADAMW | {"max_exp_avg_sq": torch.rand(5, 37) + 0.1}], 2,
                  changed("adamw", "param", "exp_avg", "exp_avg_sq")),
    "topk_router_gpt": Rows(router, WIDE, [
        {"input_tensor": of(5, 32), "weight": of(32, 16), "bias": of(5, 16), "k": 4, "num_experts": 16}]),
    "sparse_matmul": Rows(sparse, WIDE, [
        {"input_tensor_a": of(1, 3, 32, 64), "input_tensor_b": of(1, 4, 64, 32), "nnz": 5,
         "sparsity": torch.tensor([[[[1.0, 0, 0, 1], [0, 0, 0, 0], [1, 0, 1, 1]]]])}]),
    "layer_norm_pre_all_gather": Rows(statistics("squares", "elements"), WIDE, [
        {"input_tensor": of(1, 1, 5, 37)},
        {"input_tensor": of(1, 1, 33, 64), "residual_input_tensor": of(1, 1, 33, 64)}]),
    "rms_norm_pre_all_gather": Rows(statistics("squares"), WIDE, [
        {"input_tensor": of(1, 1, 5, 37)},
        {"input_tensor": of(1, 1, 33, 64), "residual_input_tensor": of(1, 1, 33, 64)}]),
    "layer_norm_post_all_gather": Rows(normalized, "f32", [
        {"input_tensor": of(1, 1, 5, 64), "stats": of(1, 1, 5, 64), "epsilon": 1e-5, **own}
        for own in ({}, {"weight": of(1, 1, 1, 64), "bias": of(1, 1, 1, 64)})], 8, layer_norm_of_parts),
}  # fmt: skip
