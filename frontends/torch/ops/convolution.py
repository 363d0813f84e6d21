# SPDX-License-Identifier: Apache-2.0
"""Convolutions and resampling. PyTorch's images are NCHW, which convolutions of TTIR take unchanged, so that
`ttir-fusing` sees the following ops. Resampling requires NHWC, and `ttir-erase-inverse-ops` removes the resulting
permutes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ttmlir.dialects import ttir

import torch

from ..errors import UnsupportedError
from ..lowering import Lowering, Value, rule
from .data_movement import constant_pad
from .ir_attributes import i32_array

TO_NHWC, TO_NCHW = [0, 2, 3, 1], [0, 3, 1, 2]
NCHW = {"batch_dim": 0, "channel_dim": 1, "height_dim": 2, "width_dim": 3}
NCDHW = {"batch_dim": 0, "channel_dim": 1, "depth_dim": 2, "height_dim": 3, "width_dim": 4}


def spatial(values: Any, rank: int) -> list[int]:
    """Returns one number for each spatial dimension."""
    given = [int(values)] * rank if isinstance(values, int) else [int(v) for v in values]
    return given * rank if len(given) == 1 else given


@rule("convolution", "_convolution")
def convolution(
    g: Lowering, x: Value, weight: Value, bias: Value | None, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, *backends: Any,
) -> Value:  # fmt: skip
    rank = weight.rank - 2
    stride, padding, dilation = (spatial(v, rank) for v in (stride, padding, dilation))
    if weight.dtype == torch.int64:
        raise UnsupportedError(f"a convolution of {weight.dtype}, whose sums may not fit into the chip's 32 bits")
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
    if rank == 1 and not _row_fits(weight.shape):
        # As an image of width 1, of whose kernel a core has a place at a time.
        image, kernel = (g.reshape(v, (*v.shape, 1)) for v in (x, weight))
        channels = None if bias is None else g.reshape(bias, (1, bias.size, 1, 1))
        y = _conv2d(g, image, kernel, channels, [*stride, 1], [*padding, 0], [*dilation, 1], groups)
        return g.reshape(y, y.shape[:3])
    if rank == 1:
        # As an image of height 1.
        image, kernel = (g.reshape(v, (v.shape[0], v.shape[1], 1, v.shape[2])) for v in (x, weight))
        channels = None if bias is None else g.reshape(bias, (1, bias.size, 1, 1))
        y = _conv2d(g, image, kernel, channels, [1, *stride], [0, *padding], [1, *dilation], groups)
        return g.reshape(y, (y.shape[0], y.shape[1], y.shape[3]))
    if rank == 2:
        return _conv2d(g, x, weight, per_channel, stride, padding, dilation, groups)
    gaps = None if all(d == 1 for d in dilation) else i32_array(dilation)
    y = g.value(
        ttir.conv3d(x.ir, weight.ir, i32_array(stride), i32_array(padding), groups, dilation=gaps, **NCDHW), x.dtype
    )
    return y if per_channel is None else g.add(y, per_channel)


def _row_fits(weight: Sequence[int]) -> bool:
    """Whether the tiles of a sequence's kernel [out channels, in channels, length] take at most a third of L1, as a
    core has all of a kernel's row."""
    outputs, channels, length = weight
    columns = -(-(-(-channels // 8) * 8 * length) // 32)
    return columns * -(-outputs // 32) * 4096 <= 1 << 19


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
    out = g.out()
    if rank == 3:
        y = transposed(g, x, weight, None, stride, padding, output_padding, dilation, groups)
        return g.finish(y if bias is None else g.add(y, g.reshape(bias, (1, bias.size, 1, 1, 1))), out)
    if rank == 1:
        x, weight = (g.reshape(v, (v.shape[0], v.shape[1], 1, v.shape[2])) for v in (x, weight))
        stride, dilation = [1, *stride], [1, *dilation]
        padding, output_padding = [0, *padding], [0, *output_padding]
    last = None if bias is None else g.reshape(bias, (1, 1, 1, bias.size))
    return g.finish(transposed(g, x, weight, last, stride, padding, output_padding, dilation, groups), out)


def transposed(
    g: Lowering, x: Value, weight: Value, bias: Value | None, stride: Sequence[int], padding: Sequence[int],
    output_padding: Sequence[int], dilation: Sequence[int], groups: int,
) -> Value:  # fmt: skip
    """Returns a transposed convolution of images or volumes; a bias is [1, 1, 1, channels], of images only."""
    sizes = [i32_array(values) for values in (stride, padding, output_padding, dilation)]
    if weight.rank == 5:
        return g.value(ttir.conv_transpose3d(x.ir, weight.ir, *sizes, groups, **NCDHW), x.dtype)
    last = None if bias is None else bias.ir
    return g.value(ttir.conv_transpose2d(x.ir, weight.ir, *sizes, groups, bias=last, **NCHW), x.dtype)


def window(g: Lowering, x: Value, dim: int, begin: int, size: int) -> Value:
    """Returns `size` places of a dimension from `begin` on, with zeros outside of the tensor."""
    if begin >= x.shape[dim] or begin + size <= 0:
        return g.full((*x.shape[:dim], size, *x.shape[dim + 1 :]), 0, x.dtype)
    return constant_pad(g, x, [*[0, 0] * (x.rank - 1 - dim), -begin, begin + size - x.shape[dim]])


@rule("convolution_backward")
def convolution_backward(
    g: Lowering, grad: Value, x: Value, weight: Value, bias_sizes: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, output_mask: Sequence[bool],
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Returns gradients of image, weight and bias."""
    rank = weight.rank - 2
    stride, padding, dilation = (spatial(v, rank) for v in (stride, padding, dilation))
    of_bias = g.reduce(ttir.sum, grad, [0, *range(2, grad.rank)], False) if output_mask[2] else None
    kernel = weight
    if rank == 1:
        grad, x, kernel = (g.reshape(v, (v.shape[0], v.shape[1], 1, v.shape[2])) for v in (grad, x, weight))
        stride, padding, dilation = [1, *stride], [0, *padding], [1, *dilation]
    of_image = of_weight = None
    if output_mask[0]:
        if transposed:
            # Where the result was padded, more places than the image had.
            of_image = convolved(g, grad, kernel, None, stride, padding, dilation, groups)
            for dim, size in enumerate(x.shape[2:], 2):
                of_image = g.slice(of_image, dim, 0, size)
        else:
            of_image = _image_gradient(g, grad, x, kernel, stride, padding, dilation, groups)
        of_image = g.reshape(of_image, tuple(g.out(0).shape))
    if output_mask[1]:
        # A transposed convolution has image and result in each other's places.
        result, read = (x, grad) if transposed else (grad, x)
        of_weight = _weight_gradient(g, result, read, kernel.shape[2:], stride, padding, dilation, groups)
        of_weight = g.reshape(of_weight, weight.shape)
    return of_image, of_weight, of_bias


def _image_gradient(
    g: Lowering, grad: Value, x: Value, weight: Value, stride: Any, padding: Any, dilation: Any, groups: int
) -> Value:
    """Computes the transposed convolution of the gradient with the same weight."""
    extra = [
        size - ((out - 1) * s - 2 * p + d * (k - 1) + 1)
        for size, out, s, p, d, k in zip(
            x.shape[2:], grad.shape[2:], stride, padding, dilation, weight.shape[2:], strict=True
        )
    ]
    return transposed(g, grad, weight, None, stride, padding, extra, dilation, groups)


def _weight_gradient(
    g: Lowering, grad: Value, x: Value, kernel: Sequence[int], stride: Any, padding: Any, dilation: Any, groups: int
) -> Value:
    """Multiplies, for each place of the kernel, gradients [out channels, n] by the pixels it meets [n, in channels].

    A kernel place (i, j) meets the pixels i * dilation + stride * (row, column).
    """
    padded = g.pad(x, [0, 0, 0, 0, *(p for each in padding for p in (each, each))], 0)
    (batch, outputs, *sizes), channels = grad.shape, x.shape[1]
    pixels = batch * math.prod(sizes)
    swapped = [1, 0, *range(2, x.rank)]
    rows = g.reshape(g.permute(grad, swapped), (groups, outputs // groups, pixels))
    places = []
    for place in itertools.product(*map(range, kernel)):
        seen = padded
        for dim, (at, size) in enumerate(zip(place, sizes, strict=True)):
            begin, step = at * dilation[dim], stride[dim]
            seen = g.slice(seen, dim + 2, begin, begin + (size - 1) * step + 1, step)
        places.append(g.reshape(g.permute(seen, swapped), (groups, channels // groups, pixels)))
    # [groups, out, pixels] x [groups, pixels, places * in]
    gathered = g.concat(places, 1)
    result = g.value(ttir.matmul(rows.ir, gathered.ir, transpose_b=True), grad.dtype)
    result = g.reshape(result, (outputs, *kernel, channels // groups))
    return g.permute(result, [0, result.rank - 1, *range(1, result.rank - 1)])


#
# Resampling
#


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
