# SPDX-License-Identifier: Apache-2.0
"""Goldens of attention, rotary embeddings and key/value caches."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .op import Op, TensorSpec, accepted


def heads_like(x: Tensor, heads: int) -> Tensor:
    """Returns grouped-query attention: each key/value head serves several query heads."""
    return x if x.shape[1] == heads else x.repeat_interleave(heads // x.shape[1], dim=1)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    visible: Tensor,
    mask: Tensor | None,
    sink: Tensor | None,
    scale: float | None,
) -> Tensor:
    """Returns PyTorch's attention where `visible` is true; a sink is the score of one more key, whose value is 0.

    A row that sees none of the keys is NaN, where PyTorch's has zeros; without keys it is zeros, as in PyTorch.
    """
    bias = torch.zeros(visible.shape).masked_fill(~visible, -torch.inf)
    if mask is not None:
        bias = bias + mask
    if sink is not None:
        lead = (*query.shape[:3], -1)
        bias = torch.cat([bias.expand(lead), sink.reshape(1, -1, 1, 1).expand(lead)], dim=-1)
        key, value = (torch.nn.functional.pad(x, (0, 0, 0, 1)) for x in (key, value))
    result = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, bias.to(query.dtype), scale=scale, enable_gqa=True
    )
    if bias.shape[-1] == 0:
        return result
    return result.masked_fill((bias == -torch.inf).all(dim=-1, keepdim=True), torch.nan)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    attention_sink: Tensor | None = None,
    is_causal: bool = True,
    scale: float | None = None,
    sliding_window_size: int | None = None,
) -> Tensor:
    """Returns attention on [batch, heads, sequence, size]; a mask takes the place of `is_causal`.

    A window ends at a row's own key where the attention is causal, and has half of its size on both sides where not.
    """
    if is_causal and attention_mask is attention_sink is sliding_window_size is None:
        return torch.nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=True, scale=scale, enable_gqa=True
        )
    visible = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool)
    if is_causal and attention_mask is None:
        visible = visible.tril()
    if sliding_window_size is not None:
        before = sliding_window_size - 1 if is_causal else sliding_window_size // 2
        visible = visible.triu(-before) if is_causal else visible.triu(-before).tril(before)
    return attend(query, key, value, visible, attention_mask, attention_sink, scale)


def attention_decode(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    cur_pos_tensor: Tensor | None = None,
    attention_sink: Tensor | None = None,
    is_causal: bool = True,
    scale: float | None = None,
    sliding_window_size: int | None = None,
) -> Tensor:
    """Returns one new token for each user: query [1, batch, heads, size], caches [batch, kv heads, sequence, size].

    Without positions the token is the last of the cache. The library scales the sum of scores and mask, and the sink.
    """
    q = query.permute(1, 2, 0, 3)
    columns, position = torch.arange(key.shape[-2]), torch.full((1, 1, 1, 1), key.shape[-2] - 1)
    if is_causal and cur_pos_tensor is not None:
        position = cur_pos_tensor.reshape(-1, 1, 1, 1).long()
    visible = columns <= position
    if sliding_window_size is not None:
        visible = visible & (columns > position - sliding_window_size)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    mask = None if attention_mask is None else heads_of_mask(attention_mask, q) * factor
    sink = None if attention_sink is None else attention_sink * factor
    return attend(q, key, value, visible, mask, sink, scale).permute(2, 0, 1, 3)


def seen(query: Tensor, key: Tensor, mask: Tensor | None, mask_type: Any) -> Tensor:
    """Returns what is added to scores: 0 where a row sees a key; where it does not, as the type of the mask has it."""
    scores = torch.zeros(query.shape[-2], key.shape[-2])
    kind = str(mask_type)
    if "causal" in kind:
        return scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf)
    return scores if mask is None else (mask - 1) * 1e9


def attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    *,
    mask_type: Any = "causal",
    return_intermediates: bool = False,
    out: Any = None,
) -> Tensor | list[Tensor]:
    """Returns attention; of each row, the largest score and the reciprocal of the sum, in columns 0 and 32 of 64. Where
    32 columns are declared, column 0 has the logarithm of the sum of exponentials."""
    bias = seen(query, key, attention_mask, mask_type)
    output = torch.nn.functional.scaled_dot_product_attention(query, key, value, bias.to(query.dtype), enable_gqa=True)
    if not return_intermediates:
        return output
    scores = query @ heads_like(key, query.shape[1]).transpose(-1, -2) / math.sqrt(query.shape[-1]) + bias
    columns = out[1].shape[-1] if isinstance(out, list) else 64
    statistics = torch.zeros(*query.shape[:3], columns)
    if columns == 32:
        statistics[..., 0] = scores.logsumexp(dim=-1)
        return [output, statistics]
    statistics[..., 0] = scores.amax(dim=-1)
    statistics[..., 32] = torch.exp(statistics[..., 0] - scores.logsumexp(dim=-1))
    return [output, statistics]


def attention_backward(
    grad_output: Tensor,
    attn_output: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    intermediates: Tensor,
    attention_mask: Tensor | None = None,
    *,
    mask_type: Any = "arbitrary",
) -> list[Tensor]:
    """Returns gradients of `attention_forward`, out of the statistics and the result that it gave."""
    heads = query.shape[1]
    keys, values = heads_like(key, heads), heads_like(value, heads)
    scores = query @ keys.transpose(-1, -2) / math.sqrt(query.shape[-1]) + seen(query, key, attention_mask, mask_type)
    chances = torch.exp(scores - intermediates[..., :1])
    if intermediates.shape[-1] > 32:  # else the logarithm of the sum
        chances = chances * intermediates[..., 32:33]
    common = (grad_output * attn_output).sum(dim=-1, keepdim=True)
    change = chances * (grad_output @ values.transpose(-1, -2) - common) / math.sqrt(query.shape[-1])

    def shared(gradient: Tensor) -> Tensor:
        return gradient.unflatten(1, (key.shape[1], -1)).sum(dim=2)

    return [change @ keys, shared(change.transpose(-1, -2) @ query), shared(chances.transpose(-1, -2) @ grad_output)]


def heads_of_mask(mask: Tensor, q: Tensor) -> Tensor:
    """Returns [batch, 1, heads, sequence] -> [batch, heads, 1, sequence]; other masks broadcast as they are."""
    return mask.transpose(1, 2) if mask.dim() == 4 and mask.shape[2] == q.shape[1] and mask.shape[1] == 1 else mask


def from_pages(cache: Tensor, page_table: Tensor) -> Tensor:
    """Returns pages [pages, heads, page size, size] in the order of `page_table` [batch, n]: [batch, heads, sequence,
    size]."""
    return cache[page_table.long()].permute(0, 2, 1, 3, 4).flatten(2, 3)


def paged_attention_decode(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    page_table: Tensor,
    *rest: Any,
    is_causal: bool = True,
    scale: float | None = None,
    sliding_window_size: int | None = None,
) -> Tensor:
    """Returns TTIR passes an output tensor before the optional operands; its shape is the query's."""
    masks = rest[1:] if len(rest) == 4 else rest
    key, value = from_pages(key, page_table), from_pages(value, page_table)
    options: Any = {"is_causal": is_causal, "scale": scale, "sliding_window_size": sliding_window_size}
    return attention_decode(query, key, value, *masks, **options)


