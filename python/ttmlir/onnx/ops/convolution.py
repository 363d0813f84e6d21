# SPDX-License-Identifier: Apache-2.0
"""Convolutions."""

from __future__ import annotations

from ..emitter import Emitter
from ..registry import Node, op
from ..values import Value

NCHW = {"batch_dim": 0, "channel_dim": 1, "height_dim": 2, "width_dim": 3}


def paddings(
    node: Node, x: Value, kernel: list[int], strides: list[int], dilations: list[int]
) -> list[tuple[int, int]]:
    """Low and high padding of each spatial dimension, as `pads` or `auto_pad` have them."""
    rank = x.rank - 2
    auto = node.get("auto_pad", "NOTSET")
    if auto in ("NOTSET", "VALID"):
        pads = node.get("pads", [0] * 2 * rank) if auto == "NOTSET" else [0] * 2 * rank
        return [(pads[d], pads[d + rank]) for d in range(rank)]
    found = []
    for d in range(rank):
        size = x.shape[2 + d]
        reach = (kernel[d] - 1) * dilations[d] + 1
        total = max(0, (-(-size // strides[d]) - 1) * strides[d] + reach - size)
        small = total // 2
        found.append((small, total - small) if auto == "SAME_UPPER" else (total - small, small))
    return found


@op("Conv")
def conv(g: Emitter, node: Node, x: Value, w: Value, b: Value | None = None) -> Value:
    rank = x.rank - 2
    kernel = list(w.shape[2:])
    strides, dilations = (node.get(name, [1] * rank) for name in ("strides", "dilations"))
    pads = paddings(node, x, kernel, strides, dilations)
    if rank == 2:
        edges = [pads[0][0], pads[1][0], pads[0][1], pads[1][1]]
        bias = None if b is None else g.ir(g.reshape(b, (1, 1, 1, b.size)))
        return g.ttir("conv2d", x, w, stride=g.i32s(strides), padding=g.i32s(edges), dilation=g.i32s(dilations),
                      groups=node.get("group", 1), bias=bias, **NCHW)  # fmt: skip
    raise NotImplementedError
