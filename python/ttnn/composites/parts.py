# SPDX-License-Identifier: Apache-2.0
"""Functions that move elements: parts, stacks, shifts, triangles, and elements by index."""

from __future__ import annotations

import math
from collections.abc import Sequence

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType, Layout

from .frame import RESULT, composite, ops


def axis_of(dim: int, rank: int) -> int:
    """Returns a dimension counted from the front.

    Raises:
        ValueError: there is no such dimension.
    """
    if not -rank <= dim < rank:
        raise ValueError(f"dim is {dim}; expected {-rank} to {rank - 1}")
    return dim % rank


def part_of(tensor: Tensor, axis: int, start: int, end: int) -> Tensor:
    """Returns the elements from `start` to before `end` of a dimension."""
    return tensor[(slice(None),) * axis + (slice(start, end),)]


def numbers(size: int, like: Tensor, axis: int = 0, rank: int = 1) -> Tensor:
    """Returns 0, 1, ... in float32 along one of `rank` dimensions, on the device of another tensor."""
    shape = [1] * rank
    shape[axis] = size
    counted = ops.arange(0, size, 1, dtype=DataType.FLOAT32, device=like.device(), layout=Layout.ROW_MAJOR)
    return ops.to_layout(ops.reshape(counted, shape), like.layout)


@composite(golden="list(torch.chunk(input_tensor, chunks, dim))", wide=False)
def chunk(input_tensor: Tensor, chunks: int, dim: int) -> list[Tensor]:
    """Returns at most `chunks` parts along a dimension, of one size but for the last."""
    axis = axis_of(dim, len(input_tensor.shape))
    size = input_tensor.shape[axis]
    if chunks < 1:
        raise ValueError(f"chunks is {chunks}; expected a positive number")
    if not size:
        return [ops.assign(input_tensor) for _ in range(chunks)]
    step = -(-size // chunks)
    return [part_of(input_tensor, axis, start, min(start + step, size)) for start in range(0, size, step)]


@composite(golden="torch.narrow(input_tensor, dim, start, length)", wide=False)
def narrow(input_tensor: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Returns `length` elements from `start` on of a dimension."""
    axis = axis_of(dim, len(input_tensor.shape))
    size = input_tensor.shape[axis]
    begin = start + size if start < 0 else start
    if not (0 <= begin <= size and 0 <= length <= size - begin):
        raise ValueError(f"start is {start} and length {length}; dimension {dim} has {size} elements")
    return part_of(input_tensor, axis, begin, begin + length)


@composite(golden="torch.stack(input_tensors, dim)", wide=False)
def stack(input_tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Returns tensors of one shape along a new dimension."""
    if not input_tensors:
        raise ValueError("input_tensors is empty; expected at least one tensor")
    shape = list(input_tensors[0].shape)
    for each in input_tensors:
        if list(each.shape) != shape:
            raise ValueError(f"input_tensors have shapes {shape} and {list(each.shape)}; expected one shape")
    axis = axis_of(dim, len(shape) + 1)
    shape[axis:axis] = [1]
    parts = [ops.reshape(each, shape) for each in input_tensors]
    return parts[0] if len(parts) == 1 else ops.concat(parts, dim=axis)


def _triangle(name: str, lower: bool) -> None:
    def compute(input_tensor: Tensor, *, diagonal: int = 0) -> Tensor:
        shape = list(input_tensor.shape)
        if len(shape) < 2:
            raise ValueError(f"input_tensor has shape {shape}; expected at least two dimensions")
        if 0 in shape:
            return ops.assign(input_tensor)
        away = numbers(shape[-1], input_tensor, 1, 2) - numbers(shape[-2], input_tensor, 0, 2)
        kept = ops.le(away, float(diagonal)) if lower else ops.ge(away, float(diagonal))
        return ops.where(ops.reshape(kept, [1] * (len(shape) - 2) + shape[-2:]), input_tensor, 0)

    where = "below" if lower else "above"
    compute.__doc__ = (
        f"Returns the elements on and {where} a diagonal of matrices [..., rows, columns], and 0 elsewhere."
    )
    composite(RESULT, golden=f"torch.{name}(input_tensor, diagonal)", wide=False, name=name)(compute)


for _name, _lower in (("tril", True), ("triu", False)):
    _triangle(_name, _lower)


@composite(golden="input_tensor.reshape(tuple(shape))", wide=False)
def view(input_tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """Returns the same elements in another shape."""
    return ops.reshape(input_tensor, list(shape))


@composite(RESULT, golden="input_tensor.reshape(W, Z, Y, X)", wide=False)
def reshape_on_device(input_tensor: Tensor, W: int, Z: int, Y: int, X: int) -> Tensor:
    """Returns the same elements in a shape of four dimensions."""
    return ops.reshape(input_tensor, [W, Z, Y, X])


@composite(RESULT, golden="input_tensor.clone()", wide=False)
def move(input_tensor: Tensor) -> Tensor:
    """Moves a tensor to other memory. It is copied here; the first stays until it is deallocated."""
    return ops.assign(input_tensor)


def _filled(input: Tensor, dim: int, index: Tensor, value: float) -> Tensor:
    rank = len(input.shape)
    axis = axis_of(dim, rank)
    size, count = input.shape[axis], math.prod(index.shape)
    if not count or 0 in input.shape:
        return ops.assign(input)
    chosen = ops.to_layout(ops.typecast(ops.reshape(index, [1, count]), DataType.FLOAT32), input.layout)
    hit = ops.max(ops.typecast(ops.eq(numbers(size, input, 0, 2), chosen), DataType.FLOAT32), 1, False)
    mask = ops.reshape(hit, [size if each == axis else 1 for each in range(rank)])
    return ops.where(ops.gt(mask, 0.0), value, input)


for _name in ("index_fill", "index_fill_new"):

    @composite(RESULT, golden="torch.index_fill(input, dim, index.long().flatten(), value)", wide=False, name=_name)
    def index_fill(input: Tensor, dim: int, index: Tensor, value: float) -> Tensor:
        """Returns the tensor with `value` at those places of a dimension that `index` lists."""
        return _filled(input, dim, index, value)


@composite("memory_config sub_core_grids", golden="torch.scatter_add(input, dim, index.long(), src)", wide=False)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Adds elements of `src` to those places of a dimension that `index` names."""
    from ..enums import ENUMS

    return ops.scatter(input, dim, index, src, reduce=ENUMS["ttcore.reduce_type"].Sum)


@composite(
    RESULT,
    golden="torch.gather(input, 1, index.long()[:, :, None].expand(-1, -1, input.shape[2]))",
    wide=False,
)
def tosa_gather(input: Tensor, index: Tensor) -> Tensor:
    """Returns rows of `input` [batch, rows, channels] that `index` [batch, count] names: [batch, count, channels]."""
    return ops.gather(input, 1, _spread(input, index))


@composite(
    RESULT,
    golden="torch.scatter(input, 1, index.long()[:, :, None].expand(-1, -1, input.shape[2]), src)",
    wide=False,
)
def tosa_scatter(input: Tensor, index: Tensor, src: Tensor) -> Tensor:
    """Returns `input` [batch, rows, channels] with rows of `src` where `index` [batch, count] says."""
    return ops.scatter(input, 1, _spread(input, index), src)


def _spread(input: Tensor, index: Tensor) -> Tensor:
    if len(input.shape) != 3 or len(index.shape) != 2:
        raise ValueError(
            f"input has shape {list(input.shape)} and index {list(index.shape)}; expected three and two dimensions"
        )
    return ops.repeat(ops.reshape(index, [*index.shape, 1]), [1, 1, input.shape[2]])
