# SPDX-License-Identifier: Apache-2.0
"""Functions of ttnn.experimental that are one kernel on the hardware: states, heads, gates, spectra."""

from __future__ import annotations

import math
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType, Layout, MemoryConfig

from ..constants import DRAM_MEMORY_CONFIG
from ..functions import FUNCTIONS
from .experimental import experimental
from .frame import COMPOSITES, RESULT, ops
from .parts import axis_of, part_of

_STATE = "memory_config dtype"
_LATENT = 32  # elements of a state of one channel
_MOST = 4096  # elements of a transform, whose matrices have the square of it


def _four(name: str, tensor: Tensor) -> list[int]:
    shape = list(tensor.shape)
    if len(shape) != 4:
        raise ValueError(f"{name} has shape {shape}; expected four dimensions")
    return shape


# State space models.


@experimental(_STATE, wide=True)
def prefix_scan(a: Tensor, bx: Tensor, h_prev: Tensor, *, math_fidelity: Any = None) -> Tensor:
    """Computes h[t] = a[t] * h[t - 1] + bx[t] of rows [1, 1, length, width], with h_prev [1, 1, 1, width] before them.

    `math_fidelity` is of the hardware. Results are new; h_prev stays as it is.
    """
    del math_fidelity
    shape = _four("a", a)
    if list(bx.shape) != shape or list(h_prev.shape) != [1, 1, 1, shape[3]] or shape[:2] != [1, 1]:
        raise ValueError(
            f"a, bx and h_prev have shapes {shape}, {list(bx.shape)} and {list(h_prev.shape)}; expected [1, 1, length, "
            "width] twice, and [1, 1, 1, width]"
        )
    state, rows = h_prev, []
    for at in range(shape[2]):
        state = part_of(a, 2, at, at + 1) * state + part_of(bx, 2, at, at + 1)
        rows.append(state)
    return ops.assign(a) if not rows else rows[0] if len(rows) == 1 else ops.concat(rows, dim=2)


@experimental(_STATE, wide=True, golden="input.reshape(1, 1, input.shape[2], input.shape[3] // 32, 32).sum(-1)")
def hc_sum_reduce(input: Tensor, *, math_fidelity: Any = None) -> Tensor:
    """Computes sums of 32 neighbours: [1, 1, length, n * 32] to [1, 1, length, n].

    `math_fidelity` is of the hardware.
    """
    del math_fidelity
    shape = _four("input", input)
    if shape[:2] != [1, 1] or shape[3] % _LATENT:
        raise ValueError(f"input has shape {shape}; expected [1, 1, length, n * {_LATENT}]")
    groups = shape[3] // _LATENT
    return ops.reshape(ops.sum(ops.reshape(input, [shape[2], groups, _LATENT]), 2, False), [1, 1, shape[2], groups])


@experimental(
    _STATE,
    wide=True,
    golden="a.repeat(1, 1, 1, b.shape[3]) * b.repeat_interleave(32, -1)",
)
def repeat_and_interleave_eltwise_mul(a: Tensor, b: Tensor, *, math_fidelity: Any = None) -> Tensor:
    """Computes a [1, 1, rows, 32], repeated, times b [1, 1, rows, n], each element 32 times: [1, 1, rows, n * 32].

    `math_fidelity` is of the hardware.
    """
    del math_fidelity
    shape, other = _four("a", a), _four("b", b)
    if shape[:2] != [1, 1] or other[:3] != shape[:3] or shape[3] != _LATENT:
        raise ValueError(
            f"a and b have shapes {shape} and {other}; expected [1, 1, rows, {_LATENT}] and [1, 1, rows, n]"
        )
    return ops.repeat(a, [1, 1, 1, other[3]]) * ops.repeat_interleave(b, _LATENT, 3)


# Heads of attention.


