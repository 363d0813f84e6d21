# SPDX-License-Identifier: Apache-2.0
"""Attention over devices that have parts of a sequence: the ring functions of ttnn.transformer."""

from __future__ import annotations

from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import DataType, Layout

from ..functions import FUNCTIONS
from .attention import (
    ATTENTION,
    at_most,
    attention_function,
    either,
    four,
    hidden_by,
    line,
    number_of_device,
    of_pages,
    refuse,
)
from .frame import RESULT, ops
from .meshes import axis_of_mesh, device_of
from .parts import part_of

_ROWS = 256  # of queries at a time, where all scores are computed


@attention_function("ring_distributed_scaled_dot_product_attention", common=RESULT)
def ring_distributed_scaled_dot_product_attention(
    input_tensor_q: Tensor,
    input_tensor_k: Tensor,
    input_tensor_v: Tensor,
    ring_size: int,
    ring_id: int | None = None,
    *,
    scale: float | None = None,
    program_config: Any = None,
    compute_kernel_config: Any = None,
    page_table: Tensor | None = None,
    chunk_start_idx: int | None = None,
) -> Tensor:
    """Computes causal attention of an early and a late part of the queries: each device of a line has its own two.

    The queries are cut into 2 * ring_size parts; device d has parts d and 2 * ring_size - 1 - d, which are together as
    much work for every device.

    Args:
        input_tensor_q: [batch, heads, length, size], all queries.
        input_tensor_k, input_tensor_v: [batch, heads of keys, length, size]; with page_table [pages, heads of keys,
            rows of a page, size].
        ring_size: devices of the line.
        ring_id: the parts to compute on all devices; by default those of the device.
        page_table: the pages of each user, [users, pages].
        chunk_start_idx: where the queries begin in the sequence.
    Raises:
        ValueError: shapes, numbers and the mesh do not fit each other.
    """
    length = four("input_tensor_q", input_tensor_q)[2]
    if ring_size < 1 or length % (2 * ring_size):
        raise ValueError(f"ring_size is {ring_size}; expected half a divisor of {length}, the queries")
    device = device_of(input_tensor_q, "input_tensor_q")
    k, v = input_tensor_k, input_tensor_v
    if page_table is not None:
        k, v = of_pages(k, page_table, "input_tensor_k"), of_pages(v, page_table, "input_tensor_v")
    part = length // (2 * ring_size)
    if ring_id is not None:
        if not 0 <= ring_id < ring_size:
            raise ValueError(f"ring_id is {ring_id}; expected 0 to {ring_size - 1}")
        firsts = (ring_id * part, (2 * ring_size - 1 - ring_id) * part)
        query = ops.concat([part_of(input_tensor_q, 2, first, first + part) for first in firsts], dim=2)
        places = ops.concat([line(part, device, 2, float(first)) for first in firsts], dim=2)
    else:
        fitting = [axis for axis, count in enumerate(device.get_mesh_shape()) if count == ring_size]
        if not fitting:
            raise ValueError(f"ring_size is {ring_size}; the mesh has {list(device.get_mesh_shape())} devices")
        number = number_of_device(device, fitting[-1]) * float(part)
        places = ops.concat([line(part, device, 2) + number, line(part, device, 2, length - part * 1.0) - number], 2)
        batch, heads, _, size = input_tensor_q.shape
        chosen = ops.to_layout(ops.repeat(places, [batch, heads, 1, size]), input_tensor_q.layout)
        query = ops.gather(input_tensor_q, 2, ops.typecast(chosen, DataType.UINT32))
    start = chunk_start_idx or 0
    if start < 0 or start + length > k.shape[2]:
        raise ValueError(f"chunk_start_idx is {start}; expected 0 to {k.shape[2] - length}")
    future = ops.gt(line(k.shape[2], device, 3, -float(start)), places)
    result: Tensor = FUNCTIONS[ATTENTION](
        query, k, v, attn_mask=hidden_by(future, query), is_causal=False, scale=scale, program_config=program_config,
        compute_kernel_config=compute_kernel_config,
    )  # fmt: skip
    return result


