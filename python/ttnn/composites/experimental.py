# SPDX-License-Identifier: Apache-2.0
"""Functions of ttnn.experimental that are made of others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType, MemoryConfig

from ..functions import FUNCTIONS
from .frame import RESULT, composite, ops
from .parts import chunk, part_of
from .shapes import expand

_HEADS = "memory_config"
_MATMUL = "memory_config dtype compute_kernel_config"


def experimental(common: str = "", golden: str = "", wide: bool = False, name: str = "", required: str = "") -> Any:
    """Returns the decorator of a function of ttnn.experimental."""

    def decorate(function: Any) -> Any:
        public = f"experimental.{name or function.__name__}"
        return composite(common, golden=golden, wide=wide, name=public, required=required)(function)

    return decorate


# Heads of attention.


def _split_heads(x: Tensor, heads: int, transposed: bool = False) -> Tensor:
    """Returns [batch, heads, length, size] of [batch, 1, length, heads * size]; the last two may change places."""
    batch, _, length, width = x.shape
    apart = ops.reshape(x, [batch, length, heads, width // heads])
    return ops.permute(apart, [0, 2, 3, 1] if transposed else [0, 2, 1, 3])


def _check_heads(x: Tensor, parts: int, what: str) -> int:
    """Returns the size of a head, of which a tensor [batch, 1, length, width] has `parts`."""
    shape = list(x.shape)
    if len(shape) != 4 or shape[1] != 1 or parts < 1 or shape[3] % parts:
        raise ValueError(f"{what} has shape {shape}; expected [batch, 1, length, n * {parts}]")
    return shape[3] // parts


def _qkv(x: Tensor, kv: Tensor | None, heads: int, kv_heads: int, transposed: bool) -> tuple[Tensor, Tensor, Tensor]:
    if kv is None:
        size = _check_heads(x, heads + 2 * kv_heads, "input")
        q, rest = part_of(x, 3, 0, heads * size), part_of(x, 3, heads * size, x.shape[3])
    else:
        size = _check_heads(x, heads, "input")
        q, rest = x, kv
        if _check_heads(kv, 2 * kv_heads, "input_kv") != size:
            raise ValueError(f"input has heads of {size} elements and input_kv of {kv.shape[3] // (2 * kv_heads)}")
    middle = kv_heads * size
    k, v = part_of(rest, 3, 0, middle), part_of(rest, 3, middle, 2 * middle)
    return _split_heads(q, heads), _split_heads(k, kv_heads, transposed), _split_heads(v, kv_heads)


_SPLIT_GOLDEN = (
    "[part.reshape(part.shape[0], part.shape[2], n, -1).permute(0, 2, 3, 1) if turned else "
    "part.reshape(part.shape[0], part.shape[2], n, -1).transpose(1, 2) for part, n, turned in "
    "zip(torch.split(torch.cat([input] if input_kv is None else [input, input_kv], -1), [n * (input.shape[-1] // "
    "(num_heads if input_kv is not None else num_heads + 2 * (num_kv_heads or num_heads))) for n in "
    "(num_heads, num_kv_heads or num_heads, num_kv_heads or num_heads)], -1), "
    "(num_heads, num_kv_heads or num_heads, num_kv_heads or num_heads), (False, transpose_k_heads, False))]"
)
for _name in ("nlp_create_qkv_heads", "nlp_create_qkv_heads_boltz"):

    @experimental(_HEADS, golden=_SPLIT_GOLDEN, name=_name)
    def nlp_create_qkv_heads(
        input: Tensor,
        input_kv: Tensor | None = None,
        *,
        num_heads: int,
        num_kv_heads: int | None = None,
        transpose_k_heads: bool = True,
        kv_tied: bool = False,
        output_tensors: Any = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Returns queries, keys and values [batch, heads, length, size] of [batch, 1, length, width].

        The width holds all queries, then all keys, then all values; with `input_kv` it holds the keys and values.

        Raises:
            ValueError: widths are not of that many heads; kv_tied is given, which is not simulated.
        """
        if kv_tied:
            raise ValueError("kv_tied is True, which is not simulated; expected False")
        heads = _qkv(input, input_kv, num_heads, num_kv_heads or num_heads, transpose_k_heads)
        result: tuple[Tensor, Tensor, Tensor] = _written(heads, output_tensors)
        return result


