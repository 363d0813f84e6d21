# SPDX-License-Identifier: Apache-2.0
"""Normalizations and softmax."""

from __future__ import annotations

from ..emitter import Emitter
from ..registry import Node, op
from ..values import Value


@op("Softmax")
def softmax(g: Emitter, node: Node, x: Value) -> Value:
    if node.version < 13:  # of the dimensions from the axis on, as one
        axis = node.get("axis", 1) % max(x.rank, 1)
        rows = g.reshape(x, (*x.shape[:axis], -(-x.size // max(1, _size(x.shape[:axis])))))
        return g.reshape(g.ttir("softmax", rows, dtype=x.dtype, dimension=rows.rank - 1, numeric_stable=True), x.shape)
    axis = node.get("axis", -1) % max(x.rank, 1)
    return g.ttir("softmax", x, dtype=x.dtype, dimension=axis, numeric_stable=True)


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size
