# SPDX-License-Identifier: Apache-2.0
"""Support vector machines."""

from __future__ import annotations

import numpy as np
from ttmlir.dialects import stablehlo

from ...emitter import Emitter
from ...errors import Refused
from ...registry import ML, Node, op
from ...values import F32, I32, Array, Value
from .models import best, column, either, floats, labels_of, rows_of, transformed, two_scores

# Steps in which the probabilities of pairs become those of classes, and how near is near enough.
STEPS, NEAR = 100, 0.005


def kernel(g: Emitter, node: Node, x: Value, vectors: Array) -> Value:
    """Returns the kernel function of rows [n, features] and vectors [m, features], [n, m]."""
    gamma, bias, degree = (float(p) for p in (*node.get("kernel_params", []), 0, 0, 0)[:3])
    kind = node.get("kernel_type", "LINEAR")
    others = Value.of(vectors)
    if kind == "RBF":
        apart = g.sub(g.expand_dims(x, 1), g.expand_dims(others, 0))
        squares = g.reduce("add", g.mul(apart, apart), [2])
        return g.unary(stablehlo.exponential, g.mul(squares, g.full((), -gamma, F32)))
    result = g.dot(x, others, ((1,), (1,)))
    if kind == "LINEAR":
        return result
    if kind not in ("POLY", "SIGMOID"):
        raise Refused(f"kernel_type {kind!r}; expected LINEAR, POLY, RBF or SIGMOID")
    result = g.add(g.mul(result, g.full((), gamma, F32)), g.full((), bias, F32))
    return g.unary(stablehlo.tanh, result) if kind == "SIGMOID" else power(g, result, degree)


def power(g: Emitter, x: Value, exponent: float) -> Value:
    if exponent == int(exponent) and 0 < exponent <= 8:
        result = x
        for _ in range(int(exponent) - 1):
            result = g.mul(result, x)
        return result
    return g.binary(stablehlo.power, x, g.scalar(exponent, x))


@op("SVMRegressor", domain=ML)
def svm_regressor(g: Emitter, node: Node, x: Value) -> Value:
    x = rows_of(g, x)
    count, rho = node.get("n_supports", 0), floats(node, "rho")
    coefficients = floats(node, "coefficients")
    weights = kernel(g, node, x, floats(node, "support_vectors").reshape(count, -1)) if count else x
    result = g.dot(weights, Value.of(coefficients.reshape(-1, 1)), ((1,), (0,)))
    result = g.add(result, g.full((), float(rho[0]) if rho.size else 0.0, F32))
    if node.get("one_class", 0):
        result = g.select(g.compare("GT", result, g.scalar(0, result)), g.scalar(1, result), g.scalar(-1, result))
    return transformed(g, result, node.get("post_transform", "NONE"))


@op("SVMClassifier", domain=ML)
def svm_classifier(g: Emitter, node: Node, x: Value) -> tuple[Value, Value]:
    labels = labels_of(node, "classlabels_ints")
    x, name, classes = rows_of(g, x), node.get("post_transform", "NONE"), len(labels)
    counts = node.get("vectors_per_class", [])
    if classes < 2 or (counts and len(counts) != classes):
        raise Refused(
            f"{classes} labels and vectors_per_class {list(counts)}; expected two labels or more, and as many"
        )
    if not counts:
        return linear(g, node, x, labels, name)
    scores = scores_of_pairs(g, node, x, [int(n) for n in counts])
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    wins = g.cast(g.compare("GT", scores, g.full((), 0, F32)), F32)
    votes = [[column(g, wins, n) for n, pair in enumerate(pairs) if pair[0] == i] for i in range(classes)]
    for n, (_, j) in enumerate(pairs):
        votes[j].append(g.sub(g.full((), 1, F32), column(g, wins, n)))
    totals = []
    for those in votes:
        total = those[0]
        for more in those[1:]:
            total = g.add(total, more)
        totals.append(g.expand_dims(total, 1))
    label = best(g, node, g.concat(totals, 1), labels)
    if len(floats(node, "prob_a")):
        shares = probabilities(g, node, scores, classes)
        return label, transformed(g, shares, name)
    return label, transformed(g, scores, name) if classes > 2 else two_scores(g, scores, name, mixed=name in MIXED)


MIXED = ("NONE", "LOGISTIC")


def linear(g: Emitter, node: Node, x: Value, labels: Array, name: str) -> tuple[Value, Value]:
    """Returns labels and scores of one row of coefficients a class."""
    classes, weights, rho = len(labels), floats(node, "coefficients"), floats(node, "rho")
    if weights.size != classes * x.shape[1]:
        raise Refused(f"{weights.size} coefficients of {classes} classes for {x!r}; expected {classes * x.shape[1]}")
    scores = g.dot(x, Value.of(weights.reshape(classes, -1)), ((1,), (1,)))
    scores = g.add(scores, g.full((), float(rho[0]) if rho.size else 0.0, F32))
    label = best(g, node, scores, labels)
    if classes == 2:  # onnxruntime takes the second label where any score is large
        most = g.reduce("maximum", scores, [1])
        positive = bool((weights >= 0).all())
        large = g.compare("GE" if positive else "GT", most, g.full((), 0.5 if positive else 0.0, F32))
        label = g.select(large, either(g, large, labels), label)
    return label, transformed(g, scores, name)


