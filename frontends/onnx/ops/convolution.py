# SPDX-License-Identifier: Apache-2.0
"""Convolutions. Images of ONNX are NCHW, which convolutions of TTIR take unchanged; sequences have height 1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ttmlir.dialects import stablehlo

from ..emitter import Emitter
from ..errors import Refused
from ..registry import MICROSOFT, Node, op
from ..values import Value
from .sampling import bilinear, rows_of

NCHW: dict[str, Any] = {"batch_dim": 0, "channel_dim": 1, "height_dim": 2, "width_dim": 3}
NCDHW: dict[str, Any] = {"batch_dim": 0, "channel_dim": 1, "depth_dim": 2, "height_dim": 3, "width_dim": 4}
Pads = Sequence[tuple[int, int]]
LARGEST = 2**31 - 1  # number of an attribute
# Bytes of L1, which has 1.5 MB, that the tiles of a kernel of one row take.
LARGEST_ROW = 1 << 19


def of_dims(node: Node, name: str, rank: int, default: int, least: int = 1) -> list[int]:
    """Returns an attribute with one number for each spatial dimension.

    Raises:
        Refused: it has another count, or a number below `least`.
    """
    found = list(node.get(name) or [default] * rank)
    if len(found) != rank:
        raise Refused(f"{name} has {len(found)} numbers; expected {rank}, one for each spatial dimension")
    if any(n < least for n in found):
        raise Refused(f"{name} is {found}; expected numbers of at least {least}")
    if any(n > LARGEST for n in found):
        raise Refused(f"{name} is {found}; expected numbers of at most {LARGEST}")
    return found


def paddings(node: Node, size: Sequence[int], kernel: Sequence[int], strides: Sequence[int],
             dilations: Sequence[int]) -> list[tuple[int, int]]:  # fmt: skip
    """Returns low and high padding of each spatial dimension, as `pads` or `auto_pad` have them."""
    rank = len(size)
    auto = node.get("auto_pad", "NOTSET") or "NOTSET"
    if auto == "VALID":
        return [(0, 0)] * rank
    if auto == "NOTSET":
        pads = node.get("pads") or [0] * 2 * rank
        if len(pads) != 2 * rank:
            raise Refused(f"pads has {len(pads)} numbers; expected {2 * rank}, two for each spatial dimension")
        if any(abs(n) > LARGEST for n in pads):
            raise Refused(f"pads is {list(pads)}; expected numbers of at most {LARGEST}")
        return list(zip(pads[:rank], pads[rank:], strict=True))
    if auto not in ("SAME_UPPER", "SAME_LOWER"):
        raise Refused(f"auto_pad is {auto!r}; expected NOTSET, VALID, SAME_UPPER or SAME_LOWER")
    found = []
    for n, k, s, d in zip(size, kernel, strides, dilations, strict=True):
        total = max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
        small, large = total // 2, total - total // 2
        found.append((small, large) if auto == "SAME_UPPER" else (large, small))
    return found


def kernel_of(node: Node, x: Value, w: Value) -> list[int]:
    """Returns the sizes of the kernel.

    Raises:
        Refused: image and weight do not fit each other, or attribute kernel_shape.
    """
    if x.rank < 3 or x.rank != w.rank:
        raise Refused(f"X is {x!r} and W is {w!r}; expected the same rank of at least 3")
    if x.rank > 5:
        raise Refused(f"X is {x!r}; expected at most 3 spatial dimensions")
    kernel, given = list(w.shape[2:]), node.get("kernel_shape")
    if given and list(given) != kernel:
        raise Refused(f"kernel_shape is {list(given)}; W has a kernel of {kernel}")
    if min(kernel) < 1 or node.get("group", 1) < 1:
        raise Refused(f"W has a kernel of {kernel}, in {node.get('group', 1)} groups; expected at least 1 of each")
    return kernel


def image(g: Emitter, x: Value) -> Value:
    """Returns a sequence [n, c, length] as an image of height 1."""
    return g.expand_dims(x, 2) if x.rank == 3 else x


def row_fits(w: Value) -> bool:
    """Returns whether a core holds all of a sequence's kernel, which an image of height 1 takes; one of width 1 takes a
    place of it at a time, and is slower."""
    outputs, channels, length = w.shape
    columns = -(-(-(-channels // 8) * 8 * length) // 32)
    return columns * -(-outputs // 32) * 4096 <= LARGEST_ROW


def convolved(g: Emitter, x: Value, w: Value, b: Value | None, strides: Sequence[int], pads: Pads,
              dilations: Sequence[int], groups: int) -> Value:  # fmt: skip
    """Returns the convolution of x [n, channels, ...] with w [out channels, channels / groups, ...]."""
    if x.shape[1] != w.shape[1] * groups:
        raise Refused(f"X is {x!r} and W is {w!r} with {groups} groups; expected {w.shape[1] * groups} channels")
    for n, (low, high), k, d in zip(x.shape[2:], pads, w.shape[2:], dilations, strict=True):
        if n + low + high < (k - 1) * d + 1:
            raise Refused(f"the kernel takes {(k - 1) * d + 1} places and X has {n + low + high}, with its padding")
    if not x.size or not w.size:  # sums of nothing
        reach = zip(x.shape[2:], pads, w.shape[2:], dilations, strides, strict=True)
        sizes = [(n + low + high - (k - 1) * d - 1) // s + 1 for n, (low, high), k, d, s in reach]
        zeros = g.broadcast(g.full((1,) * x.rank, 0, x.dtype), (x.shape[0], w.shape[0], *sizes))
        return with_bias(g, zeros, b)
    if x.rank == 3:
        if row_fits(w):
            y = convolved(g, image(g, x), image(g, w), b, [1, *strides], [(0, 0), *pads], [1, *dilations], groups)
            return g.reshape(y, (*y.shape[:2], y.shape[3]))
        tall, column = g.expand_dims(x, 3), g.expand_dims(w, 3)
        y = convolved(g, tall, column, b, [*strides, 1], [*pads, (0, 0)], [*dilations, 1], groups)
        return g.reshape(y, y.shape[:3])
    if any(n < 0 for pair in pads for n in pair) or (x.rank == 5 and any(low != high for low, high in pads)):
        x = g.pad(x, [0, 0, *(p[0] for p in pads)], [0, 0, *(p[1] for p in pads)])
        pads = [(0, 0)] * len(pads)
    if x.rank == 4:
        edges = [pads[0][0], pads[1][0], pads[0][1], pads[1][1]]
        bias = None if b is None else g.ir(g.reshape(b, (1, 1, 1, b.size)))
        return g.ttir("conv2d", x, w, stride=g.i32s(strides), padding=g.i32s(edges), dilation=g.i32s(dilations),
                      groups=groups, bias=bias, **NCHW)  # fmt: skip
    gaps = None if all(d == 1 for d in dilations) else g.i32s(dilations)
    y = g.ttir("conv3d", x, w, stride=g.i32s(strides), padding=g.i32s([p[0] for p in pads]), groups=groups,
               dilation=gaps, **NCDHW)  # fmt: skip
    return with_bias(g, y, b)


def with_bias(g: Emitter, y: Value, b: Value | None) -> Value:
    """Adds a number for each channel."""
    return y if b is None else g.add(y, g.reshape(b, (1, b.size, *(1,) * (y.rank - 2))))


def of_node(g: Emitter, node: Node, x: Value, w: Value, b: Value | None) -> Value:
    kernel = kernel_of(node, x, w)
    rank = len(kernel)
    strides, dilations = (of_dims(node, name, rank, 1) for name in ("strides", "dilations"))
    pads = paddings(node, x.shape[2:], kernel, strides, dilations)
    return convolved(g, x, w, b, strides, pads, dilations, node.get("group", 1))


@op("Conv")
def conv(g: Emitter, node: Node, x: Value, w: Value, b: Value | None = None) -> Value:
    return of_node(g, node, x, w, b)


@op("NhwcConv", domain=MICROSOFT)
def nhwc_conv(g: Emitter, node: Node, x: Value, w: Value, b: Value | None = None) -> Value:
    """Convolves with channels last in image and weight."""
    to_first = [0, x.rank - 1, *range(1, x.rank - 1)]
    y = of_node(g, node, g.transpose(x, to_first), g.transpose(w, to_first), b)
    return g.transpose(y, [0, *range(2, x.rank), 1])


@op("FusedConv", domain=MICROSOFT)
def fused_conv(g: Emitter, node: Node, x: Value, w: Value, b: Value | None = None, z: Value | None = None) -> Value:
    """Convolves, adds an operand to the result, and applies an activation function."""
    y = of_node(g, node, x, w, b)
    return activated(g, y if z is None else g.add(y, z), node.get("activation"), node.get("activation_params", []))


def activated(g: Emitter, x: Value, name: str | None, numbers: Sequence[float]) -> Value:
    """Returns an activation function by ONNX's name, with its parameters."""
    if name is None:
        return x
    zero, one = g.scalar(0, x), g.scalar(1, x)
    if name == "Relu":
        return g.ttir("relu", x)
    if name == "Tanh":
        return g.unary(stablehlo.tanh, x)
    if name == "Sigmoid":
        return g.unary(stablehlo.logistic, x)
    if name == "LeakyRelu":
        slope = numbers[0] if numbers else 0.01
        return g.select(g.compare("GT", x, zero), x, g.mul(x, g.scalar(slope, x)))
    if name == "Clip" and len(numbers) == 2:
        return g.minimum(g.maximum(x, g.scalar(numbers[0], x)), g.scalar(numbers[1], x))
    if name == "HardSigmoid":
        alpha, beta = numbers if len(numbers) == 2 else (0.2, 0.5)
        return g.minimum(g.maximum(g.add(g.mul(x, g.scalar(alpha, x)), g.scalar(beta, x)), zero), one)
    raise Refused(
        f"activation is {name!r} with {len(numbers)} parameters; expected Relu, Tanh, Sigmoid, LeakyRelu, "
        "HardSigmoid or Clip with 2"
    )


