# SPDX-License-Identifier: Apache-2.0
"""Calls of functions of windows: convolutions, pools, images of another size."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
import ttnn
from composite_cases import of
from value_rows import FLOATS, WIDE, Rows

Tensor = torch.Tensor
INF, NAN = float("inf"), float("nan")


def sized(value: Any, count: int) -> list[int]:
    return [value] * count if isinstance(value, int) else list(value)


def padded(x: Tensor, padding: Any, value: float = 0.0) -> Tensor:
    """Returns images [n, c, ...] with padding; one number for each dimension, or one for each side."""
    rank = x.dim() - 2
    sides = sized(padding, rank)
    if len(sides) == rank:
        sides = [side for side in sides for _ in range(2)]
    pairs = [sides[2 * i : 2 * i + 2] for i in range(rank)]
    return F.pad(x, [side for pair in reversed(pairs) for side in pair], value=value)


def images(x: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Returns [n, c, h, w] of rows of pixels."""
    return x.reshape(*sizes).movedim(-1, 1)


def pixels(x: Tensor) -> Tensor:
    """Returns rows of pixels of [n, c, h, w]."""
    return x.movedim(1, -1).reshape(1, 1, -1, x.shape[1])


def conv2d(input_tensor: Tensor, weight_tensor: Tensor, batch_size: int, input_height: int, input_width: int,
           in_channels: int, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
           bias_tensor: Tensor | None = None, conv_config: Any = None, **_: Any) -> Tensor:  # fmt: skip
    x = padded(images(input_tensor, (batch_size, input_height, input_width, in_channels)), padding)
    bias = None if bias_tensor is None else bias_tensor.reshape(-1)
    found = pixels(F.conv2d(x, weight_tensor, bias, stride, 0, dilation, groups))
    return found.relu() if conv_config is not None else found


