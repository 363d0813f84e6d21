# SPDX-License-Identifier: Apache-2.0
"""Functions of ttnn.experimental that move data between devices, and multiply it on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor

from .experimental import experimental, written_to
from .frame import ops
from .meshes import axis_of_mesh, device_of
from .parts import axis_of, part_of


def _all(tensor: Tensor, dim: int, cluster_axis: int | None, memory_config: Any = None) -> Tensor:
    """Returns the parts of a line of devices along a dimension, on each."""
    axis, _ = axis_of_mesh(device_of(tensor, "input_tensor"), cluster_axis)
    return ops.all_gather(tensor, dim, cluster_axis=axis, memory_config=memory_config)


def _sum_of_all(tensor: Tensor, dim: int, cluster_axis: int | None, memory_config: Any = None) -> Tensor:
    """Returns this device's part of the sum over a line of devices."""
    axis, _ = axis_of_mesh(device_of(tensor, "input_tensor"), cluster_axis)
    return ops.reduce_scatter(tensor, dim, cluster_axis=axis, memory_config=memory_config)


@experimental()
def strided_all_gather_async(
    input_tensor: Tensor,
    persistent_output_buffer: Tensor | None,
    dim: int,
    multi_device_global_semaphore: Any,
    *,
    num_links: int = 1,
    memory_config: Any = None,
    topology: Any = None,
    cluster_axis: int | None = None,
    num_workers_per_link: int | None = None,
    num_buffers_per_channel: int | None = None,
    mm_cores_y: int | None = None,
    mm_block_ht: int | None = None,
    mm_block_wt: int | None = None,
) -> Tensor:
    """Returns the parts of all devices along a dimension, on each.

    Parts arrive in another order on the hardware, which changes nothing. Semaphores, links, workers and blocks are of
    the hardware, and make no difference here.
    """
    del multi_device_global_semaphore, num_links, topology, num_workers_per_link, num_buffers_per_channel
    del mm_cores_y, mm_block_ht, mm_block_wt
    return written_to(persistent_output_buffer, _all(input_tensor, dim, cluster_axis, memory_config))


@experimental(required="cluster_axis mesh_device topology multi_device_global_semaphore")
def all_gather_async_reversed(
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
    memory_config: Any = None,
    subdevice_id: Any = None,
    use_optimal_ccl_for_llama: bool = False,
    use_broadcast: bool = False,
    barrier_semaphore: Any = None,
    chunks_per_sync: int | None = None,
    num_workers_per_link: int | None = None,
    num_buffers_per_channel: int | None = None,
    sub_core_grids: Any = None,
) -> Tensor:
    """Returns the parts of all devices of a line along a dimension, that of the last device first.

    Semaphores, links, workers and cores are of the hardware, and make no difference here. The third argument by place
    may also be the semaphores.
    """
    del mesh_device, topology, multi_device_global_semaphore, num_links, subdevice_id, use_optimal_ccl_for_llama
    del use_broadcast, barrier_semaphore, chunks_per_sync, num_workers_per_link, num_buffers_per_channel, sub_core_grids
    target = persistent_output_tensor if persistent_output_buffer is None else persistent_output_buffer
    axis = axis_of(dim, len(input_tensor.shape))
    size = input_tensor.shape[axis]
    whole = _all(input_tensor, axis, cluster_axis if isinstance(cluster_axis, int) else None)
    parts = [part_of(whole, axis, at, at + size) for at in range(0, whole.shape[axis], size or 1)]
    result = parts[0] if len(parts) == 1 else ops.concat(parts[::-1], dim=axis)
    return written_to(target, result if memory_config is None else ops.to_memory_config(result, memory_config))


@experimental()
def ring_attention_all_gather_async(
    input_tensor: Sequence[Tensor],
    persistent_output_buffer: Sequence[Tensor],
    dim: int,
    *,
    multi_device_global_semaphore: Any,
    num_links: int | None = None,
    cluster_axis: int,
    mesh_device: Device,
    memory_config: Any = None,
    topology: Any,
    subdevice_id: Any = None,
) -> list[Tensor]:
    """Returns, of each of several tensors, the parts of all devices along a dimension, on each.

    Args:
        persistent_output_buffer: tensors that results are written to, or none.
        multi_device_global_semaphore, num_links, mesh_device, topology, subdevice_id: of the hardware; make no
            difference here.
    Raises:
        ValueError: there are not as many buffers as tensors.
    """
    del multi_device_global_semaphore, num_links, mesh_device, topology, subdevice_id
    targets: list[Tensor | None] = list(persistent_output_buffer) or [None] * len(input_tensor)
    if len(targets) != len(input_tensor):
        raise ValueError(f"persistent_output_buffer has {len(targets)} tensors; expected {len(input_tensor)}")
    pairs = zip(input_tensor, targets, strict=True)
    return [written_to(target, _all(each, dim, cluster_axis, memory_config)) for each, target in pairs]


