# SPDX-License-Identifier: Apache-2.0
"""Goldens of convolutions and pooling. Spatial padding is [low..., high...] per dimension, as in the ops."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .activation import activated, activation_of
from .op import Op, TensorSpec, ints

CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
LARGEST = {2: F.max_pool2d, 3: F.max_pool3d}
MEANS = {2: F.avg_pool2d, 3: F.avg_pool3d}
Ints = int | Sequence[int]


def pads(padding: Ints, rank: int) -> list[tuple[int, int]]:
    """Returns (low, high) for each spatial dimension from one number, one per dimension, or all lows then all highs."""
    if not isinstance(padding, int) and len(padding) == 2 * rank:
        return [(padding[i], padding[i + rank]) for i in range(rank)]
    return [(p, p) for p in ints(padding, rank)]


def padded(x: Tensor, padding: Sequence[tuple[int, int]], value: float = 0.0) -> Tensor:
    """Pads the last dimensions; negative padding crops."""
    flat = [p for low_high in reversed(padding) for p in low_high]
    return F.pad(x, flat, value=value) if any(flat) else x


def dense(x: Tensor) -> Tensor:
    """Returns a copy whose strides follow from its shape alone.

    torch 2.13 takes the strides that padding a permuted view leaves for another memory format where sizes are 1, and
    its convolutions and pools then read and write elsewhere. `contiguous()` keeps such strides.
    """
    return x.clone(memory_format=torch.contiguous_format)


def flattened_compat(info: Any) -> dict[str, int] | None:
    """Returns batch and sizes of an image batch that travels as [1, 1, N*H*W, C]."""
    if not info:
        return None
    return {k: int(v) for k, v in re.findall(r"(batch_size|input_height|input_width)\s*=\s*(\d+)", str(info))}


@dataclass(frozen=True)
class Images:
    """Batches of channels and their places: where the dimensions are, and the sizes when they travel flattened."""

    dims: tuple[int, int, Sequence[int]]  # batch, channel, spatial
    flat: dict[str, int] | None = None

    @property
    def rank(self) -> int:
        return len(self.dims[2])

    def channels_first(self, x: Tensor) -> Tensor:
        if self.flat:
            x = x.reshape(self.flat["batch_size"], self.flat["input_height"], self.flat["input_width"], -1)
        batch, channel, spatial = self.dims
        return x.permute(batch, channel, *spatial)

    def back(self, y: Tensor, bias: Tensor | None, out: TensorSpec | None) -> Tensor:
        """Returns the result in the order and shape of the op's, with a bias for each channel."""
        batch, channel, spatial = self.dims
        order = [batch, channel, *spatial]
        if bias is not None:
            y = y + bias.reshape(-1, *[1] * self.rank)
        y = y.permute([order.index(d) for d in range(len(order))])
        return y.reshape(out.shape) if self.flat and out else y


def convolve(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    images: Images,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    padding_mode: str = "zeros",
    output_padding: Ints | None = None,
    out: TensorSpec | None = None,
) -> Tensor:
    """Convolves. The weight is [O, I/groups, ...], with `output_padding` (a transposed convolution) [I, O/groups,
    ...]."""
    rank = images.rank
    if not x.is_floating_point():  # sums of 64 bits, which the result's type cuts
        x, weight, bias = x.long(), weight.long(), None if bias is None else bias.long()
    x, weight, sides = dense(images.channels_first(x)), dense(weight), pads(padding, rank)
    options: dict[str, Any] = {"stride": ints(stride, rank), "dilation": ints(dilation, rank), "groups": groups}
    if output_padding is not None:  # padding is cut off the full result
        y = TRANSPOSED[rank](x, weight, **options)
        extra = ints(output_padding, rank)
        y = padded(y, [(-low, more - high) for (low, high), more in zip(sides, extra, strict=True)])
    elif padding_mode == "zeros":
        y = CONV[rank](dense(padded(x, sides)), weight, **options)
    else:
        flat = [p for low_high in reversed(sides) for p in low_high]
        y = CONV[rank](dense(F.pad(x.double(), flat, mode=padding_mode).to(x.dtype)), weight, **options)
    return images.back(y, bias, out)


