# SPDX-License-Identifier: Apache-2.0
"""Changes of the graph before it is placed: constants, ops as the program has them, prestriding and tilizers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..config import CompilerConfig
from .graph import TILE, Graph, Node, Op, Operand, Queue
from .program import Computed


def requested_copies(config: CompilerConfig) -> set[str]:
    """Returns names that the configuration has something to say about: these ops stay as they are."""
    found = set(config.op_overrides) | set(config.op_names_dont_fuse) | set(config.op_intermediates_to_save)
    for group in (*config.op_names_to_epoch_break, *config.op_names_to_chip_break, *config.scheduler_constraints):
        found |= set(group)
    for source, reader, *_ in config.insert_queues:
        found |= {source, reader}
    for source, readers, _ in config.buffering_nops:
        found |= {source, *readers}
    for nodes, _ in config.fracture_groups:
        found |= {name for name, *_ in nodes}
    return found


def evaluate_constants(graph: Graph, training: bool, ran: Mapping[tuple[str, str], Computed]) -> None:
    """Makes constants of ops on constants (in inference, also on parameters) that the program evaluates once.

    ran: what computes nodes in each run, by epoch type and name.
    """
    kinds = ("constant",) if training else ("constant", "parameter")
    written, known = graph.written(), dict[Op, Queue]()
    left: list[Op] = []
    for op in graph.ops:
        for operand in op.operands:
            operand.source = known.get(operand.source, operand.source)  # type: ignore[call-overload]
        constant = op.operands and all(isinstance(x.source, Queue) and x.source.kind in kinds for x in op.operands)
        if not constant or (op.epoch_type, op.node) in ran or op in written or op.type == "embedding":
            left.append(op)
            continue
        known[op] = Queue(op.name, op.shape, op.df, "constant")
        graph.queues.append(known[op])
        graph.aliases[op.name] = "it is computed once, of constants (enable_consteval)"
    graph.ops = left
    read = {x.source for op in graph.ops for x in op.operands}
    graph.queues = [q for q in graph.queues if q.kind != "constant" or q in read or q.producer is not None]


def as_in_program(graph: Graph, ran: Mapping[tuple[str, str], Computed]) -> None:
    """Makes one op of those that the program computes as one, and of equal ones. Ops have the shapes and the work of
    the program's."""
    groups: dict[Any, list[Op]] = {}
    for op in graph.ops:
        computed = ran.get((op.epoch_type, op.node))
        if computed is not None:
            groups.setdefault((op.epoch_type, computed.rows), []).append(op)
    fused: dict[Op, Op] = {}
    equal: dict[Op, Op] = {}
    for group in groups.values():
        first, *others = connected(group)
        for other in others:
            if len(other) == len(first):
                equal |= zip(other, first, strict=True)
        outside = {x.source for op in graph.ops if op not in group for x in op.operands} | set(graph.written())
        if len(first) > 1 and not outside & set(first[:-1]):
            fused[first[-1]] = fused_op(graph.unique(f"_fused_op_{len(fused)}"), first)
    inside = {part for op in fused.values() for part in op.parts} - set(fused)
    graph.ops = [fused.get(op, op) for op in graph.ops if op not in inside and op not in equal]
    graph.redirect({op: fused.get(first, first) for op, first in equal.items()} | fused)
    graph.aliases |= {op.name: f"it is equal to {first.name}" for op, first in equal.items()}
    graph.aliases |= {part.name: f"it is a part of {op.name}" for op in fused.values() for part in op.parts}
    for op in graph.ops:
        computed = ran.get((op.epoch_type, op.node))
        if computed is not None and math.prod(computed.shape) == math.prod(op.shape):
            op.work, op.shape, op.place = computed.work, computed.shape, computed.place
    edges: list[tuple[Operand | Queue, Node | None]] = [(queue, queue.producer) for queue in graph.queues]
    edges += [(x, x.source) for op in graph.ops for x in op.operands if not x.tms]
    for reader, source in edges:
        if isinstance(source, Op) and math.prod(source.shape) == math.prod(reader.shape):
            reader.shape = source.shape


def connected(ops: Sequence[Op]) -> list[list[Op]]:
    """Returns ops in groups, in each of which they read one another."""
    found: list[list[Op]] = []
    for op in ops:
        joined = [group for group in found if any(x.source in group for x in op.operands)]
        found = [group for group in found if group not in joined]
        found.append([*(x for group in joined for x in group), op])
    return found


def fused_op(name: str, parts: list[Op]) -> Op:
    """Returns one op of several, the last of which gives its result."""
    last = parts[-1]
    inside = set(parts)
    operands = [x for part in parts for x in part.operands if x.source not in inside]
    reads = [Operand(x.source, x.shape, x.tms, x.df) for x in operands]
    along = "".join(x for x in "crz" if any(x in part.attributes.get("dim", "") for part in parts))
    return Op(
        name, last.shape, last.df, "fused_op", reads, last.epoch_type, last.source, parts=parts,
        fidelity=parts[0].fidelity, acc_df=parts[0].acc_df, intermed_df=parts[0].intermed_df, node=last.node,
        inner=parts[0].inner, attributes={"dim": along} if along else {},
    )  # fmt: skip


def prestride(graph: Graph) -> None:
    """Lets the host lay the pixels of a stride next to each other for convolutions that read inputs."""
    for op in graph.ops:
        stride, kernel = op.attributes.get("stride"), op.attributes.get("kernel", ())
        if op.type != "conv2d" or not stride or max(stride) < 2:
            continue
        x, weights, *_ = op.operands
        if not isinstance(x.source, Queue) or x.source.kind != "input":
            continue
        s = max(stride)
        smaller = [-(-k // s) for k in kernel]
        n, channels, *sizes = x.shape
        wide = weights.shape[0] // math.prod(kernel) * s * s * math.prod(smaller)
        x.shape = (n, -(-math.prod(sizes) // (s * s)), channels * s * s)
        x.tms = (*x.tms, f"prestride: {s}")
        weights.shape = (wide, weights.shape[1])
        op.attributes.update(kernel=smaller, stride=[1, 1])
        op.inner = -(-wide // TILE)


def tilize(graph: Graph) -> None:
    """Inserts ops that tilize inputs, which come in rows."""
    readers = graph.readers()
    for queue in [q for q in graph.queues if q.kind == "input" and q in readers]:
        op = Op(graph.unique(f"{queue.name}_tilizer"), queue.shape, queue.df, "tilizer", [Operand(queue, queue.shape)])
        op.epoch_type = readers[queue][0][0].epoch_type
        for reader, number in readers[queue]:
            reader.operands[number].source = op
        graph.ops.insert(min(graph.ops.index(reader) for reader, _ in readers[queue]), op)
