# SPDX-License-Identifier: Apache-2.0
"""What the configuration changes in the graph before it is placed: constants, fused ops, copies."""

from __future__ import annotations

import math
from collections.abc import Collection

from ..config import CompilerConfig
from .graph import COPIES, TILE, Graph, Op, Operand, Queue

MOST_INPUTS, MOST_PARTS = 8, 10  # of a fused op


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


def evaluate_constants(graph: Graph, training: bool, running: Collection[tuple[str, str]]) -> None:
    """Makes constants of ops on constants (in inference, also on parameters) that the program evaluates once.

    running: epoch types and names of the nodes that it computes in each run.
    """
    kinds = ("constant",) if training else ("constant", "parameter")
    written, known = graph.written(), dict[Op, Queue]()
    left: list[Op] = []
    for op in graph.ops:
        for operand in op.operands:
            operand.source = known.get(operand.source, operand.source)  # type: ignore[call-overload]
        constant = op.operands and all(isinstance(x.source, Queue) and x.source.kind in kinds for x in op.operands)
        if not constant or (op.epoch_type, op.node) in running or op in written or op.type == "embedding":
            left.append(op)
            continue
        known[op] = Queue(op.name, op.shape, op.df, "constant")
        graph.queues.append(known[op])
        graph.aliases[op.name] = "it is computed once, of constants (enable_consteval)"
    graph.ops = left
    read = {x.source for op in graph.ops for x in op.operands}
    graph.queues = [q for q in graph.queues if q.kind != "constant" or q in read or q.producer is not None]


def fuse(graph: Graph, kept: Collection[str], only: Collection[str] = ()) -> None:
    """Fuses elementwise ops into their one user where it is elementwise."""
    readers, written = graph.readers(), graph.written()
    leader: dict[Op, Op] = {}
    group: dict[Op, list[Op]] = {}

    def fits(op: Op) -> bool:
        free = op.name not in kept and op.source not in kept and (not only or op.name in only)
        return op.is_elementwise and op.type not in COPIES | {"dropout"} and free

    for op in reversed(graph.ops):
        if not fits(op):
            continue
        found = readers.get(op, [])
        reader = found[0][0] if found else None
        head = leader.get(reader) if reader is not None else None
        alone = len({id(x) for x, _ in found}) == 1 and op not in written
        if head is not None and alone and op.shape == head.shape and op.epoch_type == head.epoch_type:
            assert reader is not None
            plain = not any(reader.operands[i].tms for _, i in found)
            members = {*group[head], op}
            inputs = sum(x.source not in members for member in members for x in member.operands)
            if plain and inputs <= MOST_INPUTS and len(members) <= MOST_PARTS:
                group[head].append(op)
                leader[op] = head
                continue
        leader[op], group[op] = op, [op]
    heads = [op for op in graph.ops if len(group.get(op, ())) > 1]
    inside = {op for head in heads for op in group[head]} - set(heads)
    fused = {head: fused_op(f"_fused_op_{number}", group[head][::-1]) for number, head in enumerate(heads)}
    for op in fused.values():
        op.name = graph.unique(op.name)
        for part in op.parts:
            graph.aliases[part.name] = f"it is a part of {op.name}"
    graph.ops = [fused.get(op, op) for op in graph.ops if op not in inside]
    for op in graph.ops:
        for operand in op.operands:
            operand.source = fused.get(operand.source, operand.source)  # type: ignore[call-overload]
    for queue in graph.queues:
        if queue.producer in fused:
            queue.producer = fused[queue.producer]


def fused_op(name: str, parts: list[Op]) -> Op:
    """Returns one op of several, the last of which gives its result."""
    last = parts[-1]
    inside = set(parts)
    operands = [x for part in parts for x in part.operands if x.source not in inside]
    reads = [Operand(x.source, x.shape, x.tms, x.df) for x in operands]
    return Op(
        name, last.shape, last.df, "fused_op", reads, last.epoch_type, last.source, parts=parts,
        fidelity=last.fidelity, acc_df=last.acc_df, intermed_df=last.intermed_df,
    )  # fmt: skip


