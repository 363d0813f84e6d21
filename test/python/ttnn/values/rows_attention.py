# SPDX-License-Identifier: Apache-2.0
"""Calls of functions of transformers: attention of all forms, heads, positions, caches, experts."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
import ttnn
from composite_cases import ids, of
from rows_reductions import rms_norm
from value_rows import FLOATS, WIDE, Rows

Tensor = torch.Tensor
INF = float("inf")


def attention(input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, attn_mask: Tensor | None = None,
              is_causal: bool = True, scale: float | None = None, attention_sink: Tensor | None = None,
              sliding_window_size: int | None = None) -> Tensor:  # fmt: skip
    """Returns PyTorch's attention; a sink is one more key, whose value is 0."""
    q, k, v = input_tensor_q, input_tensor_k, input_tensor_v
    queries, keys = q.shape[-2], k.shape[-2]
    mask = torch.zeros(queries, keys, dtype=q.dtype)
    row, column = torch.arange(queries)[:, None], torch.arange(keys)
    if is_causal:
        mask = mask.masked_fill(column > row, -INF)
    if sliding_window_size:
        reach = sliding_window_size if is_causal else sliding_window_size // 2 + 1
        mask = mask.masked_fill((row - column >= reach) | (column - row >= reach), -INF)
    if attn_mask is not None:
        mask = mask + attn_mask
    mask = mask.expand(*q.shape[:2], queries, keys)
    if attention_sink is not None:
        size = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
        sink = (attention_sink * size).reshape(1, -1, 1, 1).expand(q.shape[0], -1, queries, 1)
        mask, k, v = torch.cat([mask, sink], -1), F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
    return F.scaled_dot_product_attention(q, k, v, mask, scale=scale, enable_gqa=True)


def attention_rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for batch, heads, groups, queries, keys, size in ((2, 3, 3, 33, 33, 16), (1, 4, 2, 5, 40, 64), (1, 1, 1, 1, 1, 1)):
        x = {"input_tensor_q": of(batch, heads, queries, size), "input_tensor_k": of(batch, groups, keys, size),
             "input_tensor_v": of(batch, groups, keys, size)}  # fmt: skip
        rows += [x, x | {"is_causal": False}, x | {"scale": 0.5},
                 x | {"is_causal": False, "attn_mask": of(batch, 1, queries, keys)},
                 x | {"is_causal": True, "sliding_window_size": 4},
                 x | {"is_causal": False, "sliding_window_size": 4}]  # fmt: skip
    return rows


def decode(input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, cur_pos_tensor: Tensor | None = None,
           is_causal: bool = True, scale: float | None = None) -> Tensor:  # fmt: skip
    """Returns attention of a query [1, users, heads, size] of each user to its keys up to a position."""
    keys = input_tensor_k.shape[-2]
    last = torch.full((input_tensor_k.shape[0],), keys - 1) if cur_pos_tensor is None else cur_pos_tensor
    seen = torch.arange(keys)[None, None, None] <= last[:, None, None, None]
    mask = torch.where(seen, 0.0, -INF).double() if is_causal else None
    q = input_tensor_q[0][:, :, None]
    found = F.scaled_dot_product_attention(q, input_tensor_k, input_tensor_v, mask, scale=scale, enable_gqa=True)
    return found[:, :, 0][None]


def from_pages(cache: Tensor, page_table: Tensor) -> Tensor:
    """Returns [users, heads, positions, size] of [pages, heads, page size, size]."""
    return cache[page_table].transpose(1, 2).flatten(2, 3)


def paged_decode(input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, page_table_tensor: Tensor,
                 **own: Any) -> Tensor:  # fmt: skip
    return decode(
        input_tensor_q,
        from_pages(input_tensor_k, page_table_tensor),
        from_pages(input_tensor_v, page_table_tensor),
        **own,
    )


def chunked(input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, page_table_tensor: Tensor,
            chunk_start_idx: Any, scale: float | None = None) -> Tensor:  # fmt: skip
    k, v = from_pages(input_tensor_k, page_table_tensor), from_pages(input_tensor_v, page_table_tensor)
    rows = torch.arange(input_tensor_q.shape[-2])[:, None] + int(chunk_start_idx)
    mask = torch.where(torch.arange(k.shape[-2]) <= rows, 0.0, -INF).double()
    return F.scaled_dot_product_attention(input_tensor_q, k, v, mask, scale=scale, enable_gqa=True)