def scores_of_pairs(g: Emitter, node: Node, x: Value, counts: list[int]) -> Value:
    """Returns what decides between two classes, [n, pairs], positive for the first one."""
    classes, total = len(counts), sum(counts)
    vectors, rho = floats(node, "support_vectors"), floats(node, "rho")
    weights, pairs = floats(node, "coefficients"), len(counts) * (len(counts) - 1) // 2
    if vectors.size != total * x.shape[1] or weights.size != (classes - 1) * total or rho.size != pairs:
        raise Refused(
            f"{vectors.size} numbers of support_vectors, {weights.size} of coefficients and {rho.size} of rho for "
            f"{x!r}; expected {total * x.shape[1]}, {(classes - 1) * total} and {pairs}"
        )
    weights = weights.reshape(classes - 1, total)
    begins = np.cumsum([0, *counts])
    table = np.zeros((total, pairs), np.float32)
    n = 0
    for i in range(classes):
        for j in range(i + 1, classes):
            table[begins[i] : begins[i + 1], n] = weights[j - 1, begins[i] : begins[i + 1]]
            table[begins[j] : begins[j + 1], n] = weights[i, begins[j] : begins[j + 1]]
            n += 1
    result = g.dot(kernel(g, node, x, vectors.reshape(total, -1)), Value.of(table), ((1,), (0,)))
    return g.add(result, Value.of(rho))


def probabilities(g: Emitter, node: Node, scores: Value, classes: int) -> Value:
    """Returns the probabilities of classes that fit those of all pairs best, [n, classes], by iteration."""
    slopes, offsets = floats(node, "prob_a"), floats(node, "prob_b")
    if slopes.size != scores.shape[1] or offsets.size != scores.shape[1]:
        raise Refused(f"{slopes.size} prob_a and {offsets.size} prob_b; expected {scores.shape[1]}")
    one, low = g.full((), 1, F32), g.full((), 1e-7, F32)
    inner = g.add(g.mul(scores, Value.of(slopes)), Value.of(offsets))
    first = g.unary(stablehlo.logistic, g.unary(stablehlo.negate, inner))
    first = g.minimum(g.maximum(first, low), g.sub(one, low))
    share: dict[tuple[int, int], Value] = {}
    n = 0
    for i in range(classes):
        for j in range(i + 1, classes):
            share[i, j] = g.slice_dim(first, 1, n, n + 1)
            share[j, i] = g.sub(one, share[i, j])
            n += 1
    rows = []
    for i in range(classes):
        own = [share[j, i] for j in range(classes) if j != i]
        diagonal = g.mul(own[0], own[0])
        for more in own[1:]:
            diagonal = g.add(diagonal, g.mul(more, more))
        parts = [
            diagonal if i == j else g.unary(stablehlo.negate, g.mul(share[j, i], share[i, j])) for j in range(classes)
        ]
        rows.append(g.expand_dims(g.concat(parts, 1), 1))
    matrix = g.concat(rows, 1)  # [n, classes, classes]
    count = scores.shape[0]
    end, near = g.full((), STEPS, I32), g.full((), NEAR / classes, F32)

    def products(p: Value) -> tuple[Value, Value]:
        """Returns the matrix times p, [n, classes], and p times that, [n, 1]."""
        result = g.reduce("add", g.mul(matrix, g.expand_dims(p, 1)), [2])
        return result, g.reduce("add", g.mul(result, p), [1], keep=True)

    def far(p: Value) -> Value:
        """Returns 1 for each row that is not near enough, [n, 1]."""
        result, whole = products(p)
        error = g.reduce("maximum", g.unary(stablehlo.abs, g.sub(result, whole)), [1], keep=True)
        return g.cast(g.compare("GE", error, near), F32)

    def step(i: Value, p: Value, open_rows: Value) -> list[Value]:
        was = p
        result, whole = products(p)
        for t in range(classes):
            row = g.reshape(g.slice_dim(matrix, 1, t, t + 1), (count, classes))
            own, at = g.slice_dim(row, 1, t, t + 1), g.slice_dim(result, 1, t, t + 1)
            change = g.div(g.sub(whole, at), own)
            scale = g.add(one, change)
            moved = g.mul(change, g.add(g.mul(change, own), g.add(at, at)))
            whole = g.div(g.add(whole, moved), g.mul(scale, scale))
            result = g.div(g.add(result, g.mul(change, row)), scale)
            place = g.cast(g.compare("EQ", g.iota((1, classes), 1), g.full((), t, I32)), F32)
            p = g.div(g.add(p, g.mul(change, place)), scale)
        p = g.select(g.compare("GT", open_rows, g.full((), 0, F32)), p, was)
        return [g.add(i, g.full((), 1, I32)), p, g.mul(open_rows, far(p))]

    def goes_on(i: Value, _: Value, open_rows: Value) -> Value:
        some = g.compare("GT", g.reduce("maximum", open_rows, [0, 1]), g.full((), 0, F32))
        return g.binary(stablehlo.and_, some, g.compare("LT", i, end))

    start = g.full((count, classes), 1 / classes, F32)
    _, result, _ = g.loop([g.full((), 0, I32), start, far(start)], goes_on, step)
    return result
