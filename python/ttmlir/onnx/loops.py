# SPDX-License-Identifier: Apache-2.0
"""Loops of a known number of steps, which read rows of tensors and write rows of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from .emitter import Emitter
from .values import I32, DType, Value

Kind: TypeAlias = tuple[tuple[int, ...], DType]
# Gets the number of the step (i32, []), the states and a row of each tensor; returns new states and rows.
Step: TypeAlias = Callable[[Value, Sequence[Value], Sequence[Value]], tuple[Sequence[Value], Sequence[Value]]]


def row_of(g: Emitter, x: Value, position: Value | int) -> Value:
    """Returns one element of the first dimension, [n, ...] -> [...]."""
    if isinstance(position, int):
        if x.known is not None and not x.varying and x.size <= 4096:
            return Value.of(x.known[position])
        return g.reshape(g.slice_dim(x, 0, position, position + 1), x.shape[1:])
    row = g.dynamic_slice(x, [position] + [0] * (x.rank - 1), (1, *x.shape[1:]))
    return g.reshape(row, x.shape[1:])


def number(g: Emitter, n: int) -> Value:
    """Returns a number of the program that open sizes may change, i32 []."""
    return g.reshape(g.number(n, I32), ()) if g.is_open else g.full((), n, I32)


def stacked(g: Emitter, rows: Sequence[Value], dim: int = 0) -> Value:
    """Returns the rows as elements of a new dimension."""
    return g.concat([g.expand_dims(x, dim) for x in rows], dim)


def steps(
    g: Emitter, count: int, states: Sequence[Value], tensors: Sequence[Value], step: Step, made: Sequence[Kind],
    unrolled: bool, backward: Sequence[bool] | None = None, made_backward: Sequence[bool] | None = None,
) -> tuple[list[Value], list[Value]]:  # fmt: skip
    """Runs `step` for each row of the tensors.

    Args:
        tensors: [count, ...] each. backward: which of them are read from the last row on.
        made: types of the rows that a step makes. made_backward: which of them are written from the last row on.
        unrolled: every step has ops of its own; else one loop.
    Returns:
        The last states, and a tensor [count, ...] of each kind of rows.
    """
    backward = backward or [False] * len(tensors)
    made_backward = made_backward or [False] * len(made)
    if unrolled:
        rows: list[list[Value]] = [[] for _ in made]
        for i in range(count):
            given = [row_of(g, x, count - 1 - i if last else i) for x, last in zip(tensors, backward, strict=True)]
            states, new = step(Value.of(np.array(i, I32)), states, given)
            for those, row in zip(rows, new, strict=True):
                those.append(row)
        results = []
        for those, last, (shape, dtype) in zip(rows, made_backward, made, strict=True):
            ordered = those[::-1] if last else those
            results.append(stacked(g, ordered) if count else g.full((0, *shape), 0, dtype))
        return list(states), results

    end = number(g, count)
    one = g.full((), 1, I32)
    empty = [g.full((count, *shape), 0, dtype) for shape, dtype in made]

    def body(position: Value, *carried: Value) -> Sequence[Value]:
        last = g.sub(g.sub(end, one), position) if any((*backward, *made_backward)) else position
        given = [row_of(g, x, last if back else position) for x, back in zip(tensors, backward, strict=True)]
        after, new = step(position, carried[: len(states)], given)
        written = [
            g.dynamic_update_slice(x, g.expand_dims(row, 0), [last if back else position] + [0] * row.rank)
            for x, row, back in zip(carried[len(states) :], new, made_backward, strict=True)
        ]
        return [g.add(position, one), *after, *written]

    found = g.loop([g.full((), 0, I32), *states, *empty], lambda i, *_: g.compare("LT", i, end), body)
    return found[1 : 1 + len(states)], found[1 + len(states) :]