@experimental()
def rotary_embedding_llama_fused_qk(
    q_input_tensor: Tensor,
    k_input_tensor: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    trans_mat: Tensor,
    *,
    compute_kernel_config: Any = None,
) -> tuple[Tensor, Tensor]:
    """Computes rotary_embedding_llama of queries and of keys [1, users, heads, size] of one token for each user.

    Tables hold the users of queries, then those of keys: [1, 2 * users, rows, size].
    """
    results = []
    first = 0
    for name, each in (("q_input_tensor", q_input_tensor), ("k_input_tensor", k_input_tensor)):
        users = _four(name, each)[1]
        tables = []
        for label, table in (("cos_cache", cos_cache), ("sin_cache", sin_cache), ("trans_mat", trans_mat)):
            if _four(label, table)[1] != q_input_tensor.shape[1] + k_input_tensor.shape[1]:
                expected = q_input_tensor.shape[1] + k_input_tensor.shape[1]
                raise ValueError(f"{label} has shape {list(table.shape)}; expected [1, {expected}, rows, size]")
            tables.append(part_of(table, 1, first, first + users))
        results.append(
            FUNCTIONS["experimental.rotary_embedding_llama"](
                each, *tables, is_decode_mode=True, compute_kernel_config=compute_kernel_config
            )
        )
        first += users
    return results[0], results[1]


@experimental(RESULT)
def nlp_create_q_heads_split(input: Tensor, *, num_heads: int, split_head_dim: int) -> tuple[Tensor, Tensor]:
    """Returns heads of [batch, 1, length, heads * size] in two parts: split_head_dim elements, and the rest."""
    shape = _four("input", input)
    if shape[1] != 1 or num_heads < 1 or shape[3] % num_heads:
        raise ValueError(f"input has shape {shape}; expected [batch, 1, length, n * {num_heads}]")
    size = shape[3] // num_heads
    if not 0 < split_head_dim < size:
        raise ValueError(f"split_head_dim is {split_head_dim}; expected 1 to {size - 1}")
    heads = ops.permute(ops.reshape(input, [shape[0], shape[2], num_heads, size]), [0, 2, 1, 3])
    return part_of(heads, 3, 0, split_head_dim), part_of(heads, 3, split_head_dim, size)