def _statistics(q: Tensor, k: Tensor, mask: Tensor | None, scale: float, sink: Tensor | None) -> tuple[Tensor, Tensor]:
    """Returns the greatest score of each query, and the sum of exp(score - greatest): [batch, heads, length, 1]."""
    heads = q.shape[1]
    keys = ops.typecast(
        ops.repeat_interleave(k, heads // k.shape[1], 1) if k.shape[1] != heads else k, DataType.FLOAT32
    )
    greatest, sums = [], []
    for first in range(0, q.shape[2], _ROWS):
        last = min(first + _ROWS, q.shape[2])
        rows = ops.typecast(part_of(q, 2, first, last), DataType.FLOAT32)
        scores = ops.matmul(rows, keys, transpose_b=True) * scale
        if mask is not None:
            scores = scores + ops.typecast(part_of(mask, 2, first, last), DataType.FLOAT32)
        most = ops.max(scores, 3, True)
        if sink is not None:
            most = ops.maximum(most, sink)
        total = ops.sum(ops.exp(scores - most), 3, True)
        greatest.append(most)
        sums.append(total if sink is None else total + ops.exp(sink - most))
    return tuple(each[0] if len(each) == 1 else ops.concat(each, dim=2) for each in (greatest, sums))


class _Ring:
    """Holds the line of devices that have parts of a sequence, and what a device knows of the places of tokens."""

    def __init__(self, q: Tensor, k: Tensor, dim: int, cluster_axis: int | None, is_balanced: bool) -> None:
        self.device = device_of(q, "input_tensor_q")
        self.axis, self.count = axis_of_mesh(self.device, cluster_axis)
        self.rows, self.keys = four("input_tensor_q", q)[2], four("input_tensor_k", k)[2]
        self.balanced = is_balanced
        if dim not in (2, -2):
            raise ValueError(f"dim is {dim}; expected 2, the length")
        if self.keys < self.rows or self.keys % max(self.rows, 1):
            raise ValueError(f"input_tensor_k has {self.keys} tokens; expected a multiple of {self.rows}, the queries")
        if is_balanced and (self.rows % 2 or self.keys != self.rows):
            raise ValueError(f"is_balanced is True; expected an even number of tokens, as many keys, not {self.rows}")

    def gathered(self, tensor: Tensor) -> Tensor:
        return tensor if self.count == 1 else ops.all_gather(tensor, 2, cluster_axis=self.axis)

    def places_of_queries(self) -> Tensor:
        """Returns the place in the sequence of each query of the device, [1, 1, rows, 1]."""
        number = number_of_device(self.device, self.axis)
        if self.balanced:  # an early and a late half
            half = self.rows // 2
            late = 2 * half * self.count - half
            return ops.concat(
                [line(half, self.device, 2) + number * half, line(half, self.device, 2, float(late)) - number * half],
                dim=2,
            )
        before = (self.keys - self.rows) * self.count  # what is in the cache
        return line(self.rows, self.device, 2, float(before)) + number * float(self.rows)

    def places_of_keys(self) -> Tensor:
        """Returns the place in the sequence of each key, as all devices have them, [1, 1, 1, keys]."""
        lines = []
        for device in range(self.count):
            if self.balanced:
                half = self.rows // 2
                firsts = [device * half, (2 * self.count - 1 - device) * half]
                lines += [line(half, self.device, 3, float(first)) for first in firsts]
            else:
                for slab in range(self.keys // self.rows):
                    lines.append(line(self.rows, self.device, 3, float((slab * self.count + device) * self.rows)))
        return lines[0] if len(lines) == 1 else ops.concat(lines, dim=3)


_TRACED = "places in caches are numbers of the call here"


def _ring(
    q: Tensor, k: Tensor, v: Tensor, joint: tuple[Any, Any, Any], values: dict[str, Any], causal: bool
) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
    """Returns attention of queries, that of joint queries, and the greatest scores and sums of both."""
    if (batch := values.get("kv_cache_batch_idx")) is not None:
        if not 0 <= batch < k.shape[0]:
            raise ValueError(f"kv_cache_batch_idx is {batch}; expected 0 to {k.shape[0] - 1}")
        k, v = part_of(k, 0, batch, batch + 1), part_of(v, 0, batch, batch + 1)
    ring = _Ring(q, k, values["dim"], values["cluster_axis"], values.get("is_balanced", False))
    if values.get("sliding_window_size") is not None and not causal:
        raise ValueError("sliding_window_size is given; expected is_causal=True with it")
    keys, contents = ring.gathered(k), ring.gathered(v)
    total = keys.shape[2]
    valid = at_most(values["logical_n"], total, "logical_n")
    hidden = None
    places = ring.places_of_keys() if causal or valid < total else None
    if places is not None and valid < total:
        hidden = ops.ge(places, float(valid))
    if causal:
        assert places is not None
        own = ring.places_of_queries()
        hidden = either(hidden, ops.gt(places, own))
        if (window := values.get("sliding_window_size")) is not None:
            hidden = either(hidden, ops.le(places, own - float(window)))
    query, count = q, ring.rows
    if joint[0] is not None:
        if causal:
            raise ValueError("is_causal is True; expected False with joint tensors")
        query, keys, contents, hidden = _with_joint(ring, joint, values, (q, keys, contents), hidden)
    mask = None if hidden is None else hidden_by(hidden, q)
    sink = values.get("attention_sink")
    size = q.shape[3]
    scale = size**-0.5 if values["scale"] is None else values["scale"]
    scaled = None if sink is None else ops.multiply(sink, scale)
    result = FUNCTIONS[ATTENTION](
        query, keys, contents, attn_mask=mask, is_causal=False, scale=scale, attention_sink=scaled
    )
    wide_sink = None if scaled is None else ops.typecast(scaled, DataType.FLOAT32)
    full = mask
    if mask is not None and mask.shape[2] == 1 and query.shape[2] > 1:
        full = ops.repeat(mask, [1, 1, query.shape[2], 1])
    greatest, sums = _statistics(query, keys, full, scale, wide_sink)
    joined = None if joint[0] is None else part_of(result, 2, count, result.shape[2])
    return result if joined is None else part_of(result, 2, 0, count), joined, greatest, sums


def _with_joint(
    ring: _Ring, joint: tuple[Any, Any, Any], values: dict[str, Any], own: tuple[Tensor, Tensor, Tensor], hidden: Any
) -> tuple[Tensor, Tensor, Tensor, Any]:
    """Returns queries, keys and values with joint ones behind them, and which keys are hidden."""
    if any(each is None for each in joint):
        raise ValueError("joint tensors are given in part; expected joint_tensor_q, joint_tensor_k and joint_tensor_v")
    length = four("joint_tensor_q", joint[0])[2]
    logical = values.get("logical_l", 0)
    divided = isinstance(logical, Tensor) or length < logical
    keys, contents = (ring.gathered(each) if divided else each for each in joint[1:])
    valid = at_most(logical, keys.shape[2], "logical_l") or keys.shape[2]
    if hidden is not None or valid < keys.shape[2]:
        first = ops.full(
            [1, 1, 1, own[1].shape[2]], 0.0, dtype=DataType.FLOAT32, layout=Layout.TILE, device=ring.device
        )
        first = first if hidden is None else ops.typecast(hidden, DataType.FLOAT32)
        behind = ops.typecast(ops.ge(line(keys.shape[2], ring.device, 3), float(valid)), DataType.FLOAT32)
        hidden = ops.concat([first, behind], dim=3)
    joined = (ops.concat([a, b], dim=2) for a, b in zip(own, (joint[0], keys, contents), strict=True))
    query, all_keys, all_contents = joined
    return query, all_keys, all_contents, hidden


def _joint_result(q: Tensor, v: Tensor, found: tuple[Tensor, Tensor | None, Tensor, Tensor]) -> tuple[Tensor, ...]:
    result, joined, greatest, sums = found
    if joined is None:
        shape = [q.shape[0], q.shape[1], 0, v.shape[3]]
        joined = ops.zeros(shape, dtype=q.dtype, layout=q.layout, device=q.device())
    return result, joined, greatest + ops.log(sums)


def _check_strategy(joint_strategy: str) -> None:
    if joint_strategy != "rear":
        raise ValueError(f'joint_strategy is {joint_strategy!r}; expected "rear"')


def _present(*joint: Tensor | None) -> tuple[Any, Any, Any]:
    """Returns joint tensors, or None for those of no tokens."""
    given = [None if each is None or (len(each.shape) == 4 and each.shape[2] == 0) else each for each in joint]
    return given[0], given[1], given[2]


@attention_function("ring_joint_scaled_dot_product_attention")
def ring_joint_scaled_dot_product_attention(
    input_tensor_q: Tensor,
    input_tensor_k: Tensor,
    input_tensor_v: Tensor,
    joint_tensor_q: Tensor | None = None,
    joint_tensor_k: Tensor | None = None,
    joint_tensor_v: Tensor | None = None,
    *,
    persistent_output_buffer_k: Any,
    persistent_output_buffer_v: Any,
    joint_strategy: str,
    logical_n: int | Any,
    logical_l: int | Any = 0,
    program_config: Any,
    scale: float | None = None,
    compute_kernel_config: Any = None,
    dim: int,
    multi_device_global_semaphore: Any,
    num_links: int,
    cluster_axis: int,
    mesh_device: Device,
    topology: Any,
    subdevice_id: Any = None,
    ccl_core_grid_offset: Any,
    use_column_major_ccl: bool = False,
    is_causal: bool = False,
    is_balanced: bool = False,
    is_cross: bool = False,
    kv_cache_batch_idx: int | None = None,
    kv_actual_isl: int | None = None,
    attention_sink: Tensor | None = None,
    sliding_window_size: int | None = None,
    circular_kv_cache: bool = False,
    persistent_output_buffer_joint_k: Any = None,
    persistent_output_buffer_joint_v: Any = None,
    slot_id: Any = None,
    kv_actual_isl_tensor: Any = None,
    kv_cache_num_layers: int | None = None,
    kv_cache_layer_idx: int | None = None,
    kv_valid_end_tensor: Any = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes attention of a sequence whose parts the devices of a line have, and of joint tokens behind it.

    Args:
        input_tensor_q, input_tensor_k, input_tensor_v: [batch, heads, length of a device, size]. Fewer queries than
            keys are the last of a causal sequence, whose keys lie in slabs of as many tokens, device by device.
        joint_tensor_q, joint_tensor_k, joint_tensor_v: [batch, heads, length, size]; the same on all devices, or parts.
        joint_strategy: "rear".
        logical_n: tokens of the sequence that count.
        logical_l: joint tokens that count, where each device has a part of them.
        dim: 2, the length.
        cluster_axis: the axis of the mesh that the devices follow each other on.
        is_causal: queries see keys up to their own place.
        is_balanced: each device has an early and a late half of its tokens.
        is_cross: queries are of another sequence than keys.
        kv_cache_batch_idx: the batch of keys and values that is taken.
        attention_sink: multiplied by scale and added to the sums of each head, [1, heads, 1, 1].
        sliding_window_size: keys that a query sees, with is_causal.
        kv_actual_isl, circular_kv_cache, slot_id, kv_actual_isl_tensor, kv_cache_num_layers, kv_cache_layer_idx,
            kv_valid_end_tensor: not simulated; only their defaults are taken.
        persistent_output_buffer_k, persistent_output_buffer_v, program_config, compute_kernel_config,
            multi_device_global_semaphore, num_links, mesh_device, topology, subdevice_id, ccl_core_grid_offset,
            use_column_major_ccl, persistent_output_buffer_joint_k, persistent_output_buffer_joint_v: of the hardware;
            make no difference here.
    Returns:
        Attention of the device's queries; of joint queries; and the logarithm of the sum of exp(score) of both, [batch,
        heads, length, 1] in float32.
    Raises:
        ValueError: shapes, numbers and the mesh do not fit each other.
    """
    _check_strategy(joint_strategy)
    refuse(
        _TRACED, kv_actual_isl=kv_actual_isl, circular_kv_cache=circular_kv_cache, slot_id=slot_id,
        kv_actual_isl_tensor=kv_actual_isl_tensor, kv_cache_num_layers=kv_cache_num_layers,
        kv_cache_layer_idx=kv_cache_layer_idx, kv_valid_end_tensor=kv_valid_end_tensor,
    )  # fmt: skip
    if is_cross and is_causal:
        raise ValueError("is_cross and is_causal are True; expected one of them")
    values = {
        "logical_n": logical_n, "logical_l": logical_l, "dim": dim, "cluster_axis": cluster_axis, "scale": scale,
        "is_balanced": is_balanced and is_causal, "kv_cache_batch_idx": kv_cache_batch_idx,
        "attention_sink": attention_sink, "sliding_window_size": sliding_window_size,
    }  # fmt: skip
    joint = _present(joint_tensor_q, joint_tensor_k, joint_tensor_v)
    found = _ring(input_tensor_q, input_tensor_k, input_tensor_v, joint, values, is_causal)
    return _joint_result(input_tensor_q, input_tensor_v, found)  # type: ignore[return-value]


@attention_function("exp_ring_joint_scaled_dot_product_attention")
def exp_ring_joint_scaled_dot_product_attention(
    input_tensor_q: Tensor,
    input_tensor_k: Tensor,
    input_tensor_v: Tensor,
    joint_tensor_q: Tensor | None = None,
    joint_tensor_k: Tensor | None = None,
    joint_tensor_v: Tensor | None = None,
    *,
    persistent_output_buffer_k: Any,
    persistent_output_buffer_v: Any,
    joint_strategy: str,
    logical_n: int | Any,
    program_config: Any,
    scale: float | None = None,
    compute_kernel_config: Any = None,
    dim: int,
    multi_device_global_semaphore: Any,
    num_links: int,
    cluster_axis: int,
    mesh_device: Device,
    topology: Any,
    subdevice_id: Any = None,
    num_workers_per_link: int = 1,
    num_buffers_per_channel: int = 8,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes what ring_joint_scaled_dot_product_attention does without is_causal; on the hardware in another way.

    Args:
        input_tensor_q, input_tensor_k, input_tensor_v: [batch, heads, length of a device, size].
        joint_tensor_q, joint_tensor_k, joint_tensor_v: [batch, heads, length, size], the same on all devices.
        joint_strategy: "rear".
        logical_n: tokens of the sequence that count.
        dim: 2, the length.
        cluster_axis: the axis of the mesh that the devices follow each other on.
        persistent_output_buffer_k, persistent_output_buffer_v, program_config, compute_kernel_config,
            multi_device_global_semaphore, num_links, mesh_device, topology, subdevice_id, num_workers_per_link,
            num_buffers_per_channel: of the hardware; make no difference here.
    Returns:
        Attention of the device's queries; of joint queries; and the logarithm of the sum of exp(score) of both.
    Raises:
        ValueError: shapes, numbers and the mesh do not fit each other.
    """
    _check_strategy(joint_strategy)
    values = {"logical_n": logical_n, "dim": dim, "cluster_axis": cluster_axis, "scale": scale}
    joint = _present(joint_tensor_q, joint_tensor_k, joint_tensor_v)
    found = _ring(input_tensor_q, input_tensor_k, input_tensor_v, joint, values, False)
    return _joint_result(input_tensor_q, input_tensor_v, found)  # type: ignore[return-value]


@attention_function("ring_mla")
def ring_mla(
    input_tensor_q: Tensor,
    input_tensor_kv: Tensor,
    *,
    persistent_output_buffer_kv: Any,
    head_dim_v: int,
    logical_n: int,
    program_config: Any,
    scale: float | None = None,
    compute_kernel_config: Any = None,
    dim: int,
    multi_device_global_semaphore: Any,
    num_links: int,
    cluster_axis: int | None,
    mesh_device: Device,
    topology: Any,
    subdevice_id: Any = None,
    ccl_core_grid_offset: Any,
    use_column_major_ccl: bool = False,
    is_balanced: bool = False,
    kv_cache_batch_idx: int | None = None,
    kv_actual_isl: int | None = None,
    slot_id: Any = None,
    kv_actual_isl_tensor: Any = None,
    kv_cache_num_layers: int | None = None,
    kv_cache_layer_idx: int | None = None,
    kv_valid_end_tensor: Any = None,
) -> tuple[Tensor, Tensor]:
    """Computes causal attention to latent keys, whose first elements are values; devices of a line have parts of both.

    Args:
        input_tensor_q: [batch, heads, length of a device, size].
        input_tensor_kv: [batch, 1, length of a device, size]. Fewer queries are the last of the sequence, as of
            ring_joint_scaled_dot_product_attention.
        head_dim_v: the first elements of a key, which are its value.
        logical_n: tokens of the sequence that count.
        dim: 2, the length.
        cluster_axis: the axis of the mesh that the devices follow each other on; None on a mesh that is a line.
        is_balanced: each device has an early and a late half of its tokens.
        kv_cache_batch_idx: the batch of keys that is taken.
        kv_actual_isl, slot_id, kv_actual_isl_tensor, kv_cache_num_layers, kv_cache_layer_idx, kv_valid_end_tensor: not
            simulated; only None is taken.
        persistent_output_buffer_kv, program_config, compute_kernel_config, multi_device_global_semaphore, num_links,
            mesh_device, topology, subdevice_id, ccl_core_grid_offset, use_column_major_ccl: of the hardware; make no
            difference here.
    Returns:
        Attention [batch, heads, length, head_dim_v]; the greatest score of each query, and behind these the sums of
        exp(score - greatest), [batch, heads, 2 * length, 1] in float32.
    Raises:
        ValueError: shapes, numbers and the mesh do not fit each other.
    """
    refuse(
        _TRACED, kv_actual_isl=kv_actual_isl, slot_id=slot_id, kv_actual_isl_tensor=kv_actual_isl_tensor,
        kv_cache_num_layers=kv_cache_num_layers, kv_cache_layer_idx=kv_cache_layer_idx,
        kv_valid_end_tensor=kv_valid_end_tensor,
    )  # fmt: skip
    size = four("input_tensor_kv", input_tensor_kv)[3]
    if not 1 <= head_dim_v <= size:
        raise ValueError(f"head_dim_v is {head_dim_v}; expected 1 to {size}")
    values = {
        "logical_n": logical_n, "dim": dim, "cluster_axis": cluster_axis, "scale": scale, "is_balanced": is_balanced,
        "kv_cache_batch_idx": kv_cache_batch_idx,
    }  # fmt: skip
    contents = part_of(input_tensor_kv, 3, 0, head_dim_v)
    result, _, greatest, sums = _ring(input_tensor_q, input_tensor_kv, contents, (None, None, None), values, True)
    return result, ops.concat([greatest, sums], dim=2)
