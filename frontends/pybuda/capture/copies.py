# SPDX-License-Identifier: Apache-2.0
"""Copies that `insert_nop` requests between ops, as nodes of the graphs that are compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch.fx import Graph, Node

from .functions import function_of, is_move
from .trace import SOURCE, SOURCE_TYPE

COPIES = ("Nop", "Tilizer")  # types of ops that are copies
Request = tuple[str, Sequence[str], bool]  # an op or input, ops that read it, hoist_tms


def moves_before(value: Node) -> list[Node]:
    """Returns the nodes that only move the elements of `value`, the last one first."""
    found = []
    while is_move(value) and len(value.all_input_nodes) == 1:
        found.append(value)
        value = value.all_input_nodes[0]
    return found


def copy_of(graph: Graph, source: Node, name: str, kind: str = "Nop") -> Node:
    """Inserts a copy behind a node."""
    at = source
    while source.op == "placeholder" and at.next.op == "placeholder":
        at = at.next
    with graph.inserting_after(at):
        copy = graph.call_function(torch.ops.pybuda.copy.default, (source,))
    copy.meta = {"val": source.meta["val"], "custom": {SOURCE: name, SOURCE_TYPE: kind}}
    return copy


def moved(graph: Graph, value: Node, moves: Sequence[Node]) -> Node:
    """Applies moves to another value than theirs, the last one first."""
    for move in reversed(moves):
        with graph.inserting_before(move):
            value = graph.node_copy(move, lambda _, value=value: value)  # type: ignore[misc]
    return value


def insert_copies(graph: Graph, names: Mapping[Node, str], requests: Sequence[Request]) -> set[int]:
    """Inserts the copies that tracing has not inserted, and returns the numbers of the requests.

    names: of nodes. Data movement happens before a copy with hoist_tms, if all readers move elements alike, and else
    after it.
    """
    by_name = {name: node for node, name in names.items()}  # of several the last one, which gives the result
    done = set()
    for number, (source, readers, hoist) in enumerate(requests):
        name = f"buffer_0_{source}_{readers[0]}"
        if name in by_name:
            if not hoist:
                for copy in [node for node, each in names.items() if each == name and function_of(node) == "copy"]:
                    copy_first(graph, copy, name)
            continue
        if source not in by_name:
            continue
        found = by_name[source]
        edges = [
            (reader, value, moves) for reader, each in names.items() if each in readers
            for value in reader.all_input_nodes for moves in [moves_before(value)]
            if (moves[-1].all_input_nodes[0] if moves else value) is found
        ]  # fmt: skip
        if not edges:
            continue
        done.add(number)
        values = {value for _, value, _ in edges}
        together = values.pop() if hoist and len(values) == 1 else found
        copy = by_name[name] = copy_of(graph, together, name)
        for reader, value, moves in edges:
            reader.replace_input_with(value, moved(graph, copy, moves if together is found else ()))
    return done


def copy_first(graph: Graph, copy: Node, name: str) -> None:
    """Moves a copy in front of the data movement before it."""
    moves = moves_before(copy.all_input_nodes[0])
    if moves:
        first = copy_of(graph, moves[-1].all_input_nodes[0], name)
        copy.replace_all_uses_with(moved(graph, first, moves))
        graph.erase_node(copy)


def tilize(graph: Graph, inputs: Mapping[Node, str]) -> None:
    """Inserts copies behind inputs, which come in rows: the device tilizes them."""
    for node, name in inputs.items():
        if node.users:
            copy = copy_of(graph, node, f"{name}_tilizer", "Tilizer")
            node.replace_all_uses_with(copy, lambda user, copy=copy: user is not copy)  # type: ignore[misc]