def latent_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor | None = None,
    attention_mask: Tensor | None = None,
    *,
    head_dim_v: int,
    is_causal: bool = True,
    scale: float | None = None,
) -> Tensor:
    """Returns attention whose values are the beginnings of the keys, unless they are given."""
    value = key[..., :head_dim_v] if value is None else value
    return attention(query, key, value, attention_mask, None, is_causal, scale)


def masked_latent_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor | None,
    attention_mask: Tensor | None,
    *,
    head_dim_v: int,
    is_causal: bool = True,
    scale: float | None = None,
) -> Tensor:
    """Computes `latent_attention`, causal as well as masked."""
    if attention_mask is not None and is_causal:
        later = torch.ones(query.shape[2], key.shape[2]).tril() == 0
        attention_mask = attention_mask.masked_fill(later, -torch.inf)
    return latent_attention(query, key, value, attention_mask, head_dim_v=head_dim_v, is_causal=is_causal, scale=scale)


def indexer_score(query: Tensor, key: Tensor, weights: Tensor, chunk_start_idx: int = 0) -> Tensor:
    """Returns weighted sums over heads of the positive scores of each position; later positions than the query's have
    -inf."""
    scores = torch.einsum("bhsd,btd->bhst", query, key[:, 0]).clamp_min(0)
    total = torch.einsum("bhst,bhs->bst", scores, weights[..., 0])[:, None]
    rows = chunk_start_idx + torch.arange(query.shape[2])[:, None]
    return total.masked_fill(torch.arange(key.shape[2]) > rows, -torch.inf)


