# SPDX-License-Identifier: Apache-2.0
"""Layers of transformers that PyTorch has as one op each, for inference: `nn.MultiheadAttention` and
`nn.TransformerEncoderLayer` call them in eval mode.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional

from .registry import composed

# Masks [queries, keys] and [batch, keys]; others have the shape of the scores.
OF_QUERIES, OF_KEYS = 0, 1


def hidden(mask: torch.Tensor, mask_type: int | None) -> torch.Tensor:
    """Returns where scores [batch, heads, queries, keys] do not count, in a shape that broadcasts to theirs."""
    mask = mask.bool()
    if mask_type == OF_KEYS:
        return mask[:, None, None, :]
    return mask[None, None] if mask_type == OF_QUERIES else mask


def weights_of(scores: torch.Tensor, mask: torch.Tensor | None, mask_type: int | None, dim: int = -1) -> torch.Tensor:
    """Returns the softmax of the elements that a mask keeps; NaN if it keeps none."""
    if mask is not None:
        scores = scores.masked_fill(hidden(mask, mask_type), -math.inf)
    return torch.softmax(scores, dim)


@composed("aten::_masked_softmax")
def masked_softmax(
    x: torch.Tensor, mask: torch.Tensor, dim: int | None = None, mask_type: int | None = None
) -> torch.Tensor:
    return weights_of(x, mask, mask_type, -1 if dim is None else dim)


def attention(
    x: torch.Tensor, y: torch.Tensor, z: torch.Tensor, heads: int, weight: torch.Tensor, bias: torch.Tensor,
    mask: torch.Tensor | None, mask_type: int | None, average: bool | None,
) -> tuple[torch.Tensor, torch.Tensor | None]:  # fmt: skip
    """Returns heads next to each other [batch, length, width], and their weights.

    average: whether the weights are the mean of those of all heads; None for no weights.
    """
    batch, length, width = x.shape
    if x is y and y is z:
        projected = functional.linear(x, weight, bias).chunk(3, -1)
    else:
        parts = zip((x, y, z), weight.chunk(3), bias.chunk(3), strict=True)
        projected = tuple(functional.linear(*part) for part in parts)
    query, key, value = (p.view(batch, length, heads, width // heads).transpose(1, 2) for p in projected)
    weights = None
    if average is None:
        hides = None if mask is None else hidden(mask, mask_type)
        result = functional.scaled_dot_product_attention(query, key, value, None if hides is None else ~hides)
        if hides is not None:  # a query that sees no key
            result = result.masked_fill(hides.all(-1, keepdim=True), math.nan)
    else:
        scores = (query * (width // heads) ** -0.5) @ key.transpose(2, 3)
        weights = weights_of(scores, mask, mask_type)
        result = weights @ value
        weights = weights.mean(1) if average else weights
    return result.transpose(1, 2).reshape(batch, length, width), weights


@composed("aten::_native_multi_head_attention")
def multi_head_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, width: int, heads: int, qkv_weight: torch.Tensor,
    qkv_bias: torch.Tensor, proj_weight: torch.Tensor, proj_bias: torch.Tensor, mask: torch.Tensor | None = None,
    need_weights: bool = True, average_attn_weights: bool = True, mask_type: int | None = None,
) -> Any:  # fmt: skip
    if any(x.is_nested for x in (query, key, value)) or not query.numel():
        return NotImplemented
    average = average_attn_weights if need_weights else None
    result, weights = attention(query, key, value, heads, qkv_weight, qkv_bias, mask, mask_type, average)
    result = functional.linear(result, proj_weight, proj_bias)
    return result, query.new_empty(0) if weights is None else weights


@composed("aten::_transformer_encoder_layer_fwd")
def encoder_layer(
    x: torch.Tensor, width: int, heads: int, qkv_weight: torch.Tensor, qkv_bias: torch.Tensor,
    proj_weight: torch.Tensor, proj_bias: torch.Tensor, use_gelu: bool, norm_first: bool, eps: float,
    norm_weight_1: torch.Tensor, norm_bias_1: torch.Tensor, norm_weight_2: torch.Tensor, norm_bias_2: torch.Tensor,
    ffn_weight_1: torch.Tensor, ffn_bias_1: torch.Tensor, ffn_weight_2: torch.Tensor, ffn_bias_2: torch.Tensor,
    mask: torch.Tensor | None = None, mask_type: int | None = None,
) -> Any:  # fmt: skip
    if x.is_nested or not x.numel():
        return NotImplemented

    def attended(x: torch.Tensor) -> torch.Tensor:
        result, _ = attention(x, x, x, heads, qkv_weight, qkv_bias, mask, mask_type, None)
        return functional.linear(result, proj_weight, proj_bias)

    def fed_forward(x: torch.Tensor) -> torch.Tensor:
        x = functional.linear(x, ffn_weight_1, ffn_bias_1)
        return functional.linear(functional.gelu(x) if use_gelu else functional.relu(x), ffn_weight_2, ffn_bias_2)

    blocks = ((attended, norm_weight_1, norm_bias_1), (fed_forward, norm_weight_2, norm_bias_2))
    for block, weight, bias in blocks:
        if norm_first:
            x = x + block(functional.layer_norm(x, (width,), weight, bias, eps))
        else:
            x = functional.layer_norm(x + block(x), (width,), weight, bias, eps)
    return x
