# SPDX-License-Identifier: Apache-2.0
"""Views, slices, joins: ops of aten that move elements. Views are values here: the graph is functional."""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir.dialects import ttir

import torch

from ..errors import UnsupportedError
from ..lowering import Lowering, Number, OpenInt, Value, dimension, rule
from ..strided import elements_at
from .indexing import rows_of, scattered

LAST = 2**63 - 1


@rule(
    "view", "reshape", "_unsafe_view", "view_copy", "_reshape_alias", "_reshape_copy", "flatten.using_ints", "view_as"
)
def view(g: Lowering, x: Value, *shape: object) -> Value:
    return g.reshape(x, tuple(g.out().shape))


@rule("view.dtype")
def view_dtype(g: Lowering, x: Value, dtype: torch.dtype) -> Value:
    if x.dtype.itemsize != dtype.itemsize:
        raise UnsupportedError(f"view from {x.dtype} to {dtype} changes the size of elements")
    return Value(ttir.bitcast_convert(x.ir, results=[g.type(x.shape, dtype)]), x.shape, dtype)


@rule("alias", "clone", "contiguous", "detach", "lift_fresh", "lift_fresh_copy", "lift", "alias_copy", "detach_copy",
      "prims.view_of", "positive", "resolve_conj", "resolve_neg", "prims.device_put")  # fmt: skip
def same(g: Lowering, x: Value, *rest: object, **options: object) -> Value:
    return x


@rule("permute", "permute_copy")
def permute(g: Lowering, x: Value, dims: Sequence[int]) -> Value:
    return g.permute(x, [dimension(d, x.rank) for d in dims])


@rule("transpose.int", "transpose_copy.int", "swapaxes")
def transpose(g: Lowering, x: Value, dim0: int, dim1: int) -> Value:
    order = list(range(x.rank))
    if x.rank:
        a, b = dimension(dim0, x.rank), dimension(dim1, x.rank)
        order[a], order[b] = order[b], order[a]
    return g.permute(x, order)


@rule("t", "t_copy")
def transposed(g: Lowering, x: Value) -> Value:
    return g.permute(x, list(reversed(range(x.rank))))


@rule("expand", "expand_copy", "broadcast_to", "prims.broadcast_in_dim_expand")
def expand(g: Lowering, x: Value, *sizes: object, implicit: bool = False) -> Value:
    return g.expand(x, tuple(g.out().shape))


