# SPDX-License-Identifier: Apache-2.0
"""Ops that the program computes in parts: several ops of the netlist, and what joins their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count, takewhile
from typing import Any

from ..config import CompilerConfig
from .graph import Graph, Op, Operand
from .program import Computed, join_node, part_node

Ran = Mapping[tuple[str, str], Computed]


def in_parts(graph: Graph, ran: Ran, config: CompilerConfig) -> None:
    """Replaces each op that the program computes in parts.

    ran: what computes nodes, and parts of nodes, in each run, by epoch type and name.
    """
    groups = {name: (dim, chips) for nodes, chips in config.fracture_groups for name, dim, _ in nodes}
    made: dict[Op, list[Op]] = {}
    for op in graph.ops:
        if parts := all_of(ran, op, part_node):
            group = groups.get(op.name.partition(".dc.")[0])
            made[op] = cut(graph, op, parts, made, *group) if group else added(graph, op, parts, ran)
    graph.ops = [x for op in graph.ops for x in made.get(op, [op])]
    read = {x.source for op in graph.ops for x in op.operands} | set(graph.written())
    for op, parts_of in made.items():
        names = ", ".join(x.name for x in parts_of)
        graph.aliases[op.name] = f"it is cut into {names}"
        whole = parts_of[-1]
        if op in read and (group := groups.get(op.name.partition(".dc.")[0])):
            whole = gathered(graph, op, parts_of, group[0], ran)
        graph.redirect({op: whole})


def all_of(ran: Ran, op: Op, name: Callable[[str, int], str]) -> list[Computed]:
    """Returns what computes the parts of an op in order."""
    found = (ran.get((op.epoch_type, name(op.node, i))) for i in count())
    return [x for x in takewhile(lambda x: x is not None, found) if x is not None]


def sliced(op: Op, number: int, dim: int) -> int | None:
    """Returns the dimension of an operand of which a part of the result reads a part."""
    if op.is_matmul:
        if number == 2:
            return -1 if dim == -1 else None
        return dim if (number, dim) in ((0, -2), (1, -1)) else None
    return None if (1, 1, *op.operands[number].shape)[dim] == 1 else dim


def cut(
    graph: Graph, op: Op, parts: Sequence[Computed], made: Mapping[Op, list[Op]], dim: int, chips: Sequence[int]
) -> list[Op]:
    """Returns ops that compute parts of the result, of parts of operands."""
    found = []
    for i, part in enumerate(parts):
        operands = []
        for number, x in enumerate(op.operands):
            along = sliced(op, number, dim)
            same = made.get(x.source, []) if isinstance(x.source, Op) and not x.tms else []
            if along is None:
                operands.append(Operand(x.source, x.shape, x.tms))
            elif len(same) == len(parts) and same[0].shape[along] * len(parts) == x.source.shape[along]:
                operands.append(Operand(same[i], same[i].shape))
            else:
                shape = [*(1, 1, *x.shape)[-max(2, len(x.shape)) :]]
                shape[along] //= len(parts)
                select = f"select: [{along}, {i * shape[along]}, {(i + 1) * shape[along]}]"
                operands.append(Operand(x.source, tuple(shape), (*x.tms, select)))
        chip = chips[i % len(chips)] if chips else op.chip
        name = graph.unique(f"fractured_{i}_{op.name}")
        found.append(computed(op, part, name, operands, part_node(op.node, i), chip=chip))
    return found


def computed(op: Op, by: Computed, name: str, operands: Sequence[Operand], node: str, **others: Any) -> Op:
    """Returns an op like another one, with the figures of what computes it."""
    return replace(
        op, name=name, operands=[*operands], node=node, shape=by.shape, work=by.work, place=by.place, **others
    )


def added(graph: Graph, op: Op, parts: Sequence[Computed], ran: Ran) -> list[Op]:
    """Returns ops that compute parts of a convolution's window, and those that add them."""
    sums = iter(all_of(ran, op, join_node))
    found: list[Op] = []
    rows = op.operands[1].shape[0] // len(parts)
    for i, part in enumerate(parts):
        x, w, *bias = op.operands
        weights = Operand(w.source, (rows, *w.shape[1:]), (*w.tms, f"select: [-2, {i * rows}, {(i + 1) * rows}]"))
        new = computed(
            op, part, graph.unique(f"{op.name}.dc.conv2d.{2 * i + 1}.dc.matmul.11"),
            [Operand(x.source, x.shape, x.tms), weights, *(bias if i == 0 else [])], part_node(op.node, i),
            inner=max(1, op.inner // len(parts)),
            attributes={k: v for k, v in op.attributes.items() if k != "bias" or i == 0},
        )  # fmt: skip
        found.append(new)
        if i:
            operands = [Operand(y, y.shape) for y in (found[-2], new)]
            found.append(computed(op, next(sums), graph.unique(f"{op.name}.dc.add.{i}"), operands,
                                  join_node(op.node, i - 1), type="add", inner=0, attributes={}))  # fmt: skip
    return found


def gathered(graph: Graph, op: Op, parts: Sequence[Op], dim: int, ran: Ran) -> Op:
    """Adds an op that joins parts of a result."""
    by = ran[op.epoch_type, join_node(op.node, 0)]
    name = graph.unique(f"fracture_gather_{op.name}")
    whole = computed(op, by, name, [Operand(x, x.shape) for x in parts], join_node(op.node, 0), type="splice", inner=0,
                     attributes={"dim": "", "axis": dim})  # fmt: skip
    graph.ops.insert(graph.ops.index(parts[-1]) + 1, whole)
    return whole