@experimental("memory_config")
def all_to_all_async(
    input_tensor: Tensor,
    persistent_intermediate_buffer: Any,
    persistent_output_buffer: Tensor | None,
    in_dim: int,
    out_dim: int,
    multi_device_global_semaphore: Any,
    *,
    num_links: int = 1,
    topology: Any = None,
    subdevice_id: Any = None,
) -> Tensor:
    """Returns this device's part of out_dim, of a tensor that devices of a line have parts of in_dim of.

    Args:
        persistent_output_buffer: a tensor that the result is written to, or None.
        persistent_intermediate_buffer, multi_device_global_semaphore, num_links, topology, subdevice_id: of the
            hardware; make no difference here.
    Raises:
        ValueError: the dimensions are equal, or out_dim is not divided evenly by the devices.
    """
    del persistent_intermediate_buffer, multi_device_global_semaphore, num_links, topology, subdevice_id
    rank = len(input_tensor.shape)
    gathered, cut = axis_of(in_dim, rank), axis_of(out_dim, rank)
    axis, count = axis_of_mesh(device_of(input_tensor, "input_tensor"), None)
    if gathered == cut:
        raise ValueError(f"in_dim is {in_dim} and out_dim {out_dim}; expected two different dimensions")
    if input_tensor.shape[cut] % count:
        raise ValueError(f"out_dim has {input_tensor.shape[cut]} elements; expected a multiple of {count}")
    result = ops.mesh_partition(ops.all_gather(input_tensor, gathered, cluster_axis=axis), cut, axis)
    return written_to(persistent_output_buffer, result)


@experimental()
def all_gather_matmul_async(
    input_tensor: Tensor,
    weight_tensor: Tensor,
    persistent_output_buffer: Tensor | None = None,
    dim: int | None = None,
    multi_device_global_semaphore: Any = None,
    all_gather_core_grid_offset: Any = None,
    *,
    bias: Tensor | None = None,
    num_links: int = 1,
    memory_config_ag: Any = None,
    topology: Any = None,
    barrier_semaphore: Any = None,
    subdevice_id: Any = None,
    memory_config_mm: Any = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    dtype: Any = None,
    program_config: Any = None,
    activation: str | None = None,
    compute_kernel_config: Any = None,
    core_grid: Any = None,
    chunks_per_sync: int | None = None,
    num_workers_per_link: int | None = None,
    num_buffers_per_channel: int | None = None,
) -> list[Tensor]:
    """Returns the parts of all devices along a dimension, and activation(parts @ weight + bias).

    Semaphores, links, workers and cores are of the hardware, and make no difference here.
    """
    del multi_device_global_semaphore, all_gather_core_grid_offset, num_links, topology, barrier_semaphore
    del subdevice_id, core_grid, chunks_per_sync, num_workers_per_link, num_buffers_per_channel
    if dim is None:
        raise TypeError("dim is None; expected an integer")
    whole = written_to(persistent_output_buffer, _all(input_tensor, dim, None, memory_config_ag))
    product = ops.linear(
        whole, weight_tensor, bias=bias, transpose_a=transpose_a, transpose_b=transpose_b, activation=activation,
        program_config=program_config, compute_kernel_config=compute_kernel_config, dtype=dtype,
        memory_config=memory_config_mm,
    )  # fmt: skip
    return [whole, product]


@experimental()
def matmul_reduce_scatter_async(
    input_tensor: Tensor,
    weight_tensor: Tensor,
    persistent_intermediate_buffer: Any,
    persistent_output_buffer: Tensor | None,
    dim: int,
    multi_device_global_semaphore: Any,
    reduce_scatter_core_grid_offset: Any,
    *,
    barrier_semaphore: Any = None,
    bias: Tensor | None = None,
    num_links: int | None = None,
    memory_config_rs: Any = None,
    intermediate_memory_config_rs: Any = None,
    topology: Any = None,
    subdevice_id: Any = None,
    memory_config_mm: Any = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    dtype: Any = None,
    program_config: Any = None,
    activation: str | None = None,
    compute_kernel_config: Any = None,
    core_grid: Any = None,
) -> list[Tensor]:
    """Returns activation(input @ weight + bias), and this device's part of the sum of it over all devices.

    Semaphores, links, buffers between the two and cores are of the hardware, and make no difference here.
    """
    del persistent_intermediate_buffer, multi_device_global_semaphore, reduce_scatter_core_grid_offset
    del barrier_semaphore, num_links, intermediate_memory_config_rs, topology, subdevice_id, core_grid
    product = ops.linear(
        input_tensor, weight_tensor, bias=bias, transpose_a=transpose_a, transpose_b=transpose_b,
        activation=activation, program_config=program_config, compute_kernel_config=compute_kernel_config, dtype=dtype,
        memory_config=memory_config_mm,
    )  # fmt: skip
    return [product, written_to(persistent_output_buffer, _sum_of_all(product, dim, None, memory_config_rs))]


