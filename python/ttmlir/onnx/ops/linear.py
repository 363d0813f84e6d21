# SPDX-License-Identifier: Apache-2.0
"""Products of matrices."""

from __future__ import annotations

from ..emitter import Emitter
from ..registry import Node, op
from ..values import Value


@op("MatMul")
def matmul(g: Emitter, node: Node, x: Value, y: Value) -> Value:
    return g.matmul(x, y)


@op("Gemm")
def gemm(g: Emitter, node: Node, a: Value, b: Value, c: Value | None = None) -> Value:
    left, right = (0 if node.get("transA", 0) else 1), (1 if node.get("transB", 0) else 0)
    made = g.dot(a, b, ((left,), (right,)))
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    if alpha != 1:
        made = g.mul(made, g.scalar(alpha, made))
    if c is None or not beta:
        return made
    return g.add(made, c if beta == 1 else g.mul(c, g.scalar(beta, c)))
