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


def rows_of(g: Emitter, x: Value, begin: Value, count: int) -> list[Value]:
    """Returns elements of the first dimension from a computed position on, each [...]."""
    rows = g.dynamic_slice(x, [begin] + [0] * (x.rank - 1), (count, *x.shape[1:]))
    return [row_of(g, rows, i) for i in range(count)]


def steps(
    g: Emitter, count: int, states: Sequence[Value], tensors: Sequence[Value], step: Step, result: Sequence[Kind],
    unrolled: bool, backward: Sequence[bool] | None = None, made_backward: Sequence[bool] | None = None,
    together: int = 1,
) -> tuple[list[Value], list[Value]]:  # fmt: skip
    """Runs `step` for each row of the tensors.

    Args:
        tensors: [count, ...] each. backward: which of them are read from the last row on.
        made: types of the rows that a step makes. made_backward: which of them are written from the last row on.
        unrolled: every step has ops of its own; else one loop.
        together: steps that have ops of their own in each turn of the loop, which copies all rows that are made.
    Returns:
        The last states, and a tensor [count, ...] of each kind of rows.
    """
    backward = backward or [False] * len(tensors)
    made_backward = made_backward or [False] * len(result)
    together = 1 if g.is_open else min(together, count)
    parts: list[list[Value]] = [[] for _ in result]  # of each kind of rows, in the order of steps
    begin = 0
    states = list(states)
    if not unrolled and count:
        begin = count - count % together
        states, written = turns(g, count, begin, states, tensors, step, result, backward, made_backward, together)
        for part, x in zip(parts, written, strict=True):
            part.append(x)
    rows: list[list[Value]] = [[] for _ in result]
    for i in range(begin, count):
        given = [row_of(g, x, count - 1 - i if last else i) for x, last in zip(tensors, backward, strict=True)]
        after, new = step(Value.of(np.array(i, I32)), states, given)
        states = list(after)
        for those, row in zip(rows, new, strict=True):
            those.append(row)
    results = []
    for part, those, last, (shape, dtype) in zip(parts, rows, made_backward, result, strict=True):
        if those:
            part.append(stacked(g, those[::-1] if last else those))
        results.append(g.concat(part[::-1] if last else part, 0) if part else g.full((0, *shape), 0, dtype))
    return states, results


def turns(
    g: Emitter, count: int, end: int, states: list[Value], tensors: Sequence[Value], step: Step,
    result: Sequence[Kind], backward: Sequence[bool], made_backward: Sequence[bool], together: int,
) -> tuple[list[Value], list[Value]]:  # fmt: skip
    """Runs the first `end` of `count` steps as a loop, and returns the states and tensors [end, ...] of rows."""
    most, least = number(g, end), number(g, count - together)
    hop = g.full((), together, I32)
    empty = [g.full((end, *shape), 0, dtype) for shape, dtype in result]

    def body(position: Value, *carried: Value) -> Sequence[Value]:
        """Steps from a position on; rows that are read or written backward are those from `least - position` on."""
        last = g.sub(least, position) if any(backward) else position
        given = []
        for x, back in zip(tensors, backward, strict=True):
            rows = rows_of(g, x, last if back else position, together)
            given.append(rows[::-1] if back else rows)
        after: Sequence[Value] = carried[: len(states)]
        new: list[list[Value]] = [[] for _ in result]
        for i in range(together):
            at = g.add(position, g.full((), i, I32)) if i else position
            after, found = step(at, after, [rows[i] for rows in given])
            for those, row in zip(new, found, strict=True):
                those.append(row)
        target = g.sub(number(g, end - together), position) if any(made_backward) else position
        written = [
            g.dynamic_update_slice(
                x, stacked(g, those[::-1] if back else those), [target if back else position] + [0] * (x.rank - 1)
            )
            for x, those, back in zip(carried[len(states) :], new, made_backward, strict=True)
        ]
        return [g.add(position, hop), *after, *written]

    found = g.loop([g.full((), 0, I32), *states, *empty], lambda i, *_: g.compare("LT", i, most), body)
    return found[1 : 1 + len(states)], found[1 + len(states) :]
