# SPDX-License-Identifier: Apache-2.0
"""Ops over images of random graphs with named dimensions: convolutions, pools, resizing, normalization."""

from __future__ import annotations

from typing import Any

import numpy as np
from open_graphs import Builder, Tensor, Unfit


def image(b: Builder, least: int = 1) -> Tensor:
    """A value [n, c, h, w] or [n, c, l] with a static number of channels, made of another one where there is none."""
    found = [t for t in b.tensors if t.rank in (3, 4) and b.static(t.dims[1])]
    if found and b.random.random() < 0.8:
        x = b.random.choice(found[-4:])
    else:
        x = b.pick(3)
        n = b.static(x.dims[-1])
        if not n or n > 64:
            raise Unfit
        x = b.add(b.node("Transpose", [x.name], perm=[0, 2, 1]), [x.dims[0], x.dims[2], x.dims[1]])
    if (b.static(x.dims[1]) or 0) > 64:
        raise Unfit
    for n in x.dims[2:]:
        b.require(n >= least)
    return x


def convolution(b: Builder) -> None:
    x = image(b)
    k = b.random.choice((1, 3, 3, 2, 5))
    stride, dilation = b.random.choice((1, 1, 2, 3)), b.random.choice((1, 1, 1, 2))
    spatial = x.rank - 2
    c = b.static(x.dims[1]) or 1
    groups = b.random.choice((1, 1, c))
    many = groups * b.random.choice((1, 2)) if groups > 1 else b.random.choice((3, 4, 8))
    span = dilation * (k - 1) + 1
    attributes: dict[str, Any] = {"strides": [stride] * spatial, "dilations": [dilation] * spatial, "group": groups}
    if b.random.random() < 0.3:
        attributes["auto_pad"] = b.random.choice(("SAME_UPPER", "SAME_LOWER"))
        attributes["dilations"] = [1] * spatial
        out = [-(-n // stride) for n in x.dims[2:]]
    else:
        p = b.random.choice((0, span // 2, 1))
        attributes["pads"] = [p] * (2 * spatial)
        for n in x.dims[2:]:
            b.require(n + 2 * p >= span)
        out = [(n + 2 * p - span) // stride + 1 for n in x.dims[2:]]
    weight = b.floats(many, c // groups, *[k] * spatial)
    bias = [b.floats(many)] if b.random.random() < 0.6 else []
    b.add(b.node("Conv", [x.name, weight, *bias], **attributes), [x.dims[0], b.constant(many), *out])


def transposed_convolution(b: Builder) -> None:
    x = image(b)
    k, stride = b.random.choice((2, 3, 4)), b.random.choice((1, 2))
    spatial, c, many = x.rank - 2, b.static(x.dims[1]) or 1, b.random.choice((2, 4))
    p = b.random.choice((0, 1)) if k > 2 else 0
    b.require(np.all([n > 1 for n in x.dims[2:]], axis=0))
    result = b.node("ConvTranspose", [x.name, b.floats(c, many, *[k] * spatial)], strides=[stride] * spatial,
                  pads=[p] * (2 * spatial))  # fmt: skip
    b.add(result, [x.dims[0], b.constant(many), *((n - 1) * stride + k - 2 * p for n in x.dims[2:])])


def pool(b: Builder) -> None:
    x = image(b)
    k, stride = b.random.choice((2, 3)), b.random.choice((1, 2, 2, 3))
    spatial = x.rank - 2
    p = b.random.choice((0, k // 2))
    ceil = b.random.choice((0, 0, 1))
    for n in x.dims[2:]:
        b.require(n + 2 * p >= k)
    op = b.random.choice(("MaxPool", "AveragePool"))
    attributes: dict[str, Any] = {"count_include_pad": b.random.choice((0, 1))} if op == "AveragePool" else {}
    out = []
    for n in x.dims[2:]:
        m = n + 2 * p - k
        windows_of = (-(-m // stride) if ceil else m // stride) + 1
        out.append(windows_of - ((windows_of - 1) * stride >= n + p) if ceil else windows_of)
    result = b.node(op, [x.name], kernel_shape=[k] * spatial, strides=[stride] * spatial, pads=[p] * (2 * spatial),
                  ceil_mode=ceil, **attributes)  # fmt: skip
    b.add(result, [*x.dims[:2], *out])


def global_pool(b: Builder) -> None:
    x = image(b)
    op = b.random.choice(("GlobalAveragePool", "GlobalMaxPool"))
    b.add(b.node(op, [x.name]), [*x.dims[:2], *[b.constant(1)] * (x.rank - 2)])


def resize(b: Builder) -> None:
    x = image(b)
    mode = b.random.choice(("nearest", "linear", "nearest"))
    how = b.random.choice(("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"))
    attributes = {"mode": mode, "coordinate_transformation_mode": how}
    if mode == "nearest":
        attributes["nearest_mode"] = "floor" if how == "asymmetric" else "round_prefer_floor"
    spatial = x.rank - 2
    if b.random.random() < 0.5:
        scale = b.random.choice((2.0, 2.0, 0.5, 3.0))
        scales = b.weight(np.array([1, 1, *[scale] * spatial], np.float32))
        out = [np.floor(n * scale).astype(np.int64) for n in x.dims[2:]]
        b.require(np.all([n > 0 for n in out], axis=0))
        if how == "align_corners":  # the corners of sizes that are no whole numbers are not onnxruntime's
            b.require(np.all([m == n * scale for m, n in zip(out, x.dims[2:], strict=True)], axis=0))
        b.add(b.node("Resize", [x.name, "", scales], **attributes), [*x.dims[:2], *out])
        return
    sizes = []
    for d in range(2, x.rank):
        a = b.size_of(x, d)
        sizes.append(b.random.choice((lambda a: b.times(a, b.number(2)), lambda a: b.positive(most=60),
                                      lambda a: b.sum_of(a, b.number(3))))(a))  # fmt: skip
        b.require(sizes[-1].values <= 400)
    shape = b.shape([b.size_of(x, 0), b.size_of(x, 1), *sizes])
    b.add(b.node("Resize", [x.name, "", "", shape], **attributes), [*x.dims[:2], *(a.values for a in sizes)])


def down_and_up(b: Builder) -> None:
    """Half the size and back, joined with what it was, as in a U-Net."""
    x = image(b, 2)
    spatial, c = x.rank - 2, b.static(x.dims[1]) or 1
    small = b.node("MaxPool", [x.name], kernel_shape=[2] * spatial, strides=[2] * spatial)
    small = b.node("Conv", [small, b.floats(c, c, *[3] * spatial)], pads=[1] * (2 * spatial))
    if b.random.random() < 0.5:
        for n in x.dims[2:]:
            b.require(n % 2 == 0)
        scales = b.weight(np.array([1, 1, *[2] * spatial], np.float32))
        large = b.node("Resize", [small, "", scales], mode="nearest", coordinate_transformation_mode="asymmetric",
                       nearest_mode="floor")  # fmt: skip
    else:
        shape = b.shape_of(x)
        large = b.node("Resize", [small, "", "", shape], mode=b.random.choice(("nearest", "linear")),
                       coordinate_transformation_mode="asymmetric")  # fmt: skip
    b.add(b.node("Concat", [x.name, large], axis=1), [x.dims[0], b.constant(2 * c), *x.dims[2:]])


def normalization(b: Builder) -> None:
    x = image(b)
    c = b.static(x.dims[1]) or 1
    op = b.random.choice(("BatchNormalization", "InstanceNormalization", "GroupNormalization"))
    extra: list[str] = [b.floats(c), b.floats(c)]
    attributes: dict[str, Any] = {}
    if op == "BatchNormalization":
        extra += [b.floats(c), b.weight(b.numbers.uniform(0.5, 2, c).astype(np.float32))]
    elif op == "GroupNormalization":
        attributes["num_groups"] = 2 if c % 2 == 0 else 1
    b.require(np.all([n > 1 for n in x.dims[2:]], axis=0))
    b.add(b.node(op, [x.name, *extra], **attributes), x.dims)


def blocks(b: Builder) -> None:
    """SpaceToDepth and DepthToSpace."""
    x = image(b)
    if x.rank != 4:
        raise Unfit
    n, c, h, w = x.dims
    channels = b.static(c) or 1
    if channels % 4 == 0 and b.random.random() < 0.5:
        mode = b.random.choice(("DCR", "CRD"))
        b.add(b.node("DepthToSpace", [x.name], blocksize=2, mode=mode), [n, c // 4, h * 2, w * 2], x.is_exact)
        return
    b.require((h % 2 == 0) & (w % 2 == 0))
    b.add(b.node("SpaceToDepth", [x.name], blocksize=2), [n, c * 4, h // 2, w // 2], x.is_exact)
