# SPDX-License-Identifier: Apache-2.0
"""Losses: negative logarithms of the probability of the right class."""

from __future__ import annotations

from ttmlir.dialects import stablehlo

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Node, op
from ..values import F32, I32, Value, is_float


def loss(g: Emitter, node: Node, logs: Value, target: Value, weight: Value | None) -> Value:
    """Returns -logs[target] * weight[target] of logarithms [n, classes, ...] and classes [n, ...], reduced."""
    if logs.rank < 2 or not is_float(logs.dtype) or (logs.shape[0], *logs.shape[2:]) != target.shape:
        raise Refused(f"{logs!r} with labels {target!r}; expected floats [n, classes, ...] and labels [n, ...]")
    classes, dtype = logs.shape[1], logs.dtype
    if weight is not None and weight.shape != (classes,):
        raise Refused(f"weight {weight!r}; expected one number for each of {classes} classes")
    reduction = node.get("reduction", "mean")
    if reduction not in ("mean", "sum", "none"):
        raise Refused(f"reduction {reduction!r}; expected mean, sum or none")
    target = g.cast(target, I32)
    place = g.iota([classes if d == 1 else 1 for d in range(logs.rank)], 1)
    is_right = g.compare("EQ", place, g.expand_dims(target, 1))
    zero = g.full((), 0, F32)
    found = g.reduce("add", g.select(is_right, g.cast(logs, F32), zero), [1])
    result = g.unary(stablehlo.negate, found)
    ignored = node.get("ignore_index")
    factor = None
    if weight is not None:
        inside = g.minimum(g.maximum(target, g.full((), 0, I32)), g.full((), max(classes - 1, 0), I32))
        factor = g.gather(g.cast(weight, F32), inside, 0)
    if ignored is not None:
        kept = g.compare("NE", target, g.full((), ignored, I32))
        factor = g.select(kept, g.full((), 1, F32) if factor is None else factor, zero)
        result = g.select(kept, result, zero)
    if factor is not None:
        result = g.mul(result, factor)
    every = range(result.rank)
    if reduction != "none":
        total = g.reduce("add", result, every)
        if reduction == "mean":
            count = g.full(result.shape, 1, F32) if factor is None else factor
            total = g.div(total, g.reduce("add", count, every))
        result = total
    return g.cast(result, dtype)


@op("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(
    g: Emitter, node: Node, logs: Value, target: Value, weight: Value | None = None
) -> Value:
    return loss(g, node, logs, target, weight)


@op("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy_loss(
    g: Emitter, node: Node, scores: Value, target: Value, weight: Value | None = None
) -> tuple[Value, Value]:
    if scores.rank < 2 or not is_float(scores.dtype):
        raise Refused(f"scores {scores!r}; expected floats [n, classes, ...]")
    wide = g.cast(scores, F32)
    apart = g.sub(wide, g.reduce("maximum", wide, [1], keep=True))
    sums = g.reduce("add", g.unary(stablehlo.exponential, apart), [1], keep=True)
    logs = g.sub(apart, g.unary(stablehlo.log, sums))
    result = loss(g, node, logs, target, weight)
    return g.cast(result, scores.dtype), g.cast(logs, scores.dtype)
