# SPDX-License-Identifier: Apache-2.0
"""Convolutions, pools, resampling. PyTorch's images are NCHW, which convolutions of TTIR take as they are, so that
`ttir-fusing` sees what follows them; pools are NHWC, and the permutes that this takes are what `ttir-erase-inverse-ops`
removes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from ...dialects import ttir
from ..errors import UnsupportedError
from ..ir_attributes import i32_array
from ..lowering import Lowering, Number, Value, rule

TO_NHWC, TO_NCHW = [0, 2, 3, 1], [0, 3, 1, 2]
NCHW = {"batch_dim": 0, "channel_dim": 1, "height_dim": 2, "width_dim": 3}


def spatial(values: Any, rank: int) -> list[int]:
    """One number for each spatial dimension."""
    given = [int(values)] * rank if isinstance(values, int) else [int(v) for v in values]
    return given * rank if len(given) == 1 else given


@rule("convolution", "_convolution")
def convolution(
    g: Lowering, x: Value, weight: Value, bias: Value | None, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, *backends: Any,
) -> Value:  # fmt: skip
    rank = weight.rank - 2
    stride, padding, dilation = (spatial(v, rank) for v in (stride, padding, dilation))
    if not weight.dtype.is_floating_point:
        raise UnsupportedError(f"a convolution of {weight.dtype}; the chip's are of floats")
    if transposed:
        return transposed_convolution(
            g, x, weight, bias, stride, padding, dilation, spatial(output_padding, rank), groups
        )
    return g.finish(convolved(g, x, weight, bias, stride, padding, dilation, groups), g.out())


def convolved(
    g: Lowering, x: Value, weight: Value, bias: Value | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], groups: int,
) -> Value:  # fmt: skip
    rank = weight.rank - 2
    per_channel = None if bias is None else g.reshape(bias, (1, bias.size, *(1,) * rank))
    if rank == 1:
        # As an image of height 1.
        image, kernel = (g.reshape(v, (v.shape[0], v.shape[1], 1, v.shape[2])) for v in (x, weight))
        channels = None if bias is None else g.reshape(bias, (1, bias.size, 1, 1))
        y = _conv2d(g, image, kernel, channels, [1, *stride], [0, *padding], [1, *dilation], groups)
        return g.reshape(y, (y.shape[0], y.shape[1], y.shape[3]))
    if rank == 2:
        return _conv2d(g, x, weight, per_channel, stride, padding, dilation, groups)
    if any(d != 1 for d in dilation):
        raise UnsupportedError(f"a convolution of volumes with dilation {list(dilation)}; expected 1")
    result = ttir.conv3d(
        x.ir, weight.ir, i32_array(stride), i32_array(padding), groups,
        batch_dim=0, channel_dim=1, depth_dim=2, height_dim=3, width_dim=4,
    )  # fmt: skip
    y = g.value(result, x.dtype)
    return y if per_channel is None else g.add(y, per_channel)


def _conv2d(
    g: Lowering, x: Value, weight: Value, bias: Value | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], groups: int,
) -> Value:  # fmt: skip
    last = None if bias is None else g.reshape(bias, (1, 1, 1, bias.size)).ir
    sizes = [i32_array(values) for values in (stride, padding, dilation)]
    return g.value(ttir.conv2d(x.ir, weight.ir, *sizes, groups, bias=last, **NCHW), x.dtype)


def transposed_convolution(
    g: Lowering, x: Value, weight: Value, bias: Value | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], output_padding: Sequence[int], groups: int,
) -> Value:  # fmt: skip
    rank = weight.rank - 2
    if rank > 2:
        raise UnsupportedError("a transposed convolution of volumes; expected sequences or images")
    out = g.out()
    if rank == 1:
        x, weight = (g.reshape(v, (v.shape[0], v.shape[1], 1, v.shape[2])) for v in (x, weight))
        stride, dilation = [1, *stride], [1, *dilation]
        padding, output_padding = [0, *padding], [0, *output_padding]
    last = None if bias is None else g.reshape(bias, (1, 1, 1, bias.size)).ir
    sizes = [i32_array(values) for values in (stride, padding, output_padding, dilation)]
    return g.finish(g.value(ttir.conv_transpose2d(x.ir, weight.ir, *sizes, groups, bias=last, **NCHW), x.dtype), out)


@rule("convolution_backward")
def convolution_backward(
    g: Lowering, grad: Value, x: Value, weight: Value, bias_sizes: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, output_mask: Sequence[bool],
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Gradients of image, weight and bias."""
    rank = weight.rank - 2
    stride, padding, dilation = (spatial(v, rank) for v in (stride, padding, dilation))
    if transposed or rank > 2:
        raise UnsupportedError("the gradient of a transposed convolution or of volumes")
    of_bias = g.reduce(ttir.sum, grad, [0, *range(2, grad.rank)], False) if output_mask[2] else None
    if rank == 1:
        grad, x, weight4 = (g.reshape(v, (v.shape[0], v.shape[1], 1, v.shape[2])) for v in (grad, x, weight))
        stride, padding, dilation = [1, *stride], [0, *padding], [1, *dilation]
    else:
        weight4 = weight
    of_image = of_weight = None
    if output_mask[0]:
        of_image = g.reshape(
            _image_gradient(g, grad, x, weight4, stride, padding, dilation, groups), tuple(g.out(0).shape)
        )
    if output_mask[1]:
        of_weight = _weight_gradient(g, grad, x, weight4, stride, padding, dilation, groups)
        of_weight = g.reshape(of_weight, weight.shape)
    return of_image, of_weight, of_bias


