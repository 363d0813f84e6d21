# SPDX-License-Identifier: Apache-2.0
"""Pools of images and volumes. PyTorch's channels come first, those of TTIR's pools last; the permutes that this takes
are what `ttir-erase-inverse-ops` removes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttmlir.dialects import ttir

import torch
import torch.nn.functional as F

from ..errors import UnsupportedError
from ..lowering import Lowering, Number, Value, rule
from .convolution import spatial, transposed, window
from .ir_attributes import i32_array

LARGEST = {
    2: (ttir.max_pool2d, lambda x, *sizes, results: ttir.max_pool2d_with_indices(x, [], *sizes, results=results)),
    3: (ttir.max_pool3d, ttir.max_pool3d_with_indices),
}
MEANS = {2: (ttir.avg_pool2d, F.avg_pool2d), 3: (ttir.avg_pool3d, F.avg_pool3d)}


def _pool_sizes(
    size: Sequence[int], kernel: Any, stride: Any, padding: Any, dilation: Any = 1
) -> tuple[list[int], ...]:
    """For each dimension. With ceil_mode a window may be larger than all of the image: it has as much as there is."""
    kernel, padding, dilation = (spatial(values, len(size)) for values in (kernel, padding, dilation))
    stride = spatial(stride, len(size)) if stride not in ([], (), None) else kernel
    most = [(n + 2 * p - 1) // d + 1 for n, p, d in zip(size, padding, dilation, strict=True)]
    return [min(pair) for pair in zip(kernel, most, strict=True)], stride, padding, dilation


def _channels_last(g: Lowering, x: Value, rank: int) -> Value:
    """Permutes [batch, *sizes, channels] from [batch, channels, *sizes]; adds a batch of one if there is none."""
    x = g.reshape(x, (1, *x.shape)) if x.rank == rank + 1 else x
    return g.permute(x, [0, *range(2, rank + 2), 1])


def _channels_first(g: Lowering, x: Value, fake: torch.Tensor) -> Value:
    """Inverts `_channels_last`, in the shape and dtype of the result."""
    return g.finish(g.permute(x, [0, x.rank - 1, *range(1, x.rank - 1)]), fake)


def _max_pool(rank: int) -> None:
    pool, pool_with_indices = LARGEST[rank]

    def lower(
        g: Lowering, x: Value, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:  # fmt: skip
        kernel, stride, padding, dilation = _pool_sizes(x.shape[-rank:], kernel, stride, padding, dilation)
        image = _channels_last(g, x, rank)
        several = isinstance(g.fake, tuple | list)
        arguments = [*(i32_array(sizes) for sizes in (kernel, stride, dilation, padding)), ceil_mode]
        if not several or not g.wants(1):
            y = g.value(pool(image.ir, *arguments), x.dtype)
            return (_channels_first(g, y, g.out(0)), y) if several else _channels_first(g, y, g.out())
        shape = (image.shape[0], *g.out(0).shape[-rank:], image.shape[-1])
        kinds = [x.dtype, torch.int32]
        found = pool_with_indices(image.ir, *arguments, results=[g.type(shape, kind) for kind in kinds])
        return tuple(_channels_first(g, Value(found[i], shape, kind), g.out(i)) for i, kind in enumerate(kinds))

    rule(f"max_pool{rank}d_with_indices", f"max_pool{rank}d")(lower)


def _max_pool_backward(rank: int) -> None:
    def lower(g: Lowering, grad: Value, x: Value, *sizes_and_indices: Any) -> Value:
        """Adds gradients where the maxima were."""
        indices = sizes_and_indices[-1]
        planes = math.prod(x.shape[:-rank])
        places = g.cast(g.reshape(indices, (planes, math.prod(indices.shape[-rank:]))), torch.int32)
        zero = g.full((planes, math.prod(x.shape[-rank:])), 0, grad.dtype)
        values = g.reshape(grad, places.shape)
        result = ttir.scatter(zero.ir, places.ir, values.ir, 1, g.reduce_type("sum"))
        return g.reshape(Value(result, zero.shape, grad.dtype), x.shape)

    rule(f"max_pool{rank}d_with_indices_backward")(lower)


def avg_pool(
    g: Lowering, x: Value, rank: int, kernel: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: Number | None = None,
) -> Value:  # fmt: skip
    """Returns means of windows over the last `rank` dimensions.

    Raises:
        UnsupportedError: the elements are not floats.
    """
    if not x.dtype.is_floating_point:
        raise UnsupportedError(f"means of {x.dtype}; the chip's are of floats")
    kernel, stride, padding, dilation = _pool_sizes(x.shape[-rank:], kernel, stride, padding)
    result = MEANS[rank][0](
        _channels_last(g, x, rank).ir, *(i32_array(sizes) for sizes in (kernel, stride, dilation, padding)), ceil_mode,
        count_include_pad=count_include_pad if divisor_override is None else True,
    )  # fmt: skip
    y = _channels_first(g, g.value(result, x.dtype), g.out())
    if divisor_override is None:
        return y
    numbers = _counts(x.shape[-rank:], kernel, stride, padding, ceil_mode).to(y.dtype) / divisor_override
    return g.mul(y, g.constant(numbers.reshape((1,) * (y.rank - rank) + numbers.shape[2:])))


def _counts(
    size: Sequence[int], kernel: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool = True
) -> torch.Tensor:
    """How many places of each window a mean is over, [1, 1, *windows]: those in the image, and its padding unless it
    does not count."""
    image, (_, pool) = torch.ones(1, 1, *size), MEANS[len(size)]
    sums = pool(image, kernel, stride, padding, ceil_mode, divisor_override=1)
    return sums / pool(image, kernel, stride, padding, ceil_mode, count_include_pad)


def _avg_pool_backward(rank: int) -> None:
    def lower(
        g: Lowering, grad: Value, x: Value, kernel: Any, stride: Any, padding: Any, ceil_mode: bool,
        count_include_pad: bool, divisor_override: Number | None,
    ) -> Value:  # fmt: skip
        """Returns each window's share of its gradient, added up where windows overlap: a transposed convolution with
        ones."""
        size = x.shape[-rank:]
        kernel, stride, padding, ones = _pool_sizes(size, kernel, stride, padding)
        if divisor_override is None:
            shares = _counts(size, kernel, stride, padding, ceil_mode, count_include_pad)
        else:
            shares = torch.full((1,) * (rank + 2), float(divisor_override))
        windows = g.reshape(grad, (math.prod(x.shape[:-rank]), 1, *grad.shape[-rank:]))
        each = g.div(windows, g.constant(shares.to(grad.dtype)))
        none = [0] * rank
        y = transposed(g, each, g.full((1, 1, *kernel), 1, grad.dtype), None, stride, none, none, ones, 1)
        for dim, (begin, count) in enumerate(zip(padding, size, strict=True), 2):
            y = window(g, y, dim, begin, count)
        return g.reshape(y, x.shape)

    rule(f"avg_pool{rank}d_backward")(lower)


for _rank in (2, 3):
    _max_pool(_rank)
    _max_pool_backward(_rank)
    _avg_pool_backward(_rank)


@rule("avg_pool2d")
def avg_pool2d(g: Lowering, x: Value, *arguments: Any) -> Value:
    return avg_pool(g, x, 2, *arguments)


@rule("avg_pool3d")
def avg_pool3d(g: Lowering, x: Value, *arguments: Any) -> Value:
    return avg_pool(g, x, 3, *arguments)


@rule("_adaptive_avg_pool2d", "adaptive_avg_pool2d")
def adaptive_avg_pool2d(g: Lowering, x: Value, output_size: Sequence[int]) -> Value:
    """Returns means of windows that differ in size where the sizes do not divide: one reduction for each row and
    column."""
    height, width = x.shape[-2:]
    rows, columns = output_size
    if height % rows == 0 and width % columns == 0:
        if rows == columns == 1:
            return g.finish(g.reduce(ttir.mean, x, [x.rank - 2, x.rank - 1], True), g.out())
        kernel = [height // rows, width // columns]
        return avg_pool2d(g, x, kernel, kernel)
    y = _adaptive(g, x, x.rank - 2, rows)
    return g.finish(_adaptive(g, y, x.rank - 1, columns), g.out())


@rule("_adaptive_avg_pool3d")
def adaptive_avg_pool3d(g: Lowering, x: Value, output_size: Sequence[int]) -> Value:
    y = x
    for dim, count in enumerate(output_size, x.rank - 3):
        y = _adaptive(g, y, dim, count)
    return g.finish(y, g.out())


@rule("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward")
def adaptive_avg_pool_backward(g: Lowering, grad: Value, x: Value) -> Value:
    """Returns each window's share of its gradient, as a product with what each window takes of each place, by
    dimension."""
    y = g.cast(grad, torch.float32)
    for dim in range(x.rank - 1, 0, -1):
        if y.shape[dim] == x.shape[dim]:  # no pool changes it, or each window has one place
            continue
        shares = g.constant(_shares(y.shape[dim], x.shape[dim]))
        to_last = [*(d for d in range(x.rank) if d != dim), dim]
        y = g.permute(y, to_last)
        rows = g.reshape(y, (y.size // y.shape[-1], y.shape[-1]))
        result = g.value(ttir.matmul(rows.ir, shares.ir), torch.float32)
        y = g.permute(g.reshape(result, (*y.shape[:-1], x.shape[dim])), [to_last.index(d) for d in range(x.rank)])
    return g.finish(y, g.out())


def _shares(windows: int, size: int) -> torch.Tensor:
    """Returns [windows, size]: the weight of each position in each window of an adaptive mean."""
    shares = torch.zeros(windows, size)
    for i in range(windows):
        begin, end = i * size // windows, -(-(i + 1) * size // windows)
        shares[i, begin:end] = 1 / (end - begin)
    return shares


def _adaptive(g: Lowering, x: Value, dim: int, count: int) -> Value:
    size = x.shape[dim]
    parts = []
    for i in range(count):
        begin, end = i * size // count, -(-(i + 1) * size // count)
        parts.append(g.reduce(ttir.mean, g.slice(x, dim, begin, end), [dim], True))
    return g.concat(parts, dim)