def insert_nops(graph: Graph, config: CompilerConfig, used: Collection[int]) -> set[int]:
    """Copies that were requested between ops that have no names in the module; returns their numbers.

    used: existing ones. With hoist_tms, data movement happens before the copy, otherwise after it.
    """
    done = set(used)
    for number, (source, names, hoist) in enumerate(config.buffering_nops):
        name = f"buffer_0_{source}_{names[0]}"
        node = next((x for x in (*graph.ops, *graph.queues) if x.name == source), None)
        if number not in done and node is not None:
            edges = [(op, i) for op in graph.named(names) for i, x in enumerate(op.operands) if x.source is node]
            if not edges:
                continue
            done.add(number)
            at = min(graph.ops.index(op) for op, _ in edges)
            first = edges[0][0]
            copy = Op(graph.unique(name), node.shape, node.df, "nop", [Operand(node, node.shape)], first.epoch_type)
            tms = {(op.operands[i].tms, op.operands[i].shape) for op, i in edges}
            moves = hoist and len(tms) == 1
            if moves:
                (text, shape) = tms.pop()
                copy.operands[0].tms, copy.operands[0].shape, copy.shape = text, shape, shape
            for op, i in edges:
                op.operands[i] = Operand(copy, op.operands[i].shape, () if moves else op.operands[i].tms)
            graph.ops.insert(at, copy)
        elif number in done and not hoist:
            for copy in [op for op in graph.ops if op.name == name and op.operands[0].tms]:
                before = copy.operands[0]
                for op, i in graph.readers().get(copy, []):
                    op.operands[i].tms = (*before.tms, *op.operands[i].tms)
                copy.shape = before.source.shape
                copy.operands[0] = Operand(before.source, before.source.shape)
    return done


def prestride(graph: Graph) -> None:
    """Lets the host lay the pixels of a stride next to each other for convolutions that read inputs."""
    matmuls = {op.operands[0].source: op for op in graph.ops if op.type == "matmul" and "conv" in op.attributes}
    for op in graph.ops:
        stride, kernel = op.attributes.get("stride"), op.attributes.get("kernel", ())
        reads = (
            isinstance(op.operands[0].source, Queue) and op.operands[0].source.kind == "input" if op.operands else False
        )
        if not reads or not stride or max(stride) < 2 or op not in matmuls or "groups" in op.attributes:
            continue
        s = max(stride)
        n, places, width = op.shape
        channels = width // math.prod(kernel)
        smaller = [-(-k // s) for k in kernel]
        wide = channels * s * s * math.prod(smaller)
        source = op.operands[0]
        rows = -(-source.shape[1] // (s * s))
        op.operands[0] = Operand(source.source, (n, rows, channels * s * s), (*source.tms, f"prestride: {s}"))
        op.shape = (n, places, wide)
        op.attributes.update(kernel=smaller, stride=[1, 1])
        op.inner = max(1, min(math.prod(smaller), -(-rows // TILE)))
        product = matmuls[op]
        product.inner = -(-wide // TILE)
        product.operands[0].shape = op.shape
        product.operands[1].shape = (wide, product.operands[1].shape[1])


def tilize(graph: Graph) -> None:
    """Inserts ops that tilize inputs, which come in rows."""
    readers = graph.readers()
    for queue in [q for q in graph.queues if q.kind == "input" and q in readers]:
        op = Op(graph.unique(f"{queue.name}_tilizer"), queue.shape, queue.df, "tilizer", [Operand(queue, queue.shape)])
        op.epoch_type = readers[queue][0][0].epoch_type
        for reader, number in readers[queue]:
            reader.operands[number].source = op
        graph.ops.insert(min(graph.ops.index(reader) for reader, _ in readers[queue]), op)
