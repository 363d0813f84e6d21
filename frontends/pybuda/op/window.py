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


def pair(value: Any, what: str, least: int = 1) -> tuple[int, int]:
    """Returns one number for both directions, or (vertical, horizontal).

    Raises:
        PyBudaError: something else, or a number below `least`.
    """
    found = (value, value) if isinstance(value, int) else tuple(value)
    if len(found) != 2 or not all(isinstance(x, int) for x in found):
        raise PyBudaError(f"{what} is {value!r}; expected a number, or two")
    if min(found) < least:
        raise PyBudaError(f"{what} is {value!r}; expected {least} or more")
    return found


def padded(
    x: torch.Tensor, padding: Any, kernel: Sequence[int], stride: Any, dilation: Any, value: float = 0.0
) -> torch.Tensor:
    """Returns the activations with their borders: "same" keeps the size divided by the stride, numbers are [left,
    right, top, bottom], [vertical, horizontal] or one for all.
    """
    if padding == "same":
        sides: list[int] = []
        for size, k, s, d in reversed(list(zip(x.shape[-2:], kernel, stride, dilation, strict=True))):
            total = max((-(-size // s) - 1) * s + d * (k - 1) + 1 - size, 0)
            sides += [total // 2, total - total // 2]
    elif isinstance(padding, str):
        raise PyBudaError(f"padding is {padding!r}; expected 'same', or numbers")
    elif isinstance(padding, int):
        sides = [padding] * 4
    elif len(padding) == 4:
        sides = list(padding)
    else:
        vertical, horizontal = pair(padding, "padding", 0)
        sides = [horizontal, horizontal, vertical, vertical]
    return F.pad(x, sides, value=value) if any(sides) else x


def channels_first(
    x: torch.Tensor, channel_last: bool, compute: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    if x.dim() != 4:
        raise PyBudaError(f"activations have rank {x.dim()}; expected 4")
    return compute(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1) if channel_last else compute(x)


def flat(bias: torch.Tensor | None) -> torch.Tensor | None:
    return None if bias is None else bias.reshape(-1)


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
    strides, dilations = pair(stride, "stride"), pair(dilation, "dilation")

    def compute(x: torch.Tensor) -> torch.Tensor:
        x = padded(x, padding, weights.shape[-2:], strides, dilations)
        return F.conv2d(x, weights, flat(bias), strides, 0, dilations, groups)

    return channels_first(activations, channel_last, compute)


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
    if return_indices:
        raise PyBudaError("return_indices is True; positions of the largest elements are not computed")
    kernel, strides, dilations = pair(kernel_size, "kernel_size"), pair(stride, "stride"), pair(dilation, "dilation")
    config = _get_global_compiler_config()
    surround = 0.0
    if max_pool_add_sub_surround:
        surround = max_pool_add_sub_surround_value
    elif config.max_pool_add_sub_surround:
        surround = config.max_pool_add_sub_surround_value

    def compute(x: torch.Tensor) -> torch.Tensor:
        x = x + surround if surround else x
        simple = padding if isinstance(padding, int) else 0
        x = x if isinstance(padding, int) else padded(x, padding, kernel, strides, dilations, float("-inf"))
        pooled = F.max_pool2d(x, kernel, strides, simple, dilations, ceil_mode)
        return pooled - surround if surround else pooled

    return channels_first(activations, channel_last, compute)


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