def _image_gradient(
    g: Lowering, grad: Value, x: Value, weight: Value, stride: Any, padding: Any, dilation: Any, groups: int
) -> Value:
    """The transposed convolution of the gradient with the same weight."""
    extra = [
        size - ((out - 1) * s - 2 * p + d * (k - 1) + 1)
        for size, out, s, p, d, k in zip(
            x.shape[2:], grad.shape[2:], stride, padding, dilation, weight.shape[2:], strict=True
        )
    ]
    sizes = [i32_array(values) for values in (stride, padding, extra, dilation)]
    return g.value(ttir.conv_transpose2d(grad.ir, weight.ir, *sizes, groups, **NCHW), grad.dtype)


def _weight_gradient(
    g: Lowering, grad: Value, x: Value, weight: Value, stride: Any, padding: Any, dilation: Any, groups: int
) -> Value:
    """A product for each place of the kernel: gradients [out channels, n] by the pixels that it meets [n, in channels].

    A kernel place (i, j) meets the pixels i * dilation + stride * (row, column).
    """
    padded = g.pad(x, [0, 0, 0, 0, padding[0], padding[0], padding[1], padding[1]], 0)
    batch, channels = padded.shape[:2]
    outputs, height, width = grad.shape[1:]
    pixels = batch * height * width
    rows = g.reshape(g.permute(grad, [1, 0, 2, 3]), (groups, outputs // groups, pixels))
    places = []
    for i in range(weight.shape[2]):
        for j in range(weight.shape[3]):
            seen = g.slice(padded, 2, i * dilation[0], i * dilation[0] + (height - 1) * stride[0] + 1, stride[0])
            seen = g.slice(seen, 3, j * dilation[1], j * dilation[1] + (width - 1) * stride[1] + 1, stride[1])
            columns = g.reshape(g.permute(seen, [1, 0, 2, 3]), (groups, channels // groups, pixels))
            places.append(columns)
    # [groups, out, pixels] x [groups, pixels, places * in]
    gathered = g.concat(places, 1)
    result = g.value(ttir.matmul(rows.ir, gathered.ir, transpose_b=True), grad.dtype)
    kernel = (weight.shape[2], weight.shape[3])
    result = g.reshape(result, (outputs, *kernel, channels // groups))
    return g.permute(result, [0, 3, 1, 2])


#
# Pools
#


def _pool_sizes(kernel: Any, stride: Any, padding: Any, dilation: Any = 1) -> tuple[list[int], ...]:
    kernel = spatial(kernel, 2)
    stride = spatial(stride, 2) if stride not in ([], (), None) else kernel
    return kernel, stride, spatial(padding, 2), spatial(dilation, 2)


def _as_image(g: Lowering, x: Value) -> Value:
    """[channels, height, width] as a batch of one, channels last."""
    x = g.reshape(x, (1, *x.shape)) if x.rank == 3 else x
    return g.permute(x, TO_NHWC)


@rule("max_pool2d_with_indices", "max_pool2d")
def max_pool2d(
    g: Lowering, x: Value, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    kernel, stride, padding, dilation = _pool_sizes(kernel, stride, padding, dilation)
    image = _as_image(g, x)
    several = isinstance(g.fake, tuple | list)
    arguments = [i32_array(kernel), i32_array(stride), i32_array(dilation), i32_array(padding), ceil_mode]
    if not several or not g.wants(1):
        y = g.permute(g.value(ttir.max_pool2d(image.ir, *arguments), x.dtype), TO_NCHW)
        return (g.finish(y, g.out(0)), y) if several else g.finish(y, g.out())
    out = g.out(0)
    batch, channels, height, width = (1, *out.shape) if x.rank == 3 else out.shape
    shape = (batch, height, width, channels)
    found = ttir.max_pool2d_with_indices(
        image.ir, [], *arguments, results=[g.type(shape, x.dtype), g.type(shape, torch.int32)]
    )
    y = g.permute(Value(found[0], shape, x.dtype), TO_NCHW)
    places = g.permute(Value(found[1], shape, torch.int32), TO_NCHW)
    return g.finish(y, g.out(0)), g.finish(places, g.out(1))


@rule("max_pool2d_with_indices_backward")
def max_pool2d_backward(
    g: Lowering, grad: Value, x: Value, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    indices: Value,
) -> Value:  # fmt: skip
    """Gradients are added where the greatest values were."""
    planes = math.prod(x.shape[:-2])
    places = g.cast(g.reshape(indices, (planes, indices.shape[-2] * indices.shape[-1])), torch.int32)
    values = g.reshape(grad, places.shape)
    zero = g.full((planes, x.shape[-2] * x.shape[-1]), 0, grad.dtype)
    result = ttir.scatter(zero.ir, places.ir, values.ir, 1, g.reduce_type("sum"))
    return g.reshape(Value(result, zero.shape, grad.dtype), x.shape)


@rule("avg_pool2d")
def avg_pool2d(
    g: Lowering, x: Value, kernel: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: Number | None = None,
) -> Value:  # fmt: skip
    if not x.dtype.is_floating_point:
        raise UnsupportedError(f"means of {x.dtype}; the chip's are of floats")
    kernel, stride, padding, dilation = _pool_sizes(kernel, stride, padding)
    image = _as_image(g, x)
    result = ttir.avg_pool2d(
        image.ir, i32_array(kernel), i32_array(stride), i32_array(dilation), i32_array(padding), ceil_mode,
        count_include_pad=count_include_pad if divisor_override is None else True,
    )  # fmt: skip
    y = g.permute(g.value(result, x.dtype), TO_NCHW)
    if divisor_override is not None:
        y = g.mul(y, g.constant(counts(x, kernel, stride, padding, ceil_mode).to(y.dtype) / divisor_override))
    return g.finish(y, g.out())


def counts(x: Value, kernel: Any, stride: Any, padding: Any, ceil_mode: bool) -> torch.Tensor:
    """How many places of each window a mean is over: those in the image and its padding."""
    image = torch.ones(1, 1, *x.shape[-2:])
    sums = F.avg_pool2d(image, kernel, stride, padding, ceil_mode, divisor_override=1)
    return sums / F.avg_pool2d(image, kernel, stride, padding, ceil_mode)


@rule("_adaptive_avg_pool2d", "adaptive_avg_pool2d")
def adaptive_avg_pool2d(g: Lowering, x: Value, output_size: Sequence[int]) -> Value:
    """Means of windows that differ in size where the sizes do not divide: one reduction for each row and column."""
    height, width = x.shape[-2:]
    rows, columns = output_size
    if height % rows == 0 and width % columns == 0:
        if rows == columns == 1:
            return g.finish(g.reduce(ttir.mean, x, [x.rank - 2, x.rank - 1], True), g.out())
        kernel = [height // rows, width // columns]
        return avg_pool2d(g, x, kernel, kernel)
    y = _adaptive(g, x, x.rank - 2, rows)
    return g.finish(_adaptive(g, y, x.rank - 1, columns), g.out())


def _adaptive(g: Lowering, x: Value, dim: int, count: int) -> Value:
    size = x.shape[dim]
    parts = []
    for i in range(count):
        begin, end = i * size // count, -(-(i + 1) * size // count)
        parts.append(g.reduce(ttir.mean, g.slice(x, dim, begin, end), [dim], True))
    return g.concat(parts, dim)


def _nearest(name: str, op: Callable[..., torch.Tensor]) -> None:
    def lower(g: Lowering, x: Value, *arguments: Any) -> Value:
        # Which pixels are taken is PyTorch's rounding: the op itself says it, of their numbers.
        height, width = x.shape[-2:]
        taken = op(torch.arange(height * width, dtype=torch.float64).reshape(1, 1, height, width), *arguments)[
            0, 0
        ].long()
        rows, columns = (taken[:, 0] // width).tolist(), (taken[0] % width).tolist()
        scale = [len(rows) // height, len(columns) // width]
        whole = [[i for i in range(n) for _ in range(s)] for n, s in zip((height, width), scale, strict=True)]
        if [rows, columns] == whole:
            y = ttir.upsample2d(g.permute(x, TO_NHWC).ir, i32_array(scale), mode="nearest")
            return g.permute(g.value(y, x.dtype), TO_NCHW)
        for dim, places in ((2, rows), (3, columns)):
            x = g.concat([g.slice(x, dim, p, p + 1) for p in places], dim)
        return x

    rule(name)(lower)


_nearest("upsample_nearest2d", torch.ops.aten.upsample_nearest2d.default)
_nearest("upsample_nearest2d.vec", torch.ops.aten.upsample_nearest2d.vec)
_nearest("_upsample_nearest_exact2d", torch.ops.aten._upsample_nearest_exact2d.default)