#
# Transposed convolutions
#


@op("ConvTranspose")
def conv_transpose(g: Emitter, node: Node, x: Value, w: Value, b: Value | None = None) -> Value:
    kernel, groups = kernel_of(node, x, w), node.get("group", 1)
    rank = len(kernel)
    strides, dilations = (of_dims(node, name, rank, 1) for name in ("strides", "dilations"))
    extra = of_dims(node, "output_padding", rank, 0, 0)
    sizes, pads = transposed_sizes(node, x, kernel, strides, dilations, extra)
    if x.rank == 3:
        y = transposed(g, image(g, x), image(g, w), b, [1, *strides], [1, *dilations], [(0, 0), *pads],
                       [1, *sizes], groups)  # fmt: skip
        return g.reshape(y, (*y.shape[:2], y.shape[3]))
    return transposed(g, x, w, b, strides, dilations, pads, sizes, groups)


def transposed_sizes(node: Node, x: Value, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int],
                     extra: Sequence[int]) -> tuple[list[int], Pads]:  # fmt: skip
    """Returns the spatial sizes of the result, and the amount cropped from the full result."""
    auto = node.get("auto_pad", "NOTSET") or "NOTSET"
    reach = [(n - 1) * s + (k - 1) * d + 1
             for n, k, s, d in zip(x.shape[2:], kernel, strides, dilations, strict=True)]  # fmt: skip
    sizes = list(node.get("output_shape") or [])
    if len(sizes) == x.rank:  # with batch and channels, as old files have it
        sizes = sizes[2:]
    if sizes and len(sizes) != len(kernel):
        raise Refused(f"output_shape has {len(sizes)} numbers; expected {len(kernel)}, one for each spatial dimension")
    if not sizes and auto in ("NOTSET", "VALID"):
        pads = paddings(node, x.shape[2:], kernel, strides, dilations)
        return [r + e - low - high for r, e, (low, high) in zip(reach, extra, pads, strict=True)], pads
    if not sizes:  # no more than the kernel reaches
        whole = zip(x.shape[2:], strides, reach, extra, strict=True)
        sizes = [min(n * s, r + e) for n, s, r, e in whole]
    pads = []
    for r, e, size in zip(reach, extra, sizes, strict=True):
        total = max(0, r + e - size)
        low = total // 2 if auto == "SAME_UPPER" else total - total // 2
        pads.append((low, total - low))
    return sizes, pads