@experimental()
def llama_all_gather_matmul_async(
    input_tensor0: Tensor,
    input_tensor1: Tensor,
    intermediate_tensor: Any,
    dim: int,
    cluster_axis: int,
    mesh_device: Device,
    topology: Any,
    multi_device_global_semaphore: Any,
    *,
    num_links: int | None = None,
    ag_memory_config: Any = None,
    mm_memory_config: Any = None,
    subdevice_id: Any = None,
    program_config: Any = None,
    compute_kernel_config: Any = None,
    dtype: Any = None,
    global_cb: Any = None,
) -> Tensor:
    """Returns the parts of all devices along a dimension, multiplied with a second tensor.

    Semaphores, links, buffers between the two and cores are of the hardware, and make no difference here.
    """
    del intermediate_tensor, mesh_device, topology, multi_device_global_semaphore, num_links, subdevice_id, global_cb
    whole = _all(input_tensor0, dim, cluster_axis, ag_memory_config)
    return ops.matmul(
        whole, input_tensor1, program_config=program_config, compute_kernel_config=compute_kernel_config, dtype=dtype,
        memory_config=mm_memory_config,
    )  # fmt: skip


@experimental()
def llama_reduce_scatter(
    input_tensor: Tensor,
    intermediate_packet_buffer: Any,
    dim: int,
    cross_device_semaphore: Any,
    subdevice_id: Any,
    cluster_axis: int,
    mesh_device: Device,
    *,
    num_links: int | None = None,
    memory_config: Any = None,
    topology: Any = None,
    use_noc1_only: bool = False,
) -> Tensor:
    """Returns this device's part of the sum over all devices of an axis.

    Semaphores, links, buffers and networks are of the hardware, and make no difference here.
    """
    del intermediate_packet_buffer, cross_device_semaphore, subdevice_id, mesh_device, num_links, topology
    del use_noc1_only
    return _sum_of_all(input_tensor, dim, cluster_axis, memory_config)


@experimental()
def reduce_scatter_minimal_direct(
    input_tensor: Tensor,
    dim: int,
    *,
    cluster_axis: int | None = None,
    num_links: int | None = None,
    memory_config: Any = None,
    persistent_buffers: Any = None,
    subdevice_id: Any = None,
    sub_core_grid: Any = None,
) -> Tensor:
    """Returns this device's part of the sum over all devices of an axis.

    Links, buffers and cores are of the hardware, and make no difference here.
    """
    del num_links, persistent_buffers, subdevice_id, sub_core_grid
    return _sum_of_all(input_tensor, dim, cluster_axis, memory_config)


@experimental()
def slice_reshard_async(
    input_tensor: Tensor,
    dim: int,
    output_dim_offset: int,
    output_dim_shape: int,
    cluster_axis: int,
    final_semaphore: Any,
    barrier_semaphore: Any,
    *,
    num_links: int | None = 1,
    memory_config: Any = None,
    topology: Any = None,
) -> Tensor:
    """Returns this device's part of a slice of a tensor that the devices of an axis have parts of.

    Args:
        dim: the dimension that is divided, and cut.
        output_dim_offset, output_dim_shape: where the slice begins in the whole tensor, and its size.
        final_semaphore, barrier_semaphore, num_links, topology: of the hardware; make no difference here.
    Raises:
        ValueError: the slice is not within the tensor, or not divided evenly by the devices.
    """
    del final_semaphore, barrier_semaphore, num_links, topology
    along = axis_of(dim, len(input_tensor.shape))
    axis, count = axis_of_mesh(device_of(input_tensor, "input_tensor"), cluster_axis)
    total = input_tensor.shape[along] * count
    if output_dim_shape < 1 or output_dim_shape % count:
        raise ValueError(f"output_dim_shape is {output_dim_shape}; expected a multiple of {count} devices")
    if not 0 <= output_dim_offset <= total - output_dim_shape:
        raise ValueError(f"output_dim_offset is {output_dim_offset}; expected 0 to {total - output_dim_shape}")
    whole = ops.all_gather(input_tensor, along, cluster_axis=axis)
    taken = part_of(whole, along, output_dim_offset, output_dim_offset + output_dim_shape)
    result = taken if count == 1 else ops.mesh_partition(taken, along, axis)
    return result if memory_config is None else ops.to_memory_config(result, memory_config)