def split_heads(input_tensor: Tensor, num_heads: int, num_kv_heads: int | None = None,
                transpose_key: bool = True) -> list[Tensor]:  # fmt: skip
    groups = num_kv_heads or num_heads
    size = input_tensor.shape[-1] // (num_heads + 2 * groups)
    parts = input_tensor.split([num_heads * size, groups * size, groups * size], -1)
    q, k, v = (each.unflatten(-1, (-1, size)).transpose(1, 2) for each in parts)
    return [q, k.mT if transpose_key else k, v]


def joined(input_tensor: Tensor) -> Tensor:
    return input_tensor.transpose(1, 2).flatten(2)


def rotated(input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor, token_index: int | None = None) -> Tensor:
    """Returns the rotation of the first half by the second (rotate_half of Hugging Face's models)."""
    count = input_tensor.shape[-2]
    first = 0 if token_index is None else token_index
    rows = slice(first, first + count) if token_index is None else slice(first, first + 1)
    a, b = input_tensor.chunk(2, -1)
    return input_tensor * cos_cache[..., rows, :] + torch.cat([-b, a], -1) * sin_cache[..., rows, :]


def rotated_pairs(input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor, trans_mat: Tensor,
                  is_decode_mode: bool = False) -> Tensor:  # fmt: skip
    turned = torch.view_as_real(torch.view_as_complex(input_tensor.unflatten(-1, (-1, 2)).contiguous()) * 1j).flatten(
        -2
    )
    return input_tensor * cos_cache + turned * sin_cache


PAIRS = torch.zeros(32, 32)
PAIRS[torch.arange(0, 32, 2), torch.arange(1, 32, 2)] = 1
PAIRS[torch.arange(1, 32, 2), torch.arange(0, 32, 2)] = -1
PAIRS = PAIRS.reshape(1, 1, 32, 32)


def forward(input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, attn_mask: Tensor | None = None,
            mask_type: Any = None) -> Tensor:  # fmt: skip
    mask = None if attn_mask is None else torch.where(attn_mask != 0, 0.0, -INF).double()
    causal = mask is None and mask_type is None
    return F.scaled_dot_product_attention(
        input_tensor_q, input_tensor_k, input_tensor_v, mask, is_causal=causal, enable_gqa=True
    )


def softmax_of(tensor: Tensor, head_size: int | None = None, attention_mask: Tensor | None = None) -> Tensor:
    scores = tensor if head_size is None else tensor / math.sqrt(head_size)
    return torch.softmax(scores if attention_mask is None else scores + attention_mask, -1)


def fused_norm(activation: str | None = None, **own: Any) -> Tensor:
    found = rms_norm(**own)
    return found if activation is None else getattr(F, activation)(found)


CACHE = {"input_tensor_q": of(1, 3, 4, 16), "input_tensor_k": of(6, 2, 32, 16), "input_tensor_v": of(6, 2, 32, 16),
         "page_table_tensor": ids([3, 1], [0, 5], [2, 4])}  # fmt: skip
USERS = {"input_tensor_q": of(1, 3, 4, 16), "input_tensor_k": of(3, 2, 40, 16), "input_tensor_v": of(3, 2, 40, 16)}
MASK = torch.ones(33, 33).tril()[None, None]