def paged_latent_attention_decode(
    query: Tensor,
    key: Tensor,
    value: Tensor | None,
    page_table: Tensor,
    *masks: Tensor | None,
    head_dim_v: int,
    is_causal: bool = True,
    scale: float | None = None,
) -> Tensor:
    value = key[..., :head_dim_v] if value is None else value
    return paged_attention_decode(query, key, value, page_table, *masks, is_causal=is_causal, scale=scale)


def chunked_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    page_table: Tensor,
    start: Tensor,
    output: Any = None,
    scale: float | None = None,
) -> Tensor:
    """Returns causal attention of a chunk of the sequence that begins at position `start`, to the pages before and of
    it."""
    key, value = from_pages(key, page_table), from_pages(value, page_table)
    rows = int(start.flatten()[0]) + torch.arange(query.shape[-2])[:, None]
    mask = torch.zeros(query.shape[-2], key.shape[-2]).masked_fill(torch.arange(key.shape[-2]) > rows, -torch.inf)
    return attention(query, key, value, mask, None, False, scale)


def rotate_half(x: Tensor, cos: Tensor, sin: Tensor, token_index: int | None = None) -> Tensor:
    if token_index is not None:
        cos, sin = (t[..., token_index : token_index + 1, :] for t in (cos, sin))
    else:
        cos, sin = (t[..., : x.shape[-2], :] for t in (cos, sin))
    low, high = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-high, low], dim=-1) * sin


def rotate_pairs(x: Tensor, cos: Tensor, sin: Tensor, trans_mat: Tensor, is_decode_mode: bool = False) -> Tensor:
    """Returns `trans_mat` holds, tile by tile, the matrix that swaps the halves of pairs."""
    size = trans_mat.shape[-1]
    swapped = (x.unflatten(-1, (-1, size)) @ trans_mat.reshape(-1, size)[:size]).flatten(-2)
    return x * cos + swapped * sin


def fill_cache(cache: Tensor, x: Tensor, batch_offset: int = 0) -> Tensor:
    cache = cache.clone()
    cache[batch_offset : batch_offset + x.shape[0], :, : x.shape[2]] = x
    return cache


def update_cache(cache: Tensor, x: Tensor, update_index: Tensor, batch_offset: int = 0) -> Tensor:
    """Writes the new token [1, heads, batch, size] of each user at position `update_index`."""
    cache = cache.clone()
    position = int(update_index.flatten()[0])
    rows = x.permute(2, 1, 0, 3)
    cache[batch_offset : batch_offset + rows.shape[0], :, position : position + rows.shape[2]] = rows
    return cache