def conv2d_row(n: int, h: int, w: int, cin: int, cout: int, k: Any, bias: bool = False, **own: Any) -> dict[str, Any]:
    kernel = sized(k, 2)
    row = {"input_tensor": of(1, 1, n * h * w, cin), "in_channels": cin, "out_channels": cout, "batch_size": n,
           "weight_tensor": of(cout, cin // own.get("groups", 1), *kernel), "input_height": h, "input_width": w,
           "kernel_size": kernel, **own}  # fmt: skip
    return row | ({"bias_tensor": of(1, 1, 1, cout)} if bias else {})


def conv1d(input_tensor: Tensor, weight_tensor: Tensor, batch_size: int, input_length: int, in_channels: int,
           stride: int = 1, padding: Any = 0, dilation: int = 1, groups: int = 1,
           bias_tensor: Tensor | None = None, **_: Any) -> Tensor:  # fmt: skip
    x = padded(images(input_tensor, (batch_size, input_length, in_channels)), padding)
    weight = weight_tensor.reshape(*weight_tensor.shape[:2], -1)
    bias = None if bias_tensor is None else bias_tensor.reshape(-1)
    return pixels(F.conv1d(x, weight, bias, stride, 0, dilation, groups))


def conv1d_row(n: int, length: int, cin: int, cout: int, k: int, bias: bool = False, **own: Any) -> dict[str, Any]:
    row = {"input_tensor": of(1, 1, n * length, cin), "in_channels": cin, "out_channels": cout, "batch_size": n,
           "weight_tensor": of(cout, cin // own.get("groups", 1), k), "input_length": length, "kernel_size": k,
           **own}  # fmt: skip
    return row | ({"bias_tensor": of(1, 1, 1, cout)} if bias else {})


def conv_transpose2d(input_tensor: Tensor, weight_tensor: Tensor, batch_size: int, input_height: int, input_width: int,
                     in_channels: int, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, dilation: Any = 1,
                     groups: int = 1, bias_tensor: Tensor | None = None, **_: Any) -> Tensor:  # fmt: skip
    x = images(input_tensor, (batch_size, input_height, input_width, in_channels))
    bias = None if bias_tensor is None else bias_tensor.reshape(-1)
    return pixels(F.conv_transpose2d(x, weight_tensor, bias, stride, padding, output_padding, groups, dilation))


def transpose_row(
    n: int, h: int, w: int, cin: int, cout: int, k: Any, bias: bool = False, **own: Any
) -> dict[str, Any]:
    return conv2d_row(n, h, w, cin, cout, k, bias, **own) | {
        "weight_tensor": of(cin, cout // own.get("groups", 1), *sized(k, 2))}  # fmt: skip


def conv3d(input_tensor: Tensor, weight_tensor: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           padding_mode: str = "zeros", groups: int = 1, bias_tensor: Tensor | None = None,
           **_: Any) -> Tensor:  # fmt: skip
    x, sides = input_tensor.movedim(-1, 1), [side for side in reversed(sized(padding, 3)) for _ in range(2)]
    x = F.pad(x, sides, mode="replicate" if padding_mode == "replicate" else "constant")
    bias = None if bias_tensor is None else bias_tensor.reshape(-1)
    return F.conv3d(x, weight_tensor, bias, stride, 0, dilation, groups).movedim(1, -1)


def conv_transpose3d(input_tensor: Tensor, weight_tensor: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
                     output_padding: Any = 0, groups: int = 1, bias_tensor: Tensor | None = None,
                     **_: Any) -> Tensor:  # fmt: skip
    bias = None if bias_tensor is None else bias_tensor.reshape(-1)
    found = F.conv_transpose3d(
        input_tensor.movedim(-1, 1), weight_tensor, bias, stride, padding, output_padding, groups, dilation
    )
    return found.movedim(1, -1)


def volume_row(n: int, sizes: tuple[int, int, int], cin: int, cout: int, k: Any, weight: tuple[int, int],
               bias: bool = False, **own: Any) -> dict[str, Any]:  # fmt: skip
    row = {"input_tensor": of(n, *sizes, cin), "in_channels": cin, "out_channels": cout, "batch_size": n,
           "weight_tensor": of(*weight, *sized(k, 3)), "input_depth": sizes[0], "input_height": sizes[1],
           "input_width": sizes[2], "kernel_size": sized(k, 3), **own}  # fmt: skip
    return row | ({"bias_tensor": of(1, cout)} if bias else {})


def pooled(function: Callable[..., Any]) -> Callable[..., Any]:
    def pool(input_tensor: Tensor, batch_size: int, input_h: int, input_w: int, channels: int, kernel_size: Any,
             stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1), ceil_mode: bool = False,
             **own: Any) -> Any:  # fmt: skip
        x = images(input_tensor, (batch_size, input_h, input_w, channels))
        return function(x, list(kernel_size), list(stride), padding, list(dilation), ceil_mode, **own)

    return pool


def max_pool(x: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Tensor:
    if len(padding) == 4:
        x, padding = padded(x, padding, -INF), (0, 0)
    return pixels(F.max_pool2d(x, kernel, stride, list(padding), dilation, ceil_mode))


def max_pool_places(x: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> list[Tensor]:
    found = F.max_pool2d(x, kernel, stride, list(padding), dilation, ceil_mode, return_indices=True)
    return [pixels(each) for each in found]


def avg_pool(x: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
             count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:  # fmt: skip
    if max(dilation) > 1:  # which PyTorch's does not have
        taps = functools.partial(F.unfold, kernel_size=kernel, dilation=dilation, padding=list(padding), stride=stride)
        sums = taps(x).unflatten(1, (x.shape[1], -1)).sum(2)
        count = math.prod(kernel) if count_include_pad else taps(torch.ones_like(x[:1, :1])).sum(1)
        return pixels((sums / count)[..., None])
    return pixels(F.avg_pool2d(x, kernel, stride, list(padding), ceil_mode, count_include_pad, divisor_override))


def pool_row(
    n: int, h: int, w: int, c: int, k: Any, s: Any, p: Any = (0, 0), x: Any = None, **own: Any
) -> dict[str, Any]:
    return {"input_tensor": of(1, 1, n * h * w, c) if x is None else x, "batch_size": n, "input_h": h, "input_w": w,
            "channels": c, "kernel_size": sized(k, 2), "stride": sized(s, 2), "padding": p, "dilation": (1, 1),
            **own}  # fmt: skip


def upsample(input_tensor: Tensor, scale_factor: Any, mode: str = "nearest") -> Tensor:
    factors = [float(each) for each in sized(scale_factor, 2)]
    how = {} if mode == "nearest" else {"align_corners": False}
    return F.interpolate(input_tensor.movedim(-1, 1), scale_factor=factors, mode=mode, **how).movedim(1, -1)


STRANGE = torch.tensor([NAN, 1.0, INF, -INF, 0.0, -0.0, -INF, -INF, -INF, 2.0, -INF, -3.0]).reshape(1, 1, 12, 1)
POOLS: list[dict[str, Any]] = [
    pool_row(2, 7, 9, 5, 3, 2, (1, 1)), pool_row(1, 7, 9, 33, (2, 3), (1, 2)), pool_row(1, 6, 6, 4, 2, 2),
    pool_row(1, 7, 8, 3, 3, 2, (1, 0), ceil_mode=True), pool_row(1, 1, 1, 1, 1, 1), pool_row(2, 5, 5, 3, 5, 5),
    pool_row(1, 5, 6, 2, 2, 3, (1, 1), ceil_mode=True), pool_row(0, 4, 4, 3, 2, 2),
    pool_row(1, 3, 4, 1, 2, 1, x=STRANGE),
]  # fmt: skip
CONV2D: list[dict[str, Any]] = [
    conv2d_row(2, 7, 9, 5, 6, 3), conv2d_row(1, 8, 8, 16, 33, 3, True, padding=(1, 1), stride=(2, 2)),
    conv2d_row(1, 7, 6, 4, 3, (1, 3), padding=(0, 1), stride=(2, 1)), conv2d_row(2, 5, 5, 64, 32, 1, True),
    conv2d_row(1, 9, 9, 3, 4, 3, dilation=(2, 2), padding=(2, 1)), conv2d_row(1, 6, 7, 6, 9, 3, True, groups=3),
    conv2d_row(1, 6, 6, 8, 8, 3, groups=8, padding=(1, 1)), conv2d_row(1, 6, 7, 3, 5, 2, padding=(0, 1, 2, 3)),
    conv2d_row(1, 1, 1, 1, 1, 1), conv2d_row(1, 5, 4, 3, 2, (5, 4), True),
    conv2d_row(1, 9, 9, 3, 8, 7, True, padding=(3, 3), stride=(2, 2)), conv2d_row(0, 5, 5, 3, 4, 3),
    conv2d_row(1, 5, 5, 3, 4, 3, conv_config=ttnn.Conv2dConfig(activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU))),
    conv2d_row(1, 2, 3, 1, 2, 1) | {"input_tensor": torch.tensor([NAN, INF, -INF, 0.0, 1.0, 3e38]).reshape(1, 1, 6, 1)},
]  # fmt: skip


def conv3d_row(n: int, sizes: tuple[int, int, int], cin: int, cout: int, k: Any, bias: bool = False,
               **own: Any) -> dict[str, Any]:  # fmt: skip
    row = {"input_tensor": of(n, *sizes, cin), "output_channels": cout, "kernel_size": sized(k, 3),
           "weight_tensor": of(cout, cin // own.get("groups", 1), *sized(k, 3)), **own}  # fmt: skip
    return row | ({"bias_tensor": of(1, cout)} if bias else {})


TABLE: dict[str, Rows] = {
    "conv2d": Rows(conv2d, FLOATS + " i32", CONV2D),
    "conv1d": Rows(conv1d, FLOATS, [
        conv1d_row(2, 17, 5, 6, 3), conv1d_row(1, 16, 16, 33, 4, True, stride=2, padding=1),
        conv1d_row(1, 20, 4, 4, 3, groups=4, padding=2), conv1d_row(1, 20, 4, 6, 3, True, dilation=3, groups=2),
        conv1d_row(1, 12, 3, 5, 5, padding=[4, 1]), conv1d_row(1, 1, 1, 1, 1), conv1d_row(0, 6, 3, 4, 3)]),
    "conv_transpose2d": Rows(conv_transpose2d, FLOATS, [
        transpose_row(2, 5, 6, 5, 7, 3), transpose_row(1, 4, 4, 16, 8, 2, True, stride=(2, 2)),
        transpose_row(1, 4, 5, 3, 4, 3, True, stride=(2, 3), padding=(1, 1), output_padding=(1, 2)),
        transpose_row(1, 5, 4, 6, 9, 3, groups=3, padding=(1, 0)), transpose_row(1, 4, 4, 3, 2, 2, dilation=(2, 2)),
        transpose_row(1, 1, 1, 1, 1, 1), transpose_row(1, 3, 4, 2, 3, (1, 4), True, stride=(1, 2)),
        transpose_row(0, 4, 4, 3, 2, 2)]),
    "experimental.conv3d": Rows(conv3d, WIDE, [
        conv3d_row(1, (4, 5, 6), 3, 5, 3),
        conv3d_row(2, (4, 4, 5), 4, 8, (1, 2, 3), True, stride=(1, 2, 1), padding=(0, 1, 1)),
        conv3d_row(1, (5, 5, 5), 2, 4, 3, True, padding=(1, 1, 1), padding_mode="replicate"),
        conv3d_row(1, (5, 5, 5), 4, 4, 2, groups=2, dilation=(2, 1, 3)), conv3d_row(1, (1, 1, 1), 1, 1, 1),
        conv3d_row(0, (3, 3, 3), 2, 2, 2)]),
    "conv_transpose3d": Rows(conv_transpose3d, WIDE, [
        volume_row(1, (3, 4, 2), 3, 5, 3, (3, 5)),
        volume_row(2, (2, 3, 3), 4, 6, 2, (4, 3), True, stride=(2, 1, 2), groups=2),
        volume_row(1, (3, 3, 3), 2, 2, 3, (2, 2), padding=(1, 1, 1), stride=(2, 2, 2), output_padding=(1, 0, 1)),
        volume_row(1, (1, 1, 1), 1, 1, 1, (1, 1))]),
    "max_pool2d": Rows(pooled(max_pool), FLOATS, [
        *POOLS, pool_row(1, 9, 9, 4, 3, 1, (1, 1), dilation=(2, 2)), pool_row(1, 5, 6, 3, 3, 1, [0, 1, 1, 0])]),
    "max_pool2d_with_indices": Rows(pooled(max_pool_places), WIDE, [
        *POOLS, pool_row(1, 9, 9, 4, 3, 1, (1, 1), dilation=(2, 2)),
        pool_row(1, 4, 4, 2, 2, 2, x=torch.ones(1, 1, 16, 2))]),
    "avg_pool2d": Rows(pooled(avg_pool), FLOATS, [
        row | own for row in POOLS for own in ({}, {"count_include_pad": False}, {"divisor_override": 3})
        if not ("divisor_override" in own and "ceil_mode" in row)] + [
        pool_row(2, 9, 8, 4, k, s, p, dilation=d, **own) for own in ({}, {"count_include_pad": False})
        for k, s, p, d in ((3, 1, (1, 1), (2, 2)), ((2, 3), 2, (0, 1), (3, 1)), (1, 1, (0, 0), (4, 2)))]),
    "global_avg_pool2d": Rows(lambda input_tensor: input_tensor.mean((1, 2), keepdim=True), FLOATS, [
        {"input_tensor": shape} for shape in (of(2, 5, 7, 33), of(1, 1, 1, 1), of(0, 4, 4, 3),
                                              torch.tensor([[[[INF, NAN, 1.0], [1.0, 2.0, -INF]]]]))]),
    "upsample": Rows(upsample, WIDE, [
        {"input_tensor": x, "scale_factor": f, **own} for x in (of(2, 5, 3, 7), of(1, 1, 1, 1), of(1, 4, 6, 33))
        for f in (1, 2, 3, (2, 1), (1, 4)) for own in ({}, {"mode": "bilinear"})]),
}  # fmt: skip
