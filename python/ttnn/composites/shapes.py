# SPDX-License-Identifier: Apache-2.0
"""Functions of TTNN that are others under another name, or a few of them together."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import DataType, Layout, MemoryConfig

from ..functions import FUNCTIONS

ops = SimpleNamespace(**FUNCTIONS)


def squeeze(input_tensor: Tensor, dim: int) -> Tensor:
    """Returns the tensor without a dimension of size 1; one of another size stays."""
    at = _dimension("squeeze", dim, len(input_tensor.shape))
    shape = list(input_tensor.shape)
    return ops.reshape(input_tensor, shape[:at] + shape[at + 1 :]) if shape[at] == 1 else input_tensor


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


def expand(input_tensor: Tensor, sizes: Sequence[int]) -> Tensor:
    """Returns dimensions of size 1 repeated to `sizes`; -1 leaves one as it is. New dimensions come in front."""
    shape = [1] * (len(sizes) - len(input_tensor.shape)) + list(input_tensor.shape)
    expected = [old if new == -1 else new for old, new in zip(shape, sizes, strict=False)]
    if len(expected) != len(shape) or any(old not in (1, new) for old, new in zip(shape, expected, strict=True)):
        raise ValueError(f"expand: shape {list(input_tensor.shape)} cannot become {list(sizes)}")
    times = [new if old == 1 else 1 for old, new in zip(shape, expected, strict=True)]
    return ops.repeat(ops.reshape(input_tensor, shape), times)


def split(input_tensor: Tensor, split_size: int | Sequence[int], dim: int = 0) -> list[Tensor]:
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
    return parts


def full_like(
    tensor: Tensor,
    fill_value: float,
    *,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    optional_tensor: Tensor | None = None,
) -> Tensor:
    """Returns a tensor of one number, in what is not given like another tensor.

    Args:
        optional_tensor: a tensor that is there, which the result is written to; it says what is not given.
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


def zeros_like(tensor: Tensor, **options: Any) -> Tensor:
    """Returns zeros; options as of full_like."""
    return full_like(tensor, 0, **options)


def ones_like(tensor: Tensor, **options: Any) -> Tensor:
    """Returns ones; options are those of full_like."""
    return full_like(tensor, 1, **options)


def clone(input_tensor: Tensor, *, dtype: DataType | None = None, memory_config: MemoryConfig | None = None) -> Tensor:
    """Returns a copy."""
    return ops.assign(input_tensor, dtype=dtype, memory_config=memory_config)


def square(
    input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None
) -> Tensor:
    """Returns x * x."""
    return ops.multiply(input_tensor, input_tensor, memory_config=memory_config, output_tensor=output_tensor)


def moreh_sum(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool = False,
    output: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Returns the sum over one or more dimensions, or over all; `output` is a tensor that is there, which it is written
    to."""
    result = ops.sum(input, dim, keepdim, memory_config=memory_config)
    return result if output is None else ops.assign(result, output_tensor=output)


def rsub(input_tensor_a: Tensor, input_tensor_b: Tensor | float, **options: Any) -> Tensor:
    """Returns b - a."""
    return ops.subtract(input_tensor_b, input_tensor_a, **options)


def rdiv(input_tensor_a: Tensor, input_tensor_b: Tensor | float, **options: Any) -> Tensor:
    """Returns b / a."""
    return ops.divide(input_tensor_b, input_tensor_a, **options)


def _dimension(function: str, dim: int, rank: int) -> int:
    if not -rank <= dim < rank:
        raise ValueError(f"{function}: dim is {dim}; expected {-rank} to {rank - 1}")
    return dim % rank


PLAIN = (
    clone, expand, full_like, moreh_sum, ones_like, rdiv, rsub, split, square, squeeze, unsqueeze, unsqueeze_to_4D,
    zeros_like,
)  # fmt: skip
