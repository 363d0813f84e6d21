# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pools. Activations are [N, C, H, W], with `channel_last` [N, H, W, C]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from ..config import _get_global_compiler_config
from ..errors import PyBudaError
from .registry import op


def numbers(value: Any, what: str, count: int, least: int = 1) -> tuple[int, ...]:
    """Returns one number for each of `count` directions, of one for all or of as many; the outermost is first.

    Raises:
        PyBudaError: something else, or a number below `least`.
    """
    found = (value,) * count if isinstance(value, int) else tuple(value)
    if len(found) != count or not all(isinstance(x, int) for x in found):
        many = {1: "a number", 2: "a number, or two"}.get(count, f"a number, or {count}")
        raise PyBudaError(f"{what} is {value!r}; expected {many}")
    if min(found) < least:
        raise PyBudaError(f"{what} is {value!r}; expected {least} or more")
    return found


def pair(value: Any, what: str, least: int = 1) -> tuple[int, int]:
    """Returns one number for both directions, or (vertical, horizontal), as `numbers` does."""
    vertical, horizontal = numbers(value, what, 2, least)
    return vertical, horizontal


def padded(
    x: torch.Tensor, padding: Any, kernel: Sequence[int], stride: Any, dilation: Any, value: float = 0.0
) -> torch.Tensor:
    """Returns the activations with their borders: "same" keeps the size divided by the stride, numbers are [left,
    right, top, bottom, ...], [..., vertical, horizontal] or one for all.
    """
    count = len(kernel)
    if padding == "same":
        sides: list[int] = []
        for size, k, s, d in reversed(list(zip(x.shape[-count:], kernel, stride, dilation, strict=True))):
            total = max((-(-size // s) - 1) * s + d * (k - 1) + 1 - size, 0)
            sides += [total // 2, total - total // 2]
    elif isinstance(padding, str):
        raise PyBudaError(f"padding is {padding!r}; expected 'same', or numbers")
    elif isinstance(padding, int):
        sides = [padding] * (2 * count)
    elif len(padding) == 2 * count:
        sides = list(padding)
    else:
        sides = [side for side in reversed(numbers(padding, "padding", count, 0)) for _ in range(2)]
    return F.pad(x, sides, value=value) if any(sides) else x


def channels_first(
    x: torch.Tensor, channel_last: bool, compute: Callable[[torch.Tensor], torch.Tensor], rank: int = 4
) -> torch.Tensor:
    if x.dim() != rank:
        raise PyBudaError(f"activations have rank {x.dim()}; expected {rank}")
    return compute(x.movedim(-1, 1)).movedim(1, -1) if channel_last else compute(x)


def flat(bias: torch.Tensor | None) -> torch.Tensor | None:
    return None if bias is None else bias.reshape(-1)


CONVOLUTIONS = {2: F.conv2d, 3: F.conv3d}


def convolved(
    count: int, x: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor | None, stride: Any, padding: Any,
    dilation: Any, groups: int, channel_last: bool,
) -> torch.Tensor:  # fmt: skip
    """Returns a convolution with windows of `count` dimensions."""
    strides, dilations = numbers(stride, "stride", count), numbers(dilation, "dilation", count)

    def compute(x: torch.Tensor) -> torch.Tensor:
        x = padded(x, padding, weights.shape[-count:], strides, dilations)
        return CONVOLUTIONS[count](x, weights, flat(bias), strides, 0, dilations, groups)

    return channels_first(x, channel_last, compute, count + 2)


@op
def Conv2d(
    activations: torch.Tensor,
    weights: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: int = 1,
    padding: Any = "same",
    dilation: int = 1,
    groups: int = 1,
    channel_last: bool = False,
) -> torch.Tensor:
    """Returns a convolution with weights [Cout, Cin / groups, kH, kW] and a bias of Cout elements."""
    return convolved(2, activations, weights, bias, stride, padding, dilation, groups, channel_last)


@op
def Conv2dTranspose(
    activations: torch.Tensor,
    weights: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: int = 1,
    padding: Any = "same",
    dilation: int = 1,
    groups: int = 1,
    channel_last: bool = False,
) -> torch.Tensor:
    """Returns a transposed convolution with weights [Cin, Cout / groups, kH, kW]; "same" multiplies sizes by the
    stride."""
    strides, dilations = pair(stride, "stride"), pair(dilation, "dilation")

    def compute(x: torch.Tensor) -> torch.Tensor:
        if padding != "same":
            pads = pair(padding, "padding", 0)
            return F.conv_transpose2d(x, weights, flat(bias), strides, pads, 0, groups, dilations)
        whole = F.conv_transpose2d(x, weights, flat(bias), strides, 0, 0, groups, dilations)
        for dim in (-2, -1):
            size = x.shape[dim] * strides[dim]
            whole = F.pad(whole, (0, 0) * (-1 - dim) + (0, max(size - whole.shape[dim], 0)))
            whole = whole.narrow(dim, (whole.shape[dim] - size) // 2, size)
        return whole

    return channels_first(activations, channel_last, compute)


MAX_POOLS = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}


def largest(
    x: torch.Tensor, count: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    return_indices: bool, channel_last: bool = False, surround: float = 0.0,
) -> torch.Tensor:  # fmt: skip
    """Returns the largest element of each window of `count` dimensions. surround: added before, subtracted after."""
    if return_indices:
        raise PyBudaError("return_indices is True; positions of the largest elements are not computed")
    kernel, strides = numbers(kernel_size, "kernel_size", count), numbers(stride, "stride", count)
    dilations = numbers(dilation, "dilation", count)

    def compute(x: torch.Tensor) -> torch.Tensor:
        x = x + surround if surround else x
        simple = padding if isinstance(padding, int) else 0
        x = x if isinstance(padding, int) else padded(x, padding, kernel, strides, dilations, float("-inf"))
        pooled = MAX_POOLS[count](x, kernel, strides, simple, dilations, ceil_mode)
        return pooled - surround if surround else pooled

    return channels_first(x, channel_last, compute, count + 2)


@op
def MaxPool2d(
    activations: torch.Tensor,
    kernel_size: Any,
    stride: int = 1,
    padding: Any = "same",
    dilation: int = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    max_pool_add_sub_surround: bool = False,
    max_pool_add_sub_surround_value: float = 1.0,
    channel_last: bool = False,
) -> torch.Tensor:
    """Returns the largest element of each window.

    max_pool_add_sub_surround: adds the value before and subtracts it behind, as the configuration's option of the
        same name does. Borders are -inf, so results are those without it but for the rounding of the sum.
    """
    config = _get_global_compiler_config()
    surround = 0.0
    if max_pool_add_sub_surround:
        surround = max_pool_add_sub_surround_value
    elif config.max_pool_add_sub_surround:
        surround = config.max_pool_add_sub_surround_value
    return largest(
        activations, 2, kernel_size, stride, padding, dilation, ceil_mode, return_indices, channel_last, surround
    )


@op
def AvgPool2d(
    activations: torch.Tensor,
    kernel_size: Any,
    stride: int = 1,
    padding: Any = "same",
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: float | None = None,
    channel_last: bool = False,
) -> torch.Tensor:
    """Returns the mean of each window."""
    if divisor_override == 0:
        raise PyBudaError("divisor_override is 0; expected another number, or None")
    kernel, strides = pair(kernel_size, "kernel_size"), pair(stride, "stride")

    def pool(x: torch.Tensor, simple: int, ceil: bool, count: bool) -> torch.Tensor:
        if divisor_override is None:
            return F.avg_pool2d(x, kernel, strides, simple, ceil, count)
        return F.avg_pool2d(x, kernel, strides, simple, ceil, divisor_override=1) / divisor_override

    def compute(x: torch.Tensor) -> torch.Tensor:
        if isinstance(padding, int):
            return pool(x, padding, ceil_mode, count_include_pad)
        pooled = pool(padded(x, padding, kernel, strides, (1, 1)), 0, ceil_mode, True)
        if count_include_pad or divisor_override is not None:
            return pooled
        ones = padded(torch.ones_like(x), padding, kernel, strides, (1, 1))
        return pooled / F.avg_pool2d(ones, kernel, strides, 0, ceil_mode)

    return channels_first(activations, channel_last, compute)


@op
def Conv3d(
    activations: torch.Tensor,
    weights: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: int = 1,
    padding: Any = "same",
    dilation: int = 1,
    groups: int = 1,
    channel_last: bool = False,
) -> torch.Tensor:
    """Returns a convolution of [N, C, D, H, W] with weights [Cout, Cin / groups, kD, kH, kW] and a bias of Cout
    elements."""
    return convolved(3, activations, weights, bias, stride, padding, dilation, groups, channel_last)


@op
def MaxPool1d(
    activations: torch.Tensor,
    kernel_size: int,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> torch.Tensor:
    """Returns the largest element of each window of [N, C, W]."""
    return largest(activations, 1, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@op
def MaxPool3d(
    activations: torch.Tensor,
    kernel_size: Any,
    stride: int = 1,
    padding: Any = "same",
    dilation: int = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    max_pool_add_sub_surround: bool = False,
    max_pool_add_sub_surround_value: float = 1.0,
    channel_last: bool = False,
) -> torch.Tensor:
    """Returns the largest element of each window of [N, C, D, H, W]. max_pool_add_sub_surround: as in `MaxPool2d`."""
    surround = max_pool_add_sub_surround_value if max_pool_add_sub_surround else 0.0
    return largest(
        activations, 3, kernel_size, stride, padding, dilation, ceil_mode, return_indices, channel_last, surround
    )


@op
def AvgPool1d(
    activations: torch.Tensor,
    kernel_size: Any,
    stride: int = 1,
    padding: Any = "same",
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> torch.Tensor:
    """Returns the mean of each window of [N, C, W]."""
    (kernel,), (step,) = numbers(kernel_size, "kernel_size", 1), numbers(stride, "stride", 1)

    def compute(x: torch.Tensor) -> torch.Tensor:
        if isinstance(padding, int):
            return F.avg_pool1d(x, kernel, step, padding, ceil_mode, count_include_pad)
        pooled = F.avg_pool1d(padded(x, padding, (kernel,), (step,), (1,)), kernel, step, 0, ceil_mode)
        if count_include_pad:
            return pooled
        ones = padded(torch.ones_like(x), padding, (kernel,), (step,), (1,))
        return pooled / F.avg_pool1d(ones, kernel, step, 0, ceil_mode)

    return channels_first(activations, False, compute, 3)


# Methods of resizing, by PyTorch's names.
RESIZE_METHODS = {"nearest_neighbor": "nearest", "linear": "bilinear", "bilinear": "bilinear"}


@op
def Resize2d(
    operandA: torch.Tensor,
    sizes: Sequence[int],
    method: str = "nearest_neighbor",
    align_corners: bool = False,
    extrapolation_value: int = 0,
    channel_last: bool = False,
) -> torch.Tensor:
    """Returns images of other sizes, (vertical, horizontal). `extrapolation_value` has no effect: nothing outside of
    the image is read."""
    if method not in RESIZE_METHODS:
        raise PyBudaError(f"method is {method!r}; expected {', '.join(RESIZE_METHODS)}")
    found, mode = pair(sizes, "sizes"), RESIZE_METHODS[method]
    corners = align_corners if mode == "bilinear" else None
    return channels_first(operandA, channel_last, lambda x: F.interpolate(x, found, mode=mode, align_corners=corners))


@op
def Resize3d(
    operandA: torch.Tensor,
    sizes: Sequence[int],
    method: str = "nearest_neighbor",
    align_corners: bool = False,
    extrapolation_value: int = 0,
    channel_last: bool = False,
) -> torch.Tensor:
    """Returns volumes [N, C, D, H, W] of other sizes, by the nearest element."""
    if method != "nearest_neighbor":
        raise PyBudaError(f"method is {method!r}; expected 'nearest_neighbor'")
    found = numbers(sizes, "sizes", 3)
    return channels_first(operandA, channel_last, lambda x: F.interpolate(x, found, mode="nearest"), 5)
