# SPDX-License-Identifier: Apache-2.0
"""Attention over pages and over chosen keys, and steps of attention: functions of ttnn.transformer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import DataType, Layout, MemoryConfig

from ..functions import FUNCTIONS
from ..library.modes import SparseKVFormat
from .frame import RESULT, composite, ops
from .meshes import axis_of_mesh, device_of, of_devices
from .parts import part_of

ATTENTION = "transformer.scaled_dot_product_attention"


def attention_function(name: str, golden: str = "", common: str = "") -> Callable[..., Any]:
    return composite(common, golden=golden, wide=False, name=f"transformer.{name}")


# Steps of attention.


def _softmax(name: str, in_place: bool) -> None:
    def compute(
        tensor: Tensor,
        *,
        head_size: int | None = None,
        attention_mask: Tensor | None = None,
        program_config: Any = None,
        causal_mask: bool | None = False,
        memory_config: MemoryConfig | None = None,
    ) -> Tensor:
        del program_config, causal_mask
        scores = tensor
        if head_size is not None:
            if head_size < 1:
                raise ValueError(f"head_size is {head_size!r}; expected a positive integer")
            scores = ops.multiply(scores, head_size**-0.5, dtype=DataType.FLOAT32)
        if attention_mask is not None:
            scores = ops.add(scores, attention_mask, dtype=DataType.FLOAT32)
        result = ops.softmax(scores, dim=-1, dtype=tensor.dtype, memory_config=memory_config)
        return ops.assign(result, output_tensor=tensor) if in_place else result

    where = "; written to the scores, which are returned" if in_place else ""
    compute.__doc__ = f"""Softmax of attention scores [batch, heads, queries, keys] over keys{where}.

    Of scores / sqrt(head_size) + attention_mask.

    Args:
        head_size: scores are not divided where it is left out.
        attention_mask: added to the scores; broadcast to their shape.
        program_config: of the hardware; makes no difference here.
        causal_mask: on the hardware, that the mask is one for each query; it makes no difference here.
    Raises:
        ValueError: head_size is not positive.
    """
    golden = "torch.softmax(tensor * (1 if head_size is None else head_size**-0.5) + "
    golden += "(0 if attention_mask is None else attention_mask), -1)"
    attention_function(name, golden)(compute)


for _name in ("attention_softmax", "attention_softmax_"):
    _softmax(_name, _name.endswith("_"))


# Places of tokens, as numbers in float32, which hold whole numbers below 2^24.


def line(count: int, device: Device, along: int, first: float = 0.0) -> Tensor:
    """Returns first, first + 1, ... as [1, 1, count, 1] or [1, 1, 1, count]."""
    numbers = ops.arange(0, count, 1, dtype=DataType.FLOAT32, device=device, layout=Layout.ROW_MAJOR)
    shape = [1, 1, count, 1] if along == 2 else [1, 1, 1, count]
    return ops.to_layout(ops.reshape(numbers, shape), Layout.TILE) + first


def number_of_device(device: Device, axis: int) -> Tensor:
    """Returns the place of each device on an axis of the mesh, [1, 1, 1, 1]."""

    def number(row: int, column: int) -> Tensor:
        return Tensor([float((row, column)[axis])], [1, 1, 1, 1], DataType.FLOAT32, Layout.ROW_MAJOR)

    return ops.to_layout(of_devices(device, number), Layout.TILE)


def hidden_by(where: Tensor, like: Tensor) -> Tensor:
    """Returns a mask of attention: -inf where a tensor is not 0, and 0 elsewhere."""
    wide = ops.typecast(where, DataType.FLOAT32)
    dtype = like.dtype if like.dtype in (DataType.FLOAT32, DataType.FLOAT16) else DataType.BFLOAT16
    return ops.typecast(ops.where(wide, -math.inf, 0.0), dtype)


def either(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    return b if a is None else a if b is None else ops.logical_or(a, b)


def four(name: str, tensor: Tensor) -> list[int]:
    shape = list(tensor.shape)
    if len(shape) != 4:
        raise ValueError(f"{name} has shape {shape}; expected [batch, heads, length, size]")
    return shape


def at_most(value: int | Tensor, most: int, name: str) -> int:
    found = int(value.item()) if isinstance(value, Tensor) else value
    if not 0 <= found <= most:
        raise ValueError(f"{name} is {found}; expected 0 to {most}")
    return found


def refuse(name: str, **values: Any) -> None:
    for parameter, value in values.items():
        if value not in (None, False):
            raise ValueError(f"{parameter} is {value!r}; expected {None if value is not True else False}: {name}")


# Pages.


def of_pages(cache: Tensor, page_table: Tensor, name: str) -> Tensor:
    """Returns the tokens of each user, [users, heads, pages * size of a page, size], of a cache of pages."""
    pages, heads, rows, size = four(name, cache)
    if len(page_table.shape) != 2:
        raise ValueError(f"page_table has shape {list(page_table.shape)}; expected [users, pages]")
    users, count = page_table.shape
    table = ops.reshape(ops.to_layout(cache, Layout.ROW_MAJOR), [pages, heads * rows * size])
    ids = ops.typecast(ops.to_layout(page_table, Layout.ROW_MAJOR), DataType.UINT32)
    found = ops.reshape(ops.embedding(ids, table), [users, count, heads, rows, size])
    joined = ops.reshape(ops.permute(found, [0, 2, 1, 3, 4]), [users, heads, count * rows, size])
    return ops.to_layout(joined, Layout.TILE)


@attention_function("chunked_flash_mla_prefill", common=RESULT)
def chunked_flash_mla_prefill(
    input_tensor_q: Tensor,
    input_tensor_k: Tensor,
    head_dim_v: int,
    page_table_tensor: Tensor,
    chunk_start_idx: int,
    *,
    scale: float | None = None,
    program_config: Any = None,
    compute_kernel_config: Any = None,
) -> Tensor:
    """Computes causal attention of a part of a sequence that begins at chunk_start_idx, to pages of latent keys.

    Args:
        input_tensor_q: [users, heads, length, size].
        input_tensor_k: the cache, [pages, heads of keys, rows of a page, size].
        head_dim_v: the first elements of a key, which are its value.
        page_table_tensor: the pages of each user, [users, pages].
    Raises:
        ValueError: shapes or numbers do not fit each other.
    """
    size = four("input_tensor_k", input_tensor_k)[3]
    if not 1 <= head_dim_v <= size:
        raise ValueError(f"head_dim_v is {head_dim_v}; expected 1 to {size}")
    if chunk_start_idx < 0:
        raise ValueError(f"chunk_start_idx is {chunk_start_idx}; expected 0 or more")
    result: Tensor = FUNCTIONS["transformer.chunked_scaled_dot_product_attention"](
        input_tensor_q, input_tensor_k, part_of(input_tensor_k, 3, 0, head_dim_v), page_table_tensor, chunk_start_idx,
        scale=scale, program_config=program_config, compute_kernel_config=compute_kernel_config,
    )  # fmt: skip
    return result


# Chosen keys.


def _not_chosen(indices: Tensor, count: int) -> Tensor:
    """Returns 0 at those of `count` places that indices [1, heads, length, k] name, and 1 elsewhere.

    Indices from `count` on, such as 0xFFFFFFFF, name none.
    """
    _, heads, length, _ = four("indices", indices)
    wide = ops.typecast(ops.to_layout(indices, Layout.ROW_MAJOR), DataType.FLOAT32)
    places = ops.typecast(ops.minimum(wide, float(count)), DataType.UINT32)
    options: dict[str, Any] = {"dtype": DataType.FLOAT32, "layout": Layout.ROW_MAJOR, "device": indices.device()}
    ones = ops.full([1, heads, length, count + 1], 1.0, **options)
    marked = ops.scatter(ones, 3, places, ops.full(list(indices.shape), 0.0, **options))
    return ops.to_layout(part_of(marked, 3, 0, count), Layout.TILE)


def _of_batch(cache: Tensor, batch: int | None, name: str) -> Tensor:
    count = four(name, cache)[0]
    if batch is None:
        batch = 0
        if count != 1:
            raise ValueError(f"cache_batch_idx is None; expected one of the {count} batches of {name}")
    if not 0 <= batch < count:
        raise ValueError(f"cache_batch_idx is {batch}; expected 0 to {count - 1}")
    return part_of(cache, 0, batch, batch + 1) if count > 1 else cache


_CYCLIC = "caches lie in order here"


@attention_function("sparse_sdpa")
def sparse_sdpa(
    q: Tensor,
    kv: Tensor,
    indices: Tensor,
    v_dim: int,
    *,
    kv_format: Any,
    scale: float | None = None,
    k_chunk_size: int = 128,
    compute_kernel_config: Any = None,
    cache_batch_idx: int | None = None,
    block_cyclic_sp_axis: int | None = None,
    block_cyclic_chunk_local: int | None = None,
    block_cyclic_cache_tp_sharded: bool = False,
    attention_sink: Tensor | None = None,
) -> Tensor:
    """Computes attention of each query to those latent keys that its indices name.

    Args:
        q: [1, heads, length, size].
        kv: [batch, 1, tokens, size]; the first v_dim elements of a key are its value.
        indices: [1, 1, length, k] of uint32; 0xFFFFFFFF names no key. A query without keys has NaN.
        kv_format: SparseKVFormat.BF16.
        cache_batch_idx: the batch of keys, where there are several.
        attention_sink: multiplied by scale and added to the sums of each head, [1, 1, 1, heads].
        k_chunk_size, compute_kernel_config: of the hardware; make no difference here.
        block_cyclic_sp_axis, block_cyclic_chunk_local, block_cyclic_cache_tp_sharded: not simulated; only their
            defaults are taken.
    Returns:
        [1, heads, length, v_dim] in rows.
    Raises:
        ValueError: shapes or numbers do not fit each other.
    """
    del k_chunk_size, compute_kernel_config
    refuse(
        _CYCLIC, block_cyclic_sp_axis=block_cyclic_sp_axis, block_cyclic_chunk_local=block_cyclic_chunk_local,
        block_cyclic_cache_tp_sharded=block_cyclic_cache_tp_sharded,
    )  # fmt: skip
    if kv_format is not SparseKVFormat.BF16:
        raise ValueError(f"kv_format is {kv_format!r}; expected SparseKVFormat.BF16: others are not simulated")
    keys = _of_batch(kv, cache_batch_idx, "kv")
    if not 1 <= v_dim <= keys.shape[3]:
        raise ValueError(f"v_dim is {v_dim}; expected 1 to {keys.shape[3]}")
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    mask = hidden_by(_not_chosen(indices, keys.shape[2]), q)
    sink = None
    if attention_sink is not None:
        sink = ops.multiply(ops.to_layout(ops.reshape(attention_sink, [1, q.shape[1], 1, 1]), Layout.TILE), scale)
    query, tiled = ops.to_layout(q, Layout.TILE), ops.to_layout(keys, Layout.TILE)
    result = FUNCTIONS[ATTENTION](
        query, tiled, part_of(tiled, 3, 0, v_dim), attn_mask=mask, is_causal=False, scale=scale, attention_sink=sink
    )
    return ops.to_layout(result, Layout.ROW_MAJOR)


@attention_function("sparse_sdpa_msa")
def sparse_sdpa_msa(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    indices: Tensor,
    *,
    scale: float | None = None,
    block_size: int = 128,
    compute_kernel_config: Any = None,
    cache_batch_idx: int | None = None,
    chunk_start_idx: int | None = None,
    cluster_axis: int | None = None,
    block_cyclic_sp_axis: int | None = None,
    block_cyclic_chunk_local: int | None = None,
    enable_kv_block_cache: bool = False,
) -> Tensor:
    """Computes attention of each query to those blocks of keys that its indices name.

    Args:
        q: [1, heads, length, size].
        k, v: [batch, heads of keys, tokens, size].
        indices: [1, heads of keys, length, n] of uint32: numbers of blocks; 0xFFFFFFFF names none.
        block_size: tokens of a block.
        cache_batch_idx: the batch of keys and values, where there are several.
        chunk_start_idx: the place of the first query; queries see keys up to their own place.
        cluster_axis: with chunk_start_idx: each device of this axis of the mesh has the following queries.
        compute_kernel_config, enable_kv_block_cache: of the hardware; make no difference here.
        block_cyclic_sp_axis, block_cyclic_chunk_local: not simulated; only None is taken.
    Returns:
        [1, heads, length, size of a value] in rows.
    Raises:
        ValueError: shapes or numbers do not fit each other.
    """
    del compute_kernel_config, enable_kv_block_cache
    refuse(_CYCLIC, block_cyclic_sp_axis=block_cyclic_sp_axis, block_cyclic_chunk_local=block_cyclic_chunk_local)
    keys, contents = (_of_batch(each, cache_batch_idx, name) for each, name in ((k, "k"), (v, "v")))
    _, heads, length, _ = four("q", q)
    _, groups, tokens, _ = four("k", keys)
    if block_size < 1 or tokens % block_size:
        raise ValueError(f"block_size is {block_size}; expected a divisor of {tokens}, the tokens")
    if heads % groups or indices.shape[1] != groups:
        raise ValueError(
            f"q has {heads} heads, k {groups} and indices {indices.shape[1]}; expected multiples, and equal"
        )
    hidden = ops.repeat_interleave(_not_chosen(indices, tokens // block_size), block_size, 3)
    if chunk_start_idx is not None:
        device = device_of(q, "q")
        own = line(length, device, 2, float(chunk_start_idx))
        if cluster_axis is not None:
            own = own + number_of_device(device, axis_of_mesh(device, cluster_axis)[0]) * float(length)
        hidden = ops.logical_or(hidden, ops.gt(line(tokens, device, 3), own))
    if heads != groups:
        hidden = ops.repeat_interleave(hidden, heads // groups, 1)
    result = FUNCTIONS[ATTENTION](
        ops.to_layout(q, Layout.TILE), keys, contents, attn_mask=hidden_by(hidden, q), is_causal=False, scale=scale
    )
    return ops.to_layout(result, Layout.ROW_MAJOR)
