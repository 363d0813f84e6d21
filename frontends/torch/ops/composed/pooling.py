# SPDX-License-Identifier: Apache-2.0
"""Pools whose windows are of different sizes, or where random numbers say: elements are looked up, window by window."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from .registry import composed, wide

Two = tuple[torch.Tensor, torch.Tensor]


def _windows(size: int, count: int, device: torch.device) -> torch.Tensor:
    """Places of the elements of windows that cover a dimension, int64[count, width]; short ones repeat their last.

    A tensor of ops: AOTAutograd takes none of numbers in the middle of a graph.
    """
    numbers = torch.arange(count, device=device).unsqueeze(1)
    begins = torch.div(numbers * size, count, rounding_mode="floor")
    last = torch.div((numbers + 1) * size + count - 1, count, rounding_mode="floor") - 1
    width = max(-(-(i + 1) * size // count) - i * size // count for i in range(count))
    return torch.minimum(begins + torch.arange(width, device=device), last)


def _gathered(x: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """Returns the elements of windows [..., *sizes, elements of a window] of the last dimensions of x."""
    rank = len(sizes)
    before = x.dim() - rank
    shape = list(x.shape[:before])
    for d, count in enumerate(sizes):
        places = _windows(x.shape[before + d], count, x.device)
        x = x.index_select(before + d, places.flatten())
        shape += places.shape
    order = [*range(before), *(before + 2 * d for d in range(rank)), *(before + 2 * d + 1 for d in range(rank))]
    return x.reshape(shape).permute(order).flatten(before + rank)


def _places(x: torch.Tensor, rank: int) -> torch.Tensor:
    """Returns the number of each element of an image or volume, int64[sizes]."""
    sizes = x.shape[x.dim() - rank :]
    return torch.arange(math.prod(sizes), device=x.device).reshape(sizes)


def _chosen(values: torch.Tensor, places: torch.Tensor) -> Two:
    """Returns the maximum of the last dimension and its place: `places` broadcast with the values."""
    found, at = values.max(-1, keepdim=True)
    return found.squeeze(-1), places.expand(values.shape).gather(-1, at).squeeze(-1)


@composed("aten::adaptive_max_pool2d")
def adaptive_max_pool2d(x: torch.Tensor, sizes: Sequence[int]) -> Two:
    return _chosen(_gathered(x, sizes), _gathered(_places(x, 2), sizes))


@composed("aten::adaptive_max_pool3d")
def adaptive_max_pool3d(x: torch.Tensor, sizes: Sequence[int]) -> Two:
    return _chosen(_gathered(x, sizes), _gathered(_places(x, 3), sizes))


def _intervals(samples: torch.Tensor, size: int, count: int, window: int) -> torch.Tensor:
    """Returns where windows begin along a dimension, int64[batch, channels, count]; `samples` are in [0, 1).

    Source: Graham, Fractional Max-Pooling (2014), as PyTorch computes it, in the type of the samples.
    """
    last = samples.new_full((*samples.shape, 1), size - window).long()
    if count == 1:
        return last
    step = samples.new_full((), size - window) / samples.new_full((), count - 1)
    numbers = torch.arange(count - 1, device=samples.device).to(samples.dtype)
    shift = (samples * step).long().unsqueeze(-1)
    begins = ((numbers + samples.unsqueeze(-1)) * step).long() - shift
    return torch.cat([begins, last], -1)


def _fractional(x: torch.Tensor, window: Sequence[int], sizes: Sequence[int], samples: Sequence[torch.Tensor]) -> Two:
    rank = len(sizes)
    single = x.dim() == rank + 1
    x = x.unsqueeze(0) if single else x
    shape = x.shape[2:]
    places: torch.Tensor | None = None
    for d, (count, width, sample) in enumerate(zip(sizes, window, samples, strict=True)):
        begins = _intervals(sample, shape[d], count, width)
        part = begins.unsqueeze(-1) + torch.arange(width, device=x.device)  # [batch, channels, count, width]
        ones = [1] * (2 * rank)
        ones[d], ones[rank + d] = count, width
        part = part.reshape(*part.shape[:2], *ones) * math.prod(shape[d + 1 :])
        places = part if places is None else places + part
    assert places is not None
    places = places.expand(*x.shape[:2], *sizes, *window).flatten(2 + rank)
    values = x.flatten(2).gather(2, places.flatten(2)).reshape(places.shape)
    found, at = _chosen(values, places)
    return (found[0], at[0]) if single else (found, at)


@composed("aten::fractional_max_pool2d")
def fractional_max_pool2d(x: torch.Tensor, window: Sequence[int], sizes: Sequence[int], samples: torch.Tensor) -> Two:
    return _fractional(x, window, sizes, [samples[..., 1], samples[..., 0]])  # of width, and of height


@composed("aten::fractional_max_pool3d")
def fractional_max_pool3d(x: torch.Tensor, window: Sequence[int], sizes: Sequence[int], samples: torch.Tensor) -> Two:
    return _fractional(x, window, sizes, [samples[..., d] for d in range(3)])


def _sent_back(grad: torch.Tensor, x: torch.Tensor, places: torch.Tensor, rank: int) -> torch.Tensor:
    before = x.dim() - rank
    zeros = torch.zeros_like(wide(x)).flatten(before)
    result = zeros.scatter_add(-1, places.flatten(before), wide(grad).flatten(before))
    return result.reshape(x.shape).to(x.dtype)


@composed("aten::adaptive_max_pool2d_backward")
def adaptive_max_pool2d_backward(grad: torch.Tensor, x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return _sent_back(grad, x, places, 2)


@composed("aten::adaptive_max_pool3d_backward")
def adaptive_max_pool3d_backward(grad: torch.Tensor, x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return _sent_back(grad, x, places, 3)


@composed("aten::fractional_max_pool2d_backward")
def fractional_max_pool2d_backward(
    grad: torch.Tensor, x: torch.Tensor, window: Sequence[int], sizes: Sequence[int], places: torch.Tensor
) -> torch.Tensor:
    return _sent_back(grad, x, places, 2)


@composed("aten::fractional_max_pool3d_backward")
def fractional_max_pool3d_backward(
    grad: torch.Tensor, x: torch.Tensor, window: Sequence[int], sizes: Sequence[int], places: torch.Tensor
) -> torch.Tensor:
    return _sent_back(grad, x, places, 3)
