# SPDX-License-Identifier: Apache-2.0
"""Ops that move elements: shapes, slices, joins."""

from __future__ import annotations

import numpy as np

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Node, op
from ..values import Given, Value


def known_ints(value: Value, what: str) -> list[int]:
    """The elements of an operand that decides shapes.

    Raises:
        Refused: they are computed by the program.
    """
    if value.known is None:
        raise Refused(f"{what} is computed from the inputs' elements; expected one that is known when it is compiled")
    return [int(n) for n in value.known.flatten()]


def given_ints(node: Node, name: str, operand: Value | None) -> list[int] | None:
    """Integers that old versions have as an attribute and newer ones as an operand."""
    if operand is not None:
        return known_ints(operand, name)
    value = node.get(name)
    return None if value is None else [int(n) for n in value]


@op("Shape", keep=True)
def shape(g: Emitter, node: Node, x: Value) -> Value:
    begin, end = node.get("start", 0), node.get("end", x.rank)
    made = Value.of(np.array(x.shape[slice(begin, end)], np.int64))
    made.varying = g.is_open and made.size > 0
    return made


@op("Reshape")
def reshape(g: Emitter, node: Node, x: Value, wanted: Value | None = None) -> Value:
    sizes = given_ints(node, "shape", wanted)
    if sizes is None:
        raise Refused("the shape is missing")
    if not node.get("allowzero", 0):
        sizes = [x.shape[d] if n == 0 and d < x.rank else n for d, n in enumerate(sizes)]
    if sizes.count(-1) > 1 or any(n < -1 for n in sizes):
        raise Refused(f"shape {sizes}; expected sizes and at most one -1")
    if -1 in sizes:
        others = int(np.prod([n for n in sizes if n != -1], dtype=object))
        if not others or x.size % others:
            raise Refused(f"{x!r} has {x.size} elements, which shape {sizes} does not divide")
        sizes[sizes.index(-1)] = x.size // others
    return g.reshape(x, sizes)


@op("Transpose", moves=True)
def transpose(g: Emitter, node: Node, x: Value) -> Value:
    return g.transpose(x, node.get("perm", list(range(x.rank))[::-1]))


@op("Concat", moves=True)
def concat(g: Emitter, node: Node, *xs: Value) -> Value:
    return g.concat(xs, node.need("axis") % max(xs[0].rank, 1))


@op("Identity", keep=True)
def identity(g: Emitter, node: Node, x: Given) -> Given:
    return x