@experimental("dtype memory_config compute_kernel_config output_tensor")
def attn_matmul_from_cache(
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    *,
    num_tokens: int,
    transpose_hw: bool,
    compute_with_storage_grid_size: Any,
) -> Tensor:
    """Computes attn_matmul with the first tokens of a cache [users, heads, tokens, size], whose matrices may be turned.

    num_tokens is rounded up to a multiple of 32.
    """
    tokens = -(-num_tokens // 32) * 32
    if num_tokens < 1 or tokens > _four("input_tensor_b", input_tensor_b)[2]:
        raise ValueError(f"num_tokens is {num_tokens}; expected 1 to {input_tensor_b.shape[2]}")
    taken = part_of(input_tensor_b, 2, 0, tokens)
    turned = ops.transpose(taken, 2, 3) if transpose_hw else taken
    product: Tensor = COMPOSITES["experimental.attn_matmul"](
        input_tensor_a, turned, compute_with_storage_grid_size=compute_with_storage_grid_size
    )
    return product


@experimental()
def indexed_fused_update_cache(
    cache_tensor1: Tensor,
    input_tensor1: Tensor,
    cache_tensor2: Tensor,
    input_tensor2: Tensor,
    physical_update_idxs_tensor: Tensor,
) -> tuple[Tensor, Tensor]:
    """Writes rows of two tensors to rows of two caches, and returns the caches.

    Args:
        cache_tensor1, cache_tensor2: [pages, heads, rows of a page, size].
        input_tensor1, input_tensor2: [1, heads, count, size].
        physical_update_idxs_tensor: [1, indices]: the row of the pages, one after another, that each row is written
            to; those that are negative or too large write nothing, and so do rows without an index.
    """
    updated = []
    for cache, rows in ((cache_tensor1, input_tensor1), (cache_tensor2, input_tensor2)):
        pages, heads, height, size = _four("cache_tensor", cache)
        count = rows.shape[2] if len(rows.shape) == 4 else 0
        if list(rows.shape) != [1, heads, count, size] or not count:
            raise ValueError(f"input_tensor has shape {list(rows.shape)}; expected [1, {heads}, count, {size}]")
        if len(physical_update_idxs_tensor.shape) != 2 or physical_update_idxs_tensor.shape[1] < count:
            found = list(physical_update_idxs_tensor.shape)
            raise ValueError(f"physical_update_idxs_tensor has shape {found}; expected [1, {count}]")
        total = pages * height
        flat = ops.reshape(ops.permute(ops.to_layout(cache, Layout.ROW_MAJOR), [0, 2, 1, 3]), [total, heads * size])
        own = ops.reshape(ops.permute(ops.to_layout(rows, Layout.ROW_MAJOR), [0, 2, 1, 3]), [count, heads * size])
        index = ops.typecast(ops.to_layout(physical_update_idxs_tensor, Layout.ROW_MAJOR), DataType.FLOAT32)
        index = ops.reshape(part_of(index, 1, 0, count), [count, 1])
        outside = ops.logical_or(ops.lt(index, 0.0), ops.ge(index, float(total)))
        places = ops.repeat(ops.where(outside, float(total), index), [1, heads * size])
        spare = ops.zeros([1, heads * size], dtype=flat.dtype, layout=Layout.ROW_MAJOR, device=flat.device())
        written = ops.scatter(ops.concat([flat, spare], dim=0), 0, ops.typecast(places, DataType.UINT32), own)
        apart = ops.reshape(part_of(written, 0, 0, total), [pages, height, heads, size])
        result = ops.to_layout(ops.permute(apart, [0, 2, 1, 3]), cache.layout)
        updated.append(ops.typecast(result, cache.dtype, output_tensor=cache))
    return updated[0], updated[1]


# Experts.


def _summed(x: Tensor, dim: int, name: str) -> Tensor:
    rank = len(x.shape)
    axis = axis_of(dim, rank)
    if rank < 3 or axis >= rank - 2:
        raise ValueError(
            f"dim is {dim} and {name} has shape {list(x.shape)}; expected one before the last two dimensions"
        )
    return ops.sum(x, axis, True)


@experimental(wide=True, golden="list(torch.split(input_tensor.sum(dim, keepdim=True), split_size, -1))")
def deepseek_moe_fast_reduce_nc(
    input_tensor: Tensor,
    dim: int,
    *,
    split_size: int,
    output_memory_config: MemoryConfig | None = DRAM_MEMORY_CONFIG,
    compute_kernel_config: Any = None,
) -> list[Tensor]:
    """Computes the sum along a dimension before the last two, in parts of split_size columns."""
    del compute_kernel_config
    total = _summed(input_tensor, dim, "input_tensor")
    width, axis = total.shape[-1], len(total.shape) - 1
    if split_size < 1 or width % split_size:
        raise ValueError(f"split_size is {split_size}; expected a divisor of {width}, the columns")
    parts = [part_of(total, axis, at, at + split_size) for at in range(0, width, split_size)]
    return parts if output_memory_config is None else [ops.to_memory_config(p, output_memory_config) for p in parts]


@experimental(
    RESULT, wide=True, golden="list(torch.split(input.sum(dim, keepdim=True), [split_output_width, input.shape[-1] - "
    "split_output_width], -1))",
)  # fmt: skip
def fast_reduce_nc_split(
    input: Tensor, *, dim: int, split_output_width: int, compute_kernel_config: Any = None
) -> tuple[Tensor, Tensor]:
    """Computes the sum along one of the first two of four dimensions, in two parts: the first columns, and the rest."""
    del compute_kernel_config
    width = _four("input", input)[3]
    total = _summed(input, dim, "input")
    if not 0 < split_output_width < width:
        raise ValueError(f"split_output_width is {split_output_width}; expected 1 to {width - 1}")
    return part_of(total, 3, 0, split_output_width), part_of(total, 3, split_output_width, width)


@experimental(RESULT)
def deepseek_grouped_gate(
    scores: Tensor,
    bias: Tensor,
    *,
    n_groups: int = 8,
    summed_experts_per_group: int = 2,
    topk_groups: int = 4,
    n_activated_experts: int = 8,
    route_scale: float = 1.0,
    epsilon: float = 1e-20,
) -> list[Tensor]:
    """Selects experts by groups: those of the best groups that have the greatest sigmoid(score) + bias.

    Args:
        scores, bias: [..., experts].
        n_groups: groups that experts are divided into, in order.
        summed_experts_per_group: experts of a group whose sum ranks the group.
        topk_groups: groups that experts are chosen from.
        n_activated_experts: experts that are chosen.
        route_scale: multiplied with the weights, which are sigmoid(score), divided by their sum + epsilon.
    Returns:
        Weights and UINT16 numbers of the experts [..., n_activated_experts], the greatest sigmoid(score) + bias first.
    Raises:
        ValueError: numbers do not fit each other.
    """
    shape = list(scores.shape)
    experts = shape[-1] if shape else 0
    if list(bias.shape) != shape or n_groups < 1 or not experts or experts % n_groups:
        raise ValueError(
            f"scores and bias have shapes {shape} and {list(bias.shape)}; expected [..., n * {n_groups}] each"
        )
    size = experts // n_groups
    for name, value, most in (
        ("summed_experts_per_group", summed_experts_per_group, size),
        ("topk_groups", topk_groups, n_groups),
        ("n_activated_experts", n_activated_experts, topk_groups * size),
    ):
        if not 1 <= value <= most:
            raise ValueError(f"{name} is {value}; expected 1 to {most}")
    rows = math.prod(shape[:-1])
    plain = ops.sigmoid(ops.typecast(ops.reshape(scores, [rows, experts]), DataType.FLOAT32))
    ranked = plain + ops.typecast(ops.reshape(bias, [rows, experts]), DataType.FLOAT32)
    apart = ops.reshape(ranked, [rows, n_groups, size])
    best, _ = ops.topk(apart, summed_experts_per_group, 2)
    _, chosen = ops.topk(ops.sum(best, 2, False), topk_groups, 1)
    options: dict[str, Any] = {"dtype": DataType.FLOAT32, "layout": ranked.layout, "device": ranked.device()}
    ones, zeros = (ops.full([rows, width], value, **options) for width, value in ((topk_groups, 1.0), (n_groups, 0.0)))
    kept = ops.scatter(zeros, 1, chosen, ones)
    hidden = ops.where(ops.repeat_interleave(kept, size, 1), ranked, -math.inf)
    _, numbers = ops.topk(hidden, n_activated_experts, 1)
    weights = ops.gather(plain, 1, numbers)
    weights = weights * (ops.reciprocal(ops.sum(weights, 1, True) + epsilon) * route_scale)
    result = [*shape[:-1], n_activated_experts]
    return [ops.reshape(ops.typecast(weights, scores.dtype), result), ops.reshape(numbers, result)]


@experimental()
def topk_large_indices(
    input_tensor: Tensor,
    *,
    k: int,
    valid_length: int | None = None,
    valid_length_tensor: Any = None,
    valid_length_offset: int = 0,
    subdevice_id: Any = None,
    sub_core_grids: Any = None,
    valid_end_tensor: Any = None,
) -> Tensor:
    """Returns the places of the k greatest elements of each row, the greatest first, as UINT32 in rows.

    Args:
        valid_length: elements of a row that count; all by default.
        valid_length_tensor, valid_end_tensor: not simulated; only None is taken.
        valid_length_offset, subdevice_id, sub_core_grids: make no difference here.
    Returns:
        [..., k]; 0xFFFFFFFF for an element that is -inf.
    Raises:
        ValueError: k or valid_length does not fit the row, or a length is a tensor.
    """
    del valid_length_offset, subdevice_id, sub_core_grids
    if valid_length_tensor is not None or valid_end_tensor is not None:
        raise ValueError("a length is a tensor; expected valid_length: lengths are numbers of the call here")
    width = input_tensor.shape[-1] if len(input_tensor.shape) else 0
    length = width if valid_length is None else valid_length
    if not 1 <= k <= length <= width:
        raise ValueError(f"k is {k} and valid_length {length}; expected 1 to {width} elements, k the smaller one")
    axis = len(input_tensor.shape) - 1
    values, places = ops.topk(part_of(input_tensor, axis, 0, length), k, axis)
    # -inf becomes 1, which moves a place beyond all that UINT32 has; it saturates.
    absent = ops.typecast(ops.eq(ops.typecast(values, DataType.FLOAT32), -math.inf), DataType.UINT32)
    numbers = ops.typecast(ops.to_layout(places, Layout.ROW_MAJOR), DataType.UINT32)
    return ops.bitwise_or(numbers, ops.to_layout(absent, Layout.ROW_MAJOR) * 0xFFFFFFFF)


# Spectra.


def _turns(count: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Returns cosines and sines of 2 * pi * row * column / count, exact in the product: matrices of a transform."""
    angles = [2 * math.pi * each / count for each in range(count)]
    tables = []
    for function in (math.cos, math.sin):
        values = [function(angle) for angle in angles]
        whole = [values[row * column % count] for row in range(count) for column in range(count)]
        table = Tensor(whole, [count, count], DataType.FLOAT32, Layout.ROW_MAJOR)
        device = like.device()
        tables.append(ops.to_layout(table if device is None else ops.to_device(table, device), Layout.TILE))
    return tables[0], tables[1]


def _transformed(real: Tensor, imaginary: Tensor | None, precision: str, inverse: bool) -> tuple[Tensor, Tensor]:
    if precision not in ("precise", "fast"):
        raise ValueError(f'precision is {precision!r}; expected "precise" or "fast"')
    shape = list(real.shape)
    if not shape or not shape[-1]:
        raise ValueError(f"the tensor has shape {shape}; expected at least one element in the last dimension")
    if imaginary is not None and list(imaginary.shape) != shape:
        raise ValueError(f"the parts have shapes {shape} and {list(imaginary.shape)}; expected one shape")
    count, rows = shape[-1], math.prod(shape[:-1])
    if count > _MOST:
        raise ValueError(f"the last dimension has {count} elements; expected at most {_MOST}")
    cosines, sines = _turns(count, real)

    def flat(x: Tensor) -> Tensor:
        return ops.to_layout(ops.reshape(ops.typecast(x, DataType.FLOAT32), [rows, count]), Layout.TILE)

    own = flat(real)
    first, second = ops.matmul(own, cosines), ops.neg(ops.matmul(own, sines))
    if imaginary is not None:
        other = flat(imaginary)
        first, second = first + ops.matmul(other, sines), second + ops.matmul(other, cosines)
    if inverse:  # conj(fft(conj(x))) / count
        first, second = first * (1.0 / count), second * (-1.0 / count)
    parts = (ops.typecast(ops.reshape(ops.to_layout(x, real.layout), shape), real.dtype) for x in (first, second))
    return tuple(parts)


@experimental()
def fft(input_real: Tensor, precision: str = "precise", *, input_imag: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Returns real and imaginary parts of the discrete Fourier transform of the last dimension.

    Args:
        precision: "precise" or "fast", of the hardware; makes no difference here.
        input_imag: imaginary parts; 0 by default.
    Raises:
        ValueError: shapes differ, or there are more than 4096 elements in the last dimension, or none.
    """
    return _transformed(input_real, input_imag, precision, False)


@experimental()
def ifft(spectrum_real: Tensor, spectrum_imag: Tensor, precision: str = "precise") -> tuple[Tensor, Tensor]:
    """Returns real and imaginary parts of the inverse of fft.

    Args:
        precision: "precise" or "fast", of the hardware; makes no difference here.
    Raises:
        ValueError: shapes differ, or there are more than 4096 elements in the last dimension, or none.
    """
    conjugate = ops.neg(spectrum_imag)
    return _transformed(spectrum_real, conjugate, precision, True)