@rule("prims.broadcast_in_dim")
def broadcast_in_dim(g: Lowering, x: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
    places = [1] * len(shape)
    for size, dim in zip(x.shape, dims, strict=True):
        places[dim] = size
    return g.expand(g.reshape(x, places), tuple(shape))


@rule("unsqueeze", "unsqueeze_copy", "squeeze", "squeeze.dim", "squeeze.dims", "squeeze_copy.dim", "squeeze_copy.dims",
      "prims.squeeze", "unflatten.int", "prims.collapse_view", "prims.split_dim")  # fmt: skip
def reshaped(g: Lowering, x: Value, *rest: object) -> Value:
    return g.reshape(x, tuple(g.out().shape))


def clipped(position: int | None, size: int, default: int) -> int:
    """Returns a position of a slice, as Python counts it, within 0 and `size`."""
    if position is None:
        return default
    return min(max(position + size if position < 0 else position, 0), size)


@rule("slice.Tensor", "slice_copy.Tensor")
def slice_(
    g: Lowering, x: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Value:
    dim = dimension(dim, x.rank)
    begin = clipped(start, x.shape[dim], 0)
    return g.slice(x, dim, begin, max(clipped(end, x.shape[dim], x.shape[dim]), begin), step)


@rule("narrow")
def narrow(g: Lowering, x: Value, dim: int, start: int, length: int) -> Value:
    dim = dimension(dim, x.rank)
    begin = clipped(start, x.shape[dim], 0)
    return g.slice(x, dim, begin, begin + length)


@rule("select.int", "select_copy.int")
def select(g: Lowering, x: Value, dim: int, index: int) -> Value:
    dim = dimension(dim, x.rank)
    index = index + x.shape[dim] if index < 0 else index
    return g.reshape(g.slice(x, dim, index, index + 1), tuple(g.out().shape))


def pieces(g: Lowering, x: Value, dim: int, sizes: Sequence[int]) -> tuple[Value, ...]:
    begins = [sum(sizes[:i]) for i in range(len(sizes))]
    return tuple(
        g.slice(x, dim, begin, begin + size) if g.wants(i) else x
        for i, (begin, size) in enumerate(zip(begins, sizes, strict=True))
    )


@rule("split_with_sizes", "split_with_sizes_copy", "split.sizes")
def split_with_sizes(g: Lowering, x: Value, sizes: Sequence[int], dim: int = 0) -> tuple[Value, ...]:
    return pieces(g, x, dimension(dim, x.rank), list(sizes))


@rule("split.Tensor", "split_copy.Tensor", "chunk")
def split(g: Lowering, x: Value, size: int, dim: int = 0) -> tuple[Value, ...]:
    dim = dimension(dim, x.rank)
    return pieces(g, x, dim, [part.shape[dim] for part in g.fake])


@rule("unbind.int", "unbind_copy.int")
def unbind(g: Lowering, x: Value, dim: int = 0) -> tuple[Value, ...]:
    dim = dimension(dim, x.rank)
    shape = tuple(n for d, n in enumerate(x.shape) if d != dim)
    return tuple(g.reshape(g.slice(x, dim, i, i + 1), shape) if g.wants(i) else x for i in range(x.shape[dim]))


@rule("cat", "concat")
def cat(g: Lowering, xs: Sequence[Value], dim: int = 0) -> Value:
    dtype = g.out().dtype
    # A tensor [0] joins with any other.
    values = [g.cast(x, dtype) for x in xs if not (x.rank == 1 and x.size == 0 and len(g.out().shape) > 1)]
    values = [x for x in values if x.size] or values[:1]
    return g.concat(values, dimension(dim, values[0].rank))


@rule("stack")
def stack(g: Lowering, xs: Sequence[Value], dim: int = 0) -> Value:
    shape = g.out().shape
    dim = dimension(dim, len(shape))
    parts = [g.reshape(g.cast(x, g.out().dtype), (*x.shape[:dim], 1, *x.shape[dim:])) for x in xs]
    return g.concat(parts, dim)


@rule("flip")
def flip(g: Lowering, x: Value, dims: Sequence[int]) -> Value:
    if not dims or not x.rank:
        return x
    return g.call(ttir.reverse, x, dimensions=[dimension(d, x.rank) for d in dims])


@rule("roll")
def roll(g: Lowering, x: Value, shifts: int | Sequence[int], dims: int | Sequence[int] = ()) -> Value:
    shifts = [shifts] if isinstance(shifts, int) else list(shifts)
    dims = [dims] if isinstance(dims, int) else list(dims)
    if not dims:
        flat = g.reshape(x, (x.size,))
        return g.reshape(_rolled(g, flat, 0, shifts[0]), x.shape)
    for shift, dim in zip(shifts, dims, strict=True):
        x = _rolled(g, x, dimension(dim, x.rank), shift)
    return x


def _rolled(g: Lowering, x: Value, dim: int, shift: int) -> Value:
    size = x.shape[dim]
    cut = -shift % size if size else 0
    if not cut:
        return x
    return g.concat([g.slice(x, dim, cut, size), g.slice(x, dim, 0, cut)], dim)


@rule("repeat")
def repeat(g: Lowering, x: Value, repeats: Sequence[int]) -> Value:
    x = g.reshape(x, (1,) * (len(repeats) - x.rank) + x.shape)
    if 0 in repeats or not x.size:
        return g.full(g.out().shape, 0, x.dtype)
    if all(n == 1 for n in repeats):
        return x
    return g.call(ttir.repeat, x, repeat_dimensions=list(repeats))


@rule("tile")
def tile(g: Lowering, x: Value, dims: Sequence[int]) -> Value:
    return repeat(g, x, [1] * (x.rank - len(dims)) + list(dims))


@rule("repeat_interleave.self_int")
def repeat_interleave(g: Lowering, x: Value, repeats: int, dim: int | None = None, output_size: object = None) -> Value:
    if dim is None:
        x, dim = g.reshape(x, (x.size,)), 0
    return g.call(ttir.repeat_interleave, x, repeats=repeats, dim=dimension(dim, x.rank))


@rule("constant_pad_nd")
def constant_pad(g: Lowering, x: Value, pad: Sequence[int], value: Number = 0) -> Value:
    low_high = [(pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]
    padding = [0] * (2 * x.rank)
    for i, (low, high) in enumerate(low_high):
        dim = x.rank - 1 - i
        if low < 0 or high < 0:
            x = g.slice(x, dim, max(-low, 0), x.shape[dim] - max(-high, 0))
        padding[2 * dim], padding[2 * dim + 1] = max(low, 0), max(high, 0)
    # An open number can be 0, for which no op is left: one element more is added, and taken away again.
    more = [int(isinstance(n, OpenInt)) for low_and_high in reversed(low_high) for n in low_and_high]
    more = [0] * (len(padding) - len(more)) + more
    x = g.pad(x, [n + extra for n, extra in zip(padding, more, strict=True)], value)
    for dim in range(x.rank):
        low, high = more[2 * dim : 2 * dim + 2]
        x = g.slice(x, dim, low, x.shape[dim] - high) if low or high else x
    return x


@rule(*(f"replication_pad{n}d_backward" for n in (1, 2, 3)))
def replication_pad_backward(g: Lowering, grad: Value, x: Value, padding: Sequence[int]) -> Value:
    """Returns the outermost values get what their copies get, too."""
    for i in range(len(padding) // 2):
        dim, low, high = x.rank - 1 - i, *padding[2 * i : 2 * i + 2]
        size, end = x.shape[dim], grad.shape[dim]
        inner = constant_pad(g, grad, [*[0, 0] * i, -low, -high])
        for copies, begin, place in ((low, 0, 0), (high, end - high, size - 1)):
            if copies > 0:
                more = g.reduce(ttir.sum, g.slice(grad, dim, begin, begin + copies), [dim], True)
                parts = [g.slice(inner, dim, a, b) for a, b in ((0, place), (place + 1, size)) if a < b]
                parts.insert(int(place > 0), g.add(g.slice(inner, dim, place, place + 1), more))
                inner = g.concat(parts, dim)
        grad = inner
    return grad


@rule("slice_scatter")
def slice_scatter(
    g: Lowering, x: Value, source: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Value:
    """Returns `x` with a slice replaced, by concatenating the parts before and after it; for steps above 1, also those
    in between.
    """
    dim = dimension(dim, x.rank)
    size = x.shape[dim]
    begin = clipped(start, size, 0)
    finish = max(clipped(end, size, size), begin)
    source = g.cast(source, x.dtype)
    if begin == finish:
        return x
    if step == 1:
        parts = [g.slice(x, dim, 0, begin), source, g.slice(x, dim, finish, size)]
        return g.concat([part for part in parts if part.size] or [x], dim)
    places = [*range(begin, finish, step)]
    positions = [-1] * size
    for i, place in enumerate(places):
        positions[place] = i
    return _replaced(g, x, source, dim, positions)


def _replaced(g: Lowering, x: Value, source: Value, dim: int, positions: Sequence[int]) -> Value:
    """Replaces, along `dim`, element i of `x` by element positions[i] of `source` where that is not negative."""
    rows = []
    for i, position in enumerate(positions):
        rows.append(g.slice(x, dim, i, i + 1) if position < 0 else g.slice(source, dim, position, position + 1))
    return g.concat(rows, dim)


@rule("select_scatter")
def select_scatter(g: Lowering, x: Value, source: Value, dim: int, index: int) -> Value:
    dim = dimension(dim, x.rank)
    index = index + x.shape[dim] if index < 0 else index
    row = g.reshape(source, tuple(1 if d == dim else n for d, n in enumerate(x.shape)))
    return slice_scatter(g, x, row, dim, index, index + 1)


@rule("copy")
def copy(g: Lowering, x: Value, source: Value, non_blocking: bool = False) -> Value:
    return g.expand(g.cast(source, x.dtype), x.shape)


@rule("as_strided", "as_strided_copy")
def as_strided(
    g: Lowering, x: Value, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Value:
    """Returns a view of the elements in the order of PyTorch's memory, which need not be row-major.

    Positions are computed now; one slice is used where they are one.
    """
    requested = elements_at(g.given[0], size, stride, storage_offset).flatten()
    if bool((requested < 0).any()):
        raise UnsupportedError("a view of memory that its operand has no part of")
    flat = g.reshape(x, (x.size,))
    first, count = int(requested[0]), requested.numel()
    if torch.equal(requested, torch.arange(first, first + count)):
        return g.reshape(g.slice(flat, 0, first, first + count), tuple(size))
    return g.reshape(rows_of(g, g.reshape(flat, (x.size, 1)), g.constant(requested.to(torch.int32))), tuple(size))


@rule("as_strided_scatter")
def as_strided_scatter(
    g: Lowering, x: Value, source: Value, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Value:
    """Returns `x` with the elements of a view of its memory replaced; memory around `x` is unused."""
    requested = elements_at(g.given[0], size, stride, storage_offset).flatten()
    flat = g.reshape(source, (source.size,))
    (mine,) = (requested >= 0).nonzero(as_tuple=True)
    if mine.numel() < requested.numel():
        flat = g.reshape(rows_of(g, g.reshape(flat, (flat.size, 1)), g.constant(mine.to(torch.int32))), (mine.numel(),))
    to = g.constant(requested[mine].to(torch.int32))
    return g.reshape(scattered(g, g.reshape(x, (x.size,)), 0, to, flat), x.shape)


@rule("diagonal", "diagonal_copy")
def diagonal(g: Lowering, x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    a, b = dimension(dim1, x.rank), dimension(dim2, x.rank)
    rest = [d for d in range(x.rank) if d not in (a, b)]
    rows, columns = x.shape[a], x.shape[b]
    y = g.permute(x, [*rest, a, b])
    flat = g.reshape(y, (*y.shape[:-2], rows * columns))
    count = g.out().shape[-1]
    begin = offset if offset >= 0 else -offset * columns
    if not count:
        return g.full(g.out().shape, 0, x.dtype)
    return g.slice(flat, flat.rank - 1, begin, begin + (count - 1) * (columns + 1) + 1, columns + 1)


@rule("unfold", "unfold_copy")
def unfold(g: Lowering, x: Value, dim: int, size: int, step: int) -> Value:
    """Returns [..., n, ...] -> [..., windows, ..., size]."""
    dim = dimension(dim, x.rank)
    windows = (x.shape[dim] - size) // step + 1
    parts = []
    for i in range(size):
        part = g.slice(x, dim, i, i + (windows - 1) * step + 1, step)
        parts.append(g.reshape(part, (*part.shape, 1)))
    return g.concat(parts, x.rank)


@rule("pixel_shuffle")
def pixel_shuffle(g: Lowering, x: Value, upscale_factor: int) -> Value:
    *batch, channels, height, width = x.shape
    r, n = upscale_factor, len(x.shape) - 3
    y = g.reshape(x, (*batch, channels // r**2, r, r, height, width))
    y = g.permute(y, [*range(n), n, n + 3, n + 1, n + 4, n + 2])
    return g.reshape(y, tuple(g.out().shape))
