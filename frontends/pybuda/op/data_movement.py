# SPDX-License-Identifier: Apache-2.0
"""Ops that move elements. Dimension -1 is the horizontal one, -2 the vertical one, -3 is Z."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..errors import PyBudaError
from .registry import op


def pieces(x: torch.Tensor, slices: int, dim: int) -> list[torch.Tensor]:
    """Returns `slices` equal parts of a dimension.

    Raises:
        PyBudaError: the dimension is not divisible by `slices`.
    """
    if not isinstance(slices, int) or slices < 1 or x.shape[dim] % slices:
        raise PyBudaError(f"slices is {slices!r}; expected a divisor of the size of dimension {dim}, {x.shape[dim]}")
    return list(x.split(x.shape[dim] // slices, dim))


def with_z(x: torch.Tensor) -> torch.Tensor:
    if x.dim() < 2:
        raise PyBudaError(f"the operand has rank {x.dim()}; expected 2 at least")
    return x if x.dim() > 2 else x.unsqueeze(0)


def with_dimensions(x: torch.Tensor) -> None:
    """Refuses a tensor of rank 0, which has no dimension to change."""
    if x.dim() == 0:
        raise PyBudaError("the operand has rank 0; expected 1 at least")


def slice_to_z(x: torch.Tensor, slices: int, dim: int) -> torch.Tensor:
    return torch.cat(pieces(with_z(x), slices, dim), -3)


def stack_z(x: torch.Tensor, slices: int, dim: int) -> torch.Tensor:
    x = with_z(x)
    return torch.cat(pieces(x, x.shape[-3] if slices == -1 else slices, -3), dim)


@op
def HSlice(operandA: torch.Tensor, slices: int) -> torch.Tensor:
    """Cuts the horizontal dimension into `slices` parts, which become Z."""
    return slice_to_z(operandA, slices, -1)


@op
def VSlice(operandA: torch.Tensor, slices: int) -> torch.Tensor:
    """Cuts the vertical dimension into `slices` parts, which become Z."""
    return slice_to_z(operandA, slices, -2)


@op
def HStack(operandA: torch.Tensor, slices: int = -1) -> torch.Tensor:
    """Puts `slices` parts of Z (-1: each element of it) next to each other."""
    return stack_z(operandA, slices, -1)


@op
def VStack(operandA: torch.Tensor, slices: int = -1) -> torch.Tensor:
    """Puts `slices` parts of Z (-1: each element of it) below each other."""
    return stack_z(operandA, slices, -2)


@op
def Transpose(operandA: torch.Tensor, dim0: int, dim1: int, z_dim_slice: int = -1) -> torch.Tensor:
    """Swaps two dimensions. `z_dim_slice` has no effect: it is about the order of tiles in a buffer."""
    return operandA.transpose(dim0, dim1)


@op
def Reshape(operandA: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Returns the elements in order, in another shape."""
    return operandA.reshape(tuple(shape))


def in_range(x: torch.Tensor, dim: int, start: int, stop: int) -> None:
    """Raises PyBudaError where positions are outside of a dimension."""
    size = x.shape[dim]
    if not 0 <= start < stop <= size:
        raise PyBudaError(f"positions {start} to {stop} (exclusive) of dimension {dim}; it has {size}")


@op
def Index(operandA: torch.Tensor, dim: int, start: int, stop: int | None = None, stride: int = 1) -> torch.Tensor:
    """Returns elements `start` to `stop` (exclusive) of a dimension, each `stride`-th; without `stop` the one at
    `start`."""
    size = operandA.shape[dim]
    start = start + size if start < 0 else start
    stop = start + 1 if stop is None else stop + size if stop < 0 else stop
    in_range(operandA, dim, start, stop)
    if stride < 1:
        raise PyBudaError(f"stride is {stride}; expected 1 at least")
    index = [slice(None)] * operandA.dim()
    index[dim % operandA.dim()] = slice(start, stop, stride)
    return operandA[tuple(index)]