def conv1d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints = 0, dilation: Ints = 1,
    groups: int = 1, batch_dim: int = 0, length_dim: int = 1, channel_dim: int = 2,
) -> Tensor:  # fmt: skip
    return convolve(x, weight, bias, Images((batch_dim, channel_dim, [length_dim])), stride, padding, dilation, groups)


def convolution2d(transposed: bool) -> Callable[..., Tensor]:
    def golden(
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Ints = 1,
        padding: Ints = 0,
        dilation: Ints = 1,
        groups: int = 1,
        output_padding: Ints = 0,
        batch_dim: int = 0,
        height_dim: int = 1,
        width_dim: int = 2,
        channel_dim: int = 3,
        flattened_compat_info: Any = None,
        out: TensorSpec | None = None,
    ) -> Tensor:
        images = Images((batch_dim, channel_dim, [height_dim, width_dim]), flattened_compat(flattened_compat_info))
        extra = output_padding if transposed else None
        return convolve(x, weight, bias, images, stride, padding, dilation, groups, output_padding=extra, out=out)

    return golden


conv2d, conv_transpose2d = convolution2d(transposed=False), convolution2d(transposed=True)


def convolution3d(transposed: bool) -> Callable[..., Tensor]:
    def golden(
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Ints = 1,
        padding: Ints = 0,
        dilation: Ints = 1,
        groups: int = 1,
        output_padding: Ints = 0,
        batch_dim: int = 0,
        depth_dim: int = 1,
        height_dim: int = 2,
        width_dim: int = 3,
        channel_dim: int = 4,
        padding_mode: str = "zeros",
    ) -> Tensor:
        images = Images((batch_dim, channel_dim, [depth_dim, height_dim, width_dim]))
        extra = output_padding if transposed else None
        return convolve(x, weight, bias, images, stride, padding, dilation, groups, padding_mode, output_padding=extra)

    return golden


conv3d, conv_transpose3d = convolution3d(transposed=False), convolution3d(transposed=True)