TABLE: dict[str, Rows] = {
    "transformer.scaled_dot_product_attention": Rows(attention, FLOATS, attention_rows(), 2),
    "transformer.scaled_dot_product_attention_decode": Rows(decode, FLOATS, [
        USERS | {"cur_pos_tensor": ids(0, 17, 39)}, USERS | {"cur_pos_tensor": ids(3, 0, 31), "scale": 0.5},
        USERS | {"is_causal": False}], 2),
    "transformer.paged_scaled_dot_product_attention_decode": Rows(paged_decode, FLOATS, [
        CACHE | {"cur_pos_tensor": ids(0, 17, 63)}, CACHE | {"cur_pos_tensor": ids(32, 31, 5), "scale": 0.5}], 2),
    "transformer.chunked_scaled_dot_product_attention": Rows(chunked, FLOATS, [
        {"input_tensor_q": of(1, 4, 32, 16), "input_tensor_k": of(6, 2, 32, 16), "input_tensor_v": of(6, 2, 32, 16),
         "page_table_tensor": ids([3, 1, 4]), "chunk_start_idx": start} for start in (0, 32, 64)], 2),
    "transformer.flash_mla_prefill": Rows(
        lambda input_tensor_q, input_tensor_k, head_dim_v, **own: attention(
            input_tensor_q, input_tensor_k, input_tensor_k[..., :head_dim_v], **own), FLOATS, [
            {"input_tensor_q": of(1, 4, 33, 48), "input_tensor_k": of(1, 1, 33, 48), "head_dim_v": 32, **own}
            for own in ({}, {"is_causal": False}, {"scale": 0.25})], 2),
    "transformer.paged_flash_multi_latent_attention_decode": Rows(
        lambda input_tensor_q, input_tensor_k, head_dim_v, **own: paged_decode(
            input_tensor_q, input_tensor_k, input_tensor_k[..., :head_dim_v], **own), FLOATS, [
            {"input_tensor_q": of(1, 3, 4, 16), "input_tensor_k": of(6, 1, 32, 16), "head_dim_v": 8,
             "page_table_tensor": CACHE["page_table_tensor"], "cur_pos_tensor": ids(0, 17, 63)}
        ], 2),
    "transformer.attention_softmax": Rows(softmax_of, FLOATS, [
        {"tensor": of(2, 3, 5, 37), **own} for own in (
            {}, {"head_size": 16}, {"head_size": 16, "attention_mask": of(2, 1, 1, 37)},
            {"attention_mask": of(2, 1, 5, 37)})]),
    "transformer.attention_softmax_": Rows(softmax_of, FLOATS, [
        {"tensor": of(2, 3, 5, 37), "head_size": 16, "attention_mask": of(2, 1, 1, 37)}]),
    "transformer.concatenate_heads": Rows(joined, FLOATS, [
        {"input_tensor": x} for x in (of(2, 3, 33, 16), of(1, 1, 1, 1))]),
    "transformer.split_query_key_value_and_split_heads": Rows(split_heads, FLOATS, [
        {"input_tensor": of(2, 33, 96), "num_heads": 2, "transpose_key": t} for t in (True, False)
    ] + [{"input_tensor": of(1, 5, 16 * 8), "num_heads": 4, "num_kv_heads": 2}]),
    "experimental.nlp_concat_heads": Rows(lambda input_tensor: joined(input_tensor)[:, None], FLOATS, [
        {"input_tensor": of(2, 3, 33, 16)}]),
    "experimental.nlp_concat_heads_decode": Rows(
        lambda input_tensor, num_heads: input_tensor[:, :, :num_heads].flatten(2)[None], WIDE, [
            {"input_tensor": of(1, 5, 32, 64), "num_heads": 3}]),
    "experimental.nlp_create_qkv_heads_decode": Rows(
        lambda input_tensor, num_heads, num_kv_heads=None: list(
            input_tensor.unflatten(-1, (num_heads + 2 * (num_kv_heads or num_heads), -1))[0].split(
                [num_heads, num_kv_heads or num_heads, num_kv_heads or num_heads], 2)), WIDE, [
            {"input_tensor": of(1, 1, 5, 6 * 32), "num_heads": 2},
            {"input_tensor": of(1, 1, 5, 6 * 32), "num_heads": 4, "num_kv_heads": 1}]),
    "experimental.rotary_embedding": Rows(rotated, FLOATS, [
        {"input_tensor": of(2, 3, 33, 64), "cos_cache": of(1, 1, 64, 64), "sin_cache": of(1, 1, 64, 64)},
        {"input_tensor": of(1, 3, 5, 64), "cos_cache": of(1, 1, 64, 64), "sin_cache": of(1, 1, 64, 64),
         "token_index": 7}]),
    "experimental.rotary_embedding_llama": Rows(rotated_pairs, FLOATS, [
        {"input_tensor": of(1, 3, 33, 64), "cos_cache": of(1, 1, 33, 64), "sin_cache": of(1, 1, 33, 64),
         "trans_mat": PAIRS}]),
    "experimental.dit_rms_norm_unary_fused": Rows(fused_norm, FLOATS, [
        {"input_tensor": of(2, 5, 37), "epsilon": 1e-5, **own} for own in (
            {}, {"weight": of(37)}, {"activation": "silu"},
            {"weight": of(37), "bias": of(37), "residual_input_tensor": of(2, 5, 37), "activation": "gelu"})], 3),
    "sdpa_fw": Rows(forward, WIDE, [
        {"input_tensor_q": of(2, 4, 33, 16), "input_tensor_k": of(2, g, 33, 16), "input_tensor_v": of(2, g, 33, 16),
         **own} for g in (4, 2) for own in ({}, {"attn_mask": MASK, "mask_type": ttnn.AttentionMaskType.ARBITRARY},
                                            {"mask_type": ttnn.AttentionMaskType.NONE})], 2),
}  # fmt: skip
