# SPDX-License-Identifier: Apache-2.0
"""Goldens of ops that move elements and compute nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .op import Op, TensorSpec


def identity(x: Tensor, *rest: Any) -> Tensor:
    return x


def reshape(x: Tensor, out: TensorSpec) -> Tensor:
    return x.reshape(out.shape)


def broadcast(x: Tensor, out: TensorSpec) -> Tensor:
    return x.expand(out.shape)


def broadcast_in_dim(x: Tensor, broadcast_dimensions: Sequence[int], out: TensorSpec) -> Tensor:
    shape = [1] * len(out.shape)
    for i, dim in enumerate(broadcast_dimensions):
        shape[dim] = x.shape[i]
    order = sorted(range(x.dim()), key=lambda i: broadcast_dimensions[i])
    return x.permute(order).reshape(shape).expand(out.shape)


def sliced(x: Tensor, begins: Sequence[int], ends: Sequence[int], step: Sequence[int] | None = None) -> Tensor:
    """Returns negative begins and ends count from the end; negative steps walk backwards from `begins`."""
    for dim, (begin, end, by) in enumerate(zip(begins, ends, step or [1] * x.dim(), strict=True)):
        x = x.index_select(dim, torch.tensor(list(range(x.shape[dim]))[slice(begin, end, by)], dtype=torch.int64))
    return x


def slice_dynamic(x: Tensor, begins: Tensor, ends: Tensor, step: Sequence[int] | None = None) -> Tensor:
    return sliced(x, begins.flatten().long().tolist(), ends.flatten().long().tolist(), step)


def dynamic_slice(x: Tensor, starts: Sequence[Tensor], slice_sizes: Sequence[int]) -> Tensor:
    """Starts are moved so that the slice lies inside."""
    for dim, (start, size) in enumerate(zip(starts, slice_sizes, strict=True)):
        x = x.narrow(dim, min(max(int(start), 0), x.shape[dim] - size), size)
    return x


def dynamic_update_slice(x: Tensor, update: Tensor, starts: Sequence[Tensor]) -> Tensor:
    x = x.clone()
    dynamic_slice(x, starts, update.shape).copy_(update)
    return x


def index(x: Tensor, dim: int, begin: int, end: int, step: int) -> Tensor:
    positions = torch.tensor(list(range(x.shape[dim]))[begin:end:step], dtype=torch.int64)
    return x.index_select(dim, positions)


def index_select(x: Tensor, dim: int, begin: int, length: int, stride: int = 0) -> Tensor:
    """Runs of `length` from `begin`, one every `stride` elements, the last cut at the end; stride 0 means one run."""
    starts = range(begin, x.shape[dim], stride) if stride else [begin]
    positions = [p for start in starts for p in range(start, min(start + length, x.shape[dim]))]
    return x.index_select(dim, torch.tensor(positions, dtype=torch.int64))


def pad(x: Tensor, padding: Sequence[int], value: float = 0.0) -> Tensor:
    """Returns `padding`: low and high of each dimension in turn."""
    flat = [p for d in reversed(range(x.dim())) for p in (padding[2 * d], padding[2 * d + 1])]
    return F.pad(x, flat, value=value)


def interior_pad(
    x: Tensor,
    value: Tensor,
    edge_padding_low: Sequence[int],
    edge_padding_high: Sequence[int],
    interior_padding: Sequence[int],
) -> Tensor:
    """Returns StableHLO's pad: `interior_padding` values between neighbours, then the edges; negative edges crop."""
    spread = [max((n - 1) * (gap + 1) + 1, 0) for n, gap in zip(x.shape, interior_padding, strict=True)]
    y = value.expand(spread).clone()
    y[tuple(slice(None, None, gap + 1) for gap in interior_padding)] = x
    flat = [
        p for low, high in reversed(list(zip(edge_padding_low, edge_padding_high, strict=True))) for p in (low, high)
    ]
    return F.pad(y, flat, value=value.item())


def repeat_interleave(x: Tensor, repeats: int, dim: int) -> Tensor:
    return torch.repeat_interleave(x, repeats, dim=dim)


def rearrange(x: Tensor, pattern: str) -> Tensor:
    """Returns einops patterns of names, products in parentheses, 1 and an ellipsis: "... h w c -> ... (h w) c". No
    products on the left, whose sizes the pattern does not say."""
    left, right = pattern.split("->")
    more = " ".join(f"...{i}" for i in range(x.dim() - len(left.split()) + 1))
    left, right = left.replace("...", more), right.replace("...", more)
    names = left.replace("()", "1").split()
    if any("(" in name for name in names):
        raise ValueError(f"rearrange {pattern!r}: products on the left need sizes")
    sizes = dict(zip(names, x.shape, strict=True)) | {"1": 1}
    groups = [(name or product).split() for product, name in re.findall(r"\(([^)]*)\)|([^\s()]+)", right)]
    ordered = [names.index(name) for group in groups for name in group if name != "1"]
    dropped = [dim for dim, name in enumerate(names) if name == "1"]
    return x.permute(ordered + dropped).reshape([math.prod(sizes[name] for name in group) for group in groups])


def gather(x: Tensor, positions: Tensor, dim: int) -> Tensor:
    return torch.gather(x, dim, positions.long())


REDUCE = {"sum": "sum", "prod": "prod", "max": "amax", "min": "amin", "mean": "mean"}


def scatter(x: Tensor, positions: Tensor, source: Tensor, dim: int, scatter_reduce_type: str = "invalid") -> Tensor:
    if scatter_reduce_type in REDUCE:
        return x.scatter_reduce(dim, positions.long(), source, REDUCE[scatter_reduce_type], include_self=True)
    return x.scatter(dim, positions.long(), source)


