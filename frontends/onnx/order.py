# SPDX-License-Identifier: Apache-2.0
"""The order of nodes: some tools write nodes before those whose outputs they take, and onnxruntime sorts them."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import onnx


def inner(node: Any) -> Iterator[Any]:
    """Yields the graphs that are attributes of a node."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def needs(node: Any) -> set[str]:
    """Returns the names that a node takes, those that its inner graphs take from around them included."""
    found = {name for name in node.input if name}
    for graph in inner(node):
        own = {x.name for x in (*graph.input, *graph.initializer)} | {x.values.name for x in graph.sparse_initializer}
        taken = {x.name for x in graph.output}
        for each in graph.node:
            own.update(each.output)
            taken |= needs(each)
        found |= taken - own
    return found


def places(graph: Any) -> list[int] | None:
    """Returns the nodes by place so that each one follows those that it needs, and otherwise in their order.

    None where they lie so, or where no order does it, which the checker says.
    """
    producer = {name: i for i, node in enumerate(graph.node) for name in node.output if name}
    before = [{producer[name] for name in needs(node) if name in producer} for node in graph.node]
    if all(j < i for i, those in enumerate(before) for j in those):
        return None
    after: list[list[int]] = [[] for _ in before]
    for i, those in enumerate(before):
        for j in those:
            after[j].append(i)
    waiting = [len(those) for those in before]
    ready = [i for i, count in enumerate(waiting) if not count]
    found = []
    while ready:
        i = heapq.heappop(ready)
        found.append(i)
        for j in after[i]:
            waiting[j] -= 1
            if not waiting[j]:
                heapq.heappush(ready, j)
    return found if len(found) == len(before) else None


def graphs(graph: Any) -> Iterator[Any]:
    """Yields a graph and those inside of it."""
    yield graph
    for node in graph.node:
        for each in inner(node):
            yield from graphs(each)


def ordered(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Returns the model with the nodes of each graph in an order in which they can be computed."""
    if all(places(graph) is None for graph in graphs(proto.graph)):
        return proto
    result = type(proto)()
    result.CopyFrom(proto)
    for graph in graphs(result.graph):
        found = places(graph)
        if found is not None:
            sorted_ones = type(graph)()
            sorted_ones.node.extend(graph.node[i] for i in found)
            del graph.node[:]
            graph.node.extend(sorted_ones.node)
    return result