def paged_update_cache(
    cache: Tensor, x: Tensor, update_index: Tensor, page_table: Tensor | None = None, share_cache: bool = False
) -> Tensor:
    """Writes token [1, batch, heads, size] of each user at its own position, through its pages when there are any.

    A user at a negative position writes nothing. With `share_cache` all write to the first user's cache.
    """
    cache = cache.clone()
    for user, position in enumerate(update_index.flatten().long().tolist()):
        if position < 0:
            continue
        page, row = 0 if share_cache else user, position
        if page_table is not None:
            page, row = int(page_table[user, position // cache.shape[2]]), position % cache.shape[2]
        cache[page, :, row] = x[0, user, : cache.shape[1]]
    return cache


def paged_fill_cache(cache: Tensor, x: Tensor, page_table: Tensor, batch: Tensor | None = None) -> Tensor:
    """Writes the sequences x [users, heads, sequence, size] of users through their pages."""
    cache, page_size = cache.clone(), cache.shape[2]
    for i, sequence in enumerate(x):
        user = i if batch is None else int(batch.flatten()[i])
        for start in range(0, x.shape[2], page_size):
            rows = sequence[:, start : start + page_size]
            cache[int(page_table[user, start // page_size]), :, : rows.shape[1]] = rows
    return cache


def create_heads_for_decode(
    x: Tensor,
    batch_offset: Tensor | None = None,
    *,
    num_heads: int,
    num_kv_heads: int | None = None,
    slice_size: int | None = None,
    out: list[TensorSpec],
) -> list[Tensor]:
    """Returns [1, 1, batch, (heads + 2 * kv heads) * size] -> each [1, batch, heads, size]; a slice of the batch on
    request."""
    kv = num_kv_heads or num_heads
    if batch_offset is not None and slice_size is not None:
        x = x.narrow(2, int(batch_offset.flatten()[0]), slice_size)
    parts = x.unflatten(-1, (num_heads + 2 * kv, -1))[0].split([num_heads, kv, kv], dim=-2)
    return [p.reshape(o.shape) for p, o in zip(parts, out, strict=True)]


def by_name(golden: Callable[..., Any], operands: str) -> Callable[..., Any]:
    """Returns the golden of a custom call, whose attributes are texts.

    A `?` marks operands that `has_NAME` may leave out; where no attribute says so, the last ones are left out.
    """
    names = operands.split()

    def call(values: list[Tensor], **attributes: Any) -> Any:
        texts = attributes.get("mhlo.frontend_attributes") or {}
        flags = {n: texts.get(f"has_{n[:-1]}") for n in names if n.endswith("?")}
        rest = list(values)
        given: dict[str, Any] = {}
        for name in names:
            there = flags[name] == "true" if any(flags.values()) and name in flags else bool(rest)
            given[name.rstrip("?")] = rest.pop(0) if there else None
        numbers = {k: number(v) for k, v in texts.items() if not k.startswith("has_")}
        return golden(**given, **accepted(golden, numbers))

    return call


def number(text: str) -> bool | float:
    """Returns an integer, a float, "true" or "false"."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.lstrip("+-").isdecimal() else float(text)


ATTENTION = {
    "tt.flash_mla_prefill": Op(by_name(masked_latent_attention, "query key value? attention_mask?")),
    "tt.indexer_score_dsa": Op(by_name(indexer_score, "query key weights")),
    "tt.scaled_dot_product_attention": Op(by_name(attention, "query key value attention_mask? attention_sink?")),
    "scaled_dot_product_attention": Op(attention, aten="scaled_dot_product_attention"),
    "scaled_dot_product_attention_decode": Op(attention_decode),
    "paged_scaled_dot_product_attention_decode": Op(paged_attention_decode),
    "ttnn.paged_scaled_dot_product_attention_decode": Op(paged_attention_decode),
    "chunked_scaled_dot_product_attention": Op(chunked_attention),
    "flash_mla_prefill": Op(latent_attention),
    "paged_flash_multi_latent_attention_decode": Op(paged_latent_attention_decode),
    "sdpa_fw": Op(attention_forward),
    "sdpa_bw": Op(attention_backward),
    "rotary_embedding": Op(rotate_half),
    "rotary_embedding_llama": Op(rotate_pairs),
    "fill_cache": Op(fill_cache, updates=(0,)),
    "update_cache": Op(update_cache, updates=(0,)),
    "paged_update_cache": Op(paged_update_cache, updates=(0,)),
    "paged_fill_cache": Op(paged_fill_cache, updates=(0,)),
    "nlp_create_qkv_heads_decode": Op(create_heads_for_decode),
    "nlp_concat_heads_decode": Op(lambda x, num_heads, out: x[..., :num_heads, :].flatten(-2).reshape(out.shape)),
}