@op
def Select(operandA: torch.Tensor, dim: int, index: int | tuple[int, int], stride: int = 0) -> torch.Tensor:
    """Returns the element at `index` of a dimension, or `(start, length)`; with a stride the same of each `stride`
    elements."""
    start, length = (index, 1) if isinstance(index, int) else index
    size = operandA.shape[dim]
    if stride and stride < length:
        raise PyBudaError(f"stride is {stride}; expected 0, or the length of the range, {length}, at least")
    in_range(operandA, dim, start, start + length)
    starts = range(start, size - length + 1, stride) if stride else [start]
    parts = [operandA.narrow(dim, first, length) for first in starts]
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim)


# Modes of Pad, by PyTorch's names.
PAD_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "replicate"}


@op
def Pad(operandA: torch.Tensor, pad: Sequence[int], mode: str = "constant", channel_last: bool = False) -> torch.Tensor:
    """Adds (left, right) or (left, right, top, bottom) elements: zeros, or by `mode` "reflect" or "replicate"."""
    if len(pad) not in (2, 4):
        raise PyBudaError(f"pad is {tuple(pad)!r}; expected (left, right) or (left, right, top, bottom)")
    if mode not in PAD_MODES:
        raise PyBudaError(f"mode is {mode!r}; expected {', '.join(PAD_MODES)}")
    x = operandA.movedim(-1, -3) if channel_last else operandA
    x = torch.nn.functional.pad(x, tuple(pad), PAD_MODES[mode])
    return x.movedim(-3, -1) if channel_last else x


@op
def PadTile(operandA: torch.Tensor, dim: int, original_length: int) -> torch.Tensor:
    """Pads a dimension with zeros to a multiple of 32."""
    with_dimensions(operandA)
    if original_length != operandA.shape[dim]:
        raise PyBudaError(f"original_length is {original_length}; dimension {dim} has size {operandA.shape[dim]}")
    dim = dim % operandA.dim()
    missing = -original_length % 32
    return torch.nn.functional.pad(operandA, (0, 0) * (operandA.dim() - 1 - dim) + (0, missing))


@op
def Concatenate(*operands: torch.Tensor, axis: int) -> torch.Tensor:
    """Returns operands one behind the other along a dimension."""
    return torch.cat(operands, axis)


@op
def BinaryStack(operandA: torch.Tensor, operandB: torch.Tensor, dim: int) -> torch.Tensor:
    """Returns elements of two operands in turn along a dimension, which doubles."""
    with_dimensions(operandA)
    stacked = torch.stack((operandA, operandB), dim if dim == -1 else dim % operandA.dim() + 1)
    shape = list(operandA.shape)
    shape[dim] *= 2
    return stacked.reshape(shape)


@op
def Repeat(operandA: torch.Tensor, factors: Sequence[int]) -> torch.Tensor:
    """Repeats whole dimensions; one factor for each."""
    return operandA.repeat(*factors)


@op
def Broadcast(operandA: torch.Tensor, dim: int, shape: int) -> torch.Tensor:
    """Repeats a dimension of size 1."""
    sizes = list(operandA.shape)
    sizes[dim] = shape
    return operandA.expand(sizes)


@op
def Unsqueeze(operandA: torch.Tensor, dim: int) -> torch.Tensor:
    """Returns a new dimension of size 1."""
    return operandA.unsqueeze(dim)


@op
def Squeeze(operandA: torch.Tensor, dim: int) -> torch.Tensor:
    """Removes a dimension of size 1."""
    if operandA.shape[dim] != 1:
        raise PyBudaError(f"dimension {dim} has size {operandA.shape[dim]}; expected 1")
    return operandA.squeeze(dim)


@op
def AdvIndex(operandA: torch.Tensor, operandB: torch.Tensor, dim: int = 0) -> torch.Tensor:
    """Returns rows of operandA at the positions that operandB holds."""
    return operandA.index_select(dim, operandB.reshape(-1).long())


@op
def Embedding(operandA: torch.Tensor, operandB: torch.Tensor) -> torch.Tensor:
    """Returns rows of the table operandB at the positions that operandA holds."""
    return torch.nn.functional.embedding(operandA.long(), operandB)