def transposed(g: Emitter, x: Value, w: Value, b: Value | None, strides: Sequence[int], dilations: Sequence[int],
               pads: Pads, sizes: Sequence[int], groups: int) -> Value:  # fmt: skip
    """Returns the positions of the transposed convolution from the low padding on; positions that the kernel does not
    reach are 0.
    """
    if x.shape[1] != w.shape[0]:
        raise Refused(f"X is {x!r} and W is {w!r}; expected {w.shape[0]} channels in X")
    if any(n <= 0 for n in sizes):
        raise Refused(f"the result has the spatial sizes {list(sizes)}; expected at least 1")
    reach = [(n - 1) * s + (k - 1) * d + 1
             for n, k, s, d in zip(x.shape[2:], w.shape[2:], strides, dilations, strict=True)]  # fmt: skip
    # Equal padding on both sides, and then more positions at the end, as the op specifies.
    low = [p[0] for p in pads]
    more = [size - (r - 2 * p) for size, r, p in zip(sizes, reach, low, strict=True)]
    fits = all(p >= 0 and 0 <= m < max(s, d) and r - 2 * p > 0
               for p, m, s, d, r in zip(low, more, strides, dilations, reach, strict=True))  # fmt: skip
    given, added = (low, more) if fits else ([0] * len(low), [0] * len(low))
    attributes: dict[str, Any] = dict(stride=g.i32s(strides), padding=g.i32s(given), output_padding=g.i32s(added),
                      dilation=g.i32s(dilations), groups=groups)  # fmt: skip
    if x.rank == 5:
        y = g.ttir("conv_transpose3d", x, w, **attributes, **NCDHW)
    else:
        bias = None if b is None or not fits else g.ir(g.reshape(b, (1, 1, 1, b.size)))
        y = g.ttir("conv_transpose2d", x, w, bias=bias, **attributes, **NCHW)
        b = None if bias is not None else b
    if not fits:
        high = [size + p - r for size, p, r in zip(sizes, low, reach, strict=True)]
        y = g.pad(y, [0, 0, *(-p for p in low)], [0, 0, *high])
    return with_bias(g, y, b)


