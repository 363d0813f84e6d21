# SPDX-License-Identifier: Apache-2.0
"""Functions of TTNN that are others under another name, or a few of them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import CoreRangeSet, DataType, Layout, MemoryConfig

from ..functions import ops
from ..library.prepared import demands


def squeeze(input_tensor: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Returns the tensor without dimensions of size 1: those of `dim`, or all; one of another size stays."""
    rank, shape = len(input_tensor.shape), list(input_tensor.shape)
    dims = range(rank) if dim is None else [dim] if isinstance(dim, int) else dim
    removed = {at for at in (_dimension("squeeze", each, rank) for each in dims) if shape[at] == 1}
    kept = [size for at, size in enumerate(shape) if at not in removed]
    return ops.reshape(input_tensor, kept) if removed else input_tensor


def unsqueeze(input_tensor: Tensor, dim: int) -> Tensor:
    """Returns the tensor with a dimension of size 1 put before `dim`."""
    at = _dimension("unsqueeze", dim, len(input_tensor.shape) + 1)
    shape = list(input_tensor.shape)
    return ops.reshape(input_tensor, [*shape[:at], 1, *shape[at:]])


def unsqueeze_to_4D(tensor: Tensor) -> Tensor:
    """Returns the tensor with dimensions of size 1 in front, four in all."""
    shape = list(tensor.shape)
    if len(shape) > 4:
        raise ValueError(f"unsqueeze_to_4D: the tensor has shape {shape}; expected at most four dimensions")
    return ops.reshape(tensor, [1] * (4 - len(shape)) + shape)


def expand(input_tensor: Tensor, output_shape: Sequence[int], *, memory_config: MemoryConfig | None = None) -> Tensor:
    """Returns dimensions of size 1 repeated to `output_shape`; -1 leaves one as it is. New ones come in front."""
    shape = [1] * (len(output_shape) - len(input_tensor.shape)) + list(input_tensor.shape)
    expected = [old if new == -1 else new for old, new in zip(shape, output_shape, strict=False)]
    if len(expected) != len(shape) or any(old not in (1, new) for old, new in zip(shape, expected, strict=True)):
        raise ValueError(f"expand: shape {list(input_tensor.shape)} cannot become {list(output_shape)}")
    times = [new if old == 1 else 1 for old, new in zip(shape, expected, strict=True)]
    return ops.repeat(ops.reshape(input_tensor, shape), times, memory_config=memory_config)


def split(
    input_tensor: Tensor,
    split_size: int | Sequence[int],
    dim: int = 0,
    *,
    memory_config: MemoryConfig | None = None,
) -> list[Tensor]:
    """Returns parts along a dimension: of `split_size` each (the last may be smaller), or of the sizes that it
    lists."""
    at = _dimension("split", dim, len(input_tensor.shape))
    size = input_tensor.shape[at]
    if isinstance(split_size, int):
        if split_size < 1:
            raise ValueError(f"split: split_size is {split_size}; expected a positive number")
        split_size = [min(split_size, size - start) for start in range(0, size, split_size)]
    if sum(split_size) != size or min(split_size, default=0) < 0:
        raise ValueError(f"split: sizes {list(split_size)} do not make {size}, the size of dimension {dim}")
    parts, start = [], 0
    for length in split_size:
        parts.append(input_tensor[(slice(None),) * at + (slice(start, start + length),)])
        start += length
    return parts if memory_config is None else [ops.to_memory_config(part, memory_config) for part in parts]


def full_like(
    tensor: Tensor,
    fill_value: float,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    optional_tensor: Tensor | None = None,
) -> Tensor:
    """Returns a tensor of one number, in what is not given like another tensor.

    Args:
        optional_tensor: an existing tensor that the result is written to; it gives the defaults of other arguments.
    """
    if optional_tensor is not None:
        return ops.full(
            tensor.shape, fill_value, dtype=dtype, layout=layout, device=device, memory_config=memory_config,
            optional_tensor=optional_tensor,
        )  # fmt: skip
    device = device or tensor.device()
    memory = memory_config or (MemoryConfig(buffer_type=tensor.memory_config().buffer_type) if device else None)
    return ops.full(
        tensor.shape,
        fill_value,
        dtype=dtype or tensor.dtype,
        layout=tensor.layout if layout is None else layout,
        device=device,
        memory_config=memory,
    )


def zeros_like(
    tensor: Tensor,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    optional_tensor: Tensor | None = None,
) -> Tensor:
    """Returns zeros; parameters are those of full_like."""
    return full_like(tensor, 0, dtype, layout, device, memory_config, optional_tensor)


def ones_like(
    tensor: Tensor,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    optional_tensor: Tensor | None = None,
) -> Tensor:
    """Returns ones; parameters are those of full_like."""
    return full_like(tensor, 1, dtype, layout, device, memory_config, optional_tensor)


def clone(
    input: Tensor,
    *,
    dtype: DataType | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: Any = None,
) -> Tensor:
    """Returns a copy. `compute_kernel_config` makes no difference here."""
    return ops.assign(input, dtype=dtype, memory_config=memory_config)


def square(
    input_tensor: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    sub_core_grids: CoreRangeSet | None = None,
) -> Tensor:
    """Returns x * x. `sub_core_grids` makes no difference here."""
    return ops.multiply(
        input_tensor, input_tensor, memory_config=memory_config, output_tensor=output_tensor,
        sub_core_grids=sub_core_grids,
    )  # fmt: skip


def moreh_sum(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool = False,
    output: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: Any = None,
) -> Tensor:
    """Returns the sum over one or more dimensions, or over all; `output` is an existing tensor that it is written
    to."""
    result = ops.sum(input, dim, keepdim, memory_config=memory_config, compute_kernel_config=compute_kernel_config)
    return result if output is None else ops.assign(result, output_tensor=output)


@demands("input_tensor_b")
def rsub(
    input_tensor_a: Tensor,
    input_tensor_b: Tensor | float | None = None,
    *,
    dtype: DataType | None = None,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    activations: Sequence[Any] = (),
    input_tensor_a_activations: Sequence[Any] = (),
    input_tensor_b_activations: Sequence[Any] = (),
    fast_and_approximate_mode: bool | None = True,
    input_b: float | None = None,
) -> Tensor:
    """Returns b - a. `input_b` is another name of input_tensor_b; the other parameters are those of subtract."""
    return ops.subtract(
        input_tensor_b if input_b is None else input_b,
        input_tensor_a,
        dtype=dtype,
        memory_config=memory_config,
        output_tensor=output_tensor,
        activations=activations,
        input_tensor_a_activations=input_tensor_b_activations,
        input_tensor_b_activations=input_tensor_a_activations,
        fast_and_approximate_mode=fast_and_approximate_mode,
    )


def rdiv(
    input_tensor: Tensor,
    value: Tensor | float,
    *,
    rounding_mode: str | None = None,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    sub_core_grids: CoreRangeSet | None = None,
) -> Tensor:
    """Returns value / input_tensor; the other parameters are those of divide."""
    return ops.divide(
        value,
        input_tensor,
        rounding_mode=rounding_mode,
        memory_config=memory_config,
        output_tensor=output_tensor,
        sub_core_grids=sub_core_grids,
    )


def _dimension(function: str, dim: int, rank: int) -> int:
    if not -rank <= dim < rank:
        raise ValueError(f"{function}: dim is {dim}; expected {-rank} to {rank - 1}")
    return dim % rank


PLAIN = (
    clone, expand, full_like, moreh_sum, ones_like, rdiv, rsub, split, square, squeeze, unsqueeze, unsqueeze_to_4D,
    zeros_like,
)  # fmt: skip