def _written(results: Sequence[Tensor], output_tensors: Any) -> Any:
    """Returns results, those for which there is a tensor written to it.

    Raises:
        TypeError: output_tensors is no list of tensors and None, one for each result.
    """
    if output_tensors is None:
        return tuple(results)
    listed = isinstance(output_tensors, list | tuple) and len(output_tensors) == len(results)
    if not listed or not all(each is None or isinstance(each, Tensor) for each in output_tensors):
        found = f"{len(output_tensors)} entries" if isinstance(output_tensors, list | tuple) else repr(output_tensors)
        raise TypeError(f"output_tensors is {found}; expected {len(results)} tensors, or None for a new one")
    pairs = zip(results, output_tensors, strict=True)
    return tuple(new if old is None else ops.assign(new, output_tensor=old) for new, old in pairs)


def _fixed_heads(name: str, heads: int, kv_heads: int, writes: bool) -> None:
    def compute(input: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return _qkv(input, None, heads, kv_heads, False)

    def compute_into(input: Tensor, *, output_tensors: Any = None) -> tuple[Tensor, Tensor, Tensor]:
        result: tuple[Tensor, Tensor, Tensor] = _written(compute(input), output_tensors)
        return result

    produced = compute_into if writes else compute
    produced.__doc__ = (
        f"Returns {heads} heads of queries and {kv_heads} of keys and values of [batch, 1, length, width]."
    )
    golden = _SPLIT_GOLDEN
    for parameter, value in (("input_kv", None), ("num_kv_heads", kv_heads), ("num_heads", heads)):
        golden = golden.replace(parameter, str(value))
    experimental(_HEADS, golden=golden.replace("transpose_k_heads", "False"), name=name)(produced)


_fixed_heads("nlp_create_qkv_heads_falcon7b", 71, 1, writes=False)
_fixed_heads("nlp_create_qkv_heads_vit", 12, 12, writes=True)


@experimental(_HEADS, golden="input.reshape(input.shape[0], input.shape[2], -1, 32).transpose(1, 2)")
def nlp_create_qkv_heads_segformer(input: Tensor, *, output_tensors: Any = None) -> Tensor:
    """Returns heads of 32 elements [batch, heads, length, 32] of [batch, 1, length, width]."""
    if len(input.shape) != 4 or input.shape[1] != 1 or input.shape[3] % 32:
        raise ValueError(f"input has shape {list(input.shape)}; expected [batch, 1, length, n * 32]")
    result: Tensor = _written([_split_heads(input, input.shape[3] // 32)], output_tensors)[0]
    return result


_CONCAT = "input_tensor.transpose(1, 2).reshape(input_tensor.shape[0], 1, input_tensor.shape[2], -1)"


def _joined(input_tensor: Tensor) -> Tensor:
    return FUNCTIONS["experimental.nlp_concat_heads"](input_tensor)


@experimental("memory_config output_tensor", golden=_CONCAT)
def nlp_concat_heads_boltz(input_tensor: Tensor) -> Tensor:
    """Returns heads [batch, heads, length, size] side by side: [batch, 1, length, heads * size]."""
    return _joined(input_tensor)


@experimental("memory_config output_tensor", golden=_CONCAT)
def concatenate_heads(input_tensor: Tensor, compute_with_storage_grid_size: Any) -> Tensor:
    """Returns heads [batch, heads, length, size] side by side: [batch, 1, length, heads * size]."""
    del compute_with_storage_grid_size
    return _joined(input_tensor)


@experimental(_HEADS)
def split_query_key_value_and_split_heads(
    input_tensor: Tensor, compute_with_storage_grid_size: Any, *, num_heads: int = 16, output_tensors: Any = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns queries, keys [batch, heads, size, length] and values of [batch, 1, length, width]."""
    del compute_with_storage_grid_size
    result: tuple[Tensor, Tensor, Tensor] = _written(
        _qkv(input_tensor, None, num_heads, num_heads, True), output_tensors
    )
    return result


@experimental("memory_config output_tensor", golden="input_tensor[:, :, seq_len_start:seq_len_end]")
def nlp_kv_cache_load_slice(input_tensor: Tensor, *, seq_len_start: int, seq_len_end: int) -> Tensor:
    """Returns the tokens from `seq_len_start` to before `seq_len_end` of a cache [batch, heads, tokens, size]."""
    size = input_tensor.shape[2] if len(input_tensor.shape) == 4 else 0
    if not 0 <= seq_len_start <= seq_len_end <= size:
        raise ValueError(f"seq_len_start is {seq_len_start} and seq_len_end {seq_len_end}; there are {size} tokens")
    return part_of(input_tensor, 2, seq_len_start, seq_len_end)


@experimental(RESULT, golden="torch.cat([-input.chunk(2, -1)[1], input.chunk(2, -1)[0]], -1)")
def rotate_half(input: Tensor) -> Tensor:
    """Returns the second half of the last dimension, negated, before the first half."""
    axis, size = len(input.shape) - 1, input.shape[-1]
    if size % 2:
        raise ValueError(f"input has shape {list(input.shape)}; expected a last dimension of even size")
    return ops.concat([ops.neg(part_of(input, axis, size // 2, size)), part_of(input, axis, 0, size // 2)], dim=axis)


@experimental(
    "memory_config compute_kernel_config",
    wide=True,
    golden="input_tensor * cos_cache + torch.cat([-input_tensor.chunk(2, -1)[1], input_tensor.chunk(2, -1)[0]], -1) "
    "* sin_cache",
)
def rotary_embedding_hf(
    input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor, *, is_decode_mode: bool = False
) -> Tensor:
    """Computes x * cos + rotate_half(x) * sin of tables that broadcast to x; both modes are one here."""
    del is_decode_mode
    return input_tensor * cos_cache + rotate_half(input_tensor) * sin_cache


# Products.


def _activated(x: Tensor, activation: Any, name: str) -> Tensor:
    from ..library.activations import with_activations

    return x if activation is None else with_activations(f"experimental.{name}", x, [activation])


_PRODUCT = "input_tensor @ weight_tensor + (0 if bias_tensor is None else bias_tensor)"


@experimental(_MATMUL, wide=True, golden=_PRODUCT)
def minimal_matmul(
    input_tensor: Tensor,
    weight_tensor: Tensor,
    *,
    bias_tensor: Tensor | None = None,
    fused_activation: Any = None,
    config: Any = None,
    fuse_swiglu: bool = False,
) -> Tensor:
    """Computes activation(input @ weight + bias). `config` is of the hardware.

    Raises:
        ValueError: fuse_swiglu is True, which is not simulated.
    """
    del config
    if fuse_swiglu:
        raise ValueError("fuse_swiglu is True; expected False: the order of its halves is not known here")
    product = ops.matmul(input_tensor, weight_tensor)
    return _activated(product if bias_tensor is None else product + bias_tensor, fused_activation, "minimal_matmul")


@experimental(_MATMUL, wide=True, golden=f"list(torch.chunk({_PRODUCT}, chunks, dim))")
def minimal_matmul_split(
    input_tensor: Tensor,
    weight_tensor: Tensor,
    *,
    chunks: int = 3,
    dim: int = -1,
    bias_tensor: Tensor | None = None,
    fused_activation: Any = None,
    config: Any = None,
    fuse_swiglu: bool = False,
) -> list[Tensor]:
    """Computes activation(input @ weight + bias) in equal parts of a dimension. `config` is of the hardware.

    Raises:
        ValueError: fuse_swiglu is True: the order in which weights hold gates and values is not published.
    """
    del config
    if fuse_swiglu:
        raise ValueError("fuse_swiglu is True; expected False: call ttnn.swiglu")
    product = ops.matmul(input_tensor, weight_tensor)
    product = product if bias_tensor is None else product + bias_tensor
    return chunk(_activated(product, fused_activation, "minimal_matmul_split"), chunks, dim)


@experimental(
    _MATMUL,
    wide=True,
    golden="addcmul_input_tensor1 + scalar * (matmul_input_tensor @ matmul_weight_tensor + "
    "(0 if bias_tensor is None else bias_tensor)) * addcmul_input_tensor2",
)
def dit_minimal_matmul_addcmul_fused(
    matmul_input_tensor: Tensor,
    matmul_weight_tensor: Tensor,
    scalar: float,
    addcmul_input_tensor1: Tensor,
    addcmul_input_tensor2: Tensor,
    bias_tensor: Tensor | None = None,
    *,
    config: Any = None,
) -> Tensor:
    """Computes first + scalar * (input @ weight + bias) * second. `config` is of the hardware."""
    del config
    product = ops.matmul(matmul_input_tensor, matmul_weight_tensor)
    product = product if bias_tensor is None else product + bias_tensor
    return addcmul_input_tensor1 + product * scalar * addcmul_input_tensor2


def _attention_product(name: str, result: str) -> None:
    golden = (
        "(input_tensor_a.transpose(0, 2) @ input_tensor_b.repeat_interleave(input_tensor_a.shape[1] // "
        "input_tensor_b.shape[1], 1)).transpose(0, 2)"
    )

    @experimental(f"dtype memory_config compute_kernel_config {result}", wide=True, golden=golden, name=name)
    def compute(input_tensor_a: Tensor, input_tensor_b: Tensor, *, compute_with_storage_grid_size: Any) -> Tensor:
        """Computes [length, heads, batch, k] by [batch, kv_heads, k, n]: [length, heads, batch, n]."""
        del compute_with_storage_grid_size
        a, b = input_tensor_a, input_tensor_b
        if len(a.shape) != 4 or len(b.shape) != 4 or not b.shape[1] or a.shape[1] % b.shape[1]:
            raise ValueError(
                f"inputs have shapes {list(a.shape)} and {list(b.shape)}; expected [length, heads, batch, k] and "
                "[batch, kv_heads, k, n]"
            )
        if (times := a.shape[1] // b.shape[1]) > 1:
            b = ops.repeat_interleave(b, times, 1)
        return ops.permute(ops.matmul(ops.permute(a, [2, 1, 0, 3]), b), [2, 1, 0, 3])


_attention_product("attn_matmul", "output_tensor")
_attention_product("group_attn_matmul", "optional_output_tensor")


@experimental(wide=True, golden="[a_real * b_real - a_imag * b_imag, a_real * b_imag + a_imag * b_real]")
def complex_mul(a_real: Tensor, a_imag: Tensor, b_real: Tensor, b_imag: Tensor) -> tuple[Tensor, Tensor]:
    """Computes the real and imaginary parts of a product of complex numbers."""
    return a_real * b_real - a_imag * b_imag, a_real * b_imag + a_imag * b_real


# Shapes, sums, elements.


@experimental("memory_config output", golden="torch.broadcast_to(input, tuple(output_shape))")
def broadcast_to(input: Tensor, output_shape: Sequence[int]) -> Tensor:
    """Returns dimensions of size 1 repeated to a shape."""
    return expand(input, output_shape)


@experimental(
    golden="input_tensor.reshape(shape if shape is not None else (N, C, H, W) if isinstance(N, int) else N)",
    required="N C H W",
)
def view(
    input_tensor: Tensor,
    N: int | Sequence[int] | None = None,
    C: int | None = None,
    H: int | None = None,
    W: int | None = None,
    *,
    shape: Sequence[int] | None = None,
) -> Tensor:
    """Returns the same elements in another shape: `view(input_tensor, N, C, H, W)` or `view(input_tensor, shape)`.

    Raises:
        TypeError: the arguments are of neither form.
    """
    sizes = [N, C, H, W]
    if shape is None and not isinstance(N, int):
        shape, sizes[0] = N, None
    given = [each for each in sizes if each is not None]
    if (len(given) if shape is not None else 4 - len(given)) or (shape is None and not given):
        raise TypeError(f"N, C, H and W are {sizes} and shape is {shape!r}; expected four sizes, or a shape")
    return ops.reshape(input_tensor, given if shape is None else list(shape))


@experimental("memory_config dtype", golden="input.permute(0, 2, 3, 1).reshape(1, input.shape[0], -1, input.shape[1])")
def convert_to_hwc(input: Tensor) -> Tensor:
    """Returns [1, batch, height * width, channels] of [batch, channels, height, width]."""
    if len(input.shape) != 4:
        raise ValueError(f"input has shape {list(input.shape)}; expected [batch, channels, height, width]")
    batch, channels, height, width = input.shape
    return ops.reshape(ops.permute(input, [0, 2, 3, 1]), [1, batch, height * width, channels])


def _turned(name: str, common: str) -> None:
    def compute(input: Tensor) -> Tensor:
        rank = len(input.shape)
        if rank < 2:
            raise ValueError(f"input has shape {list(input.shape)}; expected at least two dimensions")
        return ops.transpose(input, rank - 2, rank - 1)

    compute.__doc__ = "Returns the tensor with its last two dimensions in each other's place."
    experimental(common, golden="input.transpose(-2, -1)", name=name)(compute)


_turned("transpose_rm", "")
_turned("convert_to_chw", "dtype")


@experimental(
    "output_tensor",
    golden="input_tensor[tuple(slice(a, b, c) for a, b, c in zip(padded_slice_start, padded_slice_end, "
    "padded_slice_step or [1] * input_tensor.dim()))]",
)
def padded_slice(
    input_tensor: Tensor,
    padded_slice_start: Sequence[int],
    padded_slice_end: Sequence[int],
    padded_slice_step: Sequence[int] | None = None,
    *,
    memory_config: MemoryConfig | None,
    pad_value: float | None = None,
) -> Tensor:
    """Returns the elements from a start to before an end of each dimension; padding holds no values here."""
    del pad_value
    return ops.slice(
        input_tensor, padded_slice_start, padded_slice_end, padded_slice_step or [1] * len(input_tensor.shape),
        memory_config=memory_config,
    )  # fmt: skip


@experimental()
def slice_write(
    input_tensor: Tensor, output_tensor: Tensor, start: Sequence[int], end: Sequence[int], step: Sequence[int]
) -> Tensor:
    """Writes a tensor to the elements from `start` to before `end` of another, which it returns.

    Raises:
        ValueError: a step is not 1, or the elements are not of the tensor's shape.
    """
    shape, own = list(output_tensor.shape), list(input_tensor.shape)
    if any(each != 1 for each in step):
        raise ValueError(f"step is {list(step)}; expected 1 in each dimension")
    if not len(start) == len(end) == len(shape) or own != [b - a for a, b in zip(start, end, strict=True)]:
        raise ValueError(f"start is {list(start)} and end {list(end)}; input_tensor has shape {own}")
    around = [n for a, b, size in zip(start, end, shape, strict=True) for n in (a, size - b)]
    if min(around, default=0) < 0:
        raise ValueError(f"start is {list(start)} and end {list(end)}; output_tensor has shape {shape}")
    inside = ops.pad(ops.full(own, 1.0, dtype=DataType.FLOAT32, layout=input_tensor.layout,
                              device=input_tensor.device()), around, 0.0)  # fmt: skip
    result = ops.where(inside, ops.pad(input_tensor, around, 0.0), output_tensor)
    return ops.assign(result, output_tensor=output_tensor)


@experimental(
    "memory_config output compute_kernel_config sub_core_grids",
    wide=True,
    golden="torch.sum(input, tuple(dims), keepdim=True)",
)
def fast_reduce_nc(input: Tensor, *, dims: Sequence[int] = ()) -> Tensor:
    """Computes the sum over leading dimensions, which are kept."""
    return ops.sum(input, list(dims), True)


@experimental("memory_config output_tensor")
def dropout(
    input_tensor: Tensor, probability: float, scale: float, seed: int, *, use_per_device_seed: bool = True
) -> Tensor:
    """Makes elements 0 with a probability, and multiplies the others by `scale`."""
    return ops.dropout(input_tensor, probability, scale, seed, use_per_device_seed)


@experimental("optional_output_tensor", golden="input_tensor.clone()")
def typecast(
    input_tensor: Tensor,
    dtype: DataType,
    memory_config: MemoryConfig | None = None,
    optional_output_tensor: Tensor | None = None,
) -> Tensor:
    """Returns the tensor in another data type."""
    return ops.typecast(input_tensor, dtype, memory_config=memory_config)


@experimental("out", golden="torch.isin(elements, test_elements, invert=invert).to(elements.dtype)")
def isin(elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Computes 1 where an element is among others, and 0 elsewhere; the opposite with `invert`."""
    del assume_unique
    many, few = math.prod(elements.shape), math.prod(test_elements.shape)
    if not many or not few:
        hit = elements * 0
    else:
        pairs = ops.eq(ops.reshape(elements, [many, 1]), ops.reshape(test_elements, [1, few]))
        hit = ops.reshape(ops.max(pairs, 1, False), list(elements.shape))
    return ops.eq(hit, 0) if invert else hit


@experimental(golden="input_tensor.cumsum(-2).cumsum(-3)", wide=True)
def intimg(input_tensor: Tensor) -> Tensor:
    """Computes sums of all elements up to each of images [batch, height, width, channels]."""
    if len(input_tensor.shape) != 4:
        raise ValueError(f"input_tensor has shape {list(input_tensor.shape)}; expected four dimensions")
    return ops.cumsum(ops.cumsum(input_tensor, 2), 1)


@experimental()
def paged_fused_update_cache(
    cache_tensor1: Tensor,
    input_tensor1: Tensor,
    cache_tensor2: Tensor,
    input_tensor2: Tensor,
    *,
    update_idxs: Sequence[int] = (),
    update_idxs_tensor: Tensor | None = None,
    share_cache: bool | None = None,
    page_table: Tensor | None = None,
    batch_offset: int = 0,
    compute_kernel_config: Any = None,
    mesh_coords: Any = None,
) -> None:
    """Writes a token for each user to two caches, usually of keys and values: `paged_update_cache` of both.

    Raises:
        ValueError: update_idxs_tensor is not given, or a parameter that is not simulated is.
    """
    if update_idxs_tensor is None or list(update_idxs) or batch_offset or mesh_coords is not None:
        raise ValueError("expected update_idxs_tensor, without update_idxs, batch_offset and mesh_coords")
    del compute_kernel_config
    for cache, token in ((cache_tensor1, input_tensor1), (cache_tensor2, input_tensor2)):
        FUNCTIONS["experimental.paged_update_cache"](
            cache, token, update_idxs_tensor=update_idxs_tensor, page_table=page_table, share_cache=bool(share_cache)
        )


# Collectives whose semaphores and buffers are of the hardware.


def written_to(target: Tensor | None, result: Tensor) -> Tensor:
    """Returns the result, written to the target where there is one."""
    return result if target is None else ops.assign(result, output_tensor=target)


@experimental(required="cluster_axis mesh_device topology multi_device_global_semaphore")
def all_gather_async(
    input_tensor: Tensor,
    dim: int,
    cluster_axis: Any = None,
    mesh_device: Any = None,
    topology: Any = None,
    multi_device_global_semaphore: Any = None,
    *,
    persistent_output_tensor: Tensor | None = None,
    persistent_output_buffer: Tensor | None = None,
    num_links: int | None = None,
    memory_config: MemoryConfig | None = None,
    subdevice_id: Any = None,
    use_optimal_ccl_for_llama: bool = False,
    use_broadcast: bool = False,
    barrier_semaphore: Any = None,
    chunks_per_sync: int | None = None,
    num_workers_per_link: int | None = None,
    num_buffers_per_channel: int | None = None,
    sub_core_grids: Any = None,
) -> Tensor:
    """Returns the shards of all devices along a dimension, on each: `all_gather`.

    Semaphores, workers and chunks are of the hardware. The third argument by place may also be the semaphores.
    """
    del mesh_device, multi_device_global_semaphore, subdevice_id, use_optimal_ccl_for_llama, use_broadcast
    del barrier_semaphore, chunks_per_sync, num_workers_per_link, num_buffers_per_channel, sub_core_grids
    axis = cluster_axis if isinstance(cluster_axis, int) else None
    target = persistent_output_tensor if persistent_output_buffer is None else persistent_output_buffer
    options = {"topology": topology, "num_links": num_links, "memory_config": memory_config}
    return written_to(target, ops.all_gather(input_tensor, dim, cluster_axis=axis, **options))


@experimental()
def reduce_scatter_minimal_async(
    input_tensor: Tensor,
    persistent_output_buffers: Any = None,
    dim: int = -1,
    multi_device_global_semaphore: Any = None,
    *,
    barrier_semaphore: Any = None,
    num_links: int | None = None,
    memory_config: MemoryConfig | None = None,
    intermediate_memory_config: MemoryConfig | None = None,
    topology: Any = None,
    subdevice_id: Any = None,
    cluster_axis: int | None = None,
    chunks_per_sync: int | None = None,
    num_workers_per_link: int | None = None,
    num_buffers_per_channel: int | None = None,
    compute_kernel_config: Any = None,
) -> Tensor:
    """Returns the part of the sum over all devices that is each device's: `reduce_scatter`.

    Semaphores, workers and chunks are of the hardware; the result is written to the last persistent buffer.
    """
    del multi_device_global_semaphore, barrier_semaphore, intermediate_memory_config, subdevice_id, chunks_per_sync
    del num_workers_per_link, num_buffers_per_channel, compute_kernel_config
    result = ops.reduce_scatter(
        input_tensor,
        dim,
        cluster_axis=cluster_axis,
        topology=topology,
        num_links=num_links,
        memory_config=memory_config,
    )
    return ops.assign(result, output_tensor=persistent_output_buffers[-1]) if persistent_output_buffers else result