def embedding(positions: Tensor, weight: Tensor, out: TensorSpec) -> Tensor:
    return F.embedding(positions.long(), weight.reshape(-1, weight.shape[-1])).reshape(out.shape)


def embedding_backward(positions: Tensor, weight: Tensor, in_gradient: Tensor) -> Tensor:
    rows = in_gradient.reshape(-1, weight.shape[-1])
    result = torch.zeros(weight.numel() // weight.shape[-1], weight.shape[-1], dtype=rows.dtype)
    return result.index_add(0, positions.flatten().long(), rows).reshape(weight.shape)


def concatenate_heads(x: Tensor) -> Tensor:
    """Returns [batch, heads, sequence, head size] -> [batch, sequence, heads * head size]."""
    return x.transpose(1, 2).flatten(2)


def nlp_concat_heads(x: Tensor, out: TensorSpec) -> Tensor:
    return concatenate_heads(x).reshape(out.shape)


def split_heads(
    x: Tensor,
    kv: Tensor | None = None,
    *,
    num_heads: int,
    num_kv_heads: int | None = None,
    transpose_key: bool = False,
    out: list[TensorSpec],
) -> list[Tensor]:
    """Returns the fused projection [batch, sequence, (heads + 2 * kv heads) * size] as query, key and value by
    heads."""
    kv_heads = num_kv_heads or num_heads
    if kv is not None:
        query, (key, value) = x, kv.chunk(2, dim=-1)
    else:
        size = x.shape[-1] // (num_heads + 2 * kv_heads)
        query, key, value = x.split([num_heads * size, kv_heads * size, kv_heads * size], dim=-1)
    by_heads = lambda t, heads: t.unflatten(-1, (heads, -1)).transpose(1, 2)  # noqa: E731
    key = by_heads(key, kv_heads)
    results = [by_heads(query, num_heads), key.transpose(-1, -2) if transpose_key else key, by_heads(value, kv_heads)]
    return [r.reshape(o.shape) for r, o in zip(results, out, strict=True)]


def dimension_size(x: Tensor, dimension: int = 0, *, out: TensorSpec) -> Tensor:
    return torch.tensor(x.shape[dimension], dtype=torch.int32).reshape(out.shape)


# Layouts, memory and the device a tensor is on change nothing about its values.
IDENTITIES = (
    "to_layout", "to_device", "from_device", "to_memory_config", "to_tensor_spec", "assign", "ttnn_metal_layout_cast",
    "optimization_barrier", "annotate", "region_start", "region_end", "begin_trace", "end_trace", "load_cached",
    "prepare_conv2d_weights", "prepare_conv2d_bias", "prepare_conv_transpose2d_bias", "sharding_constraint",
    "reshard", "sdy.all_gather",
)  # fmt: skip

DATA_MOVEMENT = {name: Op(identity) for name in IDENTITIES} | {
    "prepare_conv_transpose2d_weights": Op(
        lambda x, *rest, mirror_kernel=True: x if mirror_kernel else torch.flip(x, (2, 3))
    ),
    "reshape": Op(reshape, aten="view"),
    "squeeze": Op(reshape, aten="squeeze.dim"),
    "unsqueeze": Op(reshape, aten="unsqueeze"),
    "broadcast": Op(broadcast, aten="expand"),
    "stablehlo.broadcast": Op(broadcast),
    "broadcast_in_dim": Op(broadcast_in_dim),
    "transpose": Op(lambda x, dim0, dim1: x.transpose(dim0, dim1), aten="transpose.int"),
    "permute": Op(lambda x, permutation: x.permute(*permutation), aten="permute"),
    "reverse": Op(lambda x, dimensions: torch.flip(x, list(dimensions)), aten="flip"),
    "roll": Op(lambda x, shifts, dims: torch.roll(x, tuple(shifts), tuple(dims)), aten="roll"),
    "concat": Op(lambda xs, dim: torch.cat(xs, dim=dim), aten="cat"),
    "concatenate": Op(lambda xs, dimension: torch.cat(xs, dim=dimension)),
    "repeat": Op(lambda x, repeat_dimensions: x.repeat(*repeat_dimensions), aten="repeat"),
    "ttnn.repeat": Op(lambda x, repeat_dims: x.repeat(*repeat_dims)),
    "repeat_interleave": Op(repeat_interleave, aten="repeat_interleave.self_int"),
    "slice_static": Op(sliced, aten="slice.Tensor"),
    "slice_dynamic": Op(
        slice_dynamic,
    ),
    "stablehlo.slice": Op(
        lambda x, start_indices, limit_indices, strides: sliced(x, start_indices, limit_indices, strides)
    ),
    "dynamic_slice": Op(dynamic_slice),
    "dynamic_update_slice": Op(dynamic_update_slice),
    "index": Op(index),
    "index_select": Op(index_select),
    "pad": Op(pad, aten="constant_pad_nd"),
    "stablehlo.pad": Op(interior_pad),
    "rearrange": Op(rearrange),
    "gather": Op(gather, aten="gather"),
    "scatter": Op(scatter, aten="scatter.src"),
    "embedding": Op(embedding, aten="embedding"),
    "embedding_backward": Op(embedding_backward, aten="embedding_dense_backward"),
    "concatenate_heads": Op(concatenate_heads),
    "nlp_concat_heads": Op(nlp_concat_heads),
    "split_query_key_value_and_split_heads": Op(split_heads),
    "get_dimension_size": Op(dimension_size),
}
