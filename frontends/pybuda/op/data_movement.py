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
def Transpose(
    operandA: torch.Tensor, dim0: int, dim1: int, z_dim_slice: int = -1, out_dtype: torch.dtype = torch.float32
) -> torch.Tensor:
    """Swaps two dimensions. `z_dim_slice` has no effect: it is about the order of tiles in a buffer. `out_dtype` tells
    integers from floats only: formats of results are those of the device and of `configure_mixed_precision`."""
    swapped = operandA.transpose(dim0, dim1)
    return swapped if out_dtype.is_floating_point else swapped.to(out_dtype)


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
    """Concatenates operands along a dimension."""
    return torch.cat(operands, axis)


@op
def Stack(*operands: torch.Tensor, axis: int) -> torch.Tensor:
    """Stacks operands along a new dimension."""
    return torch.stack(operands, axis)


@op
def Interleave(*operands: torch.Tensor, axis: int, stride: int) -> torch.Tensor:
    """Returns `stride` elements of each operand in turn along a dimension."""
    size = operands[0].shape[axis]
    if not isinstance(stride, int) or stride < 1 or size % stride:
        raise PyBudaError(f"stride is {stride!r}; expected a divisor of the size of dimension {axis}, {size}")
    dim = axis % operands[0].dim()
    parts = [x.unflatten(dim, (size // stride, stride)) for x in operands]
    return torch.stack(parts, dim + 1).flatten(dim, dim + 2)


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


@op
def Narrow(operandA: torch.Tensor, dim: int, start: int, length: int, original_length: int) -> torch.Tensor:
    """Returns `length` elements of a dimension from `start` on. original_length: the size that the dimension had."""
    in_range(operandA, dim, start, start + length)
    return operandA.narrow(dim, start, length)


@op
def IndexCopy(operandA: torch.Tensor, index: torch.Tensor, value: torch.Tensor, dim: int) -> torch.Tensor:
    """Returns operandA with the elements of `value` at the positions `index` of a dimension."""
    return torch.index_copy(operandA, dim, index.reshape(-1).long(), value)


@op
def PixelShuffle(operandA: torch.Tensor, upscale_factor: int) -> torch.Tensor:
    """Returns [..., C, H f, W f] of [..., C f^2, H, W]: channels become pixels."""
    return torch.nn.functional.pixel_shuffle(operandA, upscale_factor)


TILE = 32


@op
def BudaPad(operandA: torch.Tensor, paddings: tuple[int, int], value: float) -> torch.Tensor:
    """Adds whole tiles with a value at the end of the last two dimensions; the tile before them is filled with zeros.
    paddings: numbers of tiles, of rows and columns."""
    rows, columns = tile_counts(operandA, paddings)
    sizes = operandA.shape[-2:]
    filled = [-size % TILE if count else 0 for size, count in zip(sizes, (rows, columns), strict=True)]
    whole = torch.nn.functional.pad(operandA, (0, filled[1], 0, filled[0]))
    return torch.nn.functional.pad(whole, (0, columns * TILE, 0, rows * TILE), value=value)


@op
def BudaUnpad(operandA: torch.Tensor, original_length: tuple[int, int], paddings: tuple[int, int]) -> torch.Tensor:
    """Returns what `BudaPad` was given: the first elements of the last two dimensions. original_length: their sizes."""
    counts = tile_counts(operandA, paddings)
    for dim, size, count in zip((-2, -1), original_length, counts, strict=True):
        padded = -(-size // TILE) * TILE + count * TILE if count else size
        if operandA.shape[dim] < size or (count and operandA.shape[dim] != padded):
            raise PyBudaError(
                f"dimension {dim} has size {operandA.shape[dim]}; expected {padded} of {size} and {count} tiles"
            )
    return operandA[..., : original_length[0], : original_length[1]]


def tile_counts(x: torch.Tensor, paddings: Sequence[int]) -> tuple[int, int]:
    """Returns numbers of tiles that are added.

    Raises:
        PyBudaError: they are no two numbers, or the operand has rank 1 or less.
    """
    if x.dim() < 2:
        raise PyBudaError(f"the operand has rank {x.dim()}; expected 2 at least")
    if len(paddings) != 2 or not all(isinstance(count, int) and count >= 0 for count in paddings):
        raise PyBudaError(f"paddings is {tuple(paddings)!r}; expected numbers of tiles for rows and columns")
    return paddings[0], paddings[1]


@op
def DRAMQueue(operandA: torch.Tensor, *, num_entries: int) -> torch.Tensor:
    """Returns the operand through a buffer in DRAM of `num_entries` entries."""
    if not isinstance(num_entries, int) or num_entries < 1:
        raise PyBudaError(f"num_entries is {num_entries!r}; expected 1 or more")
    return operandA.clone()
