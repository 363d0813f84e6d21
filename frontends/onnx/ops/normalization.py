# SPDX-License-Identifier: Apache-2.0
"""Softmax, and normalizations over layers, groups and batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from ttmlir.dialects import stablehlo

from ..emitter import Emitter
from ..errors import Refused
from ..registry import MICROSOFT, Node, op
from ..values import F32, F64, I32, DType, Value
from .elementwise import in_f32, require_float


def dim_of(axis: int, x: Value, name: str = "axis") -> int:
    """Returns a dimension by number, negative ones from the end.

    Raises:
        Refused: there is none.
    """
    if not -x.rank <= axis < max(x.rank, 1):
        raise Refused(f"{name} is {axis}; X is {x!r}")
    return axis % max(x.rank, 1)


def wide_type(dtype: DType) -> DType:
    return dtype if dtype in (F32, F64) else F32


def per_channel(g: Emitter, v: Value, x: Value, what: str) -> Value:
    """Returns a vector with a number for each channel of x, to be broadcast with it."""
    if v.shape != (x.shape[1],):
        raise Refused(f"{what} is {v!r}; expected {x.shape[1]} numbers, one for each channel of {x!r}")
    return g.reshape(v, (1, v.size, *(1,) * (x.rank - 2)))


#
# Softmax
#


@op("Softmax", "LogSoftmax")
def softmax(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    if node.version < 13:  # of the dimensions from the axis on, as one
        axis = node.get("axis", 1)
        axis = x.rank if axis == x.rank else dim_of(axis, x)
        rows = g.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))
        return g.reshape(softmax_of(g, rows, 1, node.op == "LogSoftmax"), x.shape)
    axis = node.get("axis", -1)
    if not x.rank and axis in (-1, 0):
        return g.full((), 0 if node.op == "LogSoftmax" else 1, x.dtype)
    return softmax_of(g, x, dim_of(axis, x), node.op == "LogSoftmax")


def softmax_of(g: Emitter, x: Value, dim: int, logarithm: bool) -> Value:
    if not x.size:
        return x
    if not logarithm:
        return g.ttir("softmax", x, dtype=x.dtype, dimension=dim, numeric_stable=True)

    def formula(x: Value) -> Value:
        shifted = g.sub(x, g.reduce("maximum", x, [dim], True))
        total = g.reduce("add", g.unary(stablehlo.exponential, shifted), [dim], True)
        return g.sub(shifted, g.unary(stablehlo.log, total))

    return in_f32(g, formula, x)


#
# Batches
#


@op("BatchNormalization")
def batch_normalization(g: Emitter, node: Node, x: Value, scale: Value, b: Value, mean: Value, variance: Value) -> Any:
    require_float(x)
    training = bool(node.get("training_mode", 0)) if node.version >= 14 else any(map(node.wants, range(1, 5)))
    epsilon, whole = node.get("epsilon", 1e-5), x
    if x.rank < 2:
        if x.rank == 0:
            raise Refused(f"X is {x!r}; expected at least one dimension")
        x = g.reshape(x, (*x.shape, 1))
    elif node.version < 9 and not node.get("spatial", 1):  # all of a sample are channels
        x, scale, b, mean, variance = (g.reshape(v, (v.shape[0], math.prod(v.shape[1:])) if v is x else (v.size,))
                                       for v in (x, scale, b, mean, variance))  # fmt: skip
    for name, v in (("scale", scale), ("B", b), ("input_mean", mean), ("input_var", variance)):
        per_channel(g, v, x, name)
    if not training:
        if any(map(node.wants, range(1, 5))):
            raise Refused("running_mean and running_var are outputs of training_mode only")
        kind = x.dtype
        scale, b, mean, variance = (g.cast(v, kind) for v in (scale, b, mean, variance))
        y = g.ttir("batch_norm_inference", x, scale, b, mean, variance, shape=x.shape, dtype=x.dtype,
                   epsilon=float(epsilon), dimension=1)  # fmt: skip
        return g.reshape(y, whole.shape)
    kept = mean.dtype
    dims = [d for d in range(x.rank) if d != 1]
    wide = g.cast(x, wide_type(x.dtype))
    y, middle, spread, _ = standardized(g, wide, dims, epsilon)
    y = g.add(g.mul(y, per_channel(g, g.cast(scale, y.dtype), x, "scale")), per_channel(g, g.cast(b, y.dtype), x, "B"))
    momentum = node.get("momentum", 0.9)

    def moved(old: Value, new: Value) -> Value:
        old, new = g.cast(old, y.dtype), g.reshape(new, old.shape)
        result = g.add(g.mul(old, g.scalar(momentum, old)), g.mul(new, g.scalar(1 - momentum, new)))
        return g.cast(result, kept)

    running = [moved(mean, middle), moved(variance, spread)]
    saved = [g.cast(g.reshape(v, old.shape), kept) for v, old in ((middle, mean), (spread, variance))]
    return (g.reshape(g.cast(y, x.dtype), whole.shape), *running, *saved)


def standardized(g: Emitter, x: Value, dims: Sequence[int], epsilon: float) -> tuple[Value, Value, Value, Value]:
    """Returns (x - mean) / sqrt(variance + epsilon), the mean, the variance, and 1 / sqrt(variance + epsilon)."""
    shape = tuple(1 if d in dims else n for d, n in enumerate(x.shape))

    def mean(v: Value) -> Value:
        return g.ttir("mean", v, shape=shape, dtype=v.dtype, keep_dim=True, dim_arg=list(dims)) if dims else v

    middle = mean(x)
    centred = g.sub(x, middle)
    variance = mean(g.mul(centred, centred))
    inverse = g.unary(stablehlo.rsqrt, g.add(variance, g.scalar(epsilon, variance)))
    return g.mul(centred, inverse), middle, variance, inverse


@op("InstanceNormalization")
def instance_normalization(g: Emitter, node: Node, x: Value, scale: Value, b: Value) -> Value:
    require_float(x)
    if x.rank < 3:
        raise Refused(f"input is {x!r}; expected [n, c] and spatial dimensions")
    return grouped(g, x, x.shape[1], node.get("epsilon", 1e-5), scale, b)


@op("GroupNormalization")
def group_normalization(g: Emitter, node: Node, x: Value, scale: Value, b: Value) -> Value:
    require_float(x)
    groups = node.need("num_groups")
    if x.rank < 2 or groups < 1 or x.shape[1] % groups:
        raise Refused(f"X is {x!r}; expected [n, c, ...] with channels that num_groups, {groups}, divides")
    if node.version < 21:  # of each group
        parts = []
        for name, v in (("scale", scale), ("bias", b)):
            if v.shape != (groups,):
                raise Refused(f"{name} is {v!r}; expected {groups} numbers, one for each group")
            each = g.broadcast(g.reshape(v, (groups, 1)), (groups, x.shape[1] // groups))
            parts.append(g.reshape(each, (x.shape[1],)))
        scale, b = parts
    return grouped(g, x, groups, node.get("epsilon", 1e-5), scale, b)


def grouped(g: Emitter, x: Value, groups: int, epsilon: float, scale: Value, b: Value) -> Value:
    """Returns each group of channels with mean 0 and variance 1, times scale, plus b for each channel."""
    scale, b = (per_channel(g, v, x, name) for v, name in ((scale, "scale"), (b, "B")))
    if not x.size:
        return x
    size = x.shape[1] // groups * math.prod(x.shape[2:])
    wide = wide_type(x.dtype)
    rows = g.reshape(g.cast(x, wide), (x.shape[0] * groups, size))
    y = g.ttir("layer_norm", rows, shape=rows.shape, dtype=wide, normalized_shape=[size], epsilon=float(epsilon))
    y = g.reshape(y, x.shape)
    return g.cast(g.add(g.mul(y, g.cast(scale, wide)), g.cast(b, wide)), x.dtype)


#
# Layers
#


def over_last(g: Emitter, name: str, x: Value, axis: int, epsilon: float, scale: Value | None,
              b: Value | None) -> Value:  # fmt: skip
    """Returns layer_norm or rms_norm over the dimensions from `axis` on, as one; x, scale and b have one type."""
    size = math.prod(x.shape[axis:])
    rows = g.reshape(x, (*x.shape[:axis], size))
    sizes = [n for n in x.shape[axis:] if n != 1]
    vectors = [
        g.ir(g.reshape(v, (size,))) if v is not None and [n for n in v.shape if n != 1] == sizes else None
        for v in (scale, b)
    ]
    if vectors[0] is None and scale is not None:
        vectors[1] = None  # what is added is not scaled
    y = g.ttir(name, rows, shape=rows.shape, dtype=x.dtype, normalized_shape=[size], weight=vectors[0],
               bias=vectors[1], epsilon=float(epsilon))  # fmt: skip
    y = g.reshape(y, x.shape)
    if scale is not None and vectors[0] is None:
        y = g.mul(y, scale)
    return g.add(y, b) if b is not None and vectors[1] is None else y


def stash_type(node: Node) -> None:
    if node.get("stash_type", 1) not in (1, 16):
        raise Refused(f"stash_type is {node.get('stash_type')}; expected 1, float, or 16, bfloat16")


def normalized_rows(g: Emitter, node: Node, name: str, x: Value, scale: Value | None, b: Value | None, axis: int,
                    epsilon: float, statistics: Sequence[int]) -> tuple[Value, Value | None, Value | None]:  # fmt: skip
    """Returns the result, the mean and the inverse of the deviation; the last two if one of these outputs is needed."""
    require_float(x)
    for v, what in ((scale, "scale"), (b, "B")):
        if v is not None and (v.rank > x.rank or np.broadcast_shapes(v.shape, x.shape) != x.shape):
            raise Refused(f"{what} is {v!r}; expected what broadcasts to {x!r}")
    if not x.size:
        none = g.broadcast(g.full((1,) * x.rank, 0, F32), (*x.shape[:axis], *(1,) * (x.rank - axis)))
        return x, none, none
    wide = wide_type(x.dtype)
    if not any(map(node.wants, statistics)):
        # The op computes in f32; without narrow operands in between the result is rounded once.
        operands = [None if v is None else g.cast(v, x.dtype) for v in (scale, b)]
        if all(v is None or v.dtype == x.dtype for v in (scale, b)):
            return over_last(g, name, x, axis, epsilon, *operands), None, None
    wide_x = g.cast(x, wide)
    dims = list(range(axis, x.rank))
    if name == "layer_norm":
        y, mean, _, inverse = standardized(g, wide_x, dims, epsilon)
    else:
        shape = tuple(1 if d in dims else n for d, n in enumerate(x.shape))
        square = g.mul(wide_x, wide_x)
        mean = g.ttir("mean", square, shape=shape, dtype=wide, keep_dim=True, dim_arg=dims)
        inverse = g.unary(stablehlo.rsqrt, g.add(mean, g.scalar(epsilon, mean)))
        y = g.mul(wide_x, inverse)
    if scale is not None:
        y = g.mul(y, g.cast(scale, wide))
    if b is not None:
        y = g.add(y, g.cast(b, wide))
    return g.cast(y, x.dtype), mean, inverse


@op("LayerNormalization")
def layer_normalization(g: Emitter, node: Node, x: Value, scale: Value, b: Value | None = None) -> Any:
    stash_type(node)
    axis = dim_of(node.get("axis", -1), x)
    return normalized_rows(g, node, "layer_norm", x, scale, b, axis, node.get("epsilon", 1e-5), (1, 2))


@op("RMSNormalization")
def rms_normalization(g: Emitter, node: Node, x: Value, scale: Value) -> Value:
    stash_type(node)
    axis = dim_of(node.get("axis", -1), x)
    return normalized_rows(g, node, "rms_norm", x, scale, None, axis, node.get("epsilon", 1e-5), ())[0]


def simplified(g: Emitter, node: Node, x: Value, scale: Value) -> Any:
    """Computes RMSNormalization as onnxruntime writes it, with the inverse of the deviation."""
    stash_type(node)
    axis = dim_of(node.get("axis", -1), x)
    y, _, inverse = normalized_rows(g, node, "rms_norm", x, scale, None, axis, node.get("epsilon", 1e-5), (1,))
    return y, inverse


op("SimplifiedLayerNormalization")(simplified)
op("SimplifiedLayerNormalization", domain=MICROSOFT)(simplified)


@op("LayerNormalization", domain=MICROSOFT)
def contributed_layer_normalization(g: Emitter, node: Node, x: Value, scale: Value, b: Value | None = None) -> Any:
    return layer_normalization(g, node, x, scale, b)


@op("SkipLayerNormalization", domain=MICROSOFT)
def skip_layer_normalization(g: Emitter, node: Node, x: Value, skip: Value, gamma: Value, beta: Value | None = None,
                             bias: Value | None = None) -> Any:  # fmt: skip
    return skipped(g, node, "layer_norm", x, skip, gamma, beta, bias)


@op("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_simplified(g: Emitter, node: Node, x: Value, skip: Value, gamma: Value, bias: Value | None = None) -> Any:
    return skipped(g, node, "rms_norm", x, skip, gamma, None, bias)


def skipped(g: Emitter, node: Node, name: str, x: Value, skip: Value, gamma: Value, beta: Value | None,
            bias: Value | None) -> Any:  # fmt: skip
    """Returns the normalization of a sum, and the sum itself as the last output."""
    if x.rank < 2 or g.common_shape(x, skip) != x.shape:
        raise Refused(f"input is {x!r} and skip {skip!r}; expected [n, sequence, hidden] and what broadcasts to it")
    total = g.add(x, skip)
    if bias is not None:
        total = g.add(total, bias)
    result = normalized_rows(g, node, name, total, gamma, beta, x.rank - 1, node.get("epsilon", 1e-12), (1, 2))
    return (*result, total)


@op("EmbedLayerNormalization", domain=MICROSOFT)
def embed_layer_normalization(
    g: Emitter, node: Node, ids: Value, segments: Value | None, words: Value, places: Value,
    segment_table: Value | None, gamma: Value, beta: Value, mask: Value | None = None,
    position_ids: Value | None = None,
) -> Any:  # fmt: skip
    """Returns the normalized sum of embeddings of words, places and segments, and how many words count."""
    if ids.rank != 2:
        raise Refused(f"input_ids is {ids!r}; expected [n, sequence]")
    batch, length = ids.shape
    total = g.gather(words, g.cast(ids, I32), 0)
    if position_ids is None:
        along = g.slice(places, [0, 0], [length, places.shape[1]])
        total = g.add(total, g.expand_dims(along, 0))
    else:
        total = g.add(total, g.gather(places, g.cast(position_ids, I32), 0))
    if segment_table is not None and segments is None:  # all are of the first
        total = g.add(total, g.slice(segment_table, [0, 0], [1, segment_table.shape[1]]))
    elif segment_table is not None and segments is not None:
        total = g.add(total, g.gather(segment_table, g.cast(segments, I32), 0))
    y, _, _ = normalized_rows(g, node, "layer_norm", total, gamma, beta, 2, node.get("epsilon", 1e-12), ())
    if mask is None:
        counts = g.full((batch,), 0, I32)
    else:
        counts = g.reduce("add", g.cast(g.compare("EQ", mask, g.scalar(1, mask)), I32), [1])
    return y, counts, total


#
# Others
#


@op("LRN")
def lrn(g: Emitter, node: Node, x: Value) -> Value:
    """Returns division by a power of the sum of squares of neighbouring channels, from a product with a band of
    ones."""
    require_float(x)
    size = node.need("size")
    if x.rank < 2 or size < 1:
        raise Refused(f"X is {x!r} and size {size}; expected [n, c, ...] and at least 1")
    channels = np.arange(x.shape[1])
    ahead = channels[None, :] - channels[:, None]
    band = ((ahead >= -((size - 1) // 2)) & (ahead <= size // 2)).astype(np.float32)

    def formula(x: Value) -> Value:
        squares = g.dot(g.cast(g.constant(band), x.dtype), g.mul(x, x), ((1,), (1,)))  # [c, n, ...]
        squares = g.transpose(squares, [1, 0, *range(2, x.rank)])
        share = g.mul(squares, g.scalar(node.get("alpha", 1e-4) / size, squares))
        base = g.add(share, g.scalar(node.get("bias", 1.0), share))
        return g.div(x, g.binary(stablehlo.power, base, g.scalar(node.get("beta", 0.75), base)))

    return in_f32(g, formula, x)


@op("LpNormalization")
def lp_normalization(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    dim, p = dim_of(node.get("axis", -1), x), node.get("p", 2)
    if p not in (1, 2):
        raise Refused(f"p is {p}; expected 1 or 2")
    dims = [dim] if x.rank else []

    def formula(x: Value) -> Value:
        if p == 1:
            norm = g.reduce("add", g.unary(stablehlo.abs, x), dims, True)
        else:
            norm = g.unary(stablehlo.sqrt, g.reduce("add", g.mul(x, x), dims, True))
        zero = g.scalar(0, norm)
        return g.select(g.compare("EQ", norm, zero), g.scalar(0, x), g.div(x, norm))

    return in_f32(g, formula, x)


@op("MeanVarianceNormalization")
def mean_variance_normalization(g: Emitter, node: Node, x: Value) -> Value:
    require_float(x)
    axes = node.get("axes") or [0, 2, 3]
    dims = sorted({dim_of(axis, x, "axes") for axis in axes})

    def formula(x: Value) -> Value:
        _, mean, variance, _ = standardized(g, x, dims, 0.0)
        deviation = g.unary(stablehlo.sqrt, variance)
        return g.div(g.sub(x, mean), g.add(deviation, g.scalar(1e-9, deviation)))

    return in_f32(g, formula, x)
