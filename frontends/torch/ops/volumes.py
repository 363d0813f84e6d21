# SPDX-License-Identifier: Apache-2.0
"""Pools of volumes, as two pools of images: over the rows and columns of each slice, and then over slices, in an image
with a row for each slice and a column for each place in it. Windows are boxes, so that their sizes multiply."""

from __future__ import annotations

import math
from typing import Any

from ttmlir.dialects import ttir

import torch

from ..errors import UnsupportedError
from ..lowering import Lowering, Number, Value, rule
from .convolution import counts, means_gradient, spatial
from .ir_attributes import i32_array

TO_NDHWC, TO_NCDHW = [0, 2, 3, 4, 1], [0, 4, 1, 2, 3]


def _sizes(kernel: Any, stride: Any, *others: Any) -> tuple[list[list[int]], list[list[int]]]:
    """Kernel, stride and others of the pool over slices' rows and columns, and of that over slices."""
    kernel = spatial(kernel, 3)
    given = [kernel, spatial(stride, 3) if stride not in ([], (), None) else kernel, *(spatial(v, 3) for v in others)]
    neutral = [1, 1, 0, 1]
    return [each[1:] for each in given], [[each[0], one] for each, one in zip(given, neutral, strict=False)]


def _slices(g: Lowering, x: Value) -> Value:
    """[batch * depth, height, width, channels] of [batch, channels, depth, height, width], with or without a batch."""
    x = g.permute(g.reshape(x, (1, *x.shape)) if x.rank == 4 else x, TO_NDHWC)
    return g.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _columns(g: Lowering, x: Value, depth: int) -> Value:
    """Pooled slices as [batch, depth, height * width, channels]."""
    count, height, width, channels = x.shape
    return g.reshape(x, (count // depth, depth, height * width, channels))


def _volume(g: Lowering, x: Value, fake: torch.Tensor) -> Value:
    """Pooled columns in the shape and dtype of the result."""
    depth, height, width = fake.shape[-3:]
    x = g.reshape(x, (x.shape[0], depth, height, width, x.shape[-1]))
    return g.finish(g.permute(x, TO_NCDHW), fake)


@rule("max_pool3d_with_indices", "max_pool3d")
def max_pool3d(
    g: Lowering, x: Value, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    parts = _sizes(kernel, stride, padding, dilation)
    depth, height, width = x.shape[-3:]
    several = isinstance(g.fake, tuple | list)
    with_places = several and g.wants(1)

    def pooled(image: Value, sizes: list[list[int]], out: tuple[int, ...]) -> tuple[Value, Value]:
        """The pool of an image, and where in the image each value is from, where that is needed."""
        kernel, stride, padding, dilation = sizes
        arguments = [i32_array(v) for v in (kernel, stride, dilation, padding)]
        if not with_places:
            y = g.value(ttir.max_pool2d(image.ir, *arguments, ceil_mode), x.dtype)
            return y, y
        kinds = [g.type(out, x.dtype), g.type(out, torch.int32)]
        y, places = ttir.max_pool2d_with_indices(image.ir, [], *arguments, ceil_mode, results=kinds)
        return Value(y, out, x.dtype), Value(places, out, torch.int32)

    fake = g.out(0) if several else g.out()
    slices, (deep, high, wide) = _slices(g, x), fake.shape[-3:]
    batch, channels = slices.shape[0] // depth, slices.shape[-1]
    y, places = pooled(slices, parts[0], (batch * depth, high, wide, channels))
    y, chosen = pooled(_columns(g, y, depth), parts[1], (batch, deep, high * wide, channels))
    if not with_places:
        return (_volume(g, y, fake), y) if several else _volume(g, y, fake)
    # Of each slice's places those of the slice that was chosen.
    ahead = g.mul(g.iota((1, depth, 1, 1), 1), g.full((1, 1, 1, 1), height * width, torch.int32))
    known = g.add(_columns(g, places, depth), ahead)
    known = g.reshape(known, (batch, depth * high * wide, channels))
    index = g.reshape(chosen, (batch, deep * high * wide, channels))
    found = Value(
        ttir.gather(known.ir, index.ir, 1, results=[g.type(index.shape, torch.int32)]), index.shape, torch.int32
    )
    return _volume(g, y, fake), _volume(g, g.reshape(found, chosen.shape), g.out(1))


def _counts(x: Value, parts: Any, ceil_mode: bool, count_include_pad: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """How many places a window has in a slice, and in how many slices."""
    of_slice, of_depth = ((kernel, stride, padding) for kernel, stride, padding in parts)
    return (
        counts(x.shape[-2:], *of_slice, ceil_mode, count_include_pad),
        counts((x.shape[-3], 1), *of_depth, ceil_mode, count_include_pad),
    )


@rule("avg_pool3d")
def avg_pool3d(
    g: Lowering, x: Value, kernel: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: Number | None = None,
) -> Value:  # fmt: skip
    if not x.dtype.is_floating_point:
        raise UnsupportedError(f"means of {x.dtype}; the chip's are of floats")
    parts = _sizes(kernel, stride, padding)
    counted = count_include_pad or divisor_override is not None

    def pooled(image: Value, sizes: list[list[int]]) -> Value:
        kernel, stride, padding = (i32_array(v) for v in sizes)
        result = ttir.avg_pool2d(
            image.ir, kernel, stride, i32_array([1, 1]), padding, ceil_mode, count_include_pad=counted
        )
        return g.value(result, x.dtype)

    y = pooled(_columns(g, pooled(_slices(g, x), parts[0]), x.shape[-3]), parts[1])
    y = _volume(g, y, g.out())
    if divisor_override is None:
        return y
    of_slice, of_depth = _counts(x, parts, ceil_mode, True)
    numbers = of_depth.reshape(-1, 1, 1) * of_slice.reshape(of_slice.shape[-2:]) / divisor_override
    return g.mul(y, g.constant(numbers.to(y.dtype).reshape((1,) * (x.rank - 3) + tuple(numbers.shape))))


@rule("avg_pool3d_backward")
def avg_pool3d_backward(
    g: Lowering, grad: Value, x: Value, kernel: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool, divisor_override: Number | None,
) -> Value:  # fmt: skip
    """Returns the gradient of the pool over slices first, and then of that over their rows and columns."""
    parts = _sizes(kernel, stride, padding)
    if divisor_override is None:
        of_slice, of_depth = _counts(x, parts, ceil_mode, count_include_pad)
    else:
        of_slice, of_depth = torch.full((1, 1, 1, 1), float(divisor_override)), torch.ones(1, 1, 1, 1)
    planes, depth = math.prod(x.shape[:-3]), x.shape[-3]
    deep, high, wide = grad.shape[-3:]
    y = g.reshape(grad, (planes, 1, deep, high * wide))
    y = means_gradient(g, y, (depth, high * wide), *parts[1], of_depth)
    y = means_gradient(g, g.reshape(y, (planes * depth, 1, high, wide)), x.shape[-2:], *parts[0], of_slice)
    return g.reshape(y, x.shape)
