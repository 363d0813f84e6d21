# SPDX-License-Identifier: Apache-2.0
"""Functions of ttnn.transformer and ttnn.kv_cache that are made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType, Layout, MemoryConfig

from ..functions import FUNCTIONS
from .frame import composite, ops
from .parts import part_of


@composite(wide=False, name="transformer.joint_scaled_dot_product_attention")
def joint_scaled_dot_product_attention(
    input_tensor_q: Tensor,
    input_tensor_k: Tensor,
    input_tensor_v: Tensor,
    joint_tensor_q: Tensor,
    joint_tensor_k: Tensor,
    joint_tensor_v: Tensor,
    *,
    joint_strategy: str,
    program_config: Any,
    scale: float | None = None,
    compute_kernel_config: Any = None,
) -> tuple[Tensor, Tensor]:
    """Computes attention of two sequences [batch, heads, length, size] as of one, and returns the part of each.

    Raises:
        ValueError: joint_strategy is not "rear".
    """
    if joint_strategy != "rear":
        raise ValueError(f'joint_strategy is {joint_strategy!r}; expected "rear"')
    pairs = (
        (input_tensor_q, joint_tensor_q), (input_tensor_k, joint_tensor_k), (input_tensor_v, joint_tensor_v),
    )  # fmt: skip
    result = FUNCTIONS["transformer.scaled_dot_product_attention"](
        *(ops.concat(list(pair), dim=2) for pair in pairs), is_causal=False, scale=scale,
        program_config=program_config, compute_kernel_config=compute_kernel_config,
    )  # fmt: skip
    length = input_tensor_q.shape[2]
    return part_of(result, 2, 0, length), part_of(result, 2, length, result.shape[2])


@composite(wide=False, name="transformer.flash_multi_latent_attention_decode")
def flash_multi_latent_attention_decode(
    input_tensor_q: Tensor,
    input_tensor_k: Tensor,
    input_tensor_v: Tensor | None = None,
    head_dim_v: int = 0,
    *,
    is_causal: bool = True,
    attn_mask: Tensor | None = None,
    cur_pos: Sequence[int] = (),
    cur_pos_tensor: Tensor | None = None,
    attention_sink: Tensor | None = None,
    scale: float | None = None,
    sliding_window_size: int | None = None,
    memory_config: MemoryConfig | None = None,
    program_config: Any = None,
    compute_kernel_config: Any = None,
) -> Tensor:
    """Computes attention of one token for each user; without values, the first `head_dim_v` elements of keys are these.

    Raises:
        ValueError: head_dim_v is not from 1 to the size of a value.
    """
    values = input_tensor_k if input_tensor_v is None else input_tensor_v
    if not 1 <= head_dim_v <= values.shape[-1]:
        raise ValueError(f"head_dim_v is {head_dim_v}; expected 1 to {values.shape[-1]}")
    options = {"cur_pos": list(cur_pos)} if cur_pos else {}
    result = FUNCTIONS["transformer.scaled_dot_product_attention_decode"](
        input_tensor_q, input_tensor_k, values, attn_mask=attn_mask, cur_pos_tensor=cur_pos_tensor,
        attention_sink=attention_sink, is_causal=is_causal, scale=scale, sliding_window_size=sliding_window_size,
        memory_config=memory_config, program_config=program_config, compute_kernel_config=compute_kernel_config,
        **options,
    )  # fmt: skip
    return part_of(result, len(result.shape) - 1, 0, head_dim_v)


@composite(wide=False, name="kv_cache.fill_cache_for_user_")
def fill_cache_for_user_(cache: Tensor, input: Tensor, batch_index: int, *, update_idx: int = 0) -> Tensor:
    """Writes the tokens [1, heads, length, size] of one user to a cache [users, heads, tokens, size]; returns it."""
    ops.fill_cache(cache, input, batch_index, update_idx=update_idx)
    return cache


@composite(wide=False, name="kv_cache.update_cache_for_token_")
def update_cache_for_token_(
    cache: Tensor, input: Tensor, update_index: int, batch_offset: int = 0, compute_kernel_config: Any = None
) -> Tensor:
    """Writes one token of every user, [1, heads, users, size], to a cache [users, heads, tokens, size]; returns it."""
    del compute_kernel_config
    place = ops.full([1], update_index, dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, device=cache.device())
    ops.update_cache(cache, input, place, batch_offset=batch_offset)
    return cache
