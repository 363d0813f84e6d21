# SPDX-License-Identifier: Apache-2.0
"""Functions of the devices of a mesh that are made of others: what one has on all, states of attention, experts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from _ttmlir_runtime import ttnn as _native
from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import DataType, Layout

from .frame import RESULT, composite, ops
from .parts import part_of


def of_devices(device: Device, make: Callable[[int, int], Tensor]) -> Tensor:
    """Returns a tensor whose part on each device is what `make` returns for its row and column, on the host."""
    rows, columns = device.get_mesh_shape()
    parts = [make(row, column) for row in range(rows) for column in range(columns)]
    if len(parts) == 1:
        return ops.to_device(parts[0], device)
    return _native.from_shards(parts, (rows, columns), device, None)


def device_of(tensor: Tensor, name: str) -> Device:
    """Returns the device of a tensor.

    Raises:
        ValueError: it lies on the host.
    """
    device = tensor.device()
    if device is None:
        raise ValueError(f"{name} lies on the host; expected a tensor on a device")
    return device


def axis_of_mesh(device: Device, cluster_axis: int | None) -> tuple[int, int]:
    """Returns an axis of the mesh and its devices; without a number that of a mesh which is a line.

    Raises:
        ValueError: there is no such axis, or the mesh is no line.
    """
    shape = tuple(device.get_mesh_shape())
    if cluster_axis is None:
        if min(shape) > 1:
            raise ValueError(f"cluster_axis is None; expected 0 or 1 on a mesh of {shape[0]}x{shape[1]} devices")
        cluster_axis = 0 if shape[0] > 1 else 1
    if cluster_axis not in (0, 1):
        raise ValueError(f"cluster_axis is {cluster_axis}; expected 0 or 1")
    return cluster_axis, shape[cluster_axis]


def _gathered(tensor: Tensor, cluster_axis: int | None, name: str) -> list[Tensor]:
    """Returns what the devices of a line have, one tensor for each of them."""
    axis, count = axis_of_mesh(device_of(tensor, name), cluster_axis)
    if count == 1:
        return [ops.assign(tensor)]
    shape = list(tensor.shape)
    if 0 in shape:
        return [ops.assign(tensor) for _ in range(count)]
    apart = ops.all_gather(ops.reshape(tensor, [1, *shape]), 0, cluster_axis=axis)
    return [ops.reshape(part_of(apart, 0, at, at + 1), shape) for at in range(count)]


@composite(RESULT, wide=False)
def all_broadcast(
    input_tensor: Tensor,
    *,
    cluster_axis: int | None = None,
    subdevice_id: Any = None,
    num_links: int | None = 1,
    topology: Any = None,
    use_l1_small_for_semaphores: bool = False,
) -> list[Tensor]:
    """Returns a list of tensors, one for each device of a line: all devices of the line have what this one has.

    Args:
        cluster_axis: the axis of the mesh that the devices follow each other on; None on a mesh that is a line.
        subdevice_id, num_links, topology, use_l1_small_for_semaphores: of the hardware; make no difference here.
    Raises:
        ValueError: the tensor lies on the host, or there is no such axis.
    """
    del subdevice_id, num_links, topology, use_l1_small_for_semaphores
    return _gathered(input_tensor, cluster_axis, "input_tensor")


@composite(RESULT, wide=False)
def broadcast(
    input_tensor: Tensor,
    sender_coord: Any,
    *,
    num_links: int | None = None,
    topology: Any = None,
    cluster_axis: int | None = None,
    subdevice_id: Any = None,
) -> Tensor:
    """Returns what one device has, on all devices of its line; other lines have what their device at its place has.

    Args:
        sender_coord: the place of the device, a MeshCoordinate.
        cluster_axis: the axis of the mesh that the devices follow each other on; None on a mesh that is a line.
        num_links, topology, subdevice_id: of the hardware; make no difference here.
    Raises:
        ValueError: the tensor lies on the host; there is no such axis or device.
    """
    del num_links, topology, subdevice_id
    device = device_of(input_tensor, "input_tensor")
    axis, _ = axis_of_mesh(device, cluster_axis)
    return _gathered(input_tensor, axis, "input_tensor")[_place(device, sender_coord, "sender_coord")[axis]]


def _place(device: Device, coord: Any, name: str) -> tuple[int, int]:
    shape = tuple(device.get_mesh_shape())
    try:
        found = tuple(coord)
    except TypeError:
        raise TypeError(f"{name} is {coord!r}; expected a ttnn.MeshCoordinate") from None
    if len(found) != 2 or not all(0 <= at < size for at, size in zip(found, shape, strict=True)):
        raise ValueError(f"{name} is {coord!r}; the mesh has {shape[0]}x{shape[1]} devices")
    return found


@composite("memory_config optional_output_tensor", wide=False)
def moe_routing_remap(
    routing_weights_tensor: Tensor, non_zero_weight_size: int, expert_parallel_size: int, cluster_axis: int
) -> Tensor:
    """Divides the chosen experts among the devices of a line: each keeps as many weights that are not 0, in order.

    Args:
        routing_weights_tensor: [1, experts], the same on all devices; 0 for experts that are not chosen.
        non_zero_weight_size: experts that are chosen.
        expert_parallel_size: devices of the line.
        cluster_axis: the axis of the mesh that the devices follow each other on.
    Returns:
        [1, experts]: the weights of this device, and 0 for others.
    Raises:
        ValueError: shapes or numbers do not fit each other or the mesh.
    """
    shape = list(routing_weights_tensor.shape)
    if len(shape) != 2 or shape[0] != 1:
        raise ValueError(f"routing_weights_tensor has shape {shape}; expected [1, experts]")
    device = device_of(routing_weights_tensor, "routing_weights_tensor")
    axis, count = axis_of_mesh(device, cluster_axis)
    if expert_parallel_size != count:
        raise ValueError(f"expert_parallel_size is {expert_parallel_size}; the axis has {count} devices")
    if non_zero_weight_size < 1 or non_zero_weight_size % count or non_zero_weight_size > shape[1]:
        raise ValueError(
            f"non_zero_weight_size is {non_zero_weight_size}; expected a multiple of {count}, at most {shape[1]}"
        )
    each = non_zero_weight_size // count
    layout = routing_weights_tensor.layout

    def first(row: int, column: int) -> Tensor:
        number = Tensor([float((row, column)[axis] * each)], [1, 1], DataType.FLOAT32, Layout.ROW_MAJOR)
        return ops.to_layout(number, layout)

    begin = of_devices(device, first)
    chosen = ops.ne(ops.typecast(routing_weights_tensor, DataType.FLOAT32), 0.0)
    order = ops.cumsum(chosen, 1)  # 1 for the first that is chosen
    own = ops.logical_and(ops.gt(order, begin), ops.le(order, begin + float(each)))
    return ops.where(own, routing_weights_tensor, 0)


@composite()
def reduce_to_root(
    input_tensor_l: Tensor,
    input_tensor_s: Tensor,
    input_tensor_m: Tensor,
    root_coord: Any,
    *,
    scale_fp32: float = 1.0,
    topology: Any = None,
    output_tensor_l: Any = None,
    output_tensor_s: Any = None,
    output_tensor_m: Any = None,
    intermediate_tensor: Any = None,
    input_mux_cores: Any = None,
) -> list[Tensor]:
    """Joins the states of attention that four devices of a line have of parts of the keys.

    A state has, for each core, sums of values weighted by exp((score - m) * scale) in l, of the weights in s, and the
    greatest score in m. The result has l / s of all keys, and their s and m; all devices have it here.

    Args:
        input_tensor_l: [..., cores * width].
        input_tensor_s, input_tensor_m: [..., cores * 32]; the first column of each core counts.
        root_coord: the place of the device that has the result on the hardware.
        scale_fp32: multiplied with differences of scores.
        output_tensor_l, output_tensor_s, output_tensor_m: tensors that the results are written to, too.
        topology, intermediate_tensor, input_mux_cores: of the hardware; make no difference here.
    Raises:
        ValueError: shapes do not fit each other, or the mesh is no line of four devices.
    """
    del topology, intermediate_tensor, input_mux_cores
    device = device_of(input_tensor_l, "input_tensor_l")
    _place(device, root_coord, "root_coord")
    axis, count = axis_of_mesh(device, None)
    if count != 4:
        raise ValueError(f"the mesh has {count} devices; expected a line of 4")
    wide, narrow = list(input_tensor_l.shape), list(input_tensor_s.shape)
    cores = narrow[-1] // 32 if narrow else 0
    if not cores or narrow[-1] % 32 or list(input_tensor_m.shape) != narrow or wide[:-1] != narrow[:-1]:
        raise ValueError(
            f"input tensors have shapes {wide}, {narrow} and {list(input_tensor_m.shape)}; expected [..., n * width], "
            "[..., n * 32] and the same"
        )
    if wide[-1] % cores:
        raise ValueError(f"input_tensor_l has shape {wide}; expected a multiple of {cores} columns")
    rows = math.prod(narrow[:-1])

    def apart(tensor: Tensor, width: int) -> list[Tensor]:
        return _gathered(ops.reshape(tensor, [rows, cores, width]), axis, "input tensors")

    size = wide[-1] // cores
    states = list(zip(apart(input_tensor_l, size), apart(input_tensor_s, 32), apart(input_tensor_m, 32), strict=True))
    (left, right), (up, down) = states[:2], (states[3], states[2])
    values, weights, greatest = _joined(_joined(up, down, scale_fp32), _joined(left, right, scale_fp32), scale_fp32)
    values = values / part_of(weights, 2, 0, 1)
    results = [ops.reshape(each, shape) for each, shape in ((values, wide), (weights, narrow), (greatest, narrow))]
    for result, target in zip(results, (output_tensor_l, output_tensor_s, output_tensor_m), strict=True):
        if target is not None:
            ops.typecast(result, target.dtype, output_tensor=target)
    return results


def _joined(a: Any, b: Any, scale: float) -> tuple[Tensor, Tensor, Tensor]:
    greatest = ops.maximum(a[2], b[2])
    of_a, of_b = (ops.exp((each[2] - greatest) * scale) for each in (a, b))
    values = a[0] * part_of(of_a, 2, 0, 1) + b[0] * part_of(of_b, 2, 0, 1)
    return values, a[1] * of_a + b[1] * of_b, greatest


@composite("memory_config dtype compute_kernel_config", wide=False)
def fused_rms_minimal(
    input_tensor: Tensor,
    program_config: Any,
    cluster_axis: int,
    mesh_device: Device,
    global_semaphore: Any,
    *,
    persistent_output_tensor: Any = None,
    num_links: int | None = None,
    topology: Any = None,
    subdevice_id: Any = None,
    residual_input_tensor: Tensor | None = None,
    epsilon: float = 1e-12,
    weight: Tensor | None = None,
    stats: Any = None,
    use_noc1_only: bool = False,
) -> Tensor:
    """Computes rms_norm of rows whose columns the devices of a line have, each its part: of input + residual.

    Args:
        cluster_axis: the axis of the mesh that the devices follow each other on.
        residual_input_tensor: added to the input first.
        weight: what the columns of this device are multiplied with; of any shape with as many elements.
        program_config, mesh_device, global_semaphore, persistent_output_tensor, num_links, topology, subdevice_id,
            stats, use_noc1_only: of the hardware; make no difference here.
    Raises:
        ValueError: the tensor lies on the host, or weight has another number of elements.
    """
    del program_config, mesh_device, global_semaphore, persistent_output_tensor, num_links, topology, subdevice_id
    del stats, use_noc1_only
    device = device_of(input_tensor, "input_tensor")
    axis, count = axis_of_mesh(device, cluster_axis)
    x = input_tensor if residual_input_tensor is None else ops.add(input_tensor, residual_input_tensor)
    wide = ops.typecast(x, DataType.FLOAT32)
    size = x.shape[-1]
    total = ops.sum(wide * wide, -1, True)
    if count > 1:
        total = ops.all_reduce(total, cluster_axis=axis)
    result = wide * ops.rsqrt(total * (1.0 / (size * count)) + epsilon)
    if weight is not None:
        if math.prod(weight.shape) != size:
            raise ValueError(
                f"weight has shape {list(weight.shape)}; expected {size} elements, the columns of a device"
            )
        line = ops.reshape(ops.to_layout(weight, Layout.ROW_MAJOR), [1] * (len(x.shape) - 1) + [size])
        result = result * ops.to_layout(ops.typecast(line, DataType.FLOAT32), result.layout)
    return ops.typecast(result, input_tensor.dtype)


@composite(RESULT, wide=False)
def nonzero(input_tensor: Tensor) -> list[Tensor]:
    """Returns how many elements of a tensor of four dimensions are not 0, and where they are.

    Returns:
        uint32 [1, 1, 1, 8] in rows, the number of them first, and uint32 [1, 1, 1, 4 * elements]: four indices for each
        of them in order, then zeros.
    Raises:
        ValueError: the tensor has another number of dimensions, or more than 2^30 elements.
    """
    shape = list(input_tensor.shape)
    if len(shape) != 4:
        raise ValueError(f"input_tensor has shape {shape}; expected four dimensions")
    count, device = math.prod(shape), input_tensor.device()
    if count > 1 << 30:
        raise ValueError(f"input_tensor has {count} elements; expected at most {1 << 30}")
    options: dict[str, Any] = {"layout": Layout.ROW_MAJOR, "device": device}
    if not count:
        return [ops.zeros([1, 1, 1, size], dtype=DataType.UINT32, **options) for size in (8, 0)]
    flat = ops.reshape(ops.to_layout(input_tensor, Layout.ROW_MAJOR), [count])
    if flat.dtype not in (DataType.INT32, DataType.UINT32, DataType.FLOAT32):
        flat = ops.typecast(flat, DataType.FLOAT32)
    found = ops.typecast(ops.ne(flat, 0), DataType.INT32)
    number = ops.reshape(ops.sum(found, 0, False), [1, 1, 1, 1])
    # Places in order, then the others, which become 0.
    places = ops.arange(0, count, 1, dtype=DataType.INT32, **options)
    order, _ = ops.sort(places + (1 - found) * count, 0)
    kept = ops.typecast(ops.lt(order, count), DataType.INT32)
    order = order * kept
    chosen = ops.typecast(order, DataType.UINT32)
    columns = []
    for axis, size in enumerate(shape):
        line = ops.arange(0, size, 1, dtype=DataType.INT32, **options)
        line = ops.reshape(line, [size if each == axis else 1 for each in range(4)])
        index = ops.repeat(line, [1 if each == axis else other for each, other in enumerate(shape)])
        columns.append(ops.gather(ops.reshape(index, [count]), 0, chosen) * kept)
    indices = ops.concat([ops.reshape(each, [count, 1]) for each in columns], dim=1)
    zeros = ops.zeros([1, 1, 1, 7], dtype=DataType.INT32, **options)
    head = ops.concat([ops.typecast(number, DataType.INT32), zeros], dim=3)
    return [ops.typecast(each, DataType.UINT32) for each in (head, ops.reshape(indices, [1, 1, 1, 4 * count]))]