#
# Deformable convolutions
#


@op("DeformConv")
def deform_conv(g: Emitter, node: Node, x: Value, w: Value, offset: Value, b: Value | None = None,
                mask: Value | None = None) -> Value:  # fmt: skip
    """Returns a product with pixels at places that move, interpolated between their neighbours."""
    if x.rank != 4:
        raise Refused(f"X is {x!r}; expected images, [n, c, h, w]")
    kernel = kernel_of(node, x, w)
    strides, dilations = (of_dims(node, name, 2, 1) for name in ("strides", "dilations"))
    pads = paddings(node, x.shape[2:], kernel, strides, dilations)
    batch, channels, height, width = x.shape
    outputs, parts, groups = w.shape[0], node.get("offset_group", 1), node.get("group", 1)
    places, (rows, columns) = math.prod(kernel), offset.shape[2:]
    if channels % parts or offset.shape[1] != 2 * parts * places:
        raise Refused(f"offset is {offset!r}; expected {2 * parts * places} channels, and {parts} to divide {channels}")
    moves = g.reshape(offset, (batch, parts, places, 2, rows, columns))
    positions = []
    for d in range(2):
        along = g.cast(g.iota((1, 1, 1, rows, columns), 3 + d), x.dtype)
        along = g.mul(along, g.scalar(strides[d], along))
        at = g.constant([[kh * dilations[0], kw * dilations[1]][d] - pads[d][0]
                         for kh, kw in itertools.product(*map(range, kernel))])  # fmt: skip
        along = g.add(along, g.reshape(g.cast(at, x.dtype), (1, 1, places, 1, 1)))
        move = g.reshape(g.slice_dim(moves, 3, d, d + 1), (batch, parts, places, rows, columns))
        positions.append(g.reshape(g.add(along, move), (batch * parts, places * rows * columns)))
    table = rows_of(g, g.reshape(x, (batch * parts, channels // parts, height, width)))
    taken = bilinear(g, table, batch * parts, positions, (height, width))  # [b * parts, places * pixels, c / parts]
    if mask is not None:
        taken = g.mul(taken, g.reshape(mask, (batch * parts, places * rows * columns, 1)))
    pixels = rows * columns
    taken = g.reshape(taken, (batch, parts, places, pixels, channels // parts))
    taken = g.transpose(taken, [0, 1, 4, 2, 3])  # channels in order, with the places of each
    taken = g.reshape(taken, (batch, groups, channels // groups * places, pixels))
    weight = g.reshape(w, (groups, outputs // groups, channels // groups * places))
    weight = g.broadcast(g.expand_dims(weight, 0), (batch, *weight.shape))
    y = g.dot(weight, taken, ((3,), (2,)), ((0, 1), (0, 1)))
    return with_bias(g, g.reshape(y, (batch, outputs, rows, columns)), b)


#
# Columns to images
#


@op("Col2Im")
def col2im(g: Emitter, node: Node, x: Value, image_shape: Value, block_shape: Value) -> Value:
    """Returns the sum of blocks that overlap, each place of a block at a time."""
    if image_shape.known is None or block_shape.known is None:
        raise Refused("image_shape and block_shape are computed; expected them to be known when it is compiled")
    size, block = ([int(n) for n in v.known.flatten()] for v in (image_shape, block_shape) if v.known is not None)
    rank = len(size)
    strides, dilations = (of_dims(node, name, rank, 1) for name in ("strides", "dilations"))
    pads = paddings(node, size, block, strides, dilations)
    counts = [(n + low + high - d * (k - 1) - 1) // s + 1
              for n, (low, high), k, s, d in zip(size, pads, block, strides, dilations, strict=True)]  # fmt: skip
    channels = x.shape[1] // math.prod(block)
    if x.rank != 3 or channels * math.prod(block) != x.shape[1] or math.prod(counts) != x.shape[2]:
        raise Refused(
            f"input is {x!r}; expected [n, channels * {math.prod(block)}, {math.prod(counts)}], for blocks of {block}"
        )
    x = g.reshape(x, (x.shape[0], channels, math.prod(block), *counts))
    y = None
    for i, place in enumerate(itertools.product(*map(range, block))):
        part = g.slice_dim(x, 2, i, i + 1)
        part = g.reshape(part, (x.shape[0], channels, *counts))
        low = [p * d - before for p, d, (before, _) in zip(place, dilations, pads, strict=True)]
        high = [n - begin - (count - 1) * s - 1
                for n, begin, count, s in zip(size, low, counts, strides, strict=True)]  # fmt: skip
        part = g.pad(part, [0, 0, *low], [0, 0, *high], 0, [0, 0, *(s - 1 for s in strides)])
        y = part if y is None else g.add(y, part)
    assert y is not None
    return y