def device_conv(golden: Callable[..., Tensor], rank: int) -> Callable[..., Tensor]:
    """Computes the device's op: the image batch is flattened to [1, 1, N*H*W, C] and its sizes are attributes."""

    def flattened(
        x: Tensor, weight: Tensor, bias: Tensor | None = None, *, batch_size: int, in_channels: int, stride: Ints,
        padding: Ints, out: TensorSpec, groups: int = 1, dilation: Ints = 1, **rest: Any,
    ) -> Tensor:  # fmt: skip
        sizes = [rest[name] for name in ("input_depth", "input_height", "input_width", "input_length") if name in rest]
        x = x.reshape(batch_size, *sizes, in_channels)
        padding = device_padding(padding, rank)
        options = {k: rest[k] for k in ("output_padding", "padding_mode") if rest.get(k) is not None}
        options["dilation"] = 1 if dilation is None else dilation
        if rank == 3 and weight.dim() == 2:
            weight = from_prepared(weight, in_channels // groups, rest["kernel_size"], rest.get("conv3d_config"))
        elif weight.dim() != rank + 2:  # a conv1d weight may be kept as 4D
            weight = weight.reshape(*weight.shape[: rank + 2])
        y = golden(x, weight, bias, stride=stride, padding=padding, groups=groups, **options)
        return activated(y, activation_of(rest.get("conv2d_config"))).reshape(out.shape)

    return flattened


def prepare_volumes(weight: Tensor, groups: int, c_in_block: int, alignment: int) -> Tensor:
    """Returns [O, I/groups, depth, height, width] as [rows, O]: blocks of channels, in each the places, then the
    channels."""
    channels = -(-weight.shape[1] // alignment) * alignment
    weight = F.pad(weight, [0] * 7 + [channels - weight.shape[1]])
    blocks = weight.unflatten(1, (-1, c_in_block or channels))
    return blocks.permute(1, 3, 4, 5, 2, 0).reshape(-1, weight.shape[0])


def from_prepared(matrix: Tensor, channels: int, kernel: Sequence[int], config: Any) -> Tensor:
    """Returns the inverse, without the channels that filled it up."""
    block = re.search(r"c_in_block\s*=\s*(\d+)", str(config))
    size = int(block[1]) if block and int(block[1]) else matrix.shape[0] // math.prod(kernel)
    blocks = matrix.reshape(-1, *kernel, size, matrix.shape[1])
    return blocks.permute(5, 0, 4, 1, 2, 3).flatten(1, 2)[:, :channels]


def device_padding(padding: Ints, rank: int) -> Ints:
    """Returns padding of a TTNN op, low and high side by side for each dimension, as all lows and then all highs."""
    if isinstance(padding, int) or rank == 1 or len(padding) != 2 * rank:
        return padding
    return [*padding[0::2], *padding[1::2]]


def window_count(size: int, kernel: int, stride: int, sides: tuple[int, int], dilation: int, ceil_mode: bool) -> int:
    """Returns windows along a dimension; with ceil_mode a last, partial one that does not begin in the padding
    behind."""
    low, high = sides
    room = size + low + high - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return room // stride + 1
    count = -(-room // stride) + 1
    return count - 1 if (count - 1) * stride >= size + low else count


@dataclass(frozen=True)
class Windows:
    """The windows of a pool over spatial dimensions. reach: [low, high] padding with which exactly they fit."""

    kernel: list[int]
    stride: list[int]
    dilation: list[int]
    sides: list[tuple[int, int]]
    reach: list[tuple[int, int]]

    @classmethod
    def over(cls, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> Windows:
        sizes = x.shape[1:-1]
        rank = len(sizes)
        sides, (k, s, d) = pads(padding, rank), (ints(v, rank) for v in (kernel, stride, dilation))
        counts = [window_count(sizes[i], k[i], s[i], sides[i], d[i], ceil_mode) for i in range(rank)]
        ends = [(counts[i] - 1) * s[i] + d[i] * (k[i] - 1) + 1 for i in range(rank)]
        reach = [(sides[i][0], ends[i] - sides[i][0] - sizes[i]) for i in range(rank)]
        return cls(k, s, d, sides, reach)


def max_pool(
    x: Tensor, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool, indices: bool = False
) -> Any:
    """Computes the largest elements, channels last. Padding never wins. Indices count within the image or volume of one
    channel."""
    windows, sizes = Windows.over(x, kernel, stride, padding, dilation, ceil_mode), x.shape[1:-1]
    integer = None if x.dtype.is_floating_point else x.dtype
    y = dense(padded((x.double() if integer else x).movedim(-1, 1), windows.reach, -torch.inf))
    pool = LARGEST[len(sizes)]
    y, where = pool(y, windows.kernel, windows.stride, 0, windows.dilation, return_indices=True)
    y = (y.to(integer) if integer else y).movedim(1, -1)
    if not indices:
        return y
    places, scale = torch.zeros_like(where), 1
    for (low, high), step, size in reversed(list(zip(windows.reach, windows.dilation, sizes, strict=True))):
        place = where % (size + low + high) - low
        where = where // (size + low + high)
        # Where all elements are -Inf the first one is taken, which may be padding: the first of the input is meant.
        places += scale * torch.where(place < 0, place % step, place).clamp(max=size - 1)
        scale *= size
    return [y, places.movedim(1, -1)]


def average_pool(
    x: Tensor,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    count_include_pad: bool = True,
) -> Tensor:
    """Computes means over a window, channels last, of which what ceil_mode adds beyond the padding does not count."""
    sizes = x.shape[1:-1]
    if any(d != 1 for d in ints(dilation, len(sizes))):
        raise ValueError(f"average pooling with dilation {dilation} has no golden")
    windows = Windows.over(x, kernel, stride, padding, dilation, ceil_mode)
    ones = padded(torch.ones(1, 1, *sizes, dtype=x.dtype), windows.sides, float(count_include_pad))
    beyond = [(0, reach[1] - side[1]) for reach, side in zip(windows.reach, windows.sides, strict=True)]
    pool = lambda t: MEANS[len(sizes)](dense(t), windows.kernel, windows.stride, divisor_override=1)  # noqa: E731
    total = pool(padded(x.movedim(-1, 1), windows.reach))
    return (total / pool(padded(ones, beyond))).movedim(1, -1)


def pooling(pool: Callable[..., Any]) -> Callable[..., Any]:
    def golden(
        x: Tensor,
        outputs: Any = None,
        *,
        out: Any,
        kernel: Ints | None = None,
        kernel_size: Ints | None = None,
        stride: Ints = 1,
        padding: Ints = 0,
        dilation: Ints = 1,
        ceil_mode: bool = False,
        flattened_compat_info: Any = None,
        **rest: Any,
    ) -> Any:
        sizes = flattened_compat(flattened_compat_info) or rest
        if "input_height" in sizes:
            x = x.reshape(sizes["batch_size"], sizes["input_height"], sizes["input_width"], -1)
        if kernel_size is not None:  # the device's op
            padding = device_padding(padding, 2)
        options = {"count_include_pad": rest["count_include_pad"]} if "count_include_pad" in rest else {}
        y = pool(x, kernel if kernel is not None else kernel_size, stride, padding, dilation, ceil_mode, **options)
        return (
            [v.reshape(o.shape) for v, o in zip(y, out, strict=True)] if isinstance(y, list) else y.reshape(out.shape)
        )

    return golden


def global_average_pool(x: Tensor) -> Tensor:
    return x.mean(dim=(1, 2), keepdim=True)


def upsample(x: Tensor, scale_factor: Ints, mode: str = "nearest") -> Tensor:
    options = {} if mode == "nearest" else {"align_corners": False}
    scale = [float(s) for s in ints(scale_factor, 2)]
    return F.interpolate(dense(x.permute(0, 3, 1, 2)), scale_factor=scale, mode=mode, **options).permute(0, 2, 3, 1)


def max_pool_with_indices(*args: Any, **options: Any) -> list[Tensor]:
    return max_pool(*args, **{**options, "indices": True})


WINDOW = {
    "conv1d": Op(conv1d, aten="convolution"),
    "conv2d": Op(conv2d, aten="convolution"),
    "conv3d": Op(conv3d, aten="convolution"),
    "conv_transpose2d": Op(conv_transpose2d),
    "conv_transpose3d": Op(conv_transpose3d),
    "max_pool2d": Op(pooling(max_pool), aten="max_pool2d"),
    "max_pool2d_with_indices": Op(pooling(max_pool_with_indices), aten="max_pool2d_with_indices"),
    "max_pool3d": Op(pooling(max_pool), aten="max_pool3d"),
    "max_pool3d_with_indices": Op(pooling(max_pool_with_indices), aten="max_pool3d_with_indices"),
    "avg_pool2d": Op(pooling(average_pool), aten="avg_pool2d"),
    "avg_pool3d": Op(pooling(average_pool), aten="avg_pool3d"),
    "global_avg_pool2d": Op(global_average_pool),
    "upsample2d": Op(upsample),
    "ttnn.conv1d": Op(device_conv(conv1d, 1)),
    "ttnn.conv2d": Op(device_conv(conv2d, 2)),
    "ttnn.conv3d": Op(device_conv(conv3d, 3)),
    "ttnn.prepare_conv3d_weights": Op(prepare_volumes),
    "ttnn.conv_transpose2d": Op(device_conv(conv_transpose2d, 2)),
    "ttnn.conv_transpose3d": Op(device_conv(conv_transpose3d, 3)),
}
