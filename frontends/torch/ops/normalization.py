# SPDX-License-Identifier: Apache-2.0
"""Normalisations over layers, groups and batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttmlir.dialects import ttir

import torch

from ..lowering import Lowering, Value, rule


def standardized(g: Lowering, wide: Value, dims: Sequence[int], eps: float) -> tuple[Value, Value, Value, Value]:
    """Normalizes f32 values over dimensions that are kept with size 1: (x - mean) * rstd, mean, variance (without
    Bessel's correction), and rstd = 1 / sqrt(variance + eps)."""
    mean = g.reduce(ttir.mean, wide, dims, True)
    centred = g.sub(wide, mean)
    variance = g.reduce(ttir.mean, g.mul(centred, centred), dims, True)
    rstd = g.call(ttir.rsqrt, g.add(variance, g.scalar(eps, variance)))
    return g.mul(centred, rstd), mean, variance, rstd


def scaled(g: Lowering, y: Value, weight: Value | None, bias: Value | None, shape: Sequence[int] | None) -> Value:
    """Returns y * weight + bias in f32, where there are such; shape: in which they broadcast, None for their own."""
    for op, operand in ((g.mul, weight), (g.add, bias)):
        if operand is not None:
            wide = g.cast(operand, torch.float32)
            y = op(y, wide if shape is None else g.reshape(wide, shape))
    return y


@rule("native_layer_norm", "layer_norm")
def layer_norm(
    g: Lowering, x: Value, normalized_shape: Sequence[int], weight: Value | None = None, bias: Value | None = None,
    eps: float = 1e-5, *rest: Any,
) -> Any:  # fmt: skip
    several = isinstance(g.fake, tuple | list)
    if not several or not (g.wants(1) or g.wants(2)):
        # Over one dimension, as the chip has it.
        size = math.prod(normalized_shape)
        rows = g.reshape(x, (*x.shape[: x.rank - len(normalized_shape)], size))
        vectors = [None if v is None else g.reshape(v, (size,)).ir for v in (weight, bias)]
        result = ttir.layer_norm(rows.ir, [size], weight=vectors[0], bias=vectors[1], epsilon=float(eps))
        y = g.reshape(Value(result, rows.shape, x.dtype), x.shape)
        return (y, y, y) if several else y
    dims = list(range(x.rank - len(normalized_shape), x.rank))
    y, mean, _, rstd = standardized(g, g.cast(x, torch.float32), dims, eps)
    y = scaled(g, y, weight, bias, None)
    return g.finish(y, g.out(0)), g.finish(mean, g.out(1)), g.finish(rstd, g.out(2))


@rule("native_group_norm")
def group_norm(
    g: Lowering, x: Value, weight: Value | None, bias: Value | None, batch: int, channels: int, pixels: int,
    groups: int, eps: float,
) -> tuple[Value, Value, Value]:  # fmt: skip
    wide = g.reshape(g.cast(x, torch.float32), (batch, groups, channels // groups * pixels))
    y, mean, _, rstd = standardized(g, wide, [2], eps)
    y = scaled(g, g.reshape(y, x.shape), weight, bias, (1, channels, *(1,) * (x.rank - 2)))
    return g.finish(y, g.out(0)), g.finish(mean, g.out(1)), g.finish(rstd, g.out(2))


@rule("_native_batch_norm_legit_no_training")
def batch_norm(
    g: Lowering, x: Value, weight: Value | None, bias: Value | None, mean: Value, variance: Value, momentum: float,
    eps: float,
) -> tuple[Value, Value, Value]:  # fmt: skip
    channels = x.shape[1]
    scale = weight or g.full((channels,), 1, mean.dtype)
    offset = bias or g.full((channels,), 0, mean.dtype)
    operands = (x.ir, scale.ir, offset.ir, mean.ir, variance.ir)
    y = Value(ttir.batch_norm_inference(*operands, float(eps), 1), x.shape, x.dtype)
    empty = g.full((0,), 0, g.out(1).dtype) if g.wants(1) or g.wants(2) else y
    return y, empty, empty


@rule("_native_batch_norm_legit_functional", "native_batch_norm", "_native_batch_norm_legit.no_stats",
      "_native_batch_norm_legit")  # fmt: skip
def batch_norm_training(
    g: Lowering, x: Value, weight: Value | None, bias: Value | None, *rest: Any
) -> tuple[Value, ...]:
    """Normalizes with the batch's own mean and variance; the running ones move towards them, the variance without
    bias."""
    running = rest[0] if isinstance(rest[0], Value) or rest[0] is None else None
    running_variance = rest[1] if len(rest) == 5 else None
    training, momentum, eps = rest[-3:]
    if not training and running is not None and running_variance is not None:
        y, empty, _ = batch_norm(g, x, weight, bias, running, running_variance, momentum, eps)
        return (y, empty, empty, running, running_variance)
    dims = [0, *range(2, x.rank)]
    y, mean, variance, rstd = standardized(g, g.cast(x, torch.float32), dims, eps)
    y = scaled(g, y, weight, bias, (1, x.shape[1], *(1,) * (x.rank - 2)))
    results = [g.finish(y, g.out(0)), g.finish(mean, g.out(1)), g.finish(rstd, g.out(2))]
    count = math.prod(x.shape[d] for d in dims)
    # Without bias: a quotient of two integers, which may be open, and of 0 by 0 for one element.
    unbiased = g.div(g.mul(variance, g.scalar(count, variance)), g.scalar(count - 1, variance))
    for number, (stat, new) in enumerate(((running, mean), (running_variance, unbiased)), 3):
        if stat is not None:
            new, old = g.reshape(new, stat.shape), g.cast(stat, torch.float32)
            moved = g.mul(new, g.scalar(momentum, new))
            moved = g.add(moved, g.mul(old, g.scalar(1 - momentum, old)))
            # PyTorch's graph may have another dtype than the statistics; written values are converted.
            results.append(g.cast(moved, g.out(number).dtype if number < len(g.fake) else stat.dtype))
    return tuple(results)
