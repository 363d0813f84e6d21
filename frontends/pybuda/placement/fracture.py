# SPDX-License-Identifier: Apache-2.0
"""Ops that are cut into several: groups of them along a dimension, and convolutions by the windows' places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..config import CompilerConfig
from .graph import MOVES, TILE, Graph, Op, Operand, PlacementError


def fracture(graph: Graph, config: CompilerConfig, chips: Sequence[int]) -> None:
    """Cuts what `insert_fracture_group` and `override_multi_op_fracture_factor` name.

    Raises:
        PlacementError: a dimension that is not divisible, or an op that cannot be cut along it.
    """
    for nodes, chip_ids in config.fracture_groups:
        group = {}
        for name, dim, factor in (checked(node) for node in nodes):
            for op in graph.named([name]):
                group[op] = (dim, factor)
        if bad := [x for x in chip_ids if x not in chips]:
            raise PlacementError(f"insert_fracture_group: chip {bad[0]} is none of the device's, {list(chips)}")
        if group:
            cut(graph, group, chip_ids)
    for name, overrides in config.op_overrides.items():
        factor = overrides.get("fracture_factor", 1)
        found = [op for op in graph.ops if op.name == name or op.name.startswith(f"{name}.dc.")]
        if factor > 1 and found:
            cut_convolution(graph, name, found, factor)


def checked(node: Any) -> tuple[str, int, int]:
    """Returns (op, dimension, factor).

    Raises:
        PlacementError: something else.
    """
    right = isinstance(node, tuple | list) and len(node) == 3 and isinstance(node[0], str)
    if not right or node[1] not in (-1, -2) or not isinstance(node[2], int) or node[2] < 1:
        raise PlacementError(
            f"insert_fracture_group has {node!r}; expected (op, -2 for rows or -1 for columns, factor)"
        )
    return node[0], node[1], node[2]


def piece(shape: tuple[int, ...], dim: int, factor: int) -> tuple[int, ...]:
    found = [*((1, 1, *shape)[-max(2, len(shape)) :])]
    found[dim] //= factor
    return tuple(found)


def sliced(op: Op, number: int, dim: int) -> int | None:
    """Returns the dimension of an operand of which a part of the result reads a part."""
    if op.is_matmul:
        if number == 2:
            return -1 if dim == -1 else None
        return dim if (number, dim) in ((0, -2), (1, -1)) else None
    size = (1, 1, *op.operands[number].shape)[dim]
    return None if size == 1 else dim


def cut(graph: Graph, group: dict[Op, tuple[int, int]], chip_ids: Sequence[int]) -> None:
    made: dict[Op, list[Op]] = {}
    for op, (dim, factor) in group.items():
        size = (1, 1, *op.shape)[dim]
        if size % (factor * TILE):
            raise PlacementError(
                f"insert_fracture_group: dimension {dim} of op {op.name!r} has size {size}; expected a multiple of "
                f"{factor} tiles ({factor * TILE})"
            )
        across = {-1: "c", -2: "r"}[dim] in op.attributes.get("dim", "")
        if op.type in MOVES or op.type in ("conv2d", "fused_op") or across:
            raise PlacementError(f"insert_fracture_group: op {op.name!r} is a {op.type}, which is not cut along {dim}")
        parts = []
        for i in range(factor):
            operands = []
            for number, x in enumerate(op.operands):
                along = sliced(op, number, dim)
                parts_of = made.get(x.source) if isinstance(x.source, Op) else None
                if along is None:
                    operands.append(Operand(x.source, x.shape, x.tms))
                elif parts_of and not x.tms and group[x.source] == (along, factor):  # type: ignore[index]
                    operands.append(Operand(parts_of[i], parts_of[i].shape))
                else:
                    n = (1, 1, *x.shape)[along] // factor
                    text = f"select: [{along}, {i * n}, {(i + 1) * n}]"
                    operands.append(Operand(x.source, piece(x.shape, along, factor), (*x.tms, text)))
            part = Op(
                graph.unique(f"fractured_{i}_{op.name}"), piece(op.shape, dim, factor), op.df, op.type, operands,
                op.epoch_type, op.source, op.inner, dict(op.attributes), op.fidelity, op.acc_df, op.intermed_df,
                chip=chip_ids[i % len(chip_ids)] if chip_ids else op.chip, node=op.node,
            )  # fmt: skip
            parts.append(part)
        made[op] = parts
        graph.aliases[op.name] = f"it is cut into {', '.join(x.name for x in parts)}"
    gather(graph, made, {op: dim for op, (dim, _) in group.items()})


def gather(graph: Graph, made: dict[Op, list[Op]], dims: dict[Op, int]) -> None:
    """Puts the parts into the op's place, and where the whole result is read joins them."""
    written = graph.written()
    ops: list[Op] = []
    added = [x for parts in made.values() for x in parts]
    inside = set(made)
    for op in graph.ops:
        if op not in made:
            ops.append(op)
            continue
        ops += made[op]
        others = [(r, i) for r, i in graph.readers().get(op, []) if r not in inside]
        others += [(r, i) for r in added for i, x in enumerate(r.operands) if x.source is op]
        if not others and op not in written:
            continue
        whole = Op(
            graph.unique(f"fracture_gather_{op.name}"), op.shape, op.df, "splice",
            [Operand(x, x.shape) for x in made[op]], op.epoch_type, attributes={"dim": "", "axis": dims[op]},
        )  # fmt: skip
        ops.append(whole)
        for reader, number in others:
            reader.operands[number].source = whole
        for queue in written.get(op, []):
            queue.producer = whole
    graph.ops = ops


def cut_convolution(graph: Graph, name: str, found: Sequence[Op], factor: int) -> None:
    """Cuts a convolution into several, each with a part of the windows' places, whose results are added."""
    convolutions = [op for op in found if op.type == "conv2d"]
    if not convolutions:
        kinds = ", ".join(sorted({op.type for op in found}))
        raise PlacementError(f"override_multi_op_fracture_factor({name!r}): the op is {kinds}; expected a convolution")
    whole = convolutions[0]
    taps = math.prod(whole.attributes.get("kernel", ()))
    if taps % factor:
        raise PlacementError(
            f"override_multi_op_fracture_factor({name!r}, {factor}): the windows have {taps} places; expected a divisor"
        )
    new: list[Op] = []
    sums: Op | None = None
    for i in range(factor):
        x, w, *bias = whole.operands
        rows = w.shape[0] // factor
        weights = Operand(w.source, (rows, *w.shape[1:]), (*w.tms, f"select: [-2, {i * rows}, {(i + 1) * rows}]"))
        part = replace(
            whole, name=graph.unique(f"{name}.dc.conv2d.{2 * i + 1}.dc.matmul.11"),
            operands=[Operand(x.source, x.shape, x.tms), weights, *(bias if i == 0 else [])],
            inner=max(1, whole.inner // factor), work=None if whole.work is None else whole.work / factor,
            attributes={k: v for k, v in whole.attributes.items() if k != "bias" or i == 0},
        )  # fmt: skip
        new.append(part)
        if sums is not None:
            operands = [Operand(sums, sums.shape), Operand(part, part.shape)]
            part = Op(
                graph.unique(f"{name}.dc.add.{i}"), whole.shape, whole.df, "add", operands, whole.epoch_type,
                whole.source, node=whole.node,
            )  # fmt: skip
            new.append(part)
        sums = part
    assert sums is not None
    at = graph.ops.index(whole)
    graph.ops[at : at + 1] = new
    graph.redirect({whole: sums})
    graph.aliases[whole.name] = f"it is cut into {', '.join(x.name for x in new)}"
